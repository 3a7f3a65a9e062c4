//! Checks that say what was expected and what happened.

use crate::{Device, Error, LimitHit, Outcome, StatusCode, Usage};
use std::fmt::Debug;

/// An error as text: code, message and the limit that was hit.
pub fn show(error: &Error) -> String {
    match &error.limit {
        None => format!("{:?}: {}", error.code, error.message),
        Some(hit) => format!("{:?}: {} [{hit:?}]", error.code, error.message),
    }
}

/// The value, or what was being done and the error.
pub fn fine<T>(result: Result<T, Error>, what: &str) -> Outcome<T> {
    result.map_err(|error| format!("{what}: {}", show(&error)))
}

/// The error, which must have the code.
pub fn refused<T>(result: Result<T, Error>, code: StatusCode, what: &str) -> Outcome<Error> {
    match result {
        Ok(_) => Err(format!("{what}: expected {code:?}, but it was allowed")),
        Err(error) if error.code == code => Ok(error),
        Err(error) => Err(format!("{what}: expected {code:?}, got {}", show(&error))),
    }
}

/// The error, which must have the code and hold every one of `words` in its message.
pub fn explained<T>(result: Result<T, Error>, code: StatusCode, words: &[&str], what: &str) -> Outcome<Error> {
    let error = refused(result, code, what)?;
    match words.iter().find(|word| !error.message.contains(**word)) {
        None => Ok(error),
        Some(word) => Err(format!("{what}: expected a message with {word:?}, got {}", show(&error))),
    }
}

/// The limit that was hit, which must be the one called `name`.
pub fn limited<T>(result: Result<T, Error>, name: &str, what: &str) -> Outcome<LimitHit> {
    let error = refused(result, StatusCode::ResourceExhausted, what)?;
    match error.limit {
        Some(hit) if hit.limit == name => Ok(hit),
        _ => Err(format!("{what}: expected the limit {name:?} to be hit, got {}", show(&error))),
    }
}

/// Fails unless both are equal.
pub fn same<T: PartialEq + Debug>(actual: T, expected: T, what: &str) -> Outcome {
    if actual == expected {
        return Ok(());
    }
    Err(format!("{what}: expected {}, got {}", brief(&expected), brief(&actual)))
}

/// What is in use of the budget called `name`, among `budget`.
pub fn usage(budget: Vec<Usage>, name: &str) -> Outcome<Usage> {
    let names: Vec<_> = budget.iter().map(|usage| usage.name.clone()).collect();
    let usage = budget.into_iter().find(|usage| usage.name == name);
    usage.ok_or_else(|| format!("no budget called {name:?}; there are {names:?}"))
}

/// The value of the limit called `name` of a device.
pub fn limit(device: &Device, name: &str) -> Outcome<u64> {
    let limits = device.limits();
    let amount = limits.iter().find(|amount| amount.name == name);
    amount.map(|amount| amount.value).ok_or_else(|| format!("no limit called {name:?}; there are {limits:?}"))
}

/// Makes objects until the budget called `name` is used up, and checks its exact edge: the last one that is allowed is made, the next is
/// refused with the right numbers, one given back makes room for one, and all given back leave the budget as it was.
pub fn edge<T>(budget: impl Fn() -> Vec<Usage>, name: &str, mut make: impl FnMut() -> Result<T, Error>) -> Outcome {
    let before = usage(budget(), name)?;
    let room = before.allowed - before.used;
    if room == 0 {
        return Err(format!("the test has to leave room in {name}: {before:?}"));
    }
    let mut made = Vec::new();
    for n in 0..room {
        made.push(fine(make(), &format!("{name}: making {} of {room}", n + 1))?);
    }
    for attempt in ["the first", "the second"] {
        let hit = limited(make(), name, &format!("{name}: {attempt} one too many"))?;
        same(
            (hit.asked, hit.available, hit.allowed),
            (1, 0, before.allowed),
            &format!("{name}: asked, available, allowed"),
        )?;
    }
    same(usage(budget(), name)?.used, before.allowed, &format!("{name}: used at the edge"))?;

    drop(made.pop());
    made.push(fine(make(), &format!("{name}: making one after one was given back"))?);
    limited(make(), name, &format!("{name}: one too many again"))?;

    drop(made);
    same(usage(budget(), name)?.used, before.used, &format!("{name}: used after all were given back"))
}

/// At most 200 characters of a value.
fn brief(value: &impl Debug) -> String {
    let text = format!("{value:?}");
    match text.char_indices().nth(200) {
        None => text,
        Some((end, _)) => format!("{}... ({} bytes)", &text[..end], text.len()),
    }
}
