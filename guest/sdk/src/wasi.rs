//! Printing, arguments and `main`, through `wasi:cli`.
//!
//! On wasm32-unknown-unknown the standard library's `println!` and panic messages go nowhere, silently. The macros of this
//! crate have the same names and reach the host's terminal.

use crate::bindings::command::wasi::cli::{environment, stderr, stdout};
use crate::bindings::command::wasi::io::streams::OutputStream;
use std::fmt::{self, Display, Write};

/// What one `blocking-write-and-flush` takes, by its contract.
const MAX_WRITE_BYTES: usize = 4096;

/// The program's arguments, the first of which is its name by convention, as in [`std::env::args`].
pub fn args() -> std::vec::IntoIter<String> {
    environment::get_arguments().into_iter()
}

/// What `main` may return: nothing, or a result whose error is printed.
pub trait Termination {
    /// The error's text, if it is one.
    fn failure(self) -> Option<String>;
}

impl Termination for () {
    fn failure(self) -> Option<String> {
        None
    }
}

impl<E: Display> Termination for Result<(), E> {
    fn failure(self) -> Option<String> {
        // The alternate form prints the causes too, where an error type offers that.
        self.err().map(|error| format!("{error:#}"))
    }
}

/// Runs a `main` as `wasi:cli/run`: panics and the returned error go to stderr.
///
/// # Errors
/// If `main` returns an error.
#[doc(hidden)]
#[expect(clippy::result_unit_err, reason = "the shape of wasi:cli/run")]
pub fn run<T: Termination>(main: impl FnOnce() -> T) -> Result<(), ()> {
    std::panic::set_hook(Box::new(|panic| print_err(format_args!("{panic}\n"))));
    match main().failure() {
        None => Ok(()),
        Some(error) => {
            print_err(format_args!("error: {error}\n"));
            Err(())
        }
    }
}

#[doc(hidden)]
pub fn print_out(text: fmt::Arguments<'_>) {
    thread_local!(static STREAM: OutputStream = stdout::get_stdout());
    STREAM.with(|stream| write(stream, text));
}

#[doc(hidden)]
pub fn print_err(text: fmt::Arguments<'_>) {
    thread_local!(static STREAM: OutputStream = stderr::get_stderr());
    STREAM.with(|stream| write(stream, text));
}

/// Text that cannot be written, because nobody reads it any more, is dropped.
fn write(stream: &OutputStream, text: fmt::Arguments<'_>) {
    let mut line = String::new();
    let _ = line.write_fmt(text);
    for chunk in line.as_bytes().chunks(MAX_WRITE_BYTES) {
        if stream.blocking_write_and_flush(chunk).is_err() {
            return;
        }
    }
}

/// Prints to the host's stdout. Text that nobody reads any more is dropped.
#[macro_export]
macro_rules! print {
    ($($arg:tt)*) => { $crate::wasi::print_out(::core::format_args!($($arg)*)) };
}

/// Prints a line to the host's stdout. The standard library's `println!` prints nothing on wasm32-unknown-unknown.
#[macro_export]
macro_rules! println {
    () => { $crate::wasi::print_out(::core::format_args!("\n")) };
    ($($arg:tt)*) => { $crate::wasi::print_out(::core::format_args!("{}\n", ::core::format_args!($($arg)*))) };
}

/// Prints to the host's stderr.
#[macro_export]
macro_rules! eprint {
    ($($arg:tt)*) => { $crate::wasi::print_err(::core::format_args!($($arg)*)) };
}

/// Prints a line to the host's stderr.
#[macro_export]
macro_rules! eprintln {
    () => { $crate::wasi::print_err(::core::format_args!("\n")) };
    ($($arg:tt)*) => { $crate::wasi::print_err(::core::format_args!("{}\n", ::core::format_args!($($arg)*))) };
}

/// Makes a function the program: exports it as `wasi:cli/run`.
///
/// It returns nothing or a `Result<(), E>` with `E: Display`; an error is printed to stderr and makes the run fail. Panics are
/// printed to stderr.
///
/// ```ignore
/// hal_guest::run!(main);
///
/// fn main() -> hal_guest::Result<()> {
///     hal_guest::println!("{:?}", hal_guest::Registry::default().enumerate());
///     Ok(())
/// }
/// ```
#[macro_export]
macro_rules! run {
    ($main:expr) => {
        const _: () = {
            struct Program;

            impl $crate::bindings::command::exports::wasi::cli::run::Guest for Program {
                fn run() -> ::core::result::Result<(), ()> {
                    $crate::wasi::run($main)
                }
            }

    $crate::bindings::command::export_command!(Program with_types_in $crate::bindings::command);
        };
    };
}
