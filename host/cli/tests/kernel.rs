//! `hal kernel check` and `hal kernel run`: reports, comparisons, bad arguments, exit codes.

mod common;

use common::{Folder, Outcome, hal};
use std::time::Duration;

const SAXPY: &str = "
struct Constants { a: f32, n: u32, }
override SCALE: f32 = 1.0;
var<immediate> c: Constants;
@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(3) var<storage, read_write> y: array<f32>;
@compute @workgroup_size(64) fn saxpy(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x < c.n { y[id.x] += SCALE * c.a * x[id.x]; }
}
@compute @workgroup_size(4, 2, 1) fn clear(@builtin(local_invocation_index) id: u32) { y[id] = 0.0; }
";

/// 0.5 and 64.
const CONSTANTS: &str = "0000003f40000000";

fn words(values: &[u32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// Runs the function `main` of a kernel in one workgroup, with `more` behind.
#[track_caller]
fn main_of(kernel: &str, more: &[&str]) -> Outcome {
    hal(["kernel", "run", kernel, "--entry", "main", "--groups", "1,1,1"].iter().chain(more))
}

/// A kernel whose `main` has this body, and an array of `u32` to write to.
fn kernel(folder: &Folder, name: &str, body: &str) -> String {
    let source = format!(
        "@group(0) @binding(0) var<storage, read_write> o: array<u32>;\n\
         @compute @workgroup_size(4) fn main(@builtin(local_invocation_index) l: u32) {{\n{body}\n}}"
    );
    folder.file(name, source)
}

/// The devices that all have to agree: Vulkan's, too, if there is one.
fn devices() -> Vec<&'static str> {
    let mut devices = vec!["--device", "local-sync://", "--device", "local-task://"];
    let vulkan = hal(["devices", "vulkan", "--json"]);
    if vulkan.code == 0 && !vulkan.json().get("devices").and_then(|it| it.as_array()).is_none_or(Vec::is_empty) {
        devices.extend(["--device", "vulkan://"]);
    } else {
        let demanded = std::env::var("HAL_REQUIRE_VULKAN").is_ok_and(|value| value == "1");
        assert!(!demanded, "HAL_REQUIRE_VULKAN=1, but there is no Vulkan device: {}", vulkan.stderr);
        println!("skipped on vulkan: no device");
    }
    devices
}

#[test]
fn check_says_what_a_kernel_takes() {
    let folder = Folder::new();
    let file = folder.file("saxpy.wgsl", SAXPY);
    let outcome = hal(["kernel", "check", &file]).expect(0);
    outcome.prints(&[
        "function saxpy, workgroup size 64,1,1",
        "0        x     storage  read         array<f32>  4 each",
        "3        y     storage  read, write  array<f32>  4 each",
        "constants: 8 bytes",
        "4       4      u32   n",
        "function clear, workgroup size 4,2,1",
        "SCALE      f32   has one",
        "local-sync://  takes it",
        "local-task://  takes it",
    ]);
}

#[test]
fn check_asks_the_devices_that_are_named() {
    let folder = Folder::new();
    let file = kernel(&folder, "k.wgsl", "o[l] = 1u;");
    let one = hal(["kernel", "check", &file, "--device", "local-sync://"]).expect(0);
    assert!(one.stdout.contains("local-sync://") && !one.stdout.contains("local-task"), "{}", one.stdout);
    let null = hal(["kernel", "check", &file, "--device", "null://"]).expect(126);
    null.prints(&["null://  refuses it: ", "does not load"]);
    let large = folder.file("large.wgsl", "@compute @workgroup_size(1024, 64) fn main() {}");
    hal(["kernel", "check", &large, "--device", "cpu://"])
        .expect(126)
        .prints(&["function main", "cpu://  refuses it: 1:39: function \"main\" needs 65536"]);
    hal(["kernel", "check", &file, "--device", "cuda://"]).expect(125).says(&["cuda", "local-sync"]);
    hal(["kernel", "check", &file, "--device", "local-sync://9"]).expect(125).says(&["local-sync://9"]);
}

#[test]
fn spirv_is_a_kernel_by_its_name() {
    // A function that does nothing, assembled by hand: capability, memory model, entry point, workgroup size, types, body.
    let module = [
        &[0x0723_0203, 0x0001_0300, 0, 5, 0, 2 << 16 | 17, 1, 3 << 16 | 14, 0, 1][..],
        &[5 << 16 | 15, 5, 4, u32::from_le_bytes(*b"main"), 0, 6 << 16 | 16, 4, 17, 8, 1, 1],
        &[2 << 16 | 19, 1, 3 << 16 | 33, 2, 1, 5 << 16 | 54, 1, 4, 0, 2, 2 << 16 | 248, 3, 1 << 16 | 253, 1 << 16 | 56],
    ];
    let folder = Folder::new();
    let file = folder.file("nothing.spv", words(&module.concat()));
    hal(["kernel", "check", &file]).expect(0).prints(&["spirv", "function main, workgroup size 8,1,1", "takes it"]);
    main_of(&file, &["--device", "local-sync://", "--check"]).expect(0);
}

#[test]
fn a_refusal_has_file_line_and_column() {
    let folder = Folder::new();
    let wrong = kernel(&folder, "wrong.wgsl", "o[l] = 1.5;");
    let place = format!("{wrong}:3:");
    hal(["kernel", "check", &wrong]).expect(126).says(&[&place]);
    main_of(&wrong, &["--device", "local-sync://", "--bind", "0=zeros:16"]).expect(126).says(&[&place]);
    let barrier = kernel(&folder, "barrier.wgsl", "if l == 1u {\n  workgroupBarrier();\n}");
    hal(["kernel", "check", &barrier]).expect(126).says(&["barrier.wgsl:4:3: "]);
    let words = folder.file("short.spv", [3, 2, 0x23]);
    hal(["kernel", "check", &words]).expect(126).says(&["short.spv: "]);
}

#[test]
fn overrides_have_values_of_their_type() {
    let folder = Folder::new();
    let source = "override N: u32; @group(0) @binding(0) var<storage, read_write> o: array<u32>;
        @compute @workgroup_size(N) fn main() { o[0] = N; }";
    let file = folder.file("n.wgsl", source);
    let open = hal(["kernel", "check", &file]).expect(125);
    let open = open.prints(&["N         u32   none: required", "no device is asked", "--override N=VALUE, a u32"]);
    assert_eq!(open.stderr, "");
    main_of(&file, &["--device", "local-sync://"]).expect(125).says(&["--override N=VALUE, a u32"]);
    hal(["kernel", "check", &file, "--override", "N=8"]).expect(0).prints(&["workgroup size 8,1,1"]);
    for wrong in ["N", "=1", "N=-1", "N=x", "M=1"] {
        hal(["kernel", "check", &file, "--override", wrong]).expect(125).says(&["override"]);
    }
    let out = folder.path().join("n.bin");
    let to = format!("0={}", out.display());
    let more = ["--device", "local-sync://", "--bind", "0=zeros:4", "--override", "N=8", "--out", &to];
    main_of(&file, &more).expect(0);
    assert_eq!(std::fs::read(out).unwrap(), words(&[8]));
}

#[test]
fn devices_and_the_interpreter_agree() {
    let folder = Folder::new();
    let file = folder.file("saxpy.wgsl", SAXPY);
    let x = folder.file("x.bin", [2f32.to_le_bytes(); 64].concat());
    let (x, y) = (format!("0={x}"), folder.path().join("y.bin"));
    let out = format!("3={}", y.display());
    let mut line = vec!["kernel", "run", &file, "--entry", "saxpy", "--groups", "1,1,1", "--constants", CONSTANTS];
    line.extend(["--bind", &x, "--bind", "3=zeros:256", "--repeat", "3", "--check", "--out", &out]);
    line.extend(devices());
    let outcome = hal(&line).expect(0);
    outcome.prints(&[
        "DEVICE",
        "MEDIAN",
        "binding 3: local-sync:// and local-task:// agree",
        "binding 3: local-sync:// and the interpreter agree",
    ]);
    // Each repeat began with zeros.
    assert_eq!(std::fs::read(y).unwrap(), [1f32.to_le_bytes(); 64].concat());
    let random = hal(line.iter().map(|part| match *part {
        part if part == x => "0=random-f32:7:256",
        "3=zeros:256" => "3=random-f32:8:256",
        part => part,
    }));
    random.expect(0).prints(&["binding 3: local-sync:// and local-task:// agree"]);
}

/// The CPU's devices and the interpreter agree to the bit in all that is determined; a GPU computes such functions in its own way.
#[test]
fn what_differs_is_told_and_fails() {
    let devices = devices();
    if !devices.contains(&"vulkan://") {
        return;
    }
    let folder = Folder::new();
    let file = folder.file(
        "exp.wgsl",
        "@group(0) @binding(0) var<storage, read_write> o: array<f32>;
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) { o[id.x] = exp(o[id.x]); }",
    );
    let line = ["kernel", "run", &file, "--entry", "main", "--groups", "16,1,1", "--bind", "0=random-f32:1:4KiB"];
    let run = |more: &[&str]| hal([&line[..], &devices, more].concat());
    run(&[]).expect(1).prints(&[
        "binding 0: local-sync:// and local-task:// agree",
        "binding 0: local-sync:// and vulkan:// differ: ",
        "ulps",
        "largest: f32 at byte ",
    ]);
    run(&["--ulps", "1000"]).expect(0).prints(&["vulkan:// agree within 1000 ulps: ", "largest: f32 at byte "]);
    run(&["--abs", "1e-3"]).expect(0).prints(&["vulkan:// agree within 1e-3: "]);
    run(&["--ulps", "1000", "--abs", "1e-30"]).expect(0).prints(&["vulkan:// agree within 1000 ulps or 1e-30: "]);
    // As words they are integers, which have no ulps.
    run(&["--ulps", "1000", "--type", "0=u32"]).expect(1).prints(&["vulkan:// differ: ", "largest: u32 at byte "]);
}

