//! What a driver finds on this machine: asked here, or in a child process where asking loads code of others that may crash.
//!
//! A vendor's library that crashes or hangs as it is loaded takes its process with it. `hal devices` must say so and go on, so it starts
//! this program again, as `hal probe-driver NAME`, reads its report, and gives it a limited time.

use crate::{
    drivers::{Failure, Listed},
    exit::Exit,
    text,
};
use hal_driver::{Code, Driver};
use serde::{Deserialize, Serialize};
use std::{
    io::Read,
    process::{Child, Command, ExitStatus, Stdio},
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

/// Stands before the report, which is one line of JSON: libraries print as they please.
const MARK: &str = "hal-probe: ";
/// How long a driver may take. Loading every vendor's library takes half a second where they work.
const PATIENCE: Duration = Duration::from_secs(10);
/// Most bytes that are read of what a child prints. A device's report has some kilobytes.
const MAX_OUTPUT_BYTES: u64 = 4 << 20;
/// How often a child that has closed its output is asked whether it has ended.
const POLL: Duration = Duration::from_millis(5);

/// A device that a driver found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Found {
    /// As in a URI.
    pub path: String,
    /// A model name.
    pub name: String,
    /// The label of its kind.
    pub kind: String,
    /// Bytes.
    pub memory_bytes: u64,
    /// Executable formats.
    pub formats: Vec<String>,
    /// Features.
    pub features: Vec<String>,
    /// The driver's text about it.
    pub details: String,
    /// Its limits by name, if it could be opened; else none.
    pub limits: Vec<(String, u64)>,
    /// Why it could not be opened.
    pub closed: Option<String>,
}

/// A device that is there and that its driver cannot use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unusable {
    /// A model name.
    pub name: String,
    /// Why.
    pub reason: String,
}

/// What a driver told.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Devices {
    /// Those that it lists.
    pub found: Vec<Found>,
    /// Those that it does not.
    pub unusable: Vec<Unusable>,
}

/// What asking a driver came to: whatever could be learnt, and what went wrong.
#[derive(Debug, Default)]
pub struct Probed {
    /// The devices, as far as they were told.
    pub devices: Devices,
    /// What went wrong, if anything did.
    pub failure: Option<Failure>,
}

impl Probed {
    fn failed(failure: Failure) -> Self {
        Self { devices: Devices::default(), failure: Some(failure) }
    }
}

/// Asks a driver, in the way that is right for it. `noisy`: what a child prints to stderr is shown.
pub fn probe(driver: &Listed, noisy: bool) -> Probed {
    let name = &driver.info.name;
    if !driver.probe {
        return match here(driver) {
            Ok(devices) => Probed { devices, failure: None },
            Err(error) => Probed::failed(Failure::new(name, error)),
        };
    }
    match std::env::current_exe() {
        Ok(program) => {
            let mut command = Command::new(program);
            command.args(["probe-driver", name]);
            command.stderr(if noisy { Stdio::inherit() } else { Stdio::null() });
            child(name, command, PATIENCE)
        }
        Err(error) => Probed::failed(Failure::new(
            name,
            hal_driver::Error::new(Code::Internal, format!("this program cannot be started again to ask it: {error}")),
        )),
    }
}

/// `hal probe-driver`: asks here and prints the report.
///
/// # Errors
/// The output cannot be written.
pub fn report(driver: &Listed) -> anyhow::Result<Exit> {
    let answer = here(driver).map_err(|error| (error.code.label().to_owned(), error.message));
    text::print(&format!("\n{MARK}{}\n", serde_json::to_string(&answer)?))
}

/// Asks in this process.
fn here(driver: &Listed) -> hal_driver::Result<Devices> {
    let made = driver.create()?;
    let unusable = |device: hal_driver::Unusable| Unusable { name: device.name, reason: device.reason };
    Ok(Devices {
        found: made.devices()?.into_iter().map(|info| found(&*made, info)).collect(),
        unusable: made.unusable()?.into_iter().map(unusable).collect(),
    })
}

