//! Byte offsets to line and column.

use crate::error::Place;

/// The place of a byte offset. Lines end at `\n`; columns count bytes.
pub(crate) fn of_offset(source: &str, offset: usize) -> Place {
    let before = source.as_bytes().get(..offset).unwrap_or(source.as_bytes());
    let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
    let start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
    Place { line: small(line), column: small(before.len() - start + 1) }
}

/// The place where a span starts, if it is defined and lies in the source.
pub(crate) fn of_span(source: &str, span: naga::Span) -> Option<Place> {
    let range = span.to_range()?;
    (!source.is_empty() && range.start <= source.len()).then(|| of_offset(source, range.start))
}

/// The text of a span, if it lies in the source.
pub(crate) fn text(source: &str, span: naga::Span) -> Option<&str> {
    source.get(span.to_range()?)
}

fn small(value: usize) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}
