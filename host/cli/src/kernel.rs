//! `hal kernel`: what a kernel is, and what it does on the devices here, without a tenant.
//!
//! Kernels run through `hal-core`, under a grant that this program gives itself: as checked and as bounded as a tenant's.

pub mod args;
mod check;
mod data;
mod device;
mod facts;
mod job;
mod oracle;
mod report;
mod run;
mod source;

use crate::{exit::Exit, text};
use args::Kernel;

/// An end that has an exit code of its own.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
struct Stop {
    exit: Exit,
    message: String,
}

impl Stop {
    /// The kernel is refused: none of it ran.
    fn refused(message: impl Into<String>) -> anyhow::Error {
        Self { exit: Exit::Refused, message: message.into() }.into()
    }
}

/// `hal kernel`.
///
/// # Errors
/// None that is not told already.
pub async fn kernel(command: &Kernel) -> anyhow::Result<Exit> {
    let result = match command {
        Kernel::Check(arguments) => check::check(arguments).await,
        Kernel::Run(arguments) => run::run(arguments).await,
    };
    Ok(result.unwrap_or_else(|error| tell(&error)))
}

/// Says what went wrong, and what to end with.
fn tell(error: &anyhow::Error) -> Exit {
    text::note(&format!("error: {error:#}"));
    error.downcast_ref::<Stop>().map_or(Exit::Failure, |stop| stop.exit)
}
