//! Pipelines that outlive the process.

use super::*;
use std::{fs, path::PathBuf};

const SOURCE: &str = "
    @group(0) @binding(0) var<storage, read_write> out: array<u32>;
    @compute @workgroup_size(1) fn main(@builtin(global_invocation_id) id: vec3<u32>) { out[id.x] = id.x * 3u + 1u; }";

/// Loads and runs a kernel on a new device, with pipelines kept in `folder`, and waits until the device has written them.
fn load_and_run(folder: &std::path::Path) -> Option<PathBuf> {
    let driver = driver_with(Config::new().pipeline_folder(folder))?;
    let device = driver.open(&driver.devices().unwrap()[0].path, &[]).unwrap();
    let (executable, out) = (load(&*device, SOURCE).unwrap(), allocate(&*device, 16));
    run(&*device, &[&out], Some(&executable), vec![dispatch(&executable, [4, 1, 1])]).unwrap();
    assert_eq!(words(&*out), [1, 4, 7, 10]);
    // A load has written them before it answers.
    let mut files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    files.find(|path| path.extension().is_some_and(|extension| extension == "pipelines"))
}

#[test]
fn a_file_is_written_and_one_that_is_wrong_does_no_harm() {
    let folder = std::env::temp_dir().join(format!("hal-wgpu-keep-{}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    let Some(driver) = driver() else { return };
    if driver
        .details(&driver.devices().unwrap()[0].path)
        .is_ok_and(|details| !details.contains("pipelines can be kept"))
    {
        return println!("skipped: the device cannot keep pipelines");
    }
    let file = load_and_run(&folder).expect("a file");
    let first = fs::read(&file).unwrap();
    assert!(first.starts_with(b"halpipe1"));
    // It is read by the next device, and not begun anew: what it holds is there afterwards, too.
    load_and_run(&folder).unwrap();
    assert!(fs::read(&file).unwrap().len() >= first.len());
    for wrong in [&first[..first.len() / 2], b"", b"nonsense", &vec![0xA5; 1 << 20]] {
        fs::write(&file, wrong).unwrap();
        load_and_run(&folder).unwrap();
        let after = fs::read(&file).unwrap();
        assert!(after.starts_with(b"halpipe1") && after != wrong, "it is replaced");
    }
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_folder_that_cannot_be_had_costs_nothing_but_time() {
    let missing = std::env::temp_dir().join("hal-wgpu-no-such-folder").join("below");
    let Some(driver) = driver_with(Config::new().pipeline_folder(&missing)) else { return };
    let device = driver.open(&driver.devices().unwrap()[0].path, &[]).unwrap();
    load(&*device, SOURCE).unwrap();
    assert!(!missing.exists());
}