fn found(driver: &dyn Driver, info: hal_driver::DeviceInfo) -> Found {
    // Only an open device knows its limits.
    let (limits, closed) = match driver.open(&info.path, &[]) {
        Ok(device) => (device.limits().named().map(|(name, value)| (name.to_owned(), value)).into(), None),
        Err(error) => (Vec::new(), Some(error.message)),
    };
    Found {
        details: driver.details(&info.path).unwrap_or_else(|error| error.message),
        path: info.path,
        name: info.name,
        kind: info.kind.label().to_owned(),
        memory_bytes: info.memory_bytes,
        formats: info.formats,
        features: info.features,
        limits,
        closed,
    }
}

type Answer = Result<Devices, (String, String)>;

/// Runs a child that reports, and says how it ended if that was not well.
fn child(name: &str, mut command: Command, patience: Duration) -> Probed {
    let fails =
        |message: String| Failure { name: name.to_owned(), code: Code::Unavailable.label().to_owned(), message };
    let until = Instant::now() + patience;
    let mut child = match command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn() {
        Ok(child) => child,
        Err(error) => return Probed::failed(fails(format!("no process could be started to ask it: {error}"))),
    };
    let output = read(&mut child, until);
    let status = end(&mut child, until);
    let answer = output.as_deref().ok().and_then(answer);
    let failure = match (output, status) {
        (Err(Unread::TooMuch), _) => Some(format!("the process that asked it printed over {MAX_OUTPUT_BYTES} bytes")),
        (Err(Unread::Late), _) | (_, None) => {
            Some(format!("it did not answer in {patience:?}, and the process that asked it was ended"))
        }
        (_, Some(status)) if !status.success() => Some(format!("the process that asked it {}", ending(status))),
        (Ok(_), Some(_)) if answer.is_none() => Some("the process that asked it printed no report".to_owned()),
        _ => None,
    };
    let failure = failure.map(|message| match &answer {
        Some(_) => fails(format!("{message}, after it had reported")),
        None => fails(message),
    });
    match answer {
        Some(Ok(devices)) => Probed { devices, failure },
        Some(Err((code, message))) => Probed::failed(Failure { name: name.to_owned(), code, message }),
        None => Probed { devices: Devices::default(), failure },
    }
}

enum Unread {
    Late,
    TooMuch,
}

/// All that the child prints. Whoever it has started may keep the pipe open: only the thread that reads waits for that.
fn read(child: &mut Child, until: Instant) -> Result<Vec<u8>, Unread> {
    let Some(pipe) = child.stdout.take() else { return Ok(Vec::new()) };
    let (sender, receiver) = mpsc::channel();
    let reader = move || {
        let mut bytes = Vec::new();
        // An error ends the output as its end does; what came until then is looked at.
        let _ = pipe.take(MAX_OUTPUT_BYTES + 1).read_to_end(&mut bytes);
        // The receiver may have given up.
        let _ = sender.send(bytes);
    };
    if thread::Builder::new().name("hal-probe".into()).spawn(reader).is_err() {
        return Err(Unread::Late);
    }
    match receiver.recv_timeout(until.saturating_duration_since(Instant::now())) {
        Ok(bytes) if bytes.len() as u64 > MAX_OUTPUT_BYTES => Err(Unread::TooMuch),
        Ok(bytes) => Ok(bytes),
        Err(_) => Err(Unread::Late),
    }
}

/// How the child ended; none if it had to be ended.
fn end(child: &mut Child, until: Instant) -> Option<ExitStatus> {
    while Instant::now() < until {
        match child.try_wait() {
            Ok(None) => thread::sleep(POLL),
            Ok(Some(status)) => return Some(status),
            Err(_) => break,
        }
    }
    // It may have ended meanwhile; and one that cannot be ended is left to the system.
    let _ = child.kill();
    let _ = child.wait();
    None
}

