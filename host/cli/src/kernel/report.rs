//! What `hal kernel check` says about a program.

use super::{facts::DeviceRow, source::Source};
use crate::text::{bytes, list, shown, table};
use hal_kernel::{Binding, BindingClass, Function, Override, Program};
use std::fmt::Write;

/// Functions with what they take, and overrides.
pub fn program(source: &Source, program: &Program, overrides: &[Override]) -> String {
    let mut text = format!("{}: {}, {}\n", source.file, source.format.name(), bytes(source.bytes.len() as u64));
    if program.functions().is_empty() {
        text.push_str("\nno function that can be dispatched (@compute)\n");
    }
    for function in program.functions() {
        self::function(&mut text, program, function);
    }
    if !overrides.is_empty() {
        let rows = overrides.iter().map(|it| {
            let id = if it.key == it.name { String::new() } else { shown(&it.key) };
            let default = if it.has_default { "has one" } else { "none: required" };
            vec![shown(&it.name), id, it.ty.to_owned(), default.to_owned()]
        });
        text.push_str("\noverrides\n");
        text.push_str(&indented(&table(&["NAME", "ID", "TYPE", "DEFAULT"], &rows.collect::<Vec<_>>())));
    }
    text
}

/// What each device says.
pub fn answers(devices: &[DeviceRow]) -> String {
    let row = |device: &DeviceRow| {
        let answer = match &device.refusal {
            None => "takes it".to_owned(),
            Some(refusal) => format!("refuses it: {} ({})", refusal.message, refusal.code),
        };
        vec![device.uri.clone(), answer]
    };
    table(&["DEVICE", "ANSWER"], &devices.iter().map(row).collect::<Vec<_>>())
}

fn function(text: &mut String, program: &Program, function: &Function) {
    let [x, y, z] = function.workgroup_size;
    // A String takes any text.
    let _always = writeln!(text, "\nfunction {}, workgroup size {x},{y},{z}", shown(&function.name));
    if function.workgroup_bytes > 0 {
        let _always = writeln!(text, "  workgroup memory: {}", bytes(function.workgroup_bytes.into()));
    }
    if !function.required_features.is_empty() {
        let feature = |it: &hal_kernel::RequiredFeature| {
            let place = it.place.map(|place| format!(" (from {place})")).unwrap_or_default();
            format!("{}{place}", it.name)
        };
        let _always = writeln!(text, "  features: {}", list(function.required_features.iter().map(feature)));
    }
    if !function.bindings.is_empty() {
        let rows = function.bindings.iter().map(|it| binding(program, function, it));
        let header = ["BINDING", "NAME", "CLASS", "ACCESS", "TYPE", "BYTES"];
        text.push_str(&indented(&table(&header, &rows.collect::<Vec<_>>())));
    }
    if function.constant_bytes > 0 {
        let _always = writeln!(text, "  constants: {} bytes", function.constant_bytes);
        let rows = program.constant_layout(&function.name).into_iter();
        let rows =
            rows.map(|it| vec![it.offset.to_string(), it.bytes.to_string(), shown(&it.type_name), shown(&it.name)]);
        text.push_str(&indented(&table(&["OFFSET", "BYTES", "TYPE", "NAME"], &rows.collect::<Vec<_>>())));
    }
}

fn binding(program: &Program, function: &Function, binding: &Binding) -> Vec<String> {
    let class = match binding.class {
        BindingClass::Storage => "storage",
        BindingClass::Uniform => "uniform",
    };
    let access = match (binding.reads, binding.writes) {
        (true, true) => "read, write",
        (false, true) => "write",
        // What only asks for its length is read, too.
        (_, false) => "read",
    };
    let ty =
        program.layout(&function.name, binding.binding).map(|layout| shown(&layout.type_name())).unwrap_or_default();
    let size = match binding.runtime_array {
        Some(array) if array.offset == 0 => format!("{} each", array.stride),
        Some(array) => format!("{} and {} each", array.offset, array.stride),
        None => binding.min_length.to_string(),
    };
    vec![binding.binding.to_string(), shown(&binding.name), class.to_owned(), access.to_owned(), ty, size]
}

fn indented(table: &str) -> String {
    table.lines().map(|line| format!("  {line}\n")).collect()
}
