//! A Vulkan device for tests and benchmarks: what the machine has, or Mesa's software one.

use std::path::Path;

use crate::packages;

/// Where drivers announce themselves.
const FOLDERS: [&str; 3] = ["/usr/share/vulkan/icd.d", "/usr/local/share/vulkan/icd.d", "/etc/vulkan/icd.d"];

/// Variables that name drivers elsewhere.
const VARIABLES: [&str; 2] = ["VK_DRIVER_FILES", "VK_ICD_FILENAMES"];

/// Drivers, one of them in software, and the loader.
const PACKAGES: [&str; 2] = ["libvulkan1", "mesa-vulkan-drivers"];

/// Installs a driver if there is none, as far as that is allowed. Without one the tests that need it are skipped, or fail where
/// `HAL_REQUIRE_VULKAN=1` demands a device, so a failure here is told and no more.
pub fn provide() {
    if !cfg!(target_os = "linux") || there() {
        return;
    }
    if let Err(error) = packages::provide(&PACKAGES) {
        eprintln!("xtask: there is no Vulkan driver, and what needs one is skipped or fails: {error:#}");
    }
}

fn there() -> bool {
    VARIABLES.iter().any(|name| std::env::var_os(name).is_some())
        || FOLDERS
            .iter()
            .any(|folder| std::fs::read_dir(Path::new(folder)).is_ok_and(|mut files| files.next().is_some()))
}
