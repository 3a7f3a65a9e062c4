//! `cargo xtask conformance`: builds the guest that runs cases, then runs them.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::route::Route;
use crate::workspace::Workspace;
use crate::{guests, process, vulkan};

/// What the program needs: the guest with the cases in it, and the registry that it looks for devices in.
const GUESTS: [&str; 2] = ["conformance_case_runs", "registry"];

/// What Vulkan's validation layer says, once for each process that it is in, when told to say everything.
const PRESENT: &str = "UNASSIGNED-khronos-validation-createinstance-status-message";

/// Runs the conformance cases; `arguments` are the program's. With `validates`, under Vulkan's validation layer.
pub fn run(workspace: &Workspace, arguments: &[String], validates: bool, route: Option<Route>) -> Result<()> {
    guests::build(workspace, &GUESTS.map(String::from), route)?;
    vulkan::provide();
    let mut command = process::cargo();
    command.current_dir(&workspace.root).args(["run", "--package", "hal-conformance", "--"]).args(arguments);
    let log = if validates { Some(validate(&workspace.target, &mut command)?) } else { None };
    process::step("conformance", || process::run(&mut command, "the message above says why"))?;
    match log {
        Some(log) => process::step("Vulkan's validation layer", || judge(&log)),
        None => Ok(()),
    }
}

/// Has a command run under the validation layer, which watches synchronization too. Answers where that writes to.
fn validate(target: &Path, command: &mut Command) -> Result<PathBuf> {
    let folder = target.join("validation");
    std::fs::create_dir_all(&folder).with_context(|| format!("making {}", folder.display()))?;
    let log = folder.join("log.txt");
    let settings = [
        ("debug_action", "VK_DBG_LAYER_ACTION_LOG_MSG"),
        ("report_flags", "error,warn,info"),
        ("enables", "VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT"),
        ("log_filename", &log.to_string_lossy()),
    ];
    let settings: String =
        settings.iter().map(|(name, value)| format!("khronos_validation.{name} = {value}\n")).collect();
    std::fs::write(folder.join("vk_layer_settings.txt"), settings).context("writing the layer's settings")?;
    // What an earlier run left says nothing of this one.
    std::fs::write(&log, "").context("emptying the layer's log")?;
    command.env("VK_INSTANCE_LAYERS", "VK_LAYER_KHRONOS_validation").env("VK_LAYER_SETTINGS_PATH", &folder);
    Ok(log)
}

/// Fails for anything that the layer said but that it is there, and if it does not say that.
fn judge(log: &Path) -> Result<()> {
    let said = std::fs::read_to_string(log).with_context(|| format!("reading {}", log.display()))?;
    let messages: Vec<&str> = said.lines().filter(|line| is_message(line)).collect();
    if messages.is_empty() {
        bail!("it was not there: install it (Debian: `apt-get install vulkan-validationlayers`)");
    }
    let found: Vec<&str> = messages.into_iter().filter(|line| !line.starts_with(PRESENT)).collect();
    if let [first, ..] = found.as_slice() {
        bail!("{} messages, in {}, of which the first is\n{first}", found.len(), log.display());
    }
    Ok(())
}

/// The first line of one, which begins with its name.
fn is_message(line: &str) -> bool {
    line.starts_with("VUID-") || line.starts_with("UNASSIGNED-") || line.starts_with("SYNC-")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(said: &str) -> Result<()> {
        let log = std::env::temp_dir().join(format!("hal-xtask-validation-{}-{}", std::process::id(), said.len()));
        std::fs::write(&log, said).unwrap();
        let judged = judge(&log);
        std::fs::remove_file(&log).unwrap();
        judged
    }

    #[test]
    fn anything_that_the_layer_says_is_a_failure_and_so_is_its_silence() {
        let present = format!("{PRESENT}(INFO / SPEC): msgNum: 1\n    Current Disables: None.\n");
        judged(&present).unwrap();
        assert!(judged("").unwrap_err().to_string().contains("vulkan-validationlayers"));
        for message in ["VUID-vkCmdDispatch-None-02700(ERROR / SPEC)", "SYNC-HAZARD-WRITE-AFTER-READ(ERROR)"] {
            let error = judged(&format!("{present}{message}: x\n{message}: y\n")).unwrap_err().to_string();
            assert!(error.starts_with("2 messages") && error.ends_with(&format!("{message}: x")), "{error}");
        }
    }
}
