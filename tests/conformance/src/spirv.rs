//! The cases' kernels as SPIR-V: written from their WGSL, so that both formats say the same.

use anyhow::{Context, Result, anyhow};
use hal_conformance_cases::{FORMATS, KERNELS, wgsl};
use naga::{
    back::{
        pipeline_constants::process_overrides,
        spv::{Options, ZeroInitializeWorkgroupMemoryMode, write_vec},
    },
    valid::{Capabilities, ShaderStages, SubgroupOperationSet, ValidationFlags, Validator},
};
use std::{collections::HashMap, sync::OnceLock};

/// The value of every override: a writer has to resolve them.
const OVERRIDE: f64 = 3.0;

/// What the kernels use, over all.
const CAPABILITIES: Capabilities = Capabilities::IMMEDIATES
    .union(Capabilities::SHADER_FLOAT16_IN_FLOAT32)
    .union(Capabilities::SHADER_FLOAT16)
    .union(Capabilities::SHADER_INT64)
    .union(Capabilities::SUBGROUP)
    .union(Capabilities::SHADER_FLOAT32_ATOMIC)
    .union(Capabilities::SHADER_INT64_ATOMIC_ALL_OPS);

/// A kernel in a format.
///
/// # Errors
/// If there is no such kernel or format.
pub fn kernel(name: &str, format: &str) -> Result<Vec<u8>, String> {
    match format {
        "wgsl" => Ok(wgsl(name)?.as_bytes().to_vec()),
        "spirv" => spirv().get(name).cloned().ok_or_else(|| format!("no kernel is called {name}")),
        _ => Err(format!("no kernel is written as {format}; there are {FORMATS:?}")),
    }
}

/// All of them, written once.
#[allow(clippy::expect_used, reason = "a kernel of the suite that cannot be written ends the suite")]
pub fn spirv() -> &'static HashMap<&'static str, Vec<u8>> {
    static WRITTEN: OnceLock<HashMap<&'static str, Vec<u8>>> = OnceLock::new();
    WRITTEN.get_or_init(|| {
        let all = KERNELS.iter().map(|(name, source)| Ok((*name, write(source).context(*name)?)));
        all.collect::<Result<_>>().expect("the kernels as SPIR-V")
    })
}

fn write(source: &str) -> Result<Vec<u8>> {
    let module = naga::front::wgsl::parse_str(source).map_err(|error| anyhow!("{}", error.emit_to_string(source)))?;
    let mut validator = Validator::new(ValidationFlags::all(), CAPABILITIES);
    validator.subgroup_stages(ShaderStages::COMPUTE).subgroup_operations(SubgroupOperationSet::all());
    let info = validator.validate(&module)?;
    let values = module.overrides.iter().filter_map(|(_, known)| Some((known.name.clone()?, OVERRIDE))).collect();
    let (module, info) = process_overrides(&module, &info, None, &values)?;
    let options = Options {
        lang_version: (1, 3),
        // Of inputs and outputs between stages, which kernels do not have; naga's reader refuses the word.
        use_storage_input_output_16: false,
        zero_initialize_workgroup_memory: ZeroInitializeWorkgroupMemoryMode::None,
        ..Options::default()
    };
    let words = write_vec(&module, &info, &options, None)?;
    Ok(words.into_iter().flat_map(u32::to_le_bytes).collect())
}
