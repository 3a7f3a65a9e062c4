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
fn what_it_has_no_meaning_for() {
    let source = "@group(0) @binding(0) var<storage, read_write> o: array<u64>;
        @compute @workgroup_size(1) fn main() { o[0] = 1lu; }";
    let error = try_run(source, [1, 1, 1], &[], &[vec![0, 0]], &Options::default()).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Unsupported);
}
