//! `hal inspect`: what a component is, without running or compiling it.

use crate::{
    args::Inspect,
    component::{self, Examined, Refusal},
    exit::Exit,
    text,
};
use hal_host::Wasi;
use serde::Serialize;
use std::{collections::BTreeSet, fmt::Write};

#[derive(Serialize)]
struct Report {
    file: String,
    bytes: usize,
    /// Whether `hal run` would take it.
    runs: bool,
    refusals: Vec<Refusal>,
    /// The shortest line that would start it; DRIVER is for whoever grants it to choose.
    run: Option<String>,
    uses: Uses,
    imports: Vec<Item>,
    exports: Vec<Item>,
    code: Option<Code>,
}

#[derive(Serialize)]
struct Uses {
    registry: bool,
    blobs: bool,
    wasi: Vec<String>,
}

#[derive(Serialize)]
struct Item {
    name: String,
    kind: &'static str,
}

#[derive(Serialize)]
struct Code {
    modules_and_components: usize,
    functions: usize,
    bytes: usize,
    longest_function_bytes: usize,
}

/// `hal inspect`.
///
/// # Errors
/// A file that cannot be read; this program's own parts, if they are missing.
pub async fn inspect(arguments: &Inspect) -> anyhow::Result<Exit> {
    let bytes = component::read(&arguments.file)?;
    let host = component::built(component::host().build())?;
    let examined = component::examine(&host, &bytes, Wasi::Cli).await?;
    let report = report(&arguments.file.display().to_string(), bytes.len(), examined);
    let printed = text::print(&if arguments.json { text::json(&report)? } else { report.text() })?;
    Ok(if printed == Exit::Success && !report.runs { Exit::Refused } else { printed })
}

fn report(file: &str, bytes: usize, examined: Examined) -> Report {
    let runs = examined.refusals.is_empty();
    let items = |items: &[hal_host::load::screen::Item]| -> Vec<Item> {
        items.iter().map(|item| Item { name: item.name.clone(), kind: item.kind }).collect()
    };
    let shape = examined.shape.unwrap_or_default();
    let uses = Uses {
        registry: component::wants_drivers(&shape),
        blobs: component::wants_blobs(&shape),
        wasi: shape.imports.iter().map(|import| import.name.clone()).filter(|name| name.starts_with("wasi:")).collect(),
    };
    Report {
        file: file.to_owned(),
        bytes,
        runs,
        refusals: examined.refusals,
        run: runs.then(|| line(file, examined.needs_large, &uses)),
        uses,
        imports: items(&shape.imports),
        exports: items(&shape.exports),
        code: (shape.parts > 0).then_some(Code {
            modules_and_components: shape.parts,
            functions: shape.functions,
            bytes: shape.code_bytes,
            longest_function_bytes: shape.longest_function_bytes,
        }),
    }
}

fn line(file: &str, large: bool, uses: &Uses) -> String {
    let mut line = format!("hal run {}", quoted(file));
    if large {
        line.push_str(" --large");
    }
    if uses.registry {
        line.push_str(" --grant DRIVER");
    }
    if uses.blobs {
        line.push_str(" --blob NAME=FILE");
    }
    line
}

/// As a shell takes it for one word.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:@%,".contains(c);
    if !word.is_empty() && !word.starts_with('-') && word.chars().all(plain) {
        word.to_owned()
    } else {
        let dash = if word.starts_with('-') { "./" } else { "" };
        format!("'{dash}{}'", word.replace('\'', r"'\''"))
    }
}

impl Uses {
    /// `wasi:cli/exit@0.2.6` and its like, by package: the interfaces stand among the imports.
    fn packages(&self) -> String {
        let package = |name: &String| name.split(['/', '@']).next().unwrap_or(name).to_owned();
        let packages: BTreeSet<String> = self.wasi.iter().map(package).collect();
        if packages.is_empty() { "not used".to_owned() } else { format!("used: {}", text::list(packages)) }
    }
}

impl Report {
    fn text(&self) -> String {
        let mut rows = vec![("file", self.file.clone()), ("size", text::bytes(self.bytes as u64))];
        if let Some(code) = &self.code {
            rows.push((
                "code",
                format!(
                    "{} in {} functions of {} modules and components; the longest has {}",
                    text::bytes(code.bytes as u64),
                    code.functions,
                    code.modules_and_components,
                    text::bytes(code.longest_function_bytes as u64)
                ),
            ));
            rows.push(("registry", if self.uses.registry { "used: it looks for drivers" } else { "not used" }.into()));
            rows.push((
                "blobs",
                if self.uses.blobs { "used: grant them with --blob NAME=FILE" } else { "not used" }.into(),
            ));
            rows.push(("WASI", self.uses.packages()));
        }
        let names = |label, items: &[Item]| -> Vec<(&'static str, String)> {
            let rows = items.iter().enumerate();
            rows.map(|(place, item)| (if place == 0 { label } else { "" }, format!("{} ({})", item.name, item.kind)))
                .collect()
        };
        rows.extend(names("imports", &self.imports));
        rows.extend(names("exports", &self.exports));
        rows.extend(self.refusals.iter().map(|refusal| ("refused", format!("{} ({})", refusal.reason, refusal.code))));
        rows.extend(self.run.iter().map(|line| ("run it", line.clone())));
        let mut text = String::new();
        for (label, value) in rows {
            // A String takes any text.
            let _always = writeln!(text, "{label:<9} {}", printable(&value));
        }
        text
    }
}

/// Names come from the file: nothing in them may move the terminal's cursor or begin a line.
fn printable(text: &str) -> String {
    text.chars().flat_map(|c| if c.is_control() { c.escape_default().collect() } else { vec![c] }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_is_one_that_a_shell_takes() {
        let uses = |registry, blobs| Uses { registry, blobs, wasi: Vec::new() };
        assert_eq!(line("a/b.wasm", false, &uses(false, false)), "hal run a/b.wasm");
        assert_eq!(
            line("it's mine.wasm", true, &uses(true, false)),
            r"hal run 'it'\''s mine.wasm' --large --grant DRIVER"
        );
        assert_eq!(line("-x.wasm", false, &uses(false, true)), "hal run './-x.wasm' --blob NAME=FILE");
        assert_eq!(line("x.wasm", false, &uses(true, true)), "hal run x.wasm --grant DRIVER --blob NAME=FILE");
    }

    #[test]
    fn a_name_cannot_write_to_the_terminal() {
        assert_eq!(printable("a\u{1b}[2Jb\nc"), "a\\u{1b}[2Jb\\nc");
    }
}
