//! Components made for these tests: hostile shapes by hand, well-typed ones from the WIT packages.

use std::{fs, path::Path};
use wasm_encoder::{
    BlockType, CodeSection, Component, ComponentSectionId, Function, FunctionSection, Instruction, Module,
    ModuleSection, RawSection, TypeSection, ValType,
};
use wit_component::ComponentEncoder;
use wit_parser::{LiftLowerAbi, ManglingAndAbi, Resolve};

/// `depth` components in one another, the innermost empty.
pub fn nested(depth: usize) -> Vec<u8> {
    let mut component = Component::new().finish();
    for _ in 0..depth {
        let mut outer = Component::new();
        outer.section(&RawSection { id: ComponentSectionId::Component.into(), data: &component });
        component = outer.finish();
    }
    component
}

/// `count` components beside one another.
pub fn beside(count: usize) -> Vec<u8> {
    let inner = Component::new().finish();
    let mut component = Component::new();
    for _ in 0..count {
        component.section(&RawSection { id: ComponentSectionId::Component.into(), data: &inner });
    }
    component.finish()
}

/// A component with one function of `ifs` conditions that set one of `locals` locals each.
pub fn conditions(ifs: u32, locals: u32) -> Vec<u8> {
    let mut function = Function::new([(locals, ValType::I32)]);
    for at in 0..ifs {
        function.instruction(&Instruction::LocalGet(at % locals));
        function.instruction(&Instruction::If(BlockType::Empty));
        function.instruction(&Instruction::I32Const(at as i32 % 64));
        function.instruction(&Instruction::LocalSet((at * 7 + 1) % locals));
        function.instruction(&Instruction::End);
    }
    function.instruction(&Instruction::End);
    module_of([function])
}

/// A component with `count` functions, each of at least `bytes` bytes.
pub fn functions(count: usize, bytes: usize) -> Vec<u8> {
    module_of((0..count).map(|_| {
        let mut function = Function::new([]);
        for _ in 0..bytes {
            function.instruction(&Instruction::Nop);
        }
        function.instruction(&Instruction::End);
        function
    }))
}

fn module_of(functions: impl IntoIterator<Item = Function>) -> Vec<u8> {
    let (mut types, mut declared, mut code) = (TypeSection::new(), FunctionSection::new(), CodeSection::new());
    types.ty().function([], []);
    for function in functions {
        declared.function(0);
        code.function(&function);
    }
    let mut module = Module::new();
    module.section(&types).section(&declared).section(&code);
    let mut component = Component::new();
    component.section(&ModuleSection(&module));
    component.finish()
}

pub fn text(wat: &str) -> Vec<u8> {
    wat::parse_str(wat).expect("the test's own text is right")
}

/// A component of `(core module …)` items that exports the functions named, each `func(u32) -> u32` unless it says more.
pub fn plain(module: &str, exports: &[&str]) -> Vec<u8> {
    let exports: String = exports
        .iter()
        .map(|name| {
            format!(
                "(func (export \"{name}\") (param \"n\" u32) (result u32) (canon lift (core func $instance \"{name}\")))"
            )
        })
        .collect();
    text(&format!("(component (core module $m {module}) (core instance $instance (instantiate $m)) {exports})"))
}

/// The repository's WIT with another version, and with `changes` made to its text.
fn resolve(version: &str, changes: &[(&str, &str)]) -> Resolve {
    let mut resolve = Resolve::default();
    for package in ["device", "registry"] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../wit").join(package);
        let mut files: Vec<_> = fs::read_dir(folder)
            .expect("wit")
            .map(|entry| entry.expect("entry").path())
            .filter(|path| path.extension().is_some_and(|extension| extension == "wit"))
            .map(|path| fs::read_to_string(path).expect("text"))
            .collect();
        files.sort();
        // One file, so that it can be changed on the way: with one package line.
        let header = format!("package hal:{package}@0.1.0;");
        let mut text = format!("{header}\n{}", files.concat().replace(&header, "")).replace("0.1.0", version);
        for (from, to) in changes {
            text = text.replace(from, to);
        }
        resolve.push_str(format!("{package}.wit"), &text).expect("resolves");
    }
    resolve
}

fn component(mut resolve: Resolve, package: &str, world: &str) -> Vec<u8> {
    let package = resolve.push_str("test.wit", package).expect("the test's own WIT is right");
    let world = resolve.select_world(&[package], Some(world)).expect("the world");
    let mut module = wit_component::dummy_module(&resolve, world, ManglingAndAbi::Legacy(LiftLowerAbi::Sync));
    wit_component::embed_component_metadata(&mut module, &resolve, world, wit_component::StringEncoding::UTF8, false)
        .expect("metadata");
    ComponentEncoder::default().module(&module).expect("module").validate(true).encode().expect("component")
}

/// A component with the registry's type; its functions trap.
pub fn registry(version: &str) -> Vec<u8> {
    registry_with(version, &[])
}

pub fn registry_with(version: &str, changes: &[(&str, &str)]) -> Vec<u8> {
    let package = format!(
        "package test:registry; world w {{ import hal:registry/factories@{version}; export hal:registry/registry@{version}; }}"
    );
    component(resolve(version, changes), &package, "w")
}

/// A tenant that imports these interfaces of the two packages and exports `run`, which traps.
pub fn tenant(version: &str, imports: &[&str], changes: &[(&str, &str)]) -> Vec<u8> {
    let imports: String = imports.iter().map(|name| format!("import {name}@{version}; ")).collect();
    component(
        resolve(version, changes),
        &format!("package test:tenant; world w {{ {imports} export run: func(); }}"),
        "w",
    )
}

/// A tenant with an import of its own.
pub fn surplus() -> Vec<u8> {
    let package = "package acme:tenant@1.0.0; interface clock { now: func() -> u64; } interface door { open: func(); }
        world w { import hal:registry/registry@0.1.0; import clock; import door; export run: func(); }";
    component(resolve("0.1.0", &[]), package, "w")
}
