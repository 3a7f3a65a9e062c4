//! Debian's packages: installed where that is allowed, else named.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::process;

/// The largest, a compiler's, are about 100 MB to download and 700 MB once unpacked, most of it sources.
const APT_LIMIT: Duration = Duration::from_secs(900);

/// Installs those of `packages` that are missing, or says what to type.
pub fn provide(packages: &[&str]) -> Result<()> {
    if !Path::new("/usr/bin/apt-get").exists() {
        bail!("this is no Debian: there is no apt-get");
    }
    let listed = process::command("dpkg-query")
        .args(["--show", "--showformat=${Package} ${db:Status-Status}\n"])
        .args(packages)
        .stderr(Stdio::null())
        .output()
        .context("cannot ask dpkg-query which packages are installed")?;
    let missing = missing(packages, &String::from_utf8_lossy(&listed.stdout));
    if missing.is_empty() {
        return Ok(());
    }
    let typed = format!("apt-get update && apt-get install --no-install-recommends {}", missing.join(" "));
    if !is_root()? {
        bail!("packages are missing and only root can install them; type: sudo sh -c '{typed}'");
    }
    process::step(&format!("installing {}", missing.join(" ")), || {
        let remedy = format!("type: {typed}");
        process::run_within(apt_get().args(["update", "--quiet"]), APT_LIMIT, &remedy)?;
        // A toolchain that is already here must not be removed to make room.
        process::run_within(
            apt_get().args(["install", "--quiet", "--yes", "--no-remove", "--no-install-recommends"]).args(&missing),
            APT_LIMIT,
            &remedy,
        )
    })
}

/// Those of `packages` that are not installed by `listed`, which has a package and its state in each line.
fn missing<'a>(packages: &[&'a str], listed: &str) -> Vec<&'a str> {
    let installed = |package: &str| listed.lines().any(|line| line.split_once(' ') == Some((package, "installed")));
    packages.iter().copied().filter(|package| !installed(package)).collect()
}

fn is_root() -> Result<bool> {
    let id = process::command("id").arg("-u").output().context("cannot ask who runs this")?;
    Ok(id.stdout.trim_ascii() == b"0")
}

fn apt_get() -> Command {
    let mut command = process::command("apt-get");
    command.env("DEBIAN_FRONTEND", "noninteractive");
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_is_missing_unless_it_is_installed() {
        let listed = "lld installed\nrustc-web config-files\ncargo-web not-installed\n";
        assert_eq!(
            missing(&["rustc-web", "cargo-web", "rust-web-src", "lld"], listed),
            ["rustc-web", "cargo-web", "rust-web-src"]
        );
        assert_eq!(missing(&["lld"], listed), [""; 0]);
    }
}
