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
