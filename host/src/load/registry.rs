//! Prepares the registry component once, when a host is built.

use super::{
    compose::REGISTRY,
    imports::{Allowed, Name, Wasi},
    screen::{Screen, screen, validate},
};
use crate::error::Rejection;
use wasmparser::{BinaryReader, MemorySectionReader, WasmFeatures};

/// The most that the registry's own memory may grow to: guests can make it keep text, and its exhaustion must be its own.
pub const REGISTRY_MEMORY_BYTES: u64 = 16 << 20;

const WASM_PAGE_BYTES: u64 = 64 << 10;
/// Magic and version, of modules and components alike.
const HEADER_BYTES: usize = 8;
const LIMITS_WITH_MAXIMUM: u8 = 1;
const MODULE_SECTION: u8 = 1;
const MEMORY_SECTION: u8 = 5;

/// Checks a registry component and limits its memories to [`REGISTRY_MEMORY_BYTES`].
///
/// # Errors
/// If it is no valid component, imports more than this host has, or exports no registry.
pub(crate) fn prepare(bytes: &[u8], features: WasmFeatures) -> Result<Vec<u8>, Rejection> {
    let shape = screen(bytes, &Screen::default())?;
    validate(bytes, features)?;
    Allowed::new(Wasi::None, &[]).check(&shape.imports)?;
    if !shape.exports.iter().any(|export| Name::parse(&export.name).path == REGISTRY) {
        return Err(Rejection::incompatible(format!("it exports no {REGISTRY}")));
    }
    let limited = limit(bytes, REGISTRY_MEMORY_BYTES / WASM_PAGE_BYTES)?;
    validate(&limited, features)?;
    Ok(limited)
}

/// A limit inside the module is exact: the store's limiter is not told which memory grows.
fn limit(component: &[u8], pages: u64) -> Result<Vec<u8>, Rejection> {
    rewrite(component, &|id, contents| match id {
        MODULE_SECTION => rewrite(contents, &|id, contents| match id {
            MEMORY_SECTION => memories(contents, pages).map(Some),
            _ => Ok(None),
        })
        .map(Some),
        _ => Ok(None),
    })
}

type Change<'c> = &'c dyn Fn(u8, &[u8]) -> Result<Option<Vec<u8>>, Rejection>;

/// Copies a valid module or component, with the contents of each of its own sections as `change` gives them back.
fn rewrite(bytes: &[u8], change: Change<'_>) -> Result<Vec<u8>, Rejection> {
    let (header, mut rest) = bytes.split_at_checked(HEADER_BYTES).ok_or_else(damaged)?;
    let mut rewritten = Vec::with_capacity(bytes.len() + 64);
    rewritten.extend_from_slice(header);
    while let Some((&id, after)) = rest.split_first() {
        let mut reader = BinaryReader::new(after, 0);
        let length = reader.read_var_u32().map_err(|_| damaged())?;
        let contents = reader.read_bytes(length as usize).map_err(|_| damaged())?;
        rest = after.get(reader.current_position()..).ok_or_else(damaged)?;
        let changed = change(id, contents)?;
        section(id, changed.as_deref().unwrap_or(contents), &mut rewritten);
    }
    Ok(rewritten)
}

fn memories(contents: &[u8], pages: u64) -> Result<Vec<u8>, Rejection> {
    let reader = MemorySectionReader::new(BinaryReader::new(contents, 0)).map_err(|_| damaged())?;
    let mut limited = Vec::new();
    leb(reader.count().into(), &mut limited);
    for memory in reader {
        let memory = memory.map_err(|_| damaged())?;
        if memory.memory64 || memory.shared || memory.page_size_log2.is_some() {
            return Err(Rejection::incompatible("the registry has a memory of an unusual kind"));
        }
        if memory.initial > pages {
            return Err(Rejection::exhausted(format!(
                "the registry begins with {} pages; it may have {pages}",
                memory.initial
            )));
        }
        limited.push(LIMITS_WITH_MAXIMUM);
        leb(memory.initial, &mut limited);
        leb(memory.maximum.unwrap_or(pages).min(pages), &mut limited);
    }
    Ok(limited)
}

fn section(id: u8, contents: &[u8], to: &mut Vec<u8>) {
    to.push(id);
    leb(contents.len() as u64, to);
    to.extend_from_slice(contents);
}

fn leb(mut value: u64, to: &mut Vec<u8>) {
    loop {
        let low = (value & 0x7f) as u8;
        value >>= 7;
        if value == 0 {
            return to.push(low);
        }
        to.push(low | 0x80);
    }
}

fn damaged() -> Rejection {
    Rejection::invalid("it is damaged")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memories_get_a_maximum_and_the_rest_stays() {
        let component = wat::parse_str(
            r#"(component
                (core module (memory 17) (memory 1 9) (data (i32.const 0) "kept") (func (export "f")))
                (core module (memory (export "m") 2 1000))
                (component (core module (memory 1))))"#,
        )
        .unwrap();
        let limited = limit(&component, 256).unwrap();
        let text = limited.windows(4).filter(|window| window == b"kept").count();
        assert_eq!(text, 1);
        let mut found = Vec::new();
        for payload in wasmparser::Parser::new(0).parse_all(&limited) {
            if let wasmparser::Payload::MemorySection(memories) = payload.unwrap() {
                found.extend(memories.into_iter().map(|memory| memory.unwrap()).map(|m| (m.initial, m.maximum)));
            }
        }
        // Modules of nested components are another's.
        assert_eq!(found, [(17, Some(256)), (1, Some(9)), (2, Some(256)), (1, None)]);
        wasmparser::Validator::new_with_features(WasmFeatures::all()).validate_all(&limited).unwrap();
    }

    #[test]
    fn a_component_without_a_registry_is_none() {
        let refused = prepare(&wat::parse_str("(component)").unwrap(), WasmFeatures::all()).unwrap_err();
        assert!(refused.reason.contains("exports no hal:registry/registry"), "{refused}");
    }
}
