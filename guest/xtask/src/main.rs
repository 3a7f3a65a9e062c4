//! `cargo xtask`: see `cargo xtask help`.

use std::process::ExitCode;

fn main() -> ExitCode {
    match xtask::cli::run(std::env::args().skip(1)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
