//! Helpers for tests of native modules.
#![allow(dead_code, reason = "each test binary uses some of these")]

pub mod corpus;

use std::time::{Duration, Instant};

use hal_kernel::native::{Native, NativeOptions};
use hal_kernel::{Format, KernelError, Program, SourceLimits, load};
use naga::valid::{Capabilities, ModuleInfo, ShaderStages, SubgroupOperationSet, ValidationFlags, Validator};

/// An answer must come within this, in a debug build on a busy machine.
const SOON: Duration = Duration::from_secs(20);

/// What the front end says of WGSL, hostile or not: it says it soon.
#[track_caller]
pub fn answer(source: &str) -> Result<Program, KernelError> {
    let start = Instant::now();
    let answer = load(Format::Wgsl, source.as_bytes(), &SourceLimits::default());
    assert!(start.elapsed() < SOON, "{:?}", start.elapsed());
    answer
}

/// A program from WGSL, with its overrides at their defaults.
#[track_caller]
pub fn program(source: &str) -> Program {
    match load(Format::Wgsl, source.as_bytes(), &SourceLimits::default()) {
        Ok(program) => program.specialize(&[]).unwrap(),
        Err(error) => panic!("{error}\n{source}"),
    }
}

/// The first function of WGSL, for a native device.
#[track_caller]
pub fn native(source: &str) -> Native {
    match program(source).native(0, &NativeOptions { writable: &[], finds_cut_off: false }) {
        Ok(native) => native,
        Err(error) => panic!("{error}\n{source}"),
    }
}

/// Validates as strictly as can be.
#[track_caller]
pub fn validated(module: &naga::Module) -> ModuleInfo {
    let mut validator = Validator::new(ValidationFlags::all(), Capabilities::all());
    validator.subgroup_stages(ShaderStages::COMPUTE).subgroup_operations(SubgroupOperationSet::all());
    match validator.validate(module) {
        Ok(info) => info,
        Err(error) => panic!("{error:?}"),
    }
}

/// The module as SPIR-V.
#[track_caller]
pub fn spirv(module: &naga::Module) -> Vec<u32> {
    let info = validated(module);
    let options = naga::back::spv::Options { lang_version: (1, 3), ..Default::default() };
    naga::back::spv::write_vec(module, &info, &options, None).unwrap()
}

/// The module as WGSL.
#[track_caller]
pub fn wgsl(module: &naga::Module) -> String {
    let info = validated(module);
    naga::back::wgsl::write_string(module, &info, naga::back::wgsl::WriterFlags::empty()).unwrap()
}
