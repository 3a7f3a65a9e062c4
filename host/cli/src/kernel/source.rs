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
    /// The front end's refusal, for [`Source::refused`].
    pub fn load(&self) -> Result<Program, KernelError> {
        hal_kernel::load(self.format, &self.bytes, &SourceLimits::default())
    }

    /// The program with its overrides resolved, and the values as a driver takes them.
    ///
    /// # Errors
    /// The front end's refusal; a value that does not fit, or is missing.
    pub fn specialized(&self, given: &[Given]) -> anyhow::Result<(Program, Vec<(String, OverrideValue)>)> {
        let program = self.load().map_err(|error| self.refused(&error))?;
        let values = values(&program, given)?;
        if let Some(missing) = missing(&program, given).first() {
            bail!("{missing}");
        }
        let program = resolve(&program, &values).map_err(|error| self.refused(&error))?;
        Ok((program, values))
    }

    /// A refusal of the front end's, with file, line and column.
    pub fn refused(&self, error: &KernelError) -> anyhow::Error {
        Stop::refused(format!("{} ({})", self.placed(&error.to_string()), error.code.name()))
    }

    /// `FILE:LINE:COLUMN: MESSAGE`, as compilers write it, of a message that begins with its place if it has one.
    pub fn placed(&self, message: &str) -> String {
        let has_place = message.starts_with(|first: char| first.is_ascii_digit());
        format!("{}:{}{message}", self.file, if has_place { "" } else { " " })
    }
}

/// The values of overrides, of the types that the program declares.
///
/// # Errors
/// There is no such override, or no such value.
pub fn values(program: &Program, given: &[Given]) -> anyhow::Result<Vec<(String, OverrideValue)>> {
    given.iter().map(|given| Ok((given.name.clone(), value(program.overrides(), given)?))).collect()
}

/// A sentence for each override that is required and not given.
pub fn missing(program: &Program, given: &[Given]) -> Vec<String> {
    let is_open =
        |it: &&Override| !it.has_default && given.iter().all(|given| given.name != it.name && given.name != it.key);
    let sentence = |it: &Override| {
        let name = text::shown(if it.name.is_empty() { &it.key } else { &it.name });
        format!("the override {name} is required; add --override {name}=VALUE, a {}", it.ty)
    };
    program.overrides().iter().filter(is_open).map(sentence).collect()
}

/// The program with these values for its overrides.
///
/// # Errors
/// The front end's.
pub fn resolve(program: &Program, values: &[(String, OverrideValue)]) -> Result<Program, KernelError> {
    let own: Vec<_> = values.iter().map(|(name, value)| (name.clone(), (*value).into())).collect();
    program.specialize(&own)
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
