//! `hal run` on components made here: grants, refusals, exit codes, output.

mod common;

use common::{Folder, command, hal, program};
use std::{io::Read, process::Stdio, time::Duration};

#[test]
fn exit_codes_are_passed_on() {
    let folder = Folder::new();
    let good = folder.component("good.wasm", &program("(i32.const 0)"));
    let outcome = hal(["run", &good]).expect(0);
    assert_eq!((outcome.stdout.as_str(), outcome.stderr.as_str()), ("", ""), "quiet when all is well");

    let bad = folder.component("bad.wasm", &program("(i32.const 1)"));
    hal(["run", &bad]).expect(1);
    let exits = folder.component("exits.wasm", &program("(call $exit (i32.const 1)) unreachable"));
    hal(["run", &exits]).expect(1);
    let exits_well = folder.component("well.wasm", &program("(call $exit (i32.const 0)) unreachable"));
    hal(["run", &exits_well]).expect(0);
}

#[test]
fn a_trap_has_a_code_and_a_cause() {
    let folder = Folder::new();
    let trap = folder.component("trap.wasm", &program("unreachable"));
    hal(["run", &trap]).expect(134).says(&["trap", "unreachable"]);
    let stack = folder.component("stack.wasm", &program("(call 1)"));
    hal(["run", &stack]).expect(134).says(&["stack"]);
}

#[test]
fn an_endless_tenant_is_stopped() {
    let folder = Folder::new();
    let endless = folder.component("endless.wasm", &program("(loop (br 0)) unreachable"));
    let outcome =
        hal(["run", &endless, "--timeout", "300ms"]).expect(124).says(&["stopped after", "its time, 300ms, was up"]);
    assert!(outcome.took < Duration::from_secs(20), "{:?}", outcome.took);
}

#[test]
fn a_component_that_is_no_program_is_told_what_it_exports() {
    let folder = Folder::new();
    let library = folder.component(
        "library.wasm",
        r#"(component (core module $m (func (export "f"))) (core instance $i (instantiate $m))
            (func (export "greet") (canon lift (core func $i "f"))))"#,
    );
    hal(["run", &library]).expect(126).says(&["wasi:cli/run", "greet"]);
    let empty = folder.component("empty.wasm", "(component)");
    hal(["run", &empty]).expect(126).says(&["wasi:cli/run"]);
}

#[test]
fn imports_that_were_not_granted_are_named() {
    let folder = Folder::new();
    let surplus =
        folder.component("surplus.wasm", r#"(component (import "acme:net/raw@1.0.0" (instance (export "f" (func)))))"#);
    hal(["run", &surplus]).expect(126).says(&["acme:net/raw@1.0.0"]);
    let core = folder.component("core.wasm", "(module)");
    hal(["run", &core]).expect(126).says(&["core module"]);
    hal(["run", folder.path().to_str().unwrap()]).expect(125).says(&["directory"]);
}

#[test]
fn kernels_are_kept_only_where_nobody_else_can_write() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    let good = folder.component("good.wasm", &program("(i32.const 0)"));
    let kept = folder.path().join("kernels");
    let run = || hal(["run", &good, "--kernel-cache", kept.to_str().unwrap()]);
    run().expect(0);
    let mode = std::fs::metadata(&kept).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    std::fs::set_permissions(&kept, std::fs::Permissions::from_mode(0o777)).unwrap();
    run().expect(125).says(&["kernels", "others can write it"]);
}

