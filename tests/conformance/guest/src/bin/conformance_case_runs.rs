//! Runs one conformance case through WIT: the input is a driver's name and the case's, a line each.
#![no_main]

use hal_conformance_guest::Guest;
use test_guests::{Outcome, guest};

guest!(input run);

fn run(input: &str) -> Outcome<String> {
    let (driver, id) = input.split_once('\n').ok_or("expected a driver and a case, a line each")?;
    let case = hal_conformance_cases::cases::<Guest>().into_iter().find(|case| case.id() == id);
    case.ok_or_else(|| format!("no case is called {id}"))?.run(&Guest::new(driver))?;
    Ok("passed".into())
}
