//! `--stats`: what a tenant used of what it was granted.

use crate::{args::StatsFormat, exit::Exit, text};
use hal_host::{
    Report,
    hal_core::{Limit, policy::Unit},
};
use serde_json::json;
use std::time::Duration;

/// As a table, or as one line of JSON.
///
/// # Errors
/// None for our types, but the serializer has a `Result`.
pub fn render(report: &Report, exit: Exit, format: StatsFormat) -> anyhow::Result<String> {
    Ok(match format {
        StatsFormat::Text => table(report),
        StatsFormat::Json => serde_json::to_string(&value(report, exit))?,
    })
}

fn table(report: &Report) -> String {
    let session = &report.session;
    let failed: u64 = session.failures.iter().map(|(_, count)| count).sum();
    let kinds = session.failures.iter().filter(|(_, count)| *count > 0).map(|(kind, count)| format!("{count} {kind}"));
    let kinds: Vec<String> = kinds.collect();
    let kinds = if kinds.is_empty() { String::new() } else { format!(" ({})", kinds.join(", ")) };
    let mut lines = format!(
        "{}: ran {} of {}, with {} of memory at the end\n\
         device calls: {}, of which {failed} failed{kinds}\n\
         work: {} submissions, {} in kernels and copies, {} written, {} read\n",
        session.tenant,
        time(report.busy),
        time(session.elapsed),
        text::bytes(report.memory_bytes),
        session.calls,
        session.submissions,
        time(Duration::from_nanos(session.kernel_ns)),
        text::bytes(session.written_bytes),
        text::bytes(session.read_bytes),
    );
    let rows: Vec<Vec<String>> = session
        .grants
        .iter()
        .flat_map(|grant| {
            grant.limits.iter().map(|peak| {
                let [now, most, allowed] =
                    [peak.used, peak.peak, peak.allowed].map(|number| amount(peak.limit, number));
                vec![grant.name.clone(), peak.limit.label().to_owned(), now, most, allowed]
            })
        })
        .collect();
    lines.push_str(&match rows.as_slice() {
        [] => "grants: none\n".to_owned(),
        rows => text::table(&["GRANT", "LIMIT", "AT END", "PEAK", "ALLOWED"], rows),
    });
    lines.trim_end().to_owned()
}

fn amount(limit: Limit, number: u64) -> String {
    match limit.unit() {
        Unit::Bytes => text::bytes(number),
        Unit::Count => number.to_string(),
        Unit::Nanoseconds => time(Duration::from_nanos(number)),
    }
}

/// Three digits and a unit are enough.
fn time(duration: Duration) -> String {
    format!("{duration:.3?}")
}

fn value(report: &Report, exit: Exit) -> serde_json::Value {
    let session = &report.session;
    let grants: Vec<_> = session
        .grants
        .iter()
        .map(|grant| {
            let limits: Vec<_> = grant
                .limits
                .iter()
                .map(|peak| {
                    json!({
                        "limit": peak.limit.label(), "used": peak.used, "peak": peak.peak, "allowed": peak.allowed,
                    })
                })
                .collect();
            json!({ "name": grant.name, "limits": limits })
        })
        .collect();
    let failures: serde_json::Map<String, _> =
        session.failures.iter().map(|(kind, count)| ((*kind).to_owned(), json!(count))).collect();
    json!({
        "tenant": session.tenant,
        "exit": exit.code(),
        "elapsed_ns": nanoseconds(session.elapsed),
        "busy_ns": nanoseconds(report.busy),
        "guest_memory_bytes": report.memory_bytes,
        "calls": session.calls,
        "failures": failures,
        "submissions": session.submissions,
        "kernel_ns": session.kernel_ns,
        "written_bytes": session.written_bytes,
        "read_bytes": session.read_bytes,
        "grants": grants,
    })
}

/// 584 years fit.
fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