#[test]
fn a_type_that_is_named_has_to_fit() {
    let folder = Folder::new();
    let file = kernel(&folder, "k.wgsl", "o[l] = pack2x16float(vec2<f32>(0.5, f32(l)));");
    let run = |bind: &str, types: &[&str]| {
        let types = types.iter().flat_map(|ty| ["--type", ty]);
        let line = ["--device", "local-sync://", "--check", "--bind", bind];
        main_of(&file, &line.into_iter().chain(types).collect::<Vec<_>>())
    };
    for ty in ["f16", "f32", "i32", "u32", "i64", "u64"] {
        run("0=zeros:16", &[&format!("0={ty}")])
            .expect(0)
            .prints(&["binding 0: local-sync:// and the interpreter agree"]);
    }
    run("0=zeros:12", &["0=u64"]).expect(125).says(&["--type 0=u64", "12 bytes", "takes 8"]);
    run("0=zeros:16", &["1=f16"]).expect(125).says(&["--type 1", "does not write it; it writes 0"]);
    run("0=zeros:16", &["0=f16", "0=f32"]).expect(125).says(&["--type 0=f32", "twice"]);
    run("0=zeros:16", &["0=f64"]).expect(125).says(&["\"f64\" is no type of scalars", "f16, f32"]);
}

