//! Does to registries what the input says, one operation a line, and reports the outcome of each, one a line:
//!
//! - `new`, `default`: a registry, called by its number from 0 on; `drop R`
//! - `narrow F`, `duplicate F`: a factory, called by its number; the granted ones come first
//! - `register R F`, `unregister R F`
//! - `enumerate R`, `detailed R`
//! - `try R NAME`, `open R URI`
#![no_main]

use test_guests::{DriverFactory, Error, Outcome, Registry, factories, guest};

guest!(input run);

struct State {
    factories: Vec<DriverFactory>,
    registries: Vec<Option<Registry>>,
}

fn run(input: &str) -> Outcome<String> {
    let mut state = State { factories: factories::granted(), registries: Vec::new() };
    let mut report = String::new();
    for line in input.lines() {
        report += &state.step(line).map_err(|error| format!("{line:?}: {error}"))?;
        report.push('\n');
    }
    Ok(report)
}

impl State {
    fn step(&mut self, line: &str) -> Outcome<String> {
        let mut words = line.splitn(3, ' ');
        let operation = words.next().unwrap_or_default();
        let first = words.next().unwrap_or_default();
        let second = words.next().unwrap_or_default();
        Ok(match operation {
            "new" => self.registry(Registry::new()),
            "default" => self.registry(Registry::default()),
            "drop" => {
                self.registries[number(first)?].take();
                "ok".into()
            }
            "narrow" => {
                let narrowed = self.factories[number(first)?].narrow(&[], None);
                self.factory(narrowed)
            }
            "duplicate" => {
                let duplicate = self.factories[number(first)?].duplicate();
                self.factory(duplicate)
            }
            "register" => said(self.at(first)?.register_factory(&self.factories[number(second)?]), |()| "ok".into()),
            "unregister" => {
                said(self.at(first)?.unregister_factory(&self.factories[number(second)?]), |()| "ok".into())
            }
            "enumerate" => names(self.at(first)?.enumerate()),
            "detailed" => {
                let listing = self.at(first)?.enumerate_detailed();
                let failures: Vec<_> = listing
                    .failures
                    .iter()
                    .map(|f| format!("{} {:?}: {}", f.factory, f.error.code, f.error.message))
                    .collect();
                format!("{} | {}", names(listing.drivers), failures.join(" | "))
            }
            "try" => said(self.at(first)?.try_create(second), |driver| format!("made {}", driver.info().full_name)),
            "open" => said(self.at(first)?.create_device(second), |device| format!("opened {}", device.info().path)),
            _ => return Err("no such operation".into()),
        })
    }

    fn at(&self, word: &str) -> Outcome<&Registry> {
        self.registries[number(word)?].as_ref().ok_or_else(|| "that registry was dropped".into())
    }

    fn registry(&mut self, registry: Registry) -> String {
        self.registries.push(Some(registry));
        "ok".into()
    }

    fn factory(&mut self, factory: Result<DriverFactory, Error>) -> String {
        said(factory, |factory| {
            self.factories.push(factory);
            "ok".into()
        })
    }
}

fn number(word: &str) -> Outcome<usize> {
    word.parse().map_err(|_| format!("{word:?} is no number"))
}

fn names(drivers: Vec<test_guests::DriverInfo>) -> String {
    drivers.into_iter().map(|info| info.name).collect::<Vec<_>>().join(" ")
}

fn said<T>(result: Result<T, Error>, ok: impl FnOnce(T) -> String) -> String {
    match result {
        Ok(value) => ok(value),
        Err(error) => format!("{:?}: {}", error.code, error.message),
    }
}
