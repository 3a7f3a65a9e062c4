//! "blobs": exactly as many open at a time as the session allows. The input is how many that is; granted is `numbers`.
#![no_main]

use test_guests::{Outcome, blobs, check::fine, check::limited, check::same, guest};

guest!(input run);

fn run(input: &str) -> Outcome<String> {
    let allowed: u64 = input.parse().map_err(|error| format!("the input is the limit: {error}"))?;
    let mut open = Vec::new();
    for n in 0..allowed {
        open.push(fine(blobs::open("numbers"), &format!("opening {} of {allowed}", n + 1))?);
    }
    let hit = limited(blobs::open("numbers"), "blobs", "one too many")?;
    same((hit.asked, hit.available, hit.allowed), (1, 0, allowed), "asked, available, allowed")?;
    open.pop();
    open.push(fine(blobs::open("numbers"), "opening one after one was given back")?);
    limited(blobs::open("numbers"), "blobs", "one too many again")?;
    same(fine(open[0].read(7, 1), "reading")?, vec![7], "a blob that is open")?;
    Ok(String::new())
}
