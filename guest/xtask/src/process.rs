//! Running other programs: one line per step with its time, and failures that say the command, its exit code and what to do.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader};
use std::process::{Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

/// What `cargo run` adds to the environment for the program it starts. A cargo started from there must not see it: a build script that
/// watches one of these would run again each time. The program's name and library path would also lead a second toolchain to the first.
const FROM_CARGO: [&str; 4] = ["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_BIN_", "CARGO_PRIMARY_PACKAGE"];

/// How often a program with a time limit is looked at.
const POLL: Duration = Duration::from_millis(50);

/// A command for `program` without what `cargo run` left in the environment.
pub fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(|name| FROM_CARGO.iter().any(|prefix| name.starts_with(prefix))) {
            command.env_remove(name);
        }
    }
    command.env_remove("CARGO");
    command
}

/// The cargo that runs this tool.
pub fn cargo() -> Command {
    command(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// Does `work`, then prints one line: how long it took, `what` it was and whether it succeeded.
pub fn step<T>(what: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
    let start = Instant::now();
    let result = work();
    report(start.elapsed(), what, if result.is_ok() { "ok" } else { "FAILED" });
    result
}

/// Prints the line of a step whose outcome is more than success or failure.
pub fn report(elapsed: Duration, what: &str, outcome: &str) {
    eprintln!("xtask {:>7.1} s  {what}: {outcome}", elapsed.as_secs_f64());
}

/// Runs `command` with its output shown; `remedy` is what to do when it fails.
pub fn run(command: &mut Command, remedy: &str) -> Result<()> {
    let status = command.status().with_context(|| cannot_start(command, remedy))?;
    succeeded(command, status, remedy)
}

/// Runs `command`, hands each line of its standard output to `line`, and returns how it ended.
pub fn run_lines(command: &mut Command, remedy: &str, mut line: impl FnMut(&str)) -> Result<ExitStatus> {
    let mut child = command.stdout(Stdio::piped()).spawn().with_context(|| cannot_start(command, remedy))?;
    if let Some(stdout) = child.stdout.take() {
        let mut reader = BufReader::new(stdout);
        let mut bytes = Vec::new();
        while reader.read_until(b'\n', &mut bytes)? > 0 {
            line(String::from_utf8_lossy(&bytes).trim_end_matches('\n'));
            bytes.clear();
        }
    }
    Ok(child.wait()?)
}

/// Runs `command` and returns its standard output.
pub fn output(command: &mut Command, remedy: &str) -> Result<String> {
    let output = command.stderr(Stdio::inherit()).output().with_context(|| cannot_start(command, remedy))?;
    succeeded(command, output.status, remedy)?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Runs `command` with its output shown, for `limit` at most.
pub fn run_within(command: &mut Command, limit: Duration, remedy: &str) -> Result<()> {
    let mut child = command.stdin(Stdio::null()).spawn().with_context(|| cannot_start(command, remedy))?;
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return succeeded(command, status, remedy);
        }
        if start.elapsed() > limit {
            child.kill()?;
            child.wait()?;
            bail!("`{}` did not end within {} s; {remedy}", display(command), limit.as_secs());
        }
        thread::sleep(POLL);
    }
}

/// An error unless `status` is success.
pub fn succeeded(command: &Command, status: ExitStatus, remedy: &str) -> Result<()> {
    if status.success() {
        return Ok(());
    }
    match status.code() {
        Some(code) => bail!("`{}` ended with exit code {code}; {remedy}", display(command)),
        None => bail!("`{}` was ended by a signal; {remedy}", display(command)),
    }
}

/// `command` as a person would type it, with the variables that it sets.
pub fn display(command: &Command) -> String {
    let variables = command
        .get_envs()
        .filter_map(|(name, value)| Some(format!("{}={}", name.to_string_lossy(), quote(&value?.to_string_lossy()))));
    // Cargo names itself by its full path, which nobody types.
    let own = std::env::var_os("CARGO");
    let program = command.get_program();
    let program = if Some(program) == own.as_deref() { "cargo".as_ref() } else { program };
    let words =
        std::iter::once(program).chain(command.get_args()).map(|word| quote(&word.to_string_lossy()).into_owned());
    variables.chain(words).collect::<Vec<_>>().join(" ")
}

fn quote(word: &str) -> std::borrow::Cow<'_, str> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.into()
    } else {
        format!("'{}'", word.replace('\'', r"'\''")).into()
    }
}

fn cannot_start(command: &Command, remedy: &str) -> String {
    format!("`{}` cannot be started; {remedy}", display(command))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_shown_as_it_would_be_typed() {
        let mut command = Command::new("cargo");
        command.args(["build", "-p", "a b", "it's", ""]).env("A", "1 2").env_remove("B");
        assert_eq!(display(&command), r"A='1 2' cargo build -p 'a b' 'it'\''s' ''");
    }

    #[test]
    fn a_failure_says_command_code_and_remedy() {
        let error = run(Command::new("sh").args(["-c", "exit 3"]), "try again").unwrap_err().to_string();
        assert_eq!(error, "`sh -c 'exit 3'` ended with exit code 3; try again");
        let error = run(&mut Command::new("no-such-program-here"), "install it").unwrap_err().to_string();
        assert_eq!(error, "`no-such-program-here` cannot be started; install it");
    }

    #[test]
    fn a_program_that_hangs_is_ended() {
        let start = Instant::now();
        let error = run_within(Command::new("sleep").arg("60"), Duration::from_millis(100), "wait").unwrap_err();
        assert!(error.to_string().contains("did not end"), "{error}");
        assert!(start.elapsed() < Duration::from_secs(30));
    }

    #[test]
    fn lines_arrive_and_so_does_the_end() {
        let mut lines = Vec::new();
        let mut command = Command::new("sh");
        command.args(["-c", "printf 'a\\nb'; exit 4"]);
        let status = run_lines(&mut command, "", |line| lines.push(line.to_owned())).unwrap();
        assert_eq!((lines, status.code()), (vec!["a".to_owned(), "b".to_owned()], Some(4)));
    }
}
