//! A kernel's file, and the values of its overrides.

use super::Stop;
use crate::{file, text};
use anyhow::{Context, bail};
use hal_driver::OverrideValue;
use hal_host::hal_core::text::quote;
use hal_kernel::{Format, KernelError, Override, Program, SourceLimits, limits};
use std::path::Path;

/// A kernel's file.
pub struct Source {
    /// As it was named.
    pub file: String,
    /// The language.
    pub format: Format,
    /// What is in it.
    pub bytes: Vec<u8>,
}

/// `--override`: a name and a value, whose type the kernel says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Given {
    /// The name, or the `@id`.
    pub name: String,
    /// As it was written.
    pub value: String,
}

impl Source {
    /// Reads a file whose name ends in `.wgsl` or `.spv`.
    ///
    /// # Errors
    /// A sentence with the path.
    pub fn read(path: &Path) -> anyhow::Result<Self> {
        let file = path.display().to_string();
        let (format, most) = match path.extension().and_then(|extension| extension.to_str()) {
            Some("wgsl") => (Format::Wgsl, limits::MAX_WGSL_BYTES),
            Some("spv") => (Format::Spirv, limits::MAX_SPIRV_BYTES),
            _ => bail!("{file} is no kernel by its name; call WGSL .wgsl and SPIR-V .spv"),
        };
        let bytes = file::read(path, most as u64).context("the kernel cannot be used")?;
        Ok(Self { file, format, bytes })
    }

    /// The program, with its overrides open.
    ///
    /// # Errors
    /// The front end's refusal, with line and column.
    pub fn load(&self) -> anyhow::Result<Program> {
        hal_kernel::load(self.format, &self.bytes, &SourceLimits::default()).map_err(|error| self.refused(&error))
    }

    /// The program with its overrides resolved, and the values as a driver takes them.
    ///
    /// # Errors
    /// A value that does not fit, or is missing; the front end's refusal.
    pub fn specialize(
        &self,
        program: &Program,
        given: &[Given],
    ) -> anyhow::Result<(Program, Vec<(String, OverrideValue)>)> {
        let declared = program.overrides();
        let values = given.iter().map(|given| Ok((given.name.clone(), value(declared, given)?)));
        let values: Vec<_> = values.collect::<anyhow::Result<_>>()?;
        let named = |it: &Override| given.iter().any(|given| given.name == it.name || given.name == it.key);
        if let Some(open) = declared.iter().find(|it| !it.has_default && !named(it)) {
            let name = text::shown(if open.name.is_empty() { &open.key } else { &open.name });
            bail!("the override {name} has no default; add --override {name}=VALUE, a {}", open.ty);
        }
        let own: Vec<_> = values.iter().map(|(name, value)| (name.clone(), (*value).into())).collect();
        let program = program.specialize(&own).map_err(|error| self.refused(&error))?;
        Ok((program, values))
    }

    fn refused(&self, error: &KernelError) -> anyhow::Error {
        Stop::refused(format!("{} ({})", self.placed(&error.to_string()), error.code.name()))
    }

    /// `FILE:LINE:COLUMN: MESSAGE`, as compilers write it, of a message that begins with its place if it has one.
    pub fn placed(&self, message: &str) -> String {
        let has_place = message.starts_with(|first: char| first.is_ascii_digit());
        format!("{}:{}{message}", self.file, if has_place { "" } else { " " })
    }
}

fn value(declared: &[Override], given: &Given) -> anyhow::Result<OverrideValue> {
    let Given { name, value } = given;
    let Some(found) = declared.iter().find(|it| it.name == *name || it.key == *name) else {
        let names = declared.iter().take(16).map(|it| text::shown(if it.name.is_empty() { &it.key } else { &it.name }));
        bail!("the kernel has no override {}; there are: {}", quote(name), text::list(names));
    };
    let typed = match found.ty {
        "bool" => value.parse().ok().map(OverrideValue::Bool),
        "i32" => value.parse().ok().map(OverrideValue::I32),
        "u32" => value.parse().ok().map(OverrideValue::U32),
        _ => value.parse().ok().filter(|value: &f32| value.is_finite()).map(OverrideValue::F32),
    };
    typed.with_context(|| format!("the override {} is a {}, and {} is none", quote(name), found.ty, quote(value)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overrides_have_their_declared_type() {
        let declared = ["bool", "i32", "u32", "f32"].map(|ty| Override {
            key: ty.into(),
            name: format!("a_{ty}"),
            ty,
            has_default: true,
        });
        let read = |name: &str, text: &str| {
            value(&declared, &Given { name: name.into(), value: text.into() }).map_err(|error| error.to_string())
        };
        assert_eq!(read("a_bool", "true"), Ok(OverrideValue::Bool(true)));
        assert_eq!(read("i32", "-7"), Ok(OverrideValue::I32(-7)));
        assert_eq!(read("a_u32", "7"), Ok(OverrideValue::U32(7)));
        assert_eq!(read("a_f32", "0.5"), Ok(OverrideValue::F32(0.5)));
        for (name, text) in [("a_bool", "1"), ("a_i32", "2147483648"), ("a_u32", "-1"), ("a_f32", "inf"), ("b", "1")] {
            let error = read(name, text).unwrap_err();
            assert!(error.contains(name), "{error}");
        }
    }
}
