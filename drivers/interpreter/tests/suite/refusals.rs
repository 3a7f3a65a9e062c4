//! What is refused, and that every run ends.

use crate::{program, try_run};
use hal_interpreter::{Bound, Dispatch, ErrorKind, Options, run};

const COPY: &str = "
    struct S { a: u32, v: vec4<u32> }
    var<immediate> c: u32;
    @group(0) @binding(3) var<storage, read_write> o: S;
    @compute @workgroup_size(1) fn main() { o.a = c; }";

fn kind(dispatch: &Dispatch<'_>, mut bindings: Vec<Bound>) -> ErrorKind {
    let kept: Vec<_> = bindings.iter().map(|bound| bound.bytes.len()).collect();
    let kind = run(&program(COPY), dispatch, &mut bindings, &Options::default()).unwrap_err().kind;
    assert_eq!(bindings.iter().map(|bound| bound.bytes.len()).collect::<Vec<_>>(), kept);
    kind
}

#[test]
fn a_dispatch_that_does_not_fit() {
    let right = Dispatch { function: "main", groups: [1, 1, 1], constants: &[1, 0, 0, 0] };
    let bound = |binding, length| vec![Bound { binding, bytes: vec![0; length] }];
    assert_eq!(kind(&Dispatch { function: "other", ..right }, bound(3, 32)), ErrorKind::Dispatch);
    assert_eq!(kind(&Dispatch { constants: &[], ..right }, bound(3, 32)), ErrorKind::Dispatch);
    assert_eq!(kind(&right, bound(2, 32)), ErrorKind::Dispatch);
    assert_eq!(kind(&right, bound(3, 28)), ErrorKind::Dispatch);
}

#[test]
fn an_endless_loop_ends_and_tells_where() {
    let source = "@group(0) @binding(0) var<storage, read_write> o: array<u32>;
        @compute @workgroup_size(1) fn main() {
            loop { if o[0] == 1u { break; } o[1]++; }
        }";
    let options = Options { steps: 10_000, ..Options::default() };
    let error = try_run(source, [1, 1, 1], &[], &[vec![0, 0]], &options).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Steps);
    assert_eq!(error.place.unwrap().line, 3);
}

#[test]
fn no_workgroups_do_nothing() {
    let source = "@group(0) @binding(0) var<storage, read_write> o: array<u32>;
        @compute @workgroup_size(1) fn main() { o[0] = 1u; }";
    let (got, report) = try_run(source, [3, 0, 2], &[], &[vec![0]], &Options::default()).unwrap();
    assert_eq!((got[0].as_slice(), report.steps), ([0].as_slice(), 0));
}

#[test]
fn memory_is_bounded() {
    let run = |declaration: &str, body: &str, memory_bytes: u64, checks: bool| {
        let source = format!(
            "@group(0) @binding(0) var<storage, read_write> o: array<u32>;
            {declaration}
            @compute @workgroup_size(64) fn main(@builtin(local_invocation_index) l: u32) {{ {body} }}"
        );
        let options = Options { memory_bytes, checks, ..Options::default() };
        try_run(&source, [2, 1, 1], &[], &[vec![0; 4096]], &options).map(drop).map_err(|error| error.kind)
    };
    let half = 400_000;
    for (declaration, body) in [
        ("var<workgroup> w: array<u32, 4000>;", "w[l] = l;"),
        ("var<private> p: array<u32, 400>;", "p[l] = l;"),
        ("", "var f: array<u32, 400>; f[l] = l;"),
        ("const c = array<u32, 200>();", "let f = c; o[l] = f[l];"),
    ] {
        run(declaration, body, half, false).unwrap_or_else(|kind| panic!("{declaration} {body}: {kind:?}"));
        assert_eq!(run(declaration, body, 4000, false).unwrap_err(), ErrorKind::Memory, "{declaration} {body}");
    }
    // What is remembered of the bindings is given back at a barrier.
    let touches = "for (var at = l; at < 4096u; at += 64u) { o[at] = at; }";
    assert!(run("", touches, half, false).is_ok());
    assert_eq!(run("", touches, half, true).unwrap_err(), ErrorKind::Memory);
    let touches = "for (var row = 0u; row < 64u; row++) { o[64u * row + l] = l; storageBarrier(); }";
    assert!(run("", touches, half, true).is_ok());
}

#[test]
fn large_values_are_refused_and_large_memory_takes_steps() {
    let run = |declaration: &str, body: &str, steps: u64| {
        let source = format!(
            "@group(0) @binding(0) var<storage, read_write> o: array<u32>;
            {declaration}
            @compute @workgroup_size(1) fn main() {{ {body} }}"
        );
        try_run(&source, [100, 1, 1], &[], &[vec![0]], &Options { steps, ..Options::default() }).map(drop)
    };
    let large = "var<workgroup> w: array<u32, 1000000>;";
    assert_eq!(run(large, "let v = w; o[0] = v[1];", 1 << 30).unwrap_err().kind, ErrorKind::Memory);
    assert_eq!(run("", "let v = array<u32, 1000000>(); o[0] = v[o[0]];", 1 << 30).unwrap_err().kind, ErrorKind::Memory);
    assert_eq!(run(large, "o[0] = w[1];", 100_000).unwrap_err().kind, ErrorKind::Steps);
    assert!(run("var<workgroup> w: array<u32, 100>;", "o[0] = w[1];", 100_000).is_ok());
}
