//! Text for people: columns, sizes, and printing that survives a reader who leaves.

use crate::exit::Exit;
use std::io::{ErrorKind, Write};

/// Prints to stdout. A closed pipe is the reader's choice and ends the command quietly.
///
/// # Errors
/// Any other failure to write.
pub fn print(text: &str) -> anyhow::Result<Exit> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => Ok(Exit::Success),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(Exit::OutputClosed),
        Err(error) => Err(anyhow::Error::new(error).context("the output could not be written to stdout")),
    }
}

/// Prints a line to stderr, or nothing if stderr is gone.
pub fn note(line: &str) {
    let _gone = writeln!(std::io::stderr().lock(), "{line}");
}

/// A value as indented JSON with a final newline.
///
/// # Errors
/// None for our types, but the serializer has a `Result`.
pub fn json(value: &impl serde::Serialize) -> anyhow::Result<String> {
    let mut text = serde_json::to_string_pretty(value)?;
    text.push('\n');
    Ok(text)
}

/// Columns as wide as their widest cell, two spaces apart, without trailing spaces.
pub fn table(header: &[&str], rows: &[Vec<String>]) -> String {
    let mut widths: Vec<usize> = header.iter().map(|cell| cell.chars().count()).collect();
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let mut text = String::new();
    let header = header.iter().map(|cell| (*cell).to_owned()).collect();
    for row in std::iter::once(&header).chain(rows) {
        let cells: Vec<String> = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        text.push_str(cells.join("  ").trim_end());
        text.push('\n');
    }
    text
}

/// A number of bytes in the largest binary unit that leaves at least 1: `64 MiB`, `15.5 GiB`, `12 B`.
pub fn bytes(count: u64) -> String {
    const UNITS: [(&str, u32); 4] = [("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10)];
    let Some((unit, shift)) = UNITS.into_iter().find(|(_, shift)| count >> shift > 0) else {
        return format!("{count} B");
    };
    let tenths = (u128::from(count) * 10) >> shift;
    let (whole, tenth) = (tenths / 10, tenths % 10);
    if tenth == 0 { format!("{whole} {unit}") } else { format!("{whole}.{tenth} {unit}") }
}

/// A time in nanoseconds in the unit that leaves one to three digits before the point: `1.25 ms`.
pub fn time(nanoseconds: u64) -> String {
    const UNITS: [(&str, u64); 3] = [("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1_000)];
    let Some((unit, factor)) = UNITS.into_iter().find(|(_, factor)| nanoseconds >= *factor) else {
        return format!("{nanoseconds} ns");
    };
    format!("{:.2} {unit}", nanoseconds as f64 / factor as f64)
}

/// A name from a file of others, escaped and cut: a terminal obeys what it is sent.
pub fn shown(name: &str) -> String {
    const MAX_CHARACTERS: usize = 128;
    name.chars().take(MAX_CHARACTERS).flat_map(char::escape_debug).collect()
}

/// Joins words for a sentence, or says that there are none.
pub fn list<T: AsRef<str>>(words: impl IntoIterator<Item = T>) -> String {
    let words: Vec<String> = words.into_iter().map(|word| word.as_ref().to_owned()).collect();
    if words.is_empty() { "none".to_owned() } else { words.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let text = table(&["A", "LONG"], &[vec!["wide".into(), "x".into()], vec!["ü".into(), String::new()]]);
        assert_eq!(text, "A     LONG\nwide  x\nü\n");
    }

    #[test]
    fn names_of_others_are_escaped_and_cut() {
        assert_eq!(shown("größe<f32>"), "größe<f32>");
        assert_eq!(shown("\u{1b}[2J\n"), "\\u{1b}[2J\\n");
        assert_eq!(shown(&"x".repeat(1000)).len(), 128);
    }

    #[test]
    fn times_read_naturally() {
        for (nanoseconds, text) in
            [(0, "0 ns"), (999, "999 ns"), (1_250, "1.25 us"), (1_000_000, "1.00 ms"), (61_000_000_000, "61.00 s")]
        {
            assert_eq!(time(nanoseconds), text);
        }
    }

    #[test]
    fn sizes_read_naturally() {
        for (count, text) in [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1 KiB"),
            (1536, "1.5 KiB"),
            (64 << 20, "64 MiB"),
            (u64::MAX, "16777215.9 TiB"),
        ] {
            assert_eq!(bytes(count), text);
        }
    }
}
