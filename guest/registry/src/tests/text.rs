//! What messages quote.

use crate::text::{Quoted, list};
use alloc::string::ToString;

#[test]
fn short_text_is_quoted_as_it_is() {
    assert_eq!(Quoted("vulkan://0").to_string(), "'vulkan://0'");
    assert_eq!(Quoted("").to_string(), "''");
    assert_eq!(Quoted("größer").to_string(), "'größer'");
}

#[test]
fn control_and_direction_characters_are_escaped() {
    assert_eq!(Quoted("a\n\x1b[31m'\u{202e}\0").to_string(), r"'a\n\u{1b}[31m\'\u{202e}\0'");
}

#[test]
fn long_text_is_cut_at_128_bytes_whatever_is_escaped() {
    assert_eq!(Quoted(&"x".repeat(128)).to_string().len(), 130);
    let cut = Quoted(&"x".repeat(129)).to_string();
    assert!(cut.ends_with("x'... (129 bytes)") && cut.matches('x').count() == 128, "{cut}");
    for text in ["\u{202e}", "é", "\n", "\u{1f980}"] {
        let cut = Quoted(&text.repeat(4096)).to_string();
        assert!(cut.len() <= 128 + "''... (16384 bytes)".len(), "{cut}");
    }
}

#[test]
fn names_are_listed_once_and_cut() {
    assert_eq!(list([].into_iter()), "");
    assert_eq!(list(["b", "a", "b"].into_iter()), "b, a");
    let fits = "x".repeat(1024 - "a, ".len());
    assert_eq!(list(["a", &fits].into_iter()).len(), 1024);
    let long = fits + "x";
    assert_eq!(list(["a", &long, "bb", "cc", "cc"].into_iter()), "a, bb, cc and 1 more");
}
