//! Routes to a standard library for `wasm32-unknown-unknown`. They are tried in order, a failure is reported, and the next one is tried.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow, bail};

use crate::packages::provide;
use crate::process;

/// The guests' target.
pub const TARGET: &str = "wasm32-unknown-unknown";

/// `rustup target add` downloads some 20 MB; without a network it may hang.
const RUSTUP_LIMIT: Duration = Duration::from_secs(120);

/// Where Debian's packages put their programs. Cargo and rustc of another origin usually come first in `PATH`, hence the full paths.
const DEBIAN_CARGO: &str = "/usr/bin/cargo";
const DEBIAN_CARGO_CLIPPY: &str = "/usr/bin/cargo-clippy";
const DEBIAN_RUSTC: &str = "/usr/bin/rustc";
const DEBIAN_RUSTDOC: &str = "/usr/bin/rustdoc";
const DEBIAN_WASM_LD: &str = "/usr/bin/wasm-ld";

/// A current compiler, cargo, the standard library's sources, and a linker for WebAssembly.
const DEBIAN_PACKAGES: [&str; 4] = ["rustc-web", "cargo-web", "rust-web-src", "lld"];

/// The linter of the same version, which only `cargo xtask check` needs.
const DEBIAN_CLIPPY: &str = "rust-web-clippy";

/// A way to come by the standard library.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Route {
    /// The toolchain in use already has it.
    Installed,
    /// `rustup target add` fetches it.
    Rustup,
    /// Debian packages bring its sources and a compiler that may build them.
    Debian,
}

/// A cargo that can build guests.
#[derive(Debug)]
pub struct Toolchain {
    /// How it was found.
    pub route: Route,
    /// How its compiler names itself.
    pub version: String,
    linker: Option<PathBuf>,
}

impl Route {
    /// In the order in which they are tried.
    pub const ALL: [Self; 3] = [Self::Installed, Self::Rustup, Self::Debian];

    /// The name that `--route` takes.
    pub fn name(self) -> &'static str {
        match self {
            Self::Installed => "installed",
            Self::Rustup => "rustup",
            Self::Debian => "debian",
        }
    }

    /// The route called `name`.
    pub fn named(name: &str) -> Result<Self> {
        Self::ALL
            .into_iter()
            .find(|route| route.name() == name)
            .ok_or_else(|| anyhow!("no route is called `{name}`: there are installed, rustup and debian"))
    }

    fn open(self) -> Result<Toolchain> {
        match self {
            Self::Installed => installed(),
            Self::Rustup => rustup(),
            Self::Debian => debian(),
        }
    }
}

/// Tries the `forced` route, or all in order, and prints how each went.
pub fn find(forced: Option<Route>) -> Result<Toolchain> {
    let mut failures = Vec::new();
    for route in forced.map_or(Route::ALL.to_vec(), |route| vec![route]) {
        let start = Instant::now();
        let what = format!("route `{}` to a standard library for {TARGET}", route.name());
        match route.open() {
            Ok(toolchain) => {
                process::report(start.elapsed(), &what, &toolchain.version);
                return Ok(toolchain);
            }
            Err(error) => {
                process::report(start.elapsed(), &what, &format!("no: {error:#}"));
                failures.push(format!("\n  {}: {error:#}", route.name()));
            }
        }
    }
    bail!("no route to a standard library for {TARGET}:{}", failures.concat())
}

impl Toolchain {
    /// This toolchain's cargo with `subcommand`, set up to build for the guests' target.
    pub fn cargo(&self, subcommand: &str) -> Command {
        let mut command = match self.route {
            Route::Installed | Route::Rustup => process::cargo(),
            Route::Debian => self.debian_cargo(subcommand),
        };
        command.arg(subcommand);
        if self.route == Route::Debian {
            command.arg("-Zbuild-std=core,alloc,std,panic_abort");
        }
        command.args(["--target", TARGET]);
        // Where a dependency lies on this machine is in its panic messages, and has no business in a component.
        if let Some(home) = cargo_home() {
            let remap = format!("--remap-path-prefix={}=/cargo", home.display());
            command.env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS", remap);
        }
        command
    }

