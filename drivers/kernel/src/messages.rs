//! naga's messages without what only naga can read: the places of types and expressions in its tables.

use naga::common::wgsl::TypeContext;

/// Longest part of naga's own message that is passed on: it may repeat names of the source.
const MAX_DETAIL_BYTES: usize = 400;

/// A message of naga's about `module`: places in tables replaced by names where there are some and left out where not,
/// control characters escaped, cut.
pub(crate) fn detail(text: &str, module: Option<&naga::Module>) -> String {
    let mut out = String::new();
    for character in named(text, module).chars() {
        if out.len() >= MAX_DETAIL_BYTES {
            out.push('…');
            break;
        }
        match character {
            '\n' => out.push(' '),
            '\'' | '"' => out.push(character),
            _ => out.extend(character.escape_debug()),
        }
    }
    out
}

/// What a place in a table is written like. naga writes it behind a word that says which table; `Some` around it is how
/// it writes what may be missing.
fn named(text: &str, module: Option<&naga::Module>) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(start) = rest.find('[') {
        let (before, from) = rest.split_at(start);
        out.push_str(before);
        let Some((index, after)) = place(from).filter(|_| !out.ends_with(is_name)) else {
            out.push('[');
            rest = from.get(1..).unwrap_or_default();
            continue;
        };
        rest = after;
        if let Some(open) = out.strip_suffix("Some(") {
            out.truncate(open.len());
            rest = rest.strip_prefix(')').unwrap_or(rest);
        }
        // A name follows already, or would if there were one.
        let nameless = rest.strip_prefix(" ''");
        let follows = nameless.is_none() && rest.starts_with(" '");
        rest = nameless.unwrap_or(rest);
        let name = index.filter(|_| !follows).and_then(|index| name(last_word(&out), index, module?));
        match name {
            Some(name) => out.push_str(&format!("`{name}`")),
            None => out.truncate(out.trim_end_matches(' ').len()),
        }
    }
    out.push_str(rest);
    out.replace(" expression None ", " expression (there is none) ").replace(" type None", " type (there is none)")
}

/// The `[4]` or `[4..7]` at the start of `text`, and what comes after it. Only one alone has an index.
fn place(text: &str) -> Option<(Option<usize>, &str)> {
    let (inner, after) = text.strip_prefix('[')?.split_once(']')?;
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match inner.split_once("..") {
        Some((first, last)) => (is_number(first) && is_number(last)).then_some((None, after)),
        None => is_number(inner).then(|| (inner.parse().ok(), after)),
    }
}

/// Of an indexed name, as in `member[1]`.
fn is_name(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '_' | ']' | ')' | '>' | '`')
}

fn last_word(text: &str) -> &str {
    text.trim_end_matches([' ', ':']).rsplit([' ', '(', '{']).next().unwrap_or_default()
}

fn name(table: &str, index: usize, module: &naga::Module) -> Option<String> {
    match table.to_lowercase().as_str() {
        "type" | "ty" | "base" => {
            let (handle, _) = module.types.iter().nth(index)?;
            Some(module.to_ctx().type_to_string(handle))
        }
        // "Call to [2] is invalid".
        "to" => module.functions.iter().nth(index)?.1.name.clone(),
        "variable" => module.global_variables.iter().nth(index)?.1.name.clone(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn module() -> naga::Module {
        naga::front::wgsl::parse_str(
            "struct Pair { a: u32, b: array<f32, 4> }
             var<private> first: Pair; var<private> second: u32;
             fn one() {} fn two() {}",
        )
        .unwrap()
    }

    #[test]
    fn places_become_names_or_go() {
        let module = module();
        let types: Vec<_> = module.types.iter().map(|(handle, _)| handle.index()).collect();
        assert_eq!(types, [0, 1, 2, 3]);
        for (text, says) in [
            ("Function [1] 'main' is invalid", "Function 'main' is invalid"),
            ("Expression [84] is invalid: bad", "Expression is invalid: bad"),
            ("Invalid access into expression [5], indexed: true", "Invalid access into expression, indexed: true"),
            ("Error laying out type [3]: too large", "Error laying out type `Pair`: too large"),
            ("Type [2] '' is invalid", "Type `array<f32, 4>` is invalid"),
            ("Type [3] 'Pair' is invalid", "Type 'Pair' is invalid"),
            ("Base type [9] for the array", "Base type for the array"),
            ("Call to [1] is invalid", "Call to `two` is invalid"),
            ("Global variable [1] is used", "Global variable `second` is used"),
            (
                "The `return` expression Some([7]) does not match the declared return type Some([0])",
                "The `return` expression does not match the declared return type `u32`",
            ),
            (
                "The `return` expression None does not match the declared return type Some([1])",
                "The `return` expression (there is none) does not match the declared return type `f32`",
            ),
            ("does not match the declared return type None", "does not match the declared return type (there is none)"),
            ("Pointer { base: [3], space: Function }", "Pointer { base: `Pair`, space: Function }"),
            ("range [3..5] of it", "range of it"),
            // Not places.
            ("The struct member[1] offset", "The struct member[1] offset"),
            ("a[0][1], [x], [], [1, 2], [", "a[0][1], [x], [], [1, 2], ["),
            ("[0", "[0"),
        ] {
            assert_eq!(named(text, Some(&module)), says);
        }
        assert_eq!(named("type [3] and [4]", None), "type and");
    }

    #[test]
    fn messages_are_cut_and_harmless() {
        let text = detail(&format!("a\n\u{1b}[31m'{}", "ü".repeat(1000)), None);
        assert!(text.starts_with("a \\u{1b}[31m'ü") && text.ends_with('…'), "{text}");
        assert!(text.len() < 500);
    }
}
