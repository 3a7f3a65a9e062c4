//! What is found on demand.

use crate::try_run;
use hal_interpreter::{FindingKind, Options};

/// The kinds and lines of what is found in `body`, which four invocations run.
fn found(body: &str) -> Vec<(FindingKind, u32)> {
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
    report.findings.iter().map(|finding| (finding.kind, finding.place.unwrap().line - 4)).collect()
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