/// The others are told of, whichever it is that fails.
#[test]
fn a_device_that_fails_does_not_hide_the_others() {
    let folder = Folder::new();
    let file = kernel(&folder, "k.wgsl", "o[l] = l;");
    let out = folder.path().join("o.bin");
    let run = |devices: [&str; 3]| {
        let devices = devices.iter().flat_map(|device| ["--device", device]);
        let to = format!("0={}", out.display());
        let line: Vec<_> = devices.chain(["--bind", "0=zeros:16", "--out", &to, "--check"]).collect();
        main_of(&file, &line).expect(126).says(&["error: ", "does not load", "says null://"]).prints(&[
            "null://        failed\n",
            "binding 0: local-sync:// and local-task:// agree",
            "binding 0: local-sync:// and the interpreter agree",
        ])
    };
    run(["null://", "local-sync://", "local-task://"]);
    assert!(!out.exists(), "what the first device leaves is not there");
    run(["local-sync://", "null://", "local-task://"]);
    assert_eq!(std::fs::read(&out).unwrap(), words(&[0, 1, 2, 3]));
    let none = main_of(&file, &["--device", "null://", "--bind", "0=zeros:16", "--check"]).expect(126);
    assert!(!none.stdout.contains("agree"), "{}", none.stdout);
}

#[test]
fn no_workgroup_is_no_agreement() {
    let folder = Folder::new();
    let file = kernel(&folder, "k.wgsl", "o[l] = l;");
    let devices = ["--device", "local-sync://", "--device", "local-task://", "--bind", "0=zeros:16", "--check"];
    let outcome =
        hal(["kernel", "run", &file, "--entry", "main", "--groups", "4,0,1"].iter().chain(&devices)).expect(0);
    let outcome = outcome.prints(&["local-task://", "no workgroup: nothing ran, and nothing is compared"]);
    assert!(!outcome.stdout.contains("agree"), "{}", outcome.stdout);
}

