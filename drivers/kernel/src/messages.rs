//! naga's messages for who writes a kernel: what is wrong and what to do where that is often asked, and otherwise naga's words without what only
//! naga can read: the places of types and expressions in its tables.

use naga::common::wgsl::{TryToWgsl, TypeContext};
use naga::valid::{
    Disalignment, EntryPointError, FunctionError, GlobalVariableError, TypeFlags, ValidationError, VaryingError,
};
use naga::{AddressSpace, BuiltIn, Expression, Function, GlobalVariable, Handle, Module};

use crate::error::quote;
use crate::place;

/// Longest part of naga's own message that is passed on: it may repeat names of the source.
const MAX_DETAIL_BYTES: usize = 400;

/// What to do about errors of the parser's, by words that are theirs alone. It has labels and notes of its own for others.
const REMEDIES: [(&str, &str); 3] = [
    ("the `subgroups` enable-extension is not yet supported", "leave the line out: subgroup operations need none here"),
    ("unknown address space: `push_constant`", "write `var<immediate>`"),
    ("`@diagnostic(…)` attribute(s) not yet implemented", "leave it out"),
];

/// What to do about an error of the parser's, if naga does not say it.
pub(crate) fn remedy(message: &str) -> Option<&'static str> {
    REMEDIES.into_iter().find(|(words, _)| message.contains(words)).map(|(_, remedy)| remedy)
}

/// What an error of the validator's means and what to do, for mistakes that are often made.
pub(crate) fn plain(error: &ValidationError, module: &Module, source: &str) -> Option<String> {
    match error {
        ValidationError::GlobalVariable { handle, source, .. } => of_variable(source, *handle, module),
        ValidationError::Function { handle, source, .. } => of_function(source, &module.functions[*handle], module),
        ValidationError::EntryPoint { name, source: error, .. } => {
            let point = module.entry_points.iter().find(|point| point.name == *name)?;
            match error {
                EntryPointError::Function(error) => of_function(error, &point.function, module),
                EntryPointError::InvalidGlobalUsage(handle, _) => Some(read_only(*handle, module)),
                EntryPointError::BindingCollision(handle) => collision(*handle, name, module, source),
                EntryPointError::Argument(_, VaryingError::InvalidBuiltInType(built_in, _)) => mistyped(*built_in),
                _ => None,
            }
        }
        _ => None,
    }
}

fn of_variable(error: &GlobalVariableError, handle: Handle<GlobalVariable>, module: &Module) -> Option<String> {
    let name = name_of(handle, module);
    let has_bool =
        || Some(format!("the variable `{name}` has a `bool` in it, which has no layout in a buffer; use `u32`"));
    match error {
        GlobalVariableError::Alignment(_, _, Disalignment::NonHostShareable) => has_bool(),
        GlobalVariableError::MissingTypeFlags { required, seen } => {
            let lacks = required.difference(*seen);
            if lacks.contains(TypeFlags::HOST_SHAREABLE) {
                has_bool()
            } else if lacks.contains(TypeFlags::SIZED) {
                let only = "only a `var<storage>` can end in one";
                Some(format!("the variable `{name}` has an array without length in it; {only}: give it a length"))
            } else {
                None
            }
        }
        GlobalVariableError::Alignment(AddressSpace::Uniform, _, what) => Some(format!(
            "the variable `{name}` is not laid out as uniforms are: {what}; make its parts multiples of 16 bytes, such as \
             `vec4`, or declare it `var<storage, read>`"
        )),
        GlobalVariableError::StorageAddressSpaceWriteOnlyNotSupported => {
            Some(format!("the variable `{name}` is declared to be written only; declare it `var<storage, read_write>`"))
        }
        _ => None,
    }
}

fn of_function(error: &FunctionError, function: &Function, module: &Module) -> Option<String> {
    match error {
        FunctionError::InvalidStorePointer(pointer) => {
            let mut at = *pointer;
            loop {
                at = match function.expressions[at] {
                    Expression::Access { base, .. } | Expression::AccessIndex { base, .. } => base,
                    Expression::GlobalVariable(handle) => return Some(read_only(handle, module)),
                    _ => return None,
                };
            }
        }
        FunctionError::InvalidArgumentPointerSpace { name, .. } => Some(format!(
            "the argument '{}' is a pointer to what invocations share, which cannot be passed; name the variable in the function, \
             and pass an index",
            quote(name)
        )),
        _ => None,
    }
}

fn read_only(handle: Handle<GlobalVariable>, module: &Module) -> String {
    let name = name_of(handle, module);
    let what = match module.global_variables[handle].space {
        AddressSpace::Storage { .. } => "is declared to be read only; declare it `var<storage, read_write>`",
        AddressSpace::Uniform => "is a uniform, which is read only; declare it `var<storage, read_write>`",
        AddressSpace::Immediate => "is constants, which are read only; write to a binding",
        _ => "cannot be used so",
    };
    format!("the variable `{name}` is written, and {what}")
}

fn collision(handle: Handle<GlobalVariable>, function: &str, module: &Module, source: &str) -> Option<String> {
    let binding = module.global_variables[handle].binding?;
    let same = module.global_variables.iter().filter(|(_, variable)| variable.binding == Some(binding));
    let named = same.map(|(handle, _)| {
        let place = place::of_span(source, module.global_variables.get_span(handle));
        format!("`{}`{}", name_of(handle, module), place.map(|place| format!(" ({place})")).unwrap_or_default())
    });
    let (names, number) = (named.collect::<Vec<_>>().join(" and "), binding.binding);
    let function = quote(function);
    Some(format!(
        "the variables {names} are all `@binding({number})`, and `{function}` uses more than one; number them apart"
    ))
}

fn mistyped(built_in: BuiltIn) -> Option<String> {
    let ty = match built_in {
        BuiltIn::GlobalInvocationId
        | BuiltIn::LocalInvocationId
        | BuiltIn::WorkGroupId
        | BuiltIn::WorkGroupSize
        | BuiltIn::NumWorkGroups => "vec3<u32>",
        BuiltIn::LocalInvocationIndex
        | BuiltIn::NumSubgroups
        | BuiltIn::SubgroupId
        | BuiltIn::SubgroupSize
        | BuiltIn::SubgroupInvocationId => "u32",
        _ => return None,
    };
    let name = built_in.to_wgsl_for_diagnostics();
    Some(format!("`@builtin({name})` is a `{ty}`; declare it as that, and convert it where it is used"))
}

fn name_of(handle: Handle<GlobalVariable>, module: &Module) -> String {
    quote(module.global_variables[handle].name.as_deref().unwrap_or("(no name)"))
}

/// A message of naga's about `module`: places in tables replaced by names where there are some and left out where not,
/// control characters escaped, cut.
pub(crate) fn detail(text: &str, module: Option<&Module>) -> String {
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
fn named(text: &str, module: Option<&Module>) -> String {
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

fn name(table: &str, index: usize, module: &Module) -> Option<String> {
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

    fn module() -> Module {
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
