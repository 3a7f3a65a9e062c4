//! What is to be run, checked before any device is opened.

use super::{
    args::{Bind, Out, Run, Typed},
    data::{Content, MAX_DATA_BYTES},
    source::Source,
};
use crate::{file, text};
use anyhow::{Context, bail, ensure};
use hal_driver::OverrideValue;
use hal_interpreter::Bound;
use hal_kernel::{Function, Layout, Program, Tolerance};
use std::time::Duration;

/// A kernel, its data, and how often it runs.
pub struct Job {
    /// The kernel.
    pub source: Source,
    /// The same, with its overrides resolved.
    pub program: Program,
    /// Their values.
    pub overrides: Vec<(String, OverrideValue)>,
    /// The entry point.
    pub function: String,
    /// Workgroups along x, y and z.
    pub groups: [u32; 3],
    /// As many bytes as the function takes.
    pub constants: Vec<u8>,
    /// What the function uses and what it begins with, ascending.
    pub bindings: Vec<Bound>,
    /// Of these, the numbers that the function writes, ascending.
    pub written: Vec<u32>,
    /// What some of these are compared as.
    types: Vec<Typed>,
    /// How far apart values may be and still agree.
    pub tolerance: Tolerance,
    /// How often, at least once.
    pub repeat: u32,
    /// How long each time may take.
    pub timeout: Duration,
}

impl Job {
    /// From the command line and the files it names.
    ///
    /// # Errors
    /// A refusal of the kernel; a function, binding or constant that is not there or does not fit; a file that cannot be used.
    pub fn new(arguments: &Run) -> anyhow::Result<Self> {
        let source = Source::read(&arguments.file)?;
        let (program, overrides) = source.specialized(&arguments.overrides)?;
        let function = function(&program, &arguments.entry)?;
        let (name, needs) = (text::shown(&function.name), function.constant_bytes as usize);
        let constants = arguments.constants.0.clone();
        let given = constants.len();
        ensure!(given == needs, "{name} takes {needs} bytes of constants; --constants gives {given}");
        let written: Vec<u32> = function.bindings.iter().filter(|it| it.writes).map(|it| it.binding).collect();
        outputs(&arguments.outputs, &written, &name)?;
        spares(arguments)?;
        let bindings = bindings(&arguments.bindings, function)?;
        types(&arguments.types, &written, &bindings, &name)?;
        Ok(Self {
            bindings,
            function: function.name.clone(),
            groups: arguments.groups,
            types: arguments.types.clone(),
            tolerance: Tolerance { ulps: arguments.ulps, absolute: arguments.absolute },
            repeat: arguments.repeat,
            timeout: arguments.timeout,
            source,
            program,
            overrides,
            constants,
            written,
        })
    }

    /// What is compared in a binding that the function writes: scalars as the kernel's type has them, or of the type that was asked for.
    ///
    /// # Errors
    /// There is no such binding.
    pub fn layout(&self, binding: u32) -> anyhow::Result<Layout<'_>> {
        let asked = self.types.iter().find(|typed| typed.binding == binding);
        let own = || self.program.layout(&self.function, binding);
        asked.map(|typed| Layout::array_of(typed.element)).or_else(own).context("a binding that is written has a type")
    }

    /// Whether there is a workgroup to run at all.
    pub fn runs(&self) -> bool {
        !self.groups.contains(&0)
    }

    /// Whether the function writes a binding.
    pub fn writes(&self, binding: u32) -> bool {
        self.written.contains(&binding)
    }
}

fn function<'a>(program: &'a Program, name: &str) -> anyhow::Result<&'a Function> {
    program.function(name).with_context(|| {
        let names = program.functions().iter().take(16).map(|function| text::shown(&function.name));
        format!("the kernel has no function {}; there are: {}", text::shown(name), text::list(names))
    })
}

/// What the function uses, in its order. What it does not use may be given and is left out, with a note.
fn bindings(given: &[Bind], function: &Function) -> anyhow::Result<Vec<Bound>> {
    let name = text::shown(&function.name);
    for (at, bind) in given.iter().enumerate() {
        let twice = given.iter().take(at).any(|other| other.binding == bind.binding);
        ensure!(!twice, "binding {} is given twice", bind.binding);
        if function.bindings.iter().all(|used| used.binding != bind.binding) {
            text::note(&format!("note: {name} does not use binding {}", bind.binding));
        }
    }
    let (mut bound, mut left) = (Vec::new(), MAX_DATA_BYTES);
    for used in &function.bindings {
        let binding = used.binding;
        let Some(bind) = given.iter().find(|bind| bind.binding == binding) else {
            let called = text::shown(&used.name);
            bail!("{name} uses binding {binding} ({called}); add --bind {binding}=zeros:BYTES or another content")
        };
        let bytes = bind.content.bytes(left).with_context(|| format!("--bind {binding}"))?;
        let (needs, has) = (u64::from(used.min_length), bytes.len() as u64);
        ensure!(needs <= has, "binding {binding} needs {needs} bytes at least; it is given {has}");
        left = left.saturating_sub(has);
        bound.push(Bound { binding, bytes });
    }
    Ok(bound)
}

/// Requires that no output takes the place of what is read.
fn spares(arguments: &Run) -> anyhow::Result<()> {
    let read = arguments.bindings.iter().filter_map(|bind| match &bind.content {
        Content::File(file) => Some(file),
        _ => None,
    });
    for file in read.chain([&arguments.file]) {
        let Ok(file) = file.canonicalize() else { continue };
        let out = arguments.outputs.iter().find(|out| out.file.canonicalize().is_ok_and(|other| other == file));
        if let Some(Out { binding, file }) = out {
            bail!(
                "--out {binding}={}: it is the kernel or what a binding begins with; name another file",
                file.display()
            );
        }
    }
    Ok(())
}

/// Requires that outputs are written by the function, once each, to files that can be.
fn outputs(outputs: &[Out], written: &[u32], name: &str) -> anyhow::Result<()> {
    for (at, out) in outputs.iter().enumerate() {
        let Out { binding, file } = out;
        let twice = outputs.iter().take(at).any(|other| other.binding == *binding || other.file == *file);
        ensure!(!twice, "--out {binding}={}: the binding or the file is there twice", file.display());
        require_written("--out", *binding, written, name)?;
        file::require_writable(file)?;
    }
    Ok(())
}

/// Requires that bindings which are compared as another type are compared at all, and are whole scalars of it.
fn types(types: &[Typed], written: &[u32], bindings: &[Bound], name: &str) -> anyhow::Result<()> {
    for (at, Typed { binding, element }) in types.iter().enumerate() {
        let (ty, size) = (element.name(), element.bytes());
        let twice = types.iter().take(at).any(|other| other.binding == *binding);
        ensure!(!twice, "--type {binding}={ty}: the binding is there twice");
        require_written("--type", *binding, written, name)?;
        let bytes = bindings.iter().find(|bound| bound.binding == *binding).map_or(0, |bound| bound.bytes.len());
        ensure!(
            bytes.is_multiple_of(size),
            "--type {binding}={ty}: the binding has {bytes} bytes, and a {ty} takes {size}; bind a multiple of that"
        );
    }
    Ok(())
}

fn require_written(option: &str, binding: u32, written: &[u32], name: &str) -> anyhow::Result<()> {
    let there = || text::list(written.iter().map(u32::to_string));
    ensure!(written.contains(&binding), "{option} {binding}: {name} does not write it; it writes {}", there());
    Ok(())
}