#[test]
fn json_has_the_same_facts() {
    let folder = Folder::new();
    let file = folder.file("saxpy.wgsl", SAXPY);
    let check = |more: &[&str]| hal(["kernel", "check", &file, "--json"].iter().chain(more));
    let all = check(&["--device", "local-sync://", "--device", "null://"]).expect(126).json();
    let at = |path: &str| all.pointer(path).unwrap_or_else(|| panic!("no {path} in {all:#}")).clone();
    assert_eq!((at("/format"), at("/refusal")), ("wgsl".into(), serde_json::Value::Null));
    assert_eq!((at("/functions/0/name"), at("/functions/0/place/line")), ("saxpy".into(), 7.into()));
    assert_eq!(at("/functions/0/workgroup_size"), serde_json::json!([64, 1, 1]));
    let binding = serde_json::json!({
        "binding": 3, "name": "y", "class": "storage", "reads": true, "writes": true, "type": "array<f32>",
        "min_bytes": 4, "runtime_array": { "offset": 0, "stride": 4 },
    });
    assert_eq!(at("/functions/0/bindings/1"), binding);
    let constant = serde_json::json!({ "name": "n", "type": "u32", "offset": 4, "bytes": 4 });
    assert_eq!(at("/functions/0/constants/1"), constant);
    let scale = serde_json::json!({ "name": "SCALE", "id": "SCALE", "type": "f32", "required": false });
    assert_eq!(at("/overrides/0"), scale);
    assert_eq!((at("/devices/0/uri"), at("/devices/0/refusal")), ("local-sync://".into(), serde_json::Value::Null));
    assert_eq!((at("/devices/1/uri"), at("/devices/1/refusal/code")), ("null://".into(), "incompatible".into()));

    let wrong = kernel(&folder, "wrong.wgsl", "o[l] = 1.5;");
    let refused = hal(["kernel", "check", &wrong, "--json"]).expect(126).says(&["wrong.wgsl:3:"]).json();
    assert_eq!(refused.pointer("/refusal/code").unwrap(), "invalid-argument");
    assert!(refused.pointer("/refusal/message").unwrap().as_str().unwrap().starts_with("3:"), "{refused}");
    let open = folder.file("n.wgsl", "override N: u32; @compute @workgroup_size(N) fn main() { }");
    let open = hal(["kernel", "check", &open, "--json"]).expect(125).json();
    assert_eq!((&open["overrides"][0]["required"], &open["devices"]), (&true.into(), &serde_json::json!([])));
}

/// Where there is no window system, as on servers, Mesa's layer for devices finds that to be an error.
#[test]
fn a_missing_window_system_is_no_error() {
    if devices().contains(&"vulkan://") {
        let folder = Folder::new();
        let file = kernel(&folder, "k.wgsl", "o[l] = l;");
        let outcome = main_of(&file, &["--device", "vulkan://", "--bind", "0=zeros:16"]).expect(0);
        assert!(!outcome.stderr.contains("XDG_RUNTIME_DIR"), "{}", outcome.stderr);
    }
}

#[test]
fn check_finds_mistakes() {
    let folder = Folder::new();
    let run = |body: &str| {
        let file = kernel(&folder, "k.wgsl", body);
        main_of(&file, &["--device", "local-sync://", "--bind", "0=zeros:16", "--check"])
    };
    run("o[l] = l;").expect(0);
    run("if l == 3u {\n  o[l + 1u] = 1u; }").expect(1).prints(&["k.wgsl:4:", "out of bounds: element 4 of 4 in `o`"]);
    run("o[l / 4u] = l;").expect(1).prints(&["k.wgsl:3:", "race in `o` with invocation 0"]);
    // All of them mean no element, and get the last one.
    let outside = run("o[l + 4u] = l;\nstorageBarrier();\no[l] = o[9];").expect(1);
    let outside =
        outside.prints(&["k.wgsl:3:1: out of bounds: element 4 of 4 in `o` (4 times, first in workgroup 0,0,0, "]);
    assert!(!outside.stdout.contains("race"), "{}", outside.stdout);
    // Legal and common.
    run("var sum: u32; sum += l; o[l] = sum;").expect(0).prints(&["note: a read of what was never written"]);
}

