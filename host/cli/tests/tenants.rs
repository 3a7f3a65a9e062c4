//! `hal run` on the staged example tenants: the whole way from a command line to a device.

mod common;

use common::{Folder, hal, kept, tenant};
use std::{
    fs::File,
    time::{Duration, SystemTime},
};

#[test]
fn a_tenant_sees_the_drivers_it_was_granted_and_no_others() {
    let list = tenant("list-devices");
    hal(["run", &list, "--grant", "null"]).expect(0).prints(&["null://"]);
    let both = hal(["run", &list, "--grant", "null", "--grant", "local-sync"]).expect(0);
    assert!(both.stdout.find("null") < both.stdout.find("local-sync"), "in the order of the grants:\n{}", both.stdout);
    let one = hal(["run", &list, "--grant", "null"]).expect(0);
    assert!(!one.stdout.contains("local-sync"), "{}", one.stdout);
}

#[test]
fn a_grant_for_one_device_shows_that_device() {
    let list = tenant("list-devices");
    hal(["run", &list, "--grant", "null/0"]).expect(0).prints(&["null://0"]);
    let none = hal(["run", &list, "--grant", "null/7"]).expect(0);
    assert!(!none.stdout.contains("null://7") && !none.stdout.contains("null://0"), "{}", none.stdout);
}

#[test]
fn without_a_grant_there_is_nothing_and_a_word_how_to_grant() {
    let outcome = hal(["run", &tenant("list-devices")]);
    assert!(!outcome.stdout.contains("://"), "{}", outcome.stdout);
    let failed = hal(["run", &tenant("saxpy")]);
    assert_ne!(failed.code, 0);
    failed.says(&["--grant", "cpu"]);
}

#[test]
fn inspect_prints_the_line_that_starts_a_tenant() {
    let saxpy = tenant("saxpy");
    let json = hal(["inspect", "--json", &saxpy]).expect(0).json();
    assert_eq!(json["uses"]["registry"], true);
    assert_eq!(json["run"], format!("hal run {saxpy} --grant DRIVER"));
    let digits = tenant("digits");
    let json = hal(["inspect", "--json", &digits]).expect(0).json();
    assert_eq!(json["uses"]["blobs"], true);
    assert_eq!(json["run"], format!("hal run {digits} --grant DRIVER --blob NAME=FILE"));
}

#[test]
fn saxpy_computes_on_every_flavour_of_the_processor() {
    let saxpy = tenant("saxpy");
    for driver in ["cpu", "local-sync", "local-task"] {
        hal(["run", &saxpy, "--grant", driver, "--timeout", "60s", "--", &format!("{driver}://")]).expect(0);
    }
}

#[test]
fn a_grant_that_is_too_small_is_a_value_with_a_remedy_in_it() {
    let outcome = hal(["run", &tenant("saxpy"), "--grant", "cpu=memory=4KiB", "--stats=json"]);
    assert_ne!(outcome.code, 0);
    assert!(outcome.stderr.contains("memory-bytes"), "{}", outcome.stderr);
    let stats: serde_json::Value = serde_json::from_str(outcome.stderr.lines().last().unwrap()).unwrap();
    let memory =
        stats["grants"][0]["limits"].as_array().unwrap().iter().find(|limit| limit["limit"] == "memory-bytes").unwrap();
    assert!(memory["peak"].as_u64() <= memory["allowed"].as_u64(), "{memory}");
    assert_eq!(memory["allowed"], 4096);
    assert!(stats["failures"]["over-budget"].as_u64() > Some(0), "{stats}");
}

#[test]
fn digits_reads_its_blobs_and_computes() {
    let data = concat!(env!("CARGO_MANIFEST_DIR"), "/../../guest/tenants/digits/data");
    let (weights, heldout) =
        (format!("weights={data}/digits.safetensors"), format!("heldout={data}/heldout.safetensors"));
    let digits = tenant("digits");
    let granted = ["run", &digits, "--grant", "cpu", "--blob", &weights, "--blob", &heldout];
    hal(granted.iter().chain(&["--", "cpu://"])).expect(0).prints(&["accuracy"]);
    hal(["run", &digits, "--grant", "cpu", "--", "cpu://"]).says(&["hint: it asked for a blob", "--blob"]);
    // It fails before it asks for one: the hint would mislead.
    let other = hal(["run", &digits, "--grant", "cpu=memory=1MiB", "--", "nothing://"]);
    assert!(other.code != 0 && !other.stderr.contains("hint"), "{}", other.stderr);
}

