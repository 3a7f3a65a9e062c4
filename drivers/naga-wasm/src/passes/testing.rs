//! What the passes make of small kernels, for their tests.

use crate::{Options, compile_observed};

/// Declarations that a kernel of these tests has.
const DECLARATIONS: &str = "
    @group(0) @binding(0) var<storage> i: array<u32>;
    @group(0) @binding(1) var<storage> rows: array<vec4<f32>>;
    @group(0) @binding(2) var<storage, read_write> o: array<u32>;
    @group(0) @binding(3) var<storage, read_write> floats: array<f32>;
    var<workgroup> w: array<u32, 64>;";

/// The code after a pass, as text, of a kernel of 64 invocations with `body`: `l` is an invocation's index, `g` its workgroup's.
pub(super) fn after(pass: &str, body: &str) -> String {
    let source = format!(
        "{DECLARATIONS}
        @compute @workgroup_size(64) fn main(@builtin(local_invocation_index) l: u32, @builtin(workgroup_id) id: vec3<u32>) {{
            let g = id.x;
            {body}
        }}"
    );
    let module = naga::front::wgsl::parse_str(&source).unwrap();
    let (flags, capabilities) = (naga::valid::ValidationFlags::all(), naga::valid::Capabilities::all());
    let info = naga::valid::Validator::new(flags, capabilities).validate(&module).unwrap();
    let mut found = None;
    let mut see = |name: &'static str, text: &str| {
        if name == pass {
            found = Some(text.to_owned());
        }
    };
    compile_observed(&module, &info, "main", &Options::default(), &mut see).unwrap();
    found.unwrap()
}

/// How many lines have `part`.
pub(super) fn count(text: &str, part: &str) -> usize {
    text.lines().filter(|line| line.contains(part)).count()
}
