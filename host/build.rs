//! Finds the registry component for `hal_host::bundled_registry`: the file that `HAL_REGISTRY_COMPONENT` names, or what
//! `cargo xtask guests` has staged in the workspace's target folder. Without either the crate builds, and says so at run time.

use std::{
    env, fs, io,
    path::{Path, PathBuf},
};

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-env-changed=HAL_REGISTRY_COMPONENT");
    println!("cargo::rerun-if-changed=build.rs");
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or(io::ErrorKind::NotFound)?);
    let bytes = match env::var_os("HAL_REGISTRY_COMPONENT") {
        Some(named) => {
            println!("cargo::rerun-if-changed={}", Path::new(&named).display());
            fs::read(&named)?
        }
        None => staged(&out)?,
    };
    fs::write(out.join("registry.wasm"), bytes)
}

/// The staged component; empty if there is none.
fn staged(out: &Path) -> io::Result<Vec<u8>> {
    // target/PROFILE/build/hal-host-HASH/out
    let Some(target) = out.ancestors().nth(4) else { return Ok(Vec::new()) };
    let folders = [target.join("components"), target.parent().unwrap_or(target).join("components")];
    for folder in &folders {
        let file = folder.join("registry.wasm");
        if file.exists() {
            println!("cargo::rerun-if-changed={}", file.display());
            return fs::read(file);
        }
    }
    // Watched, so that a component staged later is noticed.
    if let Some(folder) = folders.first() {
        fs::create_dir_all(folder)?;
        println!("cargo::rerun-if-changed={}", folder.display());
    }
    Ok(Vec::new())
}
