//! Linear memory: growing past the limit fails as the language says, and the guest goes on with what it has. The input is the limit in bytes.
#![no_main]

use test_guests::{Outcome, ensure, guest};

guest!(input run);

const PIECE: usize = 1 << 20;

fn run(input: &str) -> Outcome<String> {
    let limit: usize = input.parse().map_err(|error| format!("the input is the limit: {error}"))?;
    let mut pieces = Vec::with_capacity(limit / PIECE + 2);
    loop {
        let mut piece = Vec::<u8>::new();
        if piece.try_reserve_exact(PIECE).is_err() {
            break;
        }
        piece.resize(PIECE, 1);
        pieces.push(piece);
        ensure!(pieces.len() * PIECE <= limit, "expected at most {limit} bytes, got {}", pieces.len() * PIECE);
    }
    ensure!(pieces.len() * PIECE >= limit / 2, "expected most of {limit} bytes, got {}", pieces.len() * PIECE);
    pieces.pop();
    let mut again = Vec::<u8>::new();
    ensure!(again.try_reserve_exact(PIECE / 2).is_ok(), "nothing can be had after a piece was given back");
    Ok(format!("{} MiB", pieces.len()))
}
