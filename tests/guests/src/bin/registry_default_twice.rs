//! Every handle to the default registry is the same registry, and dropping them releases nothing. Granted is a factory that lists `null`.
#![no_main]

use test_guests::{Outcome, Registry, check::fine, check::same, factories, guest};

guest!(run);

fn run() -> Outcome {
    let (one, two) = (Registry::default(), Registry::default());
    let factory = fine(factories::granted().remove(0).narrow(&[], None), "narrowing")?;
    fine(one.register_factory(&factory), "registering by one handle")?;
    same(two.enumerate().len(), 2, "drivers by the other handle")?;
    drop(one);
    drop(two);
    let three = Registry::default();
    same(three.enumerate().len(), 2, "drivers by a handle made after the others were dropped")?;
    fine(three.unregister_factory(&factory), "unregistering by the third handle")?;
    drop(factory);
    same(Registry::default().enumerate().len(), 1, "drivers at the end")
}
