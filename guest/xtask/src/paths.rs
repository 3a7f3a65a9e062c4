//! No tracked file may say where something lies on one person's machine.

use std::fs;
use std::path::Path;

use anyhow::{Result, bail};

use crate::process;

/// Where people and programs live on the usual systems. In two parts each, so that this file does not match itself.
const HOMES: [(&str, &str); 4] = [("/ho", "me/"), ("/ro", "ot/"), ("/Us", "ers/"), (r"C:\Us", r"ers\")];

/// Directories that hold the same things on every machine, so that a file may well name them.
const SHARED: [&str; 12] =
    ["/", "/bin", "/dev", "/etc", "/lib", "/mnt", "/opt", "/proc", "/srv", "/sys", "/tmp", "/usr"];

/// Looks through every file that git tracks in the repository at `root`.
pub fn check(root: &Path) -> Result<()> {
    let mut git = process::command("git");
    git.current_dir(root).args(["ls-files", "-z"]);
    let listed = process::output(&mut git, "install git, and run this in a clone")?;
    let needles = needles(root);
    let mut found = Vec::new();
    for file in listed.split('\0').filter(|file| !file.is_empty()) {
        // A file that is deleted but not yet committed cannot be read.
        let Ok(bytes) = fs::read(root.join(file)) else { continue };
        for (number, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
            if let Some(needle) = needles.iter().find(|needle| holds(line, needle.as_bytes())) {
                found.push(format!("{file}:{}: {needle}", number + 1));
            }
        }
    }
    if !found.is_empty() {
        bail!("tracked files hold paths of one machine:\n  {}", found.join("\n  "));
    }
    Ok(())
}

/// What no file may hold: people's homes, this clone, and the directory that it lies in unless every machine has that one.
fn needles(root: &Path) -> Vec<String> {
    let mut needles: Vec<String> = HOMES.iter().map(|(first, second)| format!("{first}{second}")).collect();
    needles.push(root.display().to_string());
    if let Some(parent) = root.parent().map(|parent| parent.display().to_string())
        && !SHARED.contains(&parent.as_str())
    {
        needles.push(format!("{parent}/"));
    }
    needles
}

/// Whether a path that starts with `needle` is in `line`: what comes before must not be part of a longer path.
fn holds(line: &[u8], needle: &[u8]) -> bool {
    let starts = |at: usize| {
        let before = at.checked_sub(1).and_then(|at| line.get(at));
        before.is_none_or(|byte| !(byte.is_ascii_alphanumeric() || b"._-/*})>$".contains(byte)))
    };
    line.windows(needle.len().max(1)).enumerate().any(|(at, window)| window == needle && starts(at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_paths_count() {
        for line in ["/src/hal/x", "see \"/src/hal/x\"", "A=/src/hal", "(/src/hal)"] {
            assert!(holds(line.as_bytes(), b"/src/hal"), "{line}");
        }
        for line in ["guest/src/hal", "../src/hal", "https://x.org/src/hal", "$ROOT/src/hal", "", "/src/ha"] {
            assert!(!holds(line.as_bytes(), b"/src/hal"), "{line}");
        }
    }

    #[test]
    fn the_clone_and_its_parent_count_unless_every_machine_has_it() {
        let needles_of = |root: &str| needles(Path::new(root)).split_off(HOMES.len());
        assert_eq!(needles_of("/data/hal"), ["/data/hal", "/data/"]);
        for shared in SHARED.into_iter().skip(1) {
            let root = format!("{shared}/hal");
            assert_eq!(needles_of(&root), [root]);
        }
        assert_eq!(needles_of("/hal"), ["/hal"]);
    }
}