#[test]
fn what_needs_a_feature_runs_and_is_checked_where_the_device_has_it() {
    let folder = Folder::new();
    let wide = kernel(&folder, "wide.wgsl", "let wide = u64(l) * 3lu; o[l] = u32(wide);");
    let on = |device: &str| main_of(&wide, &["--device", device, "--bind", "0=zeros:16", "--check"]);
    on("local-sync://").expect(0).prints(&["local-sync:// and the interpreter agree"]);
    // The portable profile has no features.
    on("local-sync://?profile=portable").expect(126).says(&["shader-int64", "says local-sync://"]);
    let mistaken = kernel(&folder, "mistaken.wgsl", "o[(l / 2u) * subgroupMax(1u)] = u32(u64(l) * 3lu);");
    main_of(&mistaken, &["--device", "local-sync://", "--bind", "0=zeros:16", "--check"])
        .expect(1)
        .prints(&["race in `o`"]);
}

#[test]
fn an_endless_kernel_is_ended() {
    let folder = Folder::new();
    let endless = kernel(&folder, "endless.wgsl", "loop { o[l] += 1u; if o[3] == 1u && o[3] == 2u { break; } }");
    for device in devices().into_iter().filter(|word| *word != "--device") {
        let more = ["--device", device, "--bind", "0=zeros:16", "--timeout", "300ms"];
        let outcome = main_of(&endless, &more).expect(124).says(&[device, "deadline-exceeded"]);
        // What is bounded by the device, no longer time helps.
        let advice = if device == "vulkan://" { "max-loop-iterations" } else { "--timeout" };
        assert!(outcome.stderr.contains(advice), "{}", outcome.stderr);
        assert!(outcome.took < Duration::from_secs(20), "{:?}", outcome.took);
    }
    let long = kernel(&folder, "long.wgsl", "for (var i = 0u; i < 4000000u; i++) { o[l] += i; }");
    let more = ["--device", "local-sync://", "--bind", "0=zeros:16", "--timeout", "1s", "--check"];
    let outcome = main_of(&long, &more).expect(124).says(&["--check", "time", "--timeout"]);
    assert!(outcome.took < Duration::from_secs(20), "{:?}", outcome.took);
}

#[test]
fn outputs_are_whole_files_or_none() {
    let folder = Folder::new();
    let file = kernel(&folder, "k.wgsl", "o[l] = l;");
    let run = |out: &str| main_of(&file, &["--device", "local-sync://", "--bind", "0=zeros:16", "--out", out]);
    let old = folder.file("old.bin", "old");
    run(&format!("0={old}")).expect(0);
    assert_eq!(std::fs::read(&old).unwrap(), words(&[0, 1, 2, 3]));
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left.len(), 2, "no temporary file stays: {left:?}");
    run("0=/dev/null").expect(125).says(&["/dev/null", "regular"]);
    run("0=/nowhere/at/all").expect(125).says(&["/nowhere/at/all", "folder"]);
    run(&format!("0={}", folder.path().display())).expect(125).says(&["regular"]);
    run(&format!("0={file}")).expect(125).says(&["it is the kernel", "another file"]);
    let input = format!("0={old}");
    main_of(&file, &["--device", "local-sync://", "--bind", &input, "--out", &input])
        .expect(125)
        .says(&["another file"]);
    run(&format!("1={old}")).expect(125).says(&["--out 1", "writes 0"]);
    run("0=").expect(125);
}

