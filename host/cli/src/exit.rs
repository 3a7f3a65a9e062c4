//! What the process ends with.

use std::process::ExitCode;

/// Printed below `hal --help`.
pub const HELP: &str = "\
Exit codes:
  0    it worked; for `run`: the tenant ended well
  1-123  `run`: the tenant's own exit code (above that, codes overlap with those below)
  1    `kernel run`: devices or the interpreter disagree, or --check found a mistake
  124  `run`: the tenant was stopped because its time was up (--timeout); `kernel`: a device's was
  125  hal could not do what was asked: command line, file, policy, driver
  126  the component or kernel was refused: nothing of it ran
  134  `run`: the tenant trapped; what it used was released
  141  `run`: whoever read the output went away, so the tenant was stopped";

/// How a command ended. The codes of 124 and more follow `timeout`, `env`, and a shell's 128 + signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// It worked.
    Success,
    /// The tenant's own code.
    Tenant(u8),
    /// Two runs of a kernel differ, or a mistake was found in it.
    Different,
    /// The tenant's time was up, or a kernel's.
    Timeout,
    /// We could not do what was asked.
    Failure,
    /// The component or kernel was refused before any of it ran.
    Refused,
    /// The tenant trapped.
    Trap,
    /// The reader of our output went away.
    OutputClosed,
}

impl Exit {
    /// The number.
    pub fn code(self) -> u8 {
        match self {
            Self::Success => 0,
            Self::Tenant(code) => code,
            Self::Different => 1,
            Self::Timeout => 124,
            Self::Failure => 125,
            Self::Refused => 126,
            Self::Trap => 134,
            Self::OutputClosed => 141,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}
