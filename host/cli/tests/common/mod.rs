//! Runs the real program and looks at what a shell would see.

#![allow(dead_code, reason = "each test program uses a part")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "clippy.toml allows these in test functions, and these are parts of them"
)]

use std::{
    collections::BTreeMap,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant, SystemTime},
};

/// What a shell sees.
pub struct Outcome {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
    pub took: Duration,
}

impl Outcome {
    /// Checks the exit code and shows everything if it differs.
    #[track_caller]
    pub fn expect(self, code: i32) -> Self {
        assert_eq!(self.code, code, "\n-- stdout\n{}\n-- stderr\n{}", self.stdout, self.stderr);
        self
    }

    /// Checks that stderr has each of these.
    #[track_caller]
    pub fn says(self, parts: &[&str]) -> Self {
        for part in parts {
            assert!(self.stderr.contains(part), "no {part:?} in stderr:\n{}", self.stderr);
        }
        assert!(!self.stderr.contains("panicked"), "{}", self.stderr);
        self
    }

    /// Checks that stdout has each of these.
    #[track_caller]
    pub fn prints(self, parts: &[&str]) -> Self {
        for part in parts {
            assert!(self.stdout.contains(part), "no {part:?} in stdout:\n{}", self.stdout);
        }
        self
    }

    /// Stdout as JSON.
    #[track_caller]
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}:\n{}", self.stdout))
    }
}

/// The program, with an empty environment: what is set where the tests run is not granted either.
pub fn command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hal"));
    command.env_clear().stdin(Stdio::null());
    command
}

/// Runs `hal` with these arguments.
#[track_caller]
pub fn hal<I: AsRef<std::ffi::OsStr>>(arguments: impl IntoIterator<Item = I>) -> Outcome {
    let start = Instant::now();
    let output = command().args(arguments).output().unwrap();
    Outcome {
        code: output.status.code().expect("hal ended by a signal"),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
        took: start.elapsed(),
    }
}

/// A folder of its own for each test, gone with the value.
pub struct Folder(tempfile::TempDir);

impl Folder {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// Writes a file and gives its path.
    pub fn file(&self, name: &str, bytes: impl AsRef<[u8]>) -> String {
        let path = self.0.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// Writes a component from its text.
    pub fn component(&self, name: &str, text: &str) -> String {
        self.file(name, wat::parse_str(text).unwrap_or_else(|error| panic!("{error}")))
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }
}

/// A component that exports wasi:cli/run, whose core function `run` has this body. It returns 0 for ok, 1 for an error.
pub fn program(body: &str) -> String {
    format!(
        r#"(component
          (import "wasi:cli/exit@0.2.0" (instance $exit (export "exit" (func (param "status" (result))))))
          (core func $exit (canon lower (func $exit "exit")))
          (core instance $host (export "exit" (func $exit)))
          (core module $m
            (import "host" "exit" (func $exit (param i32)))
            (memory 1)
            (func (export "run") (result i32) {body}))
          (core instance $i (instantiate $m (with "host" (instance $host))))
          (func $run (result (result)) (canon lift (core func $i "run")))
          (instance $exports (export "run" (func $run)))
          (export "wasi:cli/run@0.2.0" (instance $exports)))"#
    )
}

/// A tenant that `cargo xtask guests` has staged.
#[track_caller]
pub fn tenant(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../target/components").join(format!("{name}.wasm"));
    assert!(path.is_file(), "{name} is not staged; run `cargo xtask guests` first (it builds {})", path.display());
    path.to_str().unwrap().to_owned()
}

/// The code of kernels in a folder: of each, the file that it is (a new one has another number) and the time of its last use.
pub fn kept(folder: &Path) -> BTreeMap<PathBuf, (u64, SystemTime)> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let entries = entries.filter(|path| path.extension().is_some_and(|extension| extension == "cwasm"));
    let about = |path: &PathBuf| {
        let metadata = path.metadata().unwrap();
        (metadata.ino(), metadata.modified().unwrap())
    };
    entries.map(|path| (path.clone(), about(&path))).collect()
}