#[test]
fn bad_arguments_are_told_before_anything_runs() {
    let folder = Folder::new();
    let file = kernel(&folder, "k.wgsl", "o[l] = l;");
    let good = ["--device", "local-sync://", "--bind", "0=zeros:16"];
    main_of(&file, &good).expect(0).prints(&["local-sync://"]);
    let with = |more: &[&str]| main_of(&file, &[&good[..], more].concat()).expect(125);
    with(&["--bind", "0=zeros:16"]).says(&["binding 0", "twice"]);
    with(&["--constants", "00000000"]).says(&["0 bytes of constants", "4"]);
    with(&["--constants", "0g"]).says(&["two digits"]);
    with(&["--repeat", "0"]).says(&["--repeat"]);
    with(&["--repeat", "1001"]).says(&["--repeat"]);
    with(&["--timeout", "2000min"]).says(&["60min"]);
    with(&["--timeout", "10"]).says(&["unit"]);
    with(&["--device", "nothing://"]).says(&["nothing", "local-task"]);
    with(&["--device", "local-sync://?colour=red"]).says(&["colour"]);
    with(&["--device", "null://", "--device", "null://7"]).says(&["null://7"]);
    with(&["--device", "null"].repeat(8)).says(&["9 devices", "8"]);
    with(&["--ulps", "one"]).says(&["--ulps"]);
    with(&["--abs", "-1"]).says(&["--abs", "a number from 0"]);
    with(&["--device", "local-sync://9"]).says(&["no device has the path \"9\"; there is only 0", "`hal devices`"]);
    for (option, value, says) in [
        ("--constants", "-1", "two digits"),
        ("--override", "-x=1", "no override \"-x\""),
        ("--bind", "-1=zeros:4", "\"-1\" is no binding"),
        ("--out", "-1=x", "\"-1\" is no binding"),
        ("--type", "-1=f32", "\"-1\" is no binding"),
        ("--groups", "-1,1,1", "three numbers"),
        ("--ulps", "-1", "--ulps"),
        ("--repeat", "-1", "--repeat"),
        ("--timeout", "-1s", "--timeout"),
        ("--device", "-1", "-1"),
        ("--entry", "-1", "-1"),
    ] {
        let told = if option == "--groups" || option == "--entry" {
            let line = ["kernel", "run", &file, "--device", "local-sync://", "--bind", "0=zeros:16"];
            let rest = if option == "--groups" { ["--entry", "main"] } else { ["--groups", "1,1,1"] };
            hal(line.iter().chain(&rest).chain(&[option, value])).expect(125)
        } else {
            with(&[option, value])
        };
        let told = told.says(&[says]);
        assert!(!told.stderr.contains("tip:"), "{option} {value}: {}", told.stderr);
    }
    let wide = folder.file(
        "wide.wgsl",
        "@group(0) @binding(0) var<storage, read_write> o: array<u32>;\n@group(0) @binding(1) var<uniform> u: vec4<u32>;\n\
         @compute @workgroup_size(1) fn main() { o[0] = u.x; }",
    );
    let wide = main_of(&wide, &["--device", "cpu://", "--bind", "0=zeros:4", "--bind", "1=zeros:1MiB"]).expect(125);
    wide.says(&["wide.wgsl:2:", "binding 1 has 1048576 bytes", "max-uniform-bytes of cpu:// is 65536; bind less"]);
    let bind = |content: &str| main_of(&file, &["--device", "local-sync://", "--bind", content]).expect(125);
    bind("1=zeros:16").says(&["uses binding 0 (o)", "--bind 0=", "does not use binding 1"]);
    bind("0=zeros:6").says(&["multiple of 4"]);
    bind("0=zeros:1GiB").says(&["512 MiB"]);
    bind("0=/dev/zero").says(&["--bind 0", "/dev/zero", "regular"]);
    bind("0=/nowhere.bin").says(&["--bind 0", "/nowhere.bin"]);
    let odd = folder.file("odd.bin", [0; 7]);
    bind(&format!("0={odd}")).says(&["odd.bin", "7 bytes"]);
    let run = |arguments: &[&str]| hal(["kernel", "run"].iter().chain(arguments)).expect(125);
    let rest = ["--groups", "1,1,1", "--device", "local-sync://", "--bind", "0=zeros:16"];
    run(&[&[&*file, "--entry", "mian"][..], &rest].concat()).says(&["mian", "main"]);
    run(&[&["/nowhere.wgsl", "--entry", "main"][..], &rest].concat()).says(&["/nowhere.wgsl"]);
    run(&[&["/dev/zero", "--entry", "main"][..], &rest].concat()).says(&[".wgsl", ".spv"]);
    run(&[&file, "--entry", "main", "--groups", "1,1", "--device", "local-sync://"]).says(&["three numbers"]);
    run(&[&file, "--entry", "main", "--groups", "1,1,1"]).says(&["--device"]);
    let most = ["--groups", "4294967295,4294967295,4294967295", "--device", "local-sync://", "--bind", "0=zeros:16"];
    run(&[&[&*file, "--entry", "main"][..], &most].concat()).says(&["max-workgroups"]);
    let large = folder.file("large.wgsl", " ".repeat((256 << 10) + 1));
    hal(["kernel", "check", &large]).expect(125).says(&["large.wgsl", "256 KiB"]);
}