fn ending(status: ExitStatus) -> String {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return format!("crashed (signal {signal}); a library that it loads is broken");
    }
    format!("ended badly ({status})")
}

/// The report is the last line that looks like one.
fn answer(output: &[u8]) -> Option<Answer> {
    let text = String::from_utf8_lossy(output);
    text.lines().rev().find_map(|line| serde_json::from_str(line.strip_prefix(MARK)?).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, patience: Duration) -> Probed {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script]).stderr(Stdio::null());
        child("fake", command, patience)
    }

    fn fails(script: &str) -> String {
        let probed = shell(script, PATIENCE);
        assert_eq!(probed.devices, Devices::default());
        let failure = probed.failure.unwrap();
        assert_eq!(failure.name, "fake");
        failure.message
    }

    fn device() -> Found {
        Found {
            path: "pci-1".into(),
            name: "It's a GPU".into(),
            kind: "discrete".into(),
            memory_bytes: 1 << 30,
            formats: vec!["wgsl".into()],
            features: Vec::new(),
            details: "two\nlines".into(),
            limits: vec![("max-bindings".into(), 8)],
            closed: None,
        }
    }

    fn devices() -> Devices {
        let unusable = Unusable { name: "Old GPU".into(), reason: "it lacks something".into() };
        Devices { found: vec![device()], unusable: vec![unusable] }
    }

    fn prints(answer: &Answer) -> String {
        let report = format!("{MARK}{}", serde_json::to_string(answer).unwrap());
        format!("printf '%s\n' '{}'", report.replace('\'', r"'\''"))
    }

    #[test]
    fn a_report_is_found_among_what_libraries_print() {
        let script = format!("echo INFO: loading; {}; echo bye", prints(&Ok(devices())));
        let probed = shell(&script, PATIENCE);
        assert!(probed.failure.is_none(), "{:?}", probed.failure);
        assert_eq!(probed.devices, devices());
        let script = prints(&Err(("unavailable".into(), "there is no loader".into())));
        let failure = shell(&script, PATIENCE).failure.unwrap();
        assert_eq!((failure.code.as_str(), failure.message.as_str()), ("unavailable", "there is no loader"));
    }

    #[test]
    fn a_crash_is_a_row() {
        assert!(fails("kill -ABRT $$").contains("crashed (signal 6)"));
        assert!(fails("kill -SEGV $$").contains("crashed (signal 11)"));
        assert!(fails("exit 3").contains("ended badly"));
    }

    #[test]
    fn garbage_is_a_row() {
        assert!(fails("true").contains("no report"));
        assert!(fails("echo hello; head -c 1000 /dev/urandom").contains("no report"));
        assert!(fails(&format!("echo '{MARK}{{]'")).contains("no report"));
        assert!(fails("cat /dev/zero").contains("printed over 4194304 bytes"));
    }

    #[test]
    fn a_hang_is_a_row_and_its_process_is_ended() {
        let begun = Instant::now();
        for script in ["exec sleep 60", "exec >&-; exec sleep 60", "sleep 60 & exit 0"] {
            let probed = shell(script, Duration::from_millis(300));
            let message = probed.failure.unwrap().message;
            assert!(message.contains("did not answer in 300ms"), "{script}: {message}");
        }
        assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    }

    #[test]
    fn what_was_reported_before_a_crash_counts() {
        let script = format!("{}; kill -ABRT $$", prints(&Ok(devices())));
        let probed = shell(&script, PATIENCE);
        assert_eq!(probed.devices, devices());
        assert!(probed.failure.unwrap().message.ends_with("after it had reported"));
    }

    #[test]
    fn a_program_that_is_not_there_is_a_row() {
        let probed = child("fake", Command::new("/nowhere/hal"), PATIENCE);
        assert!(probed.failure.unwrap().message.contains("no process could be started"));
    }
}
