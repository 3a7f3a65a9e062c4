//! Guest text in our own sentences: short and escaped, whatever the guest wrote.

/// Most bytes of guest text that one quotation repeats. A text that is copied into errors, logs and audit lines multiplies.
pub const MAX_QUOTE_BYTES: usize = 128;

/// Most bytes of a label on an object.
pub const MAX_LABEL_BYTES: usize = 64;

/// Most bytes of a name (of a driver, a blob, a path).
pub const MAX_NAME_BYTES: usize = 256;

/// The text in double quotes, escaped and cut: at most [`MAX_QUOTE_BYTES`] of it, the quotes and an ellipsis not counted.
pub fn quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len().min(MAX_QUOTE_BYTES) + 5);
    out.push('"');
    let mut cut = false;
    for c in text.chars() {
        let start = out.len();
        out.extend(c.escape_debug());
        // The opening quote is not part of the quotation.
        if out.len() - 1 > MAX_QUOTE_BYTES {
            out.truncate(start);
            cut = true;
            break;
        }
    }
    out.push('"');
    if cut {
        out.push_str("...");
    }
    out
}

/// At most `bytes` of a text, cut between characters, with control characters replaced.
pub(crate) fn clean(text: &str, bytes: usize) -> String {
    let mut out = String::with_capacity(text.len().min(bytes));
    for c in text.chars() {
        let c = if c.is_control() { '\u{fffd}' } else { c };
        if out.len() + c.len_utf8() > bytes {
            break;
        }
        out.push(c);
    }
    out
}

/// At most `bytes` of a text, cut between characters.
pub(crate) fn cut(text: &mut String, bytes: usize) {
    if text.len() > bytes {
        let mut end = bytes;
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        text.truncate(end);
    }
}

/// The text with every occurrence of a word replaced, where it is not a part of a longer one.
pub(crate) fn replace_word(text: &str, word: &str, by: &str) -> String {
    replace_words(text, &[(word, by.to_owned())])
}

/// The same for several words at once: what was put in is not looked at again. Of words that begin at one place the longest one counts.
pub(crate) fn replace_words(text: &str, words: &[(&str, String)]) -> String {
    let part = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut before = None;
    while let Some(next) = rest.chars().next() {
        let whole = |word: &&(&str, String)| {
            let after = rest.strip_prefix(word.0).filter(|_| !word.0.is_empty());
            after.is_some_and(|after| !part(after.chars().next()))
        };
        let found = words.iter().filter(whole).max_by_key(|(word, _)| word.len()).filter(|_| !part(before));
        let length = match found {
            Some((word, by)) => {
                out.push_str(by);
                word.len()
            }
            None => {
                out.push(next);
                next.len_utf8()
            }
        };
        before = rest.get(..length).and_then(|taken| taken.chars().next_back());
        rest = rest.get(length..).unwrap_or_default();
    }
    out
}

/// Names for a sentence: `a, b, c`, cut off after a few.
pub(crate) fn list<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    const MOST: usize = 16;
    let mut out = String::new();
    for (index, name) in names.into_iter().enumerate() {
        if index == MOST {
            out.push_str(", ...");
            break;
        }
        if index > 0 {
            out.push_str(", ");
        }
        out.push_str(&clean(name, MAX_LABEL_BYTES));
    }
    if out.is_empty() { "none".to_owned() } else { out }
}

/// A clause that says which names there are: `there are a, b`. Names may be numbers, so that one alone must not read like a count.
pub(crate) fn there_are<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.into_iter().collect();
    match *names {
        [] => "there is none".to_owned(),
        [only] => format!("there is only {}", list([only])),
        _ => format!("there are {}", list(names)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quotation_is_escaped_and_bounded() {
        assert_eq!(quote("cpu"), "\"cpu\"");
        assert_eq!(quote("a\"b\n"), "\"a\\\"b\\n\"");
        let long = quote(&"x".repeat(4096));
        assert_eq!(long.len(), MAX_QUOTE_BYTES + 5);
        assert!(long.ends_with("\"..."));
        // Escapes count as what they become.
        assert!(quote(&"\0".repeat(4096)).len() <= MAX_QUOTE_BYTES + 5);
        assert!(quote(&"\u{1f600}".repeat(100)).len() <= MAX_QUOTE_BYTES + 5);
    }

    #[test]
    fn cleaning_cuts_between_characters() {
        assert_eq!(clean("a\tb", 64), "a\u{fffd}b");
        assert_eq!(clean("\u{e9}\u{e9}", 3), "\u{e9}");
        let mut text = "\u{e9}\u{e9}".to_owned();
        cut(&mut text, 3);
        assert_eq!(text, "\u{e9}");
    }

    #[test]
    fn whole_words_are_replaced() {
        assert_eq!(replace_word("no pci-a here: pci-ab, pci-a", "pci-a", "0"), "no 0 here: pci-ab, 0");
        assert_eq!(replace_word("0 of 10", "0", "3"), "3 of 10");
        assert_eq!(replace_word("x", "", "y"), "x");
        let words = [("1", "0".to_owned()), ("0", "1".to_owned()), ("0 and", "all:".to_owned())];
        assert_eq!(replace_words("1 and 0, 0 and 10", &words), "0 and 1, all: 10");
    }

    #[test]
    fn a_list_ends_somewhere() {
        assert_eq!(list([]), "none");
        assert_eq!(list(["a", "b"]), "a, b");
        assert_eq!((there_are([]).as_str(), there_are(["a", "b"]).as_str()), ("there is none", "there are a, b"));
        assert_eq!(there_are(["0"]), "there is only 0");
        assert!(list(std::iter::repeat_n("a", 100)).ends_with(", ..."));
    }
}