#[test]
fn grants_are_checked_before_anything_runs() {
    let folder = Folder::new();
    let good = folder.component("good.wasm", &program("(i32.const 0)"));
    let run = |grant: &str| hal(["run", &good, "--grant", grant]);
    run("cuda").expect(125).says(&["cuda", "cpu", "null"]);
    run("").expect(125).says(&["cpu", "null"]);
    run("null=memory").expect(125).says(&["memory", "memory=64MiB"]);
    run("null=memroy=1MiB").expect(125).says(&["memroy", "memory-bytes"]);
    run("null=memory=1.5GiB").expect(125).says(&["1.5GiB", "memory-bytes"]);
    run("null=buffers=-1").expect(125).says(&["buffers"]);
    hal(["run", &good, "--grant", "null", "--grant", "null=buffers=2"]).expect(125).says(&["twice", "null"]);
    run("null=").expect(125).says(&["no limit is named", "memory=64MiB"]);
    run("null/0=").expect(125).says(&["no limit is named"]);
    run("null=buffers=1,buffers=2").expect(125).says(&["buffers", "given twice"]);
    run("null=memory=1MiB,memory-bytes=2MiB").expect(125).says(&["memory-bytes", "given twice"]);
    run("null=memory=99999999999GiB").expect(125).says(&["too large"]);
    for pattern in ["null/-1", "null/01", "null/", "null/0*"] {
        run(pattern).expect(125).says(&[pattern, "is no device pattern"]);
    }
    run("null=memory=64MiB,buffers=16").expect(0);
    run("null/0").expect(0);
}

#[test]
fn blobs_are_opened_before_anything_runs() {
    let folder = Folder::new();
    let good = folder.component("good.wasm", &program("(i32.const 0)"));
    let data = folder.file("data.bin", b"data");
    let run = |blob: &str| hal(["run", &good, "--blob", blob]);
    run("weights").expect(125).says(&["weights", "name"]);
    run(&format!("={data}")).expect(125).says(&["name"]);
    run("weights=/nowhere/at-all.bin").expect(125).says(&["/nowhere/at-all.bin", "weights"]);
    run(&format!("weights={}", folder.path().display())).expect(125).says(&["directory"]);
    run(&format!("weights={data}")).expect(0);
    let both = [format!("w={data}"), format!("w={data}")];
    hal(["run", &good, "--blob", &both[0], "--blob", &both[1]]).expect(125).says(&["two blobs"]);
}

#[test]
fn a_policy_grants_and_its_mistakes_have_lines() {
    let folder = Folder::new();
    let good = folder.component("good.wasm", &program("(i32.const 0)"));
    let run = |text: &str| hal(["run", &good, "--policy", &folder.file("policy.toml", text)]);
    folder.file("data.bin", b"data");
    run("wasi = \"cli\"\n[[grant]]\ndriver = \"null\"\nmemory = \"1MiB\"\n[[blob]]\nname = \"d\"\nfile = \"data.bin\"\n").expect(0);
    run("wasi = \"cli\"\n\n[[grant]]\ndriver = \"null\"\nmemroy = \"1MiB\"\n").expect(125).says(&[
        "policy.toml",
        "line 5",
        "memroy",
    ]);
    run("grants = 1\n").expect(125).says(&["line 1", "grants"]);
    run("wasi = \"cli\"\n[[grant]]\ndriver = \"cuda\"\n").expect(125).says(&["cuda", "null"]);
    run("").expect(126).says(&["wasi:cli/exit@0.2.0", "wasi = \"cli\""]);
    hal(["run", &good, "--policy", "/nowhere/p.toml"]).expect(125).says(&["/nowhere/p.toml"]);
    let endless = folder.component("endless.wasm", &program("(loop (br 0)) unreachable"));
    let policy = folder.file("short.toml", "wasi = \"cli\"\ntimeout = \"200ms\"\n");
    hal(["run", &endless, "--policy", &policy, "--timeout", "10min"]).expect(124);
}

#[test]
fn statistics_are_printed_on_demand() {
    let folder = Folder::new();
    let good = folder.component("good.wasm", &program("(i32.const 0)"));
    let text = hal(["run", &good, "--grant", "null=buffers=16", "--stats"]).expect(0);
    assert!(text.stdout.is_empty());
    text.says(&["buffers", "16", "null"]);
    let json = hal(["run", &good, "--grant", "null=buffers=16", "--stats=json"]).expect(0);
    let stats: serde_json::Value =
        serde_json::from_str(json.stderr.trim()).unwrap_or_else(|e| panic!("{e}: {}", json.stderr));
    assert_eq!(stats["grants"][0]["name"], "null", "{stats}");
    let trap = folder.component("trap.wasm", &program("unreachable"));
    hal(["run", &trap, "--stats"]).expect(134).says(&["calls"]);
}

