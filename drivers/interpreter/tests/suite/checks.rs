//! What is found on demand.

use crate::try_run;
use hal_interpreter::{ErrorKind, Finding, FindingKind, Options};

/// The kinds and lines of what is found in `body`, which four invocations run.
fn found(body: &str) -> Vec<(FindingKind, u32)> {
    findings(body).into_iter().map(|finding| (finding.kind, finding.place.unwrap().line - 4)).collect()
}

/// What is found in `body`, which four invocations run; the line before it is the fourth.
fn findings(body: &str) -> Vec<Finding> {
    let source = format!(
        "@group(0) @binding(0) var<storage, read_write> o: array<u32>;
        @group(0) @binding(1) var<storage, read_write> a: atomic<u32>;
        var<workgroup> w: array<u32, 4>;
        @compute @workgroup_size(4) fn main(@builtin(local_invocation_index) l: u32) {{ atomicOr(&a, o[7]);
        {body}
        }}"
    );
    let options = Options { checks: true, ..Options::default() };
    let (_, report) = try_run(&source, [2, 1, 1], &[], &[vec![0; 8], vec![0]], &options).unwrap();
    report.findings
}

#[test]
fn nothing_is_found_in_what_is_right() {
    let body = "w[l] = l;
        workgroupBarrier();
        o[l] = w[3u - l];
        storageBarrier();
        o[3u - l] = 5u; atomicAdd(&a, 1u);";
    assert_eq!(found(body), []);
}

#[test]
fn races() {
    assert_eq!(found("w[l] = l;\no[l] = w[(l + 1u) % 4u];").last(), Some(&(FindingKind::Race, 2)));
    assert_eq!(found("o[l / 2u] = l;"), [(FindingKind::Race, 1)]);
    assert_eq!(found("if l == 0u { atomicStore(&a, 1u); }"), []);
    // The barrier is for the other memory.
    assert_eq!(found("o[l] = l;\nworkgroupBarrier();\no[3u - l] = l;"), [(FindingKind::Race, 3)]);
}

#[test]
fn unwritten_workgroup_memory() {
    let body = "if l < 3u { w[l] = 1u; }
        workgroupBarrier();
        o[l] = w[l];";
    assert_eq!(found(body), [(FindingKind::Unwritten, 3)]);
}

#[test]
fn indices_out_of_bounds() {
    let got = found("o[l] = l;\nstorageBarrier();\nif l == 1u { o[7u + l] = 1u; }");
    assert_eq!(got, [(FindingKind::OutOfBounds { index: 8, count: 8 }, 3)]);
}

#[test]
fn what_an_index_out_of_bounds_leads_to_is_told_apart() {
    // Invocations 0 and 3 mean element 7, and the others no element.
    let got = findings("storageBarrier();\no[7u + l % 3u] = l;\nw[l + 4u] = l;\nstorageBarrier();\no[l] = w[l + 9u];");
    let told: Vec<_> = got.iter().map(|it| (it.kind, it.place.unwrap().line - 4, it.times, it.clamped)).collect();
    let out = |index, count| FindingKind::OutOfBounds { index, count };
    assert_eq!(
        told,
        [
            (out(4, 4), 3, 8, false),
            (out(8, 8), 2, 4, false),
            (FindingKind::Race, 2, 6, true),
            (FindingKind::Race, 3, 6, true),
            (out(9, 4), 5, 8, false),
            (FindingKind::Race, 5, 6, true),
        ]
    );
    let got = findings("o[l / 2u] = l;\nif l == 0u { o[8] = l; }");
    assert!(got.iter().any(|it| it.kind == FindingKind::Race && !it.clamped), "{got:?}");
}

#[test]
fn who_races_where() {
    let found = findings("if l > 1u { w[1] = l; }\no[l] = 0u;");
    let [race] = &found[..] else { panic!("{found:?}") };
    assert_eq!((race.kind, race.group, race.invocation, race.other), (FindingKind::Race, [0, 0, 0], 3, Some(2)));
    assert_eq!(race.variable.as_deref(), Some("w"));
    let found = findings("if l == 1u { w[0] = 1u; } else if l == 3u { o[0] = w[0]; }");
    assert_eq!((found[0].invocation, found[0].other), (3, Some(1)));
}

#[test]
fn unwritten_memory_of_an_invocation() {
    let body = "var a: array<u32, 4>;
        a[l] = 1u;
        o[l] = a[l];
        o[l] = a[0];";
    let got = findings(body);
    let [one] = &got[..] else { panic!("{got:?}") };
    assert_eq!((one.kind, one.place.unwrap().line - 4, one.invocation), (FindingKind::Unwritten, 4, 1));
    assert_eq!(one.variable.as_deref(), Some("a"));
    assert_eq!(found("var v: vec3<u32>; v.x = l; v.y = l; v.z = l; o[l] = v.y; var b = 0u; o[l] += b;"), []);
    assert_eq!(found("var v: vec3<u32>; v.x = l; v.y = l;\no[l] = dot(v, v);"), [(FindingKind::Unwritten, 2)]);
}

#[test]
fn what_was_found_before_the_steps_were_used_up() {
    let source = "@group(0) @binding(0) var<storage, read_write> o: array<u32>;
        @compute @workgroup_size(4) fn main(@builtin(local_invocation_index) l: u32) {
            o[l / 4u] = l;
            loop { if o[1] == 1u { break; } }
        }";
    let options = Options { checks: true, steps: 10_000, ..Options::default() };
    // The first invocation does not come to its end, and so the second one does not begin.
    let error = try_run(source, [1, 1, 1], &[], &[vec![0; 2]], &options).unwrap_err();
    assert_eq!((error.kind, error.findings.len()), (ErrorKind::Steps, 0));
    let source = source.replace("loop {", "storageBarrier(); loop {");
    let error = try_run(&source, [1, 1, 1], &[], &[vec![0; 2]], &options).unwrap_err();
    let found: Vec<_> = error.findings.iter().map(|it| (it.kind, it.place.unwrap().line)).collect();
    assert_eq!((error.kind, found), (ErrorKind::Steps, vec![(FindingKind::Race, 3)]));
}
