//! What `hal kernel check --json` prints: the facts of [`report`](super::report), for programs. Members may be added; none changes its meaning.

use super::source::Source;
use hal_kernel::{Binding, BindingClass, Function, KernelError, Override, Place, Program};
use serde::Serialize;

/// All of it.
#[derive(Serialize)]
pub struct Facts {
    file: String,
    format: &'static str,
    bytes: usize,
    /// Why the front end refuses it; then there is nothing else.
    refusal: Option<Refusal>,
    functions: Vec<FunctionRow>,
    overrides: Vec<OverrideRow>,
    /// Empty if nobody could be asked: the front end refuses it, or an override that is required has no value.
    devices: Vec<DeviceRow>,
    /// Drivers of which no device could be asked.
    failures: Vec<String>,
}

/// Who refuses it, and why.
#[derive(Clone, Serialize)]
pub struct Refusal {
    /// The stable label.
    pub code: &'static str,
    /// A sentence; it begins with the place if there is one.
    pub message: String,
}

/// What a device says.
#[derive(Serialize)]
pub struct DeviceRow {
    /// As it was named.
    pub uri: String,
    /// None if the device takes the kernel.
    pub refusal: Option<Refusal>,
}

#[derive(Serialize)]
struct FunctionRow {
    name: String,
    place: Option<PlaceRow>,
    workgroup_size: [u32; 3],
    workgroup_bytes: u32,
    features: Vec<FeatureRow>,
    bindings: Vec<BindingRow>,
    constant_bytes: u32,
    constants: Vec<ConstantRow>,
}

#[derive(Serialize)]
struct PlaceRow {
    line: u32,
    column: u32,
}

#[derive(Serialize)]
struct FeatureRow {
    name: &'static str,
    place: Option<PlaceRow>,
}

#[derive(Serialize)]
struct BindingRow {
    binding: u32,
    name: String,
    class: &'static str,
    reads: bool,
    writes: bool,
    #[serde(rename = "type")]
    ty: String,
    /// With one element of the array at its end, if there is one that is sized at run time.
    min_bytes: u32,
    runtime_array: Option<ArrayRow>,
}

#[derive(Serialize)]
struct ArrayRow {
    offset: u32,
    stride: u32,
}

#[derive(Serialize)]
struct ConstantRow {
    name: String,
    #[serde(rename = "type")]
    ty: String,
    offset: u32,
    bytes: u32,
}

#[derive(Serialize)]
struct OverrideRow {
    name: String,
    /// What `--override` takes beside the name.
    id: String,
    #[serde(rename = "type")]
    ty: &'static str,
    /// Whether it has no default.
    required: bool,
}

impl Facts {
    /// Of a kernel that the front end refuses.
    pub fn refused(source: &Source, error: &KernelError) -> Self {
        let refusal = Refusal { code: error.code.name(), message: error.to_string() };
        let (file, format) = (source.file.clone(), source.format.name());
        let bytes = source.bytes.len();
        let (functions, overrides) = (Vec::new(), Vec::new());
        let (devices, failures) = (Vec::new(), Vec::new());
        Self { file, format, bytes, refusal: Some(refusal), functions, overrides, devices, failures }
    }

    /// Of a program, and what devices say of it.
    pub fn new(
        source: &Source,
        program: &Program,
        overrides: &[Override],
        devices: Vec<DeviceRow>,
        failures: Vec<String>,
    ) -> Self {
        Self {
            file: source.file.clone(),
            format: source.format.name(),
            bytes: source.bytes.len(),
            refusal: None,
            functions: program.functions().iter().map(|function| self::function(program, function)).collect(),
            overrides: overrides.iter().map(declared).collect(),
            devices,
            failures,
        }
    }
}

fn function(program: &Program, function: &Function) -> FunctionRow {
    let constants = program.constant_layout(&function.name).into_iter().map(|it| ConstantRow {
        name: it.name,
        ty: it.type_name,
        offset: it.offset,
        bytes: it.bytes,
    });
    FunctionRow {
        name: function.name.clone(),
        place: program.place_of_function(&function.name).map(place),
        workgroup_size: function.workgroup_size,
        workgroup_bytes: function.workgroup_bytes,
        features: function
            .required_features
            .iter()
            .map(|it| FeatureRow { name: it.name, place: it.place.map(place) })
            .collect(),
        bindings: function.bindings.iter().map(|it| binding(program, function, it)).collect(),
        constant_bytes: function.constant_bytes,
        constants: constants.collect(),
    }
}

fn binding(program: &Program, function: &Function, binding: &Binding) -> BindingRow {
    let layout = program.layout(&function.name, binding.binding);
    BindingRow {
        binding: binding.binding,
        name: binding.name.clone(),
        class: match binding.class {
            BindingClass::Storage => "storage",
            BindingClass::Uniform => "uniform",
        },
        reads: binding.reads,
        writes: binding.writes,
        ty: layout.map(|layout| layout.type_name()).unwrap_or_default(),
        min_bytes: binding.min_length,
        runtime_array: binding.runtime_array.map(|it| ArrayRow { offset: it.offset, stride: it.stride }),
    }
}

fn declared(declared: &Override) -> OverrideRow {
    OverrideRow {
        name: declared.name.clone(),
        id: declared.key.clone(),
        ty: declared.ty,
        required: !declared.has_default,
    }
}

fn place(place: Place) -> PlaceRow {
    PlaceRow { line: place.line, column: place.column }
}