/// Prints 4 KiB a time for ever.
fn flood() -> String {
    r#"(component
      (import "wasi:io/error@0.2.0" (instance $error (export "error" (type (sub resource)))))
      (alias export $error "error" (type $e))
      (import "wasi:io/streams@0.2.0" (instance $streams
        (alias outer 1 $e (type $e))
        (export "error" (type $error (eq $e)))
        (export "output-stream" (type $out (sub resource)))
        (type $failure (variant (case "last-operation-failed" (own $error)) (case "closed")))
        (export "stream-error" (type $stream-error (eq $failure)))
        (export "[method]output-stream.blocking-write-and-flush"
          (func (param "self" (borrow $out)) (param "contents" (list u8)) (result (result (error $stream-error)))))))
      (alias export $streams "output-stream" (type $out))
      (import "wasi:cli/stdout@0.2.0" (instance $stdout
        (alias outer 1 $out (type $o))
        (export "output-stream" (type $out2 (eq $o)))
        (export "get-stdout" (func (result (own $out2))))))
      (core module $memory (memory (export "memory") 1))
      (core instance $memory (instantiate $memory))
      (core func $get (canon lower (func $stdout "get-stdout")))
      (core func $write (canon lower (func $streams "[method]output-stream.blocking-write-and-flush")
        (memory (core memory $memory "memory"))))
      (core instance $host (export "get" (func $get)) (export "write" (func $write)))
      (core module $m
        (import "host" "get" (func $get (result i32)))
        (import "host" "write" (func $write (param i32 i32 i32 i32)))
        (func (export "run") (result i32)
          (local $out i32)
          (local.set $out (call $get))
          (loop
            (call $write (local.get $out) (i32.const 0) (i32.const 4096) (i32.const 8192))
            (br 0))
          unreachable))
      (core instance $i (instantiate $m (with "host" (instance $host))))
      (func $run (result (result)) (canon lift (core func $i "run")))
      (instance $exports (export "run" (func $run)))
      (export "wasi:cli/run@0.2.0" (instance $exports)))"#
        .to_owned()
}

#[test]
fn a_reader_who_leaves_ends_the_tenant_quietly() {
    let folder = Folder::new();
    let flood = folder.component("flood.wasm", &flood());
    let mut child = command().args(["run", &flood]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut some = [0; 10_000];
    child.stdout.take().unwrap().read_exact(&mut some).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(141), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_reader_who_is_stuck_does_not_keep_a_tenant_alive() {
    let folder = Folder::new();
    let flood = folder.component("flood.wasm", &flood());
    let mut child = command()
        .args(["run", &flood, "--timeout", "500ms"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let unread = child.stdout.take();
    assert_eq!(child.wait().unwrap().code(), Some(124));
    drop(unread);
}

#[test]
fn the_engine_takes_as_much_address_space_as_one_tenant_needs() {
    let folder = Folder::new();
    let good = folder.component("good.wasm", &program("(i32.const 0)"));
    let limited = |kib: &str| {
        let script = format!("ulimit -v {kib}; exec \"$0\" run \"$1\"");
        let output = std::process::Command::new("/bin/sh")
            .args(["-c", &script, env!("CARGO_BIN_EXE_hal"), &good])
            .env_clear()
            .output()
            .unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    // The compiler's process limits itself further.
    let (code, text) = limited("8000000");
    assert_eq!(code, Some(0), "{text}");
    let (code, text) = limited("1500000");
    assert_eq!(code, Some(125), "{text}");
    assert!(text.contains("ulimit -v") && text.contains("of address space"), "{text}");
    assert!(!text.contains("Builder"), "{text}");
}
