//! The passes in their order.

use naga::Module;
use naga::valid::ModuleInfo;

use crate::abi::{Abi, BindingAbi, base_global, constant_global, length_global};
use crate::diagnostic::{Diagnostic, Kind};
use crate::ir::{AtomicOp, Base, Inst, ObjectId, Stmt, Unit, has_barrier, walk, walk_insts};
use crate::layout::Layouts;
use crate::lower::{Context, function, globals};
use crate::options::Options;
use crate::passes::{
    contract, dead, fold, inline, interleave, liveness, masks, promote, ranges, regions, scalars, slots, uniformity,
};
use crate::{Features, Kernel, dump, emit};

/// Names of the passes, in the order in which [`compile`](crate::compile) runs them.
pub const PASSES: [&str; 16] = [
    "layout",
    "inline",
    "promote",
    "lower",
    "fold",
    "scalars",
    "dead",
    "liveness",
    "uniformity",
    "ranges",
    "contract",
    "regions",
    "masks",
    "interleave",
    "slots",
    "emit",
];

/// Is shown the name of a pass and the code after it.
pub(crate) type Observer<'a> = Option<&'a mut dyn FnMut(&'static str, &str)>;

fn show(observer: &mut Observer<'_>, pass: &'static str, text: impl FnOnce() -> String) {
    if let Some(observer) = observer {
        observer(pass, &text());
    }
}

/// Compiles an entry point; see [`crate::compile`].
pub(crate) fn run(
    module: &Module,
    info: &ModuleInfo,
    entry: &str,
    options: &Options,
    mut observer: Observer<'_>,
) -> Result<Kernel, Diagnostic> {
    let (index, point) = find(module, entry)?;
    check_size(point.workgroup_size, options)?;
    let layouts = Layouts::new(module)?;
    let plan = inline::plan(module, &layouts, &point.function)?;
    let memory = promote::promote(module, &layouts, &plan, &point.function)?;
    let globals = globals::collect(module, info.get_entry_point(index), &layouts, options)?;
    let workgroup_size = point.workgroup_size;
    let context = Context { module, info, layouts: &layouts, plan: &plan, memory: &memory, globals, workgroup_size };
    let mut unit = function::lower(&context, index, point)?;
    show(&mut observer, "lower", || dump::unit(&unit, &[]));
    fold::fold(&mut unit.entry);
    show(&mut observer, "fold", || dump::unit(&unit, &[]));
    scalars::promote(&mut unit);
    show(&mut observer, "scalars", || dump::unit(&unit, &[]));
    fold::fold(&mut unit.entry);
    for function in &mut unit.functions {
        fold::fold(function);
    }
    for function in unit.functions.iter_mut().chain([&mut unit.entry]) {
        dead::remove(function);
        liveness::remove_assignments(function);
        dead::remove(function);
    }
    show(&mut observer, "dead", || dump::unit(&unit, &[]));
    let liveness = liveness::analyse(&unit.entry);
    let uniformity = uniformity::analyse(&unit, &liveness);
    show(&mut observer, "uniformity", || dump::unit(&unit, &uniformity.registers()));
    let features = features(&unit);
    let mut variances = uniformity.registers();
    ranges::remove_clamps(&mut unit, &variances);
    show(&mut observer, "ranges", || dump::unit(&unit, &variances));
    if options.contract {
        contract::contract(&mut unit.entry, &variances);
        show(&mut observer, "contract", || dump::unit(&unit, &variances));
    }
    dead::remove(&mut unit.entry);
    let mut nodes = regions::split(std::mem::take(&mut unit.entry.body), &uniformity)?;
    show(&mut observer, "regions", || dump::nodes(&unit.entry, &nodes, &variances));
    masks::lower(&mut unit, &mut nodes, &uniformity, &liveness, &mut variances)?;
    show(&mut observer, "masks", || dump::nodes(&unit.entry, &nodes, &variances));
    interleave::interleave(&unit, &mut nodes, &mut variances);
    show(&mut observer, "interleave", || dump::nodes(&unit.entry, &nodes, &variances));
    let single = (0u32..).zip(&unit.objects).map(|(id, _)| uniformity.is_one_copy(ObjectId(id))).collect();
    let layout = slots::assign(&unit, &nodes, &variances, single, options)?;
    let (wasm, scratch_per_worker) = emit::module::emit(&unit, &nodes, &variances, &layout, options)?;
    Ok(Kernel { wasm, abi: abi(&unit), scratch_per_worker, features })
}

fn find<'a>(module: &'a Module, entry: &str) -> Result<(usize, &'a naga::EntryPoint), Diagnostic> {
    let found = module
        .entry_points
        .iter()
        .enumerate()
        .find(|(_, point)| point.name == entry && point.stage == naga::ShaderStage::Compute);
    if let Some((_, point)) = found
        && point.workgroup_size_overrides.is_some()
    {
        let message = "the workgroup size depends on an override; resolve the overrides first";
        return Err(Diagnostic::new(Kind::Invalid, message, None));
    }
    found.ok_or_else(|| Diagnostic::new(Kind::Invalid, format!("there is no compute entry point `{entry}`"), None))
}

fn check_size(size: [u32; 3], options: &Options) -> Result<(), Diagnostic> {
    let invocations = size.iter().fold(1u64, |product, &axis| product.saturating_mul(u64::from(axis)));
    if invocations == 0 {
        return Err(Diagnostic::new(Kind::Invalid, "a workgroup without invocations", None));
    }
    if invocations > u64::from(options.max_invocations) {
        let limit = options.max_invocations;
        let message = format!("a workgroup of {invocations} invocations, more than {limit}");
        return Err(Diagnostic::new(Kind::Limit, message, None));
    }
    Ok(())
}

fn features(unit: &Unit) -> Features {
    let mut features = Features { workgroup_bytes: unit.workgroup_bytes, ..Features::default() };
    let bodies = || unit.functions.iter().chain([&unit.entry]).map(|function| &function.body);
    for body in bodies() {
        features.barriers |= has_barrier(body);
        walk(body, &mut |stmt| features.loops |= matches!(stmt, Stmt::Loop { .. }));
        walk_insts(body, &mut |inst| {
            features.storage_atomics |= matches!(
                inst,
                Inst::Atomic { op, address, .. }
                    if *op != AtomicOp::Load && matches!(address.base, Base::Binding(_))
            );
        });
    }
    features
}

fn abi(unit: &Unit) -> Abi {
    let bindings = unit.bindings.iter().map(|binding| BindingAbi {
        binding: binding.number,
        writes: binding.writes,
        min_length: binding.min_length,
        base_global: base_global(binding.number),
        length_global: length_global(binding.number),
    });
    Abi {
        workgroup_size: unit.workgroup_size,
        bindings: bindings.collect(),
        constants: (0..unit.constant_bytes / 4).map(constant_global).collect(),
        constant_bytes: unit.constant_bytes,
    }
}
