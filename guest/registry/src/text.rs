//! Text in error messages, which comes from guests: quoted, escaped and cut, so that a message stays short and one line.

use alloc::string::String;
use core::fmt;

/// Most bytes of a caller's text that a message quotes, after escaping.
const MAX_QUOTED_BYTES: usize = 128;

/// Most bytes of driver names that a message lists, so that a full registry's 4,096 names stay out of it.
const MAX_LISTED_BYTES: usize = 1024;

/// Displays text in quotes, escaped, cut at [`MAX_QUOTED_BYTES`].
pub(crate) struct Quoted<'a>(pub(crate) &'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("'")?;
        let mut left = MAX_QUOTED_BYTES;
        for char in self.0.chars() {
            let escaped = char.escape_debug();
            let bytes: usize = escaped.clone().map(char::len_utf8).sum();
            let Some(rest) = left.checked_sub(bytes) else {
                return write!(f, "'... ({} bytes)", self.0.len());
            };
            left = rest;
            write!(f, "{escaped}")?;
        }
        f.write_str("'")
    }
}

/// Names joined by commas, each once, in order of first appearance, cut at [`MAX_LISTED_BYTES`].
pub(crate) fn list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let mut text = String::new();
    let mut seen = alloc::collections::BTreeSet::new();
    let mut left_out = 0;
    for name in names {
        if !seen.insert(name) {
            continue;
        }
        let separator = if text.is_empty() { "" } else { ", " };
        if text.len() + separator.len() + name.len() > MAX_LISTED_BYTES {
            left_out += 1;
            continue;
        }
        text.push_str(separator);
        text.push_str(name);
    }
    if left_out > 0 {
        text.push_str(&alloc::format!(" and {left_out} more"));
    }
    text
}
