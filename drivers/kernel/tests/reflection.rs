//! What a program says about itself, what the ABI refuses, and overrides.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking, and its helpers too"
)]

use hal_kernel::{
    Binding, BindingClass, ErrorCode, Format, KernelError, OverrideValue, Program, RuntimeArray, SourceLimits, load,
};

fn wgsl(source: &str) -> Result<Program, KernelError> {
    load(Format::Wgsl, source.as_bytes(), &SourceLimits::default())
}

#[test]
fn formats_have_names() {
    for format in [Format::Wgsl, Format::Spirv] {
        assert_eq!(Format::from_name(format.name()), Some(format));
    }
    assert_eq!(Format::from_name("glsl"), None);
}

#[test]
fn a_function_says_what_it_takes() {
    let program = wgsl(
        "
        struct Constants { a: f32, b: vec3<f32> }
        var<immediate> constants: Constants;
        struct Tail { count: atomic<u32>, items: array<vec4<f32>> }
        @group(0) @binding(7) var<storage, read_write> tail: Tail;
        @group(0) @binding(2) var<storage, read_write> only_read: array<u32>;
        @group(0) @binding(3) var<storage, read_write> only_written: array<vec2<u32>, 5>;
        @group(0) @binding(4) var<uniform> settings: vec4<u32>;
        @group(0) @binding(5) var<storage> not_used: array<u32>;
        var<workgroup> shared_words: array<u32, 10>;
        fn helper() -> u32 { return only_read[0]; }
        @compute @workgroup_size(8, 4, 2) fn first() {
            shared_words[0] = helper();
            only_written[1].x = settings.y;
            atomicAdd(&tail.count, u32(constants.a));
        }
        @compute @workgroup_size(1) fn second() { only_written[0] = vec2(1u); }",
    )
    .unwrap();
    let [first, second] = program.functions() else { panic!("two functions") };
    assert_eq!((first.name.as_str(), first.workgroup_size), ("first", [8, 4, 2]));
    assert_eq!((first.constant_bytes, first.workgroup_bytes), (32, 40));
    assert!(first.required_features.is_empty());
    let binding = |binding, name: &str, class, reads, writes, min_length, runtime_array| Binding {
        binding,
        name: name.to_owned(),
        class,
        reads,
        writes,
        min_length,
        runtime_array,
    };
    use BindingClass::{Storage, Uniform};
    let whole = Some(RuntimeArray { offset: 0, stride: 4 });
    let tail = Some(RuntimeArray { offset: 16, stride: 16 });
    assert_eq!(
        first.bindings,
        [
            binding(2, "only_read", Storage, true, false, 4, whole),
            binding(3, "only_written", Storage, false, true, 40, None),
            binding(4, "settings", Uniform, true, false, 16, None),
            binding(7, "tail", Storage, true, true, 32, tail),
        ]
    );
    assert_eq!(second.bindings.len(), 1);
    assert_eq!((second.constant_bytes, second.workgroup_bytes), (0, 0));
    assert!(program.function("second").is_some() && program.function("third").is_none());
}

#[test]
fn features_are_named_with_their_place() {
    let program = wgsl(
        "enable f16;
        @group(0) @binding(0) var<storage, read_write> o: array<u32>;
        @compute @workgroup_size(1) fn plain() { o[0] = pack2x16float(vec2(1.0)); }
        @compute @workgroup_size(1) fn half() { let x = f16(o[0]); o[0] = u32(x * x); }
        @compute @workgroup_size(1) fn sub() { o[0] = subgroupAdd(o[1]); }
        fn wide() -> u64 { return u64(o[0]) << 40u; }
        @compute @workgroup_size(1) fn long() { o[0] = u32(wide() >> 33u); }",
    )
    .unwrap();
    let features = |name: &str| {
        let features = &program.function(name).unwrap().required_features;
        features.iter().map(|feature| (feature.name, feature.place.map_or(0, |place| place.line))).collect::<Vec<_>>()
    };
    assert_eq!(features("plain"), []);
    assert_eq!(features("half"), [("shader-f16", 4)]);
    assert_eq!(features("sub"), [("subgroup", 5)]);
    assert_eq!(features("long"), [("shader-int64", 6)]);
}

#[track_caller]
fn incompatible(source: &str, says: &[&str]) {
    let error = wgsl(source).unwrap_err();
    assert_eq!(error.code, ErrorCode::Incompatible, "{error}");
    for text in says {
        assert!(error.to_string().contains(text), "{error}");
    }
}

#[test]
fn the_abi_refuses_by_name() {
    let with = |declaration: &str| format!("{declaration}\n@compute @workgroup_size(1) fn main() {{}}");
    incompatible(&with("@group(1) @binding(0) var<storage> other: array<u32>;"), &["1:", "`other`", "group 1"]);
    incompatible(&with("@group(0) @binding(64) var<storage> far: array<u32>;"), &["`far`", "64"]);
    incompatible(&with("@group(0) @binding(0) var picture: texture_2d<f32>;"), &["`picture`", "texture"]);
    incompatible(&with("@group(0) @binding(0) var samp: sampler;"), &["`samp`", "sampler"]);
    incompatible(
        &format!(
            "enable wgpu_binding_array;\n{}",
            with("@group(0) @binding(0) var<storage> many: binding_array<array<u32>, 4>;")
        ),
        &["`many`", "binding array"],
    );
    incompatible(&with("var<immediate> much: array<vec4<f32>, 9>;"), &["`much`", "144"]);
    incompatible(&with("@group(0) @binding(0) var<uniform> big: array<vec4<u32>, 4097>;"), &["`big`", "65552"]);
    // At the edge.
    wgsl(&with("@group(0) @binding(63) var<storage> far: array<u32>;")).unwrap();
    wgsl(&with("@group(0) @binding(0) var<uniform> big: array<vec4<u32>, 4096>;")).unwrap();
}

