//! An executable says of each function what a dispatch must give it: workgroup size, bindings by use, constants.
#![no_main]

use test_guests::kernels::load;
use test_guests::{BindingKind, Outcome, check::same, cpu, ensure, guest};

guest!(run);

const SOURCE: &str = "
struct Constants { a: u32, b: f32, c: i32 }
var<immediate> constants: Constants;
struct Header { scale: vec4<f32> }
@group(0) @binding(0) var<storage, read> input: array<f32>;
@group(0) @binding(2) var<storage, read_write> output: array<f32>;
@group(0) @binding(3) var<uniform> header: Header;
@group(0) @binding(5) var<storage, read_write> unused: array<f32>;

@compute @workgroup_size(8, 2, 1)
fn scale(@builtin(global_invocation_id) id: vec3<u32>) {
    output[id.x] = input[id.x] * header.scale.x + constants.b;
}

@compute @workgroup_size(1)
fn clear() {
    output[0] = 0.0;
}
";

fn run() -> Outcome {
    let device = cpu()?;
    let executable = load(&device, SOURCE)?;
    let functions = executable.functions();
    let names: Vec<_> = functions.iter().map(|function| function.name.as_str()).collect();
    same(names, vec!["scale", "clear"], "functions in the order of the source")?;

    let scale = &functions[0];
    same(scale.workgroup_size, (8, 2, 1), "workgroup size")?;
    same(scale.constant_bytes, 12, "constant bytes of a function that uses them")?;
    let bindings: Vec<_> = scale.bindings.iter().map(|b| (b.binding, b.kind, b.reads, b.writes)).collect();
    let expected = vec![
        (0, BindingKind::Storage, true, false),
        (2, BindingKind::Storage, false, true),
        (3, BindingKind::Uniform, true, false),
    ];
    same(bindings, expected, "bindings by use")?;
    ensure!(scale.bindings[2].min_length == 16, "expected a uniform of 16 bytes, got {:?}", scale.bindings[2]);

    let clear = &functions[1];
    same(clear.bindings.iter().map(|b| b.binding).collect::<Vec<_>>(), vec![2], "bindings of the other function")
}