    fn debian_cargo(&self, subcommand: &str) -> Command {
        // Cargo looks for its subcommands among those of rustup first, which belong to another compiler.
        let mut command = process::command(if subcommand == "clippy" { DEBIAN_CARGO_CLIPPY } else { DEBIAN_CARGO });
        command.env("CARGO", DEBIAN_CARGO);
        // `build-std` is unstable, and this compiler is a stable release. `cargo run` made the libraries of the toolchain in use come first.
        command
            .env("RUSTC_BOOTSTRAP", "1")
            .env("RUSTC", DEBIAN_RUSTC)
            .env("RUSTDOC", DEBIAN_RUSTDOC)
            .env_remove("LD_LIBRARY_PATH")
            .env_remove("RUSTUP_TOOLCHAIN");
        if let Some(linker) = &self.linker {
            command.env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", linker);
        }
        command
    }

    /// A toolchain to build command lines with.
    #[cfg(test)]
    pub(crate) fn for_tests() -> Self {
        Self { route: Route::Installed, version: "rustc 1".into(), linker: None }
    }

    /// Sees to it that `clippy` can be run.
    pub fn prepare_clippy(&self) -> Result<()> {
        match self.route {
            Route::Installed | Route::Rustup => Ok(()),
            Route::Debian => provide(&[DEBIAN_CLIPPY]),
        }
    }
}

fn installed() -> Result<Toolchain> {
    let dir = rustc_line(&mut rustc(), &["--print", "target-libdir", "--target", TARGET])?;
    if !has_core(Path::new(&dir)) {
        bail!("the toolchain in use has none");
    }
    Ok(Toolchain { route: Route::Installed, version: rustc_line(&mut rustc(), &["--version"])?, linker: None })
}

fn rustup() -> Result<Toolchain> {
    let mut command = process::command("rustup");
    command.args(["target", "add", TARGET]);
    process::run_within(&mut command, RUSTUP_LIMIT, "it needs rustup and a network")?;
    Ok(Toolchain { route: Route::Rustup, ..installed()? })
}

fn debian() -> Result<Toolchain> {
    provide(&DEBIAN_PACKAGES)?;
    let sysroot = rustc_line(&mut debian_rustc(), &["--print", "sysroot"])?;
    let library = Path::new(&sysroot).join("lib/rustlib/src/rust/library");
    if !library.join("Cargo.lock").exists() {
        bail!("the package rust-web-src left no sources in {}", library.display());
    }
    let version = rustc_line(&mut debian_rustc(), &["--version"])?;
    Ok(Toolchain { route: Route::Debian, version, linker: Some(DEBIAN_WASM_LD.into()) })
}

fn has_core(dir: &Path) -> bool {
    std::fs::read_dir(dir).is_ok_and(|mut files| {
        files.any(|file| file.is_ok_and(|file| file.file_name().to_string_lossy().starts_with("libcore-")))
    })
}

fn rustc() -> Command {
    process::command(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()))
}

fn debian_rustc() -> Command {
    let mut command = process::command(DEBIAN_RUSTC);
    command.env_remove("LD_LIBRARY_PATH");
    command
}

fn rustc_line(command: &mut Command, arguments: &[&str]) -> Result<String> {
    Ok(process::output(command.args(arguments), "install a Rust toolchain")?.trim().to_owned())
}

fn cargo_home() -> Option<PathBuf> {
    let set = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    set.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn routes_are_tried_from_cheap_to_dear() {
        assert_eq!(Route::ALL.map(Route::name), ["installed", "rustup", "debian"]);
        for route in Route::ALL {
            assert_eq!(Route::named(route.name()).unwrap(), route);
        }
        assert!(Route::named("apt").unwrap_err().to_string().contains("installed, rustup and debian"));
    }

    #[test]
    fn a_library_directory_needs_core() {
        let dir = tempfile::tempdir().unwrap();
        assert!(!has_core(&dir.path().join("none")));
        assert!(!has_core(dir.path()));
        std::fs::write(dir.path().join("libcore-0123.rlib"), "").unwrap();
        assert!(has_core(dir.path()));
    }

    #[test]
    fn debian_builds_the_standard_library_with_its_own_programs() {
        let toolchain = Toolchain { route: Route::Debian, version: String::new(), linker: Some(DEBIAN_WASM_LD.into()) };
        let shown = process::display(&toolchain.cargo("build"));
        for part in [
            "RUSTC_BOOTSTRAP=1",
            "RUSTC=/usr/bin/rustc",
            "LINKER=/usr/bin/wasm-ld",
            "/usr/bin/cargo build -Zbuild-std=",
        ] {
            assert!(shown.contains(part), "{shown}");
        }
        let toolchain = Toolchain::for_tests();
        let shown = process::display(&toolchain.cargo("build"));
        assert!(!shown.contains("build-std") && shown.ends_with("build --target wasm32-unknown-unknown"), "{shown}");
    }
}
