//! The command line.

use anyhow::{Result, anyhow, bail};

use crate::route::Route;
use crate::workspace::Workspace;
use crate::{check, conformance, demo, guests, test};

const HELP: &str = "\
cargo xtask demo [--device URI]     set up, build, and classify handwritten digits in a sandbox
cargo xtask test [-- FILTER…]       set up, build the guests, and run every test
cargo xtask guests [NAME…]          build the guests into components, in target/components
cargo xtask check                   formatting, lints, documentation, WIT: all that is judged without running
cargo xtask bench [GROUP] [ARGUMENT…]
                                    the benchmarks, or one group of them, as one table; `cargo xtask bench -- --help` lists the arguments
cargo xtask conformance [--driver NAME] [--case PATTERN] [--write] [--validation]
                                    the conformance cases on every driver, as one table; `--write` makes it tests/conformance/REPORT.md;
                                    with `--validation` Vulkan's validation layer, if it is installed, must have nothing to say

Every command takes `--route installed|rustup|debian`, which forces one way to a standard library for WebAssembly. Without it the
ways are tried in that order: what the toolchain has, `rustup target add`, Debian's packages (as root they are installed, else the
command to type is printed).";

/// What was asked for.
#[derive(Debug, PartialEq, Eq)]
struct Request {
    what: What,
    route: Option<Route>,
}

#[derive(Debug, PartialEq, Eq)]
enum What {
    Help,
    Guests { names: Vec<String> },
    Test { filters: Vec<String> },
    Check,
    Demo { device: Option<String> },
    Bench { arguments: Vec<String> },
    Conformance { arguments: Vec<String>, validates: bool },
}

/// Does what `arguments` ask for.
pub fn run(arguments: impl Iterator<Item = String>) -> Result<()> {
    let Request { what, route } = parse(arguments)?;
    if what == What::Help {
        println!("{HELP}");
        return Ok(());
    }
    let workspace = Workspace::load()?;
    match what {
        What::Help => Ok(()),
        What::Guests { names } => guests::build(&workspace, &names, route),
        What::Test { filters } => test::run(&workspace, &filters, route),
        What::Check => check::run(&workspace, route),
        What::Demo { device } => demo::run(&workspace, device.as_deref(), route),
        What::Bench { arguments } => demo::bench(&workspace, &arguments, route),
        What::Conformance { arguments, validates } => conformance::run(&workspace, &arguments, validates, route),
    }
}

fn parse(arguments: impl Iterator<Item = String>) -> Result<Request> {
    let mut arguments = arguments.peekable();
    let command = arguments.next().unwrap_or_else(|| "help".into());
    let mut route = None;
    let mut device = None;
    let mut passed_on = Vec::new();
    let mut names = Vec::new();
    let mut validates = false;
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or_else(|| anyhow!("`{argument}` needs a value\n\n{HELP}"));
        match (command.as_str(), argument.as_str()) {
            (_, "--route") => route = Some(Route::named(&value()?)?),
            (_, "--help" | "-h") => return Ok(Request { what: What::Help, route }),
            ("demo", "--device") => device = Some(value()?),
            ("conformance", "--driver" | "--case") => {
                let value = value()?;
                passed_on.extend([argument, value]);
            }
            ("conformance", "--write") => passed_on.push(argument),
            ("conformance", "--validation") => validates = true,
            ("test" | "bench", "--") => passed_on.extend(arguments.by_ref()),
            ("conformance", name) if !name.starts_with('-') => {
                bail!(
                    "cases are named by `--case`, as Suite/Case or a part of it: `cargo xtask conformance --case '{name}'`"
                )
            }
            // The program knows what it takes.
            ("bench", _) => passed_on.push(argument),
            ("guests", name) if !name.starts_with('-') => names.push(argument),
            _ => bail!("`cargo xtask {command}` does not take `{argument}`\n\n{HELP}"),
        }
    }
    let what = match command.as_str() {
        "help" | "--help" | "-h" => What::Help,
        "guests" => What::Guests { names },
        "test" => What::Test { filters: passed_on },
        "check" => What::Check,
        "demo" => What::Demo { device },
        "bench" => What::Bench { arguments: passed_on },
        "conformance" => What::Conformance { arguments: passed_on, validates },
        _ => bail!("no command is called `{command}`\n\n{HELP}"),
    };
    Ok(Request { what, route })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Request> {
        parse(line.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn commands_are_understood() {
        let what = |line| parsed(line).unwrap().what;
        let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(what(""), What::Help);
        assert_eq!(what("guests"), What::Guests { names: vec![] });
        assert_eq!(what("guests a b"), What::Guests { names: words("a b") });
        assert_eq!(what("test -- x --nocapture"), What::Test { filters: words("x --nocapture") });
        assert_eq!(what("demo --device null://0"), What::Demo { device: Some("null://0".into()) });
        assert_eq!(what("bench kernels --rounds 3"), What::Bench { arguments: words("kernels --rounds 3") });
        assert_eq!(what("bench --json f -- --help"), What::Bench { arguments: words("--json f --help") });
        assert_eq!(
            what("conformance --driver null --case Fill*/direct --write"),
            What::Conformance { arguments: words("--driver null --case Fill*/direct --write"), validates: false }
        );
        assert_eq!(
            what("conformance --validation --driver vulkan"),
            What::Conformance { arguments: words("--driver vulkan"), validates: true }
        );
        assert_eq!(what("check --help"), What::Help);
        assert_eq!(parsed("check --route debian").unwrap(), Request { what: What::Check, route: Some(Route::Debian) });
    }

    #[test]
    fn what_is_not_understood_is_named() {
        for (line, expected) in [
            ("tset", "no command is called `tset`"),
            ("check --fix", "`cargo xtask check` does not take `--fix`"),
            ("test filter", "`cargo xtask test` does not take `filter`"),
            ("demo --device", "`--device` needs a value"),
            ("conformance --driver", "`--driver` needs a value"),
            ("conformance Fill*", "cases are named by `--case`, as Suite/Case or a part of it"),
            ("guests --route apt", "no route is called `apt`"),
        ] {
            let error = parsed(line).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{line}: {error}");
        }
    }
}
