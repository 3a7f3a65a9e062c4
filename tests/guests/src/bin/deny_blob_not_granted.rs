//! A blob that was not granted does not exist, whatever it is called: names are labels, never paths. Granted is `numbers`.
#![no_main]

use test_guests::{Outcome, StatusCode, blobs, check::explained, check::refused, check::same, guest};

guest!(run);

fn run() -> Outcome {
    let names: Vec<_> = blobs::granted().into_iter().map(|blob| blob.name).collect();
    same(names, vec!["numbers".into()], "the blobs that are listed")?;
    explained(blobs::open("letters"), StatusCode::NotFound, &["letters", "numbers"], "a blob that was not granted")?;
    for name in ["", "Numbers", "./numbers", "/etc/passwd", "../numbers", "numbers\u{0}", "numbers "] {
        refused(blobs::open(name), StatusCode::NotFound, &format!("the blob {name:?}"))?;
    }
    Ok(())
}