/// Weights that are cut off, and weights that are whole and hold no number where one is used: what is wrong is said in a sentence.
#[test]
fn digits_with_damaged_weights_says_so() {
    let data = concat!(env!("CARGO_MANIFEST_DIR"), "/../../guest/tenants/digits/data");
    let heldout = format!("heldout={data}/heldout.safetensors");
    let good = std::fs::read(format!("{data}/digits.safetensors")).unwrap();
    let header = 8 + usize::try_from(u64::from_le_bytes(good[..8].try_into().unwrap())).unwrap();
    // The last four bytes are the bias of the last class; in the first layer relu would make a 0 of it.
    let not_a_number = [&good[..good.len() - 4], &f32::NAN.to_le_bytes()].concat();
    let folder = Folder::new();
    let digits = tenant("digits");
    for (what, bytes, says) in [
        ("nothing", &good[..0], "end before its header"),
        ("half a length", &good[..4], "end before its header"),
        ("half a header", &good[..header / 2], "end before its header"),
        ("no tensors", &good[..header], "does not account for"),
        ("a tensor cut off", &good[..good.len() - 4], "does not account for"),
        ("not a number", &not_a_number, "logits differ by NaN"),
    ] {
        let weights = format!("weights={}", folder.file("damaged.safetensors", bytes));
        let run = ["run", &digits, "--grant", "cpu", "--blob", &weights, "--blob", &heldout, "--", "cpu://"];
        let outcome = hal(run).expect(1).says(&[says]);
        assert_eq!(outcome.stderr.lines().count(), 1, "{what}: {}", outcome.stderr);
    }
}

#[test]
fn compiled_code_is_kept_in_a_folder_of_ones_own() {
    let folder = Folder::new();
    let cache = folder.path().join("cache");
    let list = tenant("list-devices");
    let run = || hal(["run", &list, "--grant", "null", "--cache", cache.to_str().unwrap()]).expect(0);
    let (first, second) = (run(), run());
    assert_eq!(first.stdout, second.stdout);
    assert!(std::fs::read_dir(&cache).unwrap().count() > 0);
}

/// A way to damage a file.
type Damage = fn(&mut Vec<u8>);

#[test]
fn kernels_are_compiled_once_and_again_if_what_was_kept_is_damaged() {
    let folder = Folder::new();
    let cache = folder.path().join("cache");
    let saxpy = tenant("saxpy");
    let run = || {
        hal(["run", &saxpy, "--grant", "cpu", "--kernel-cache", cache.to_str().unwrap(), "--", "cpu://"]).expect(0);
        kept(&cache)
    };
    let first = run();
    assert!(!first.is_empty());
    // Moved back, so that a use shows.
    let old = SystemTime::now() - Duration::from_secs(3600);
    first.keys().for_each(|path| File::options().append(true).open(path).unwrap().set_modified(old).unwrap());
    let second = run();
    assert_eq!(second.len(), first.len());
    for (path, (file, used)) in &second {
        assert_eq!(*file, first[path].0, "it was not compiled again: it is the same file");
        assert!(*used > old, "it was used");
    }
    let path = first.keys().next().unwrap();
    let whole = std::fs::read(path).unwrap();
    let damages: [Damage; 4] = [
        |bytes| bytes.truncate(bytes.len() / 2),
        |bytes| bytes.truncate(3),
        |bytes| bytes.last_mut().into_iter().for_each(|byte| *byte ^= 1),
        // The mark of another version of the format.
        |bytes| bytes[7] += 1,
    ];
    for damage in damages {
        let mut damaged = whole.clone();
        damage(&mut damaged);
        std::fs::write(path, &damaged).unwrap();
        let repaired = run();
        assert_eq!(repaired.len(), first.len());
        let bytes = std::fs::read(path).unwrap();
        assert!(bytes.len() == whole.len() && bytes != damaged, "it was compiled again");
        let next = run();
        assert_eq!(next[path].0, repaired[path].0, "and is used again");
    }
}

#[test]
fn two_that_run_at_once_share_a_cache() {
    let folder = Folder::new();
    let cache = folder.path().join("cache");
    let saxpy = tenant("saxpy");
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let kernels = cache.to_str().unwrap();
                hal(["run", &saxpy, "--grant", "cpu", "--kernel-cache", kernels, "--cache", kernels, "--", "cpu://"])
                    .expect(0);
            });
        }
    });
    assert!(kept(&cache).len() >= 2, "a component and a kernel");
}