#[test]
fn constants_up_to_128_bytes() {
    let with = |count: u32| {
        format!(
            "struct C {{ v: vec4<f32>, w: vec4<f32>, m: mat4x4<f32>, x: vec4<f32>, {} }} var<immediate> c: C;
            @group(0) @binding(0) var<storage, read_write> o: array<f32>;
            @compute @workgroup_size(1) fn main() {{ o[0] = c.v.x; }}",
            (0..count).map(|at| format!("e{at}: vec4<f32>,")).collect::<String>()
        )
    };
    assert_eq!(wgsl(&with(1)).unwrap().functions()[0].constant_bytes, 128);
    assert_eq!(wgsl(&with(2)).unwrap_err().code, ErrorCode::Incompatible);
}

#[test]
fn a_program_without_compute_entry_point() {
    let error = wgsl("@fragment fn main() {}").unwrap_err();
    assert_eq!(error.code, ErrorCode::InvalidArgument, "{error}");
}

const OVERRIDES: &str = "
    override size: u32;
    @id(7) override scale: f32 = 2.0;
    override flag: bool = false;
    override shift: i32 = -1;
    override derived: u32 = size * 2u;
    @group(0) @binding(0) var<storage, read_write> o: array<f32>;
    @compute @workgroup_size(size) fn main() {
        o[0] = select(scale, f32(shift), flag) + f32(derived);
    }";

fn values(values: &[(&str, OverrideValue)]) -> Vec<(String, OverrideValue)> {
    values.iter().map(|&(name, value)| (name.to_owned(), value)).collect()
}

#[test]
fn overrides_are_resolved() {
    let program = wgsl(OVERRIDES).unwrap();
    let listed: Vec<_> =
        program.overrides().iter().map(|it| (it.key.as_str(), it.name.as_str(), it.ty, it.has_default)).collect();
    assert_eq!(
        listed,
        [
            ("size", "size", "u32", false),
            ("7", "scale", "f32", true),
            ("flag", "flag", "bool", true),
            ("shift", "shift", "i32", true),
            ("derived", "derived", "u32", true),
        ]
    );
    for key in ["scale", "7"] {
        let given = values(&[
            ("size", OverrideValue::U32(48)),
            (key, OverrideValue::F32(0.5)),
            ("flag", OverrideValue::Bool(true)),
            ("shift", OverrideValue::I32(i32::MIN)),
        ]);
        let special = program.specialize(&given).unwrap();
        assert_eq!(special.functions()[0].workgroup_size, [48, 1, 1]);
        assert!(special.overrides().is_empty());
        // The program itself can be resolved again, in another way.
        let other = program.specialize(&values(&[("size", OverrideValue::U32(1))])).unwrap();
        assert_eq!(other.functions()[0].workgroup_size, [1, 1, 1]);
    }
}

#[test]
fn overrides_are_checked() {
    let program = wgsl(OVERRIDES).unwrap();
    let size = ("size", OverrideValue::U32(4));
    for (given, says) in [
        (vec![], "`size`"),
        (vec![size, ("nothing", OverrideValue::U32(1))], "`nothing`"),
        (vec![("size", OverrideValue::I32(4))], "`size`"),
        (vec![("size", OverrideValue::F32(2.5))], "`size`"),
        (vec![size, ("scale", OverrideValue::F32(f32::NAN))], "finite"),
        (vec![size, ("scale", OverrideValue::F32(1.0)), ("7", OverrideValue::F32(1.0))], "two values"),
        (vec![("size", OverrideValue::U32(0))], "not positive"),
    ] {
        let error = program.specialize(&values(&given)).unwrap_err();
        assert_eq!(error.code, ErrorCode::InvalidArgument, "{error}");
        assert!(error.message.contains(says), "{error}");
    }
    let plain = wgsl("@compute @workgroup_size(1) fn main() {}").unwrap();
    assert!(plain.specialize(&[]).is_ok());
    assert!(plain.specialize(&values(&[size])).is_err());
}

#[test]
fn override_sized_workgroup_memory() {
    let program = wgsl(
        "override n: u32 = 4;
        var<workgroup> w: array<u32, n>;
        @group(0) @binding(0) var<storage, read_write> o: array<u32>;
        @compute @workgroup_size(1) fn main() { w[1] = 2u; o[0] = w[1]; }",
    )
    .unwrap();
    let special = program.specialize(&values(&[("n", OverrideValue::U32(100))])).unwrap();
    assert_eq!(special.functions()[0].workgroup_bytes, 400);
}
