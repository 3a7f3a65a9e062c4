//! Kernels built to hold a processor: while they are compiled, and while they run.

use crate::support::*;
use hal_driver::{BufferRef, Code, Command, Device, Dispatch, DispatchBinding, Error, Executable, Workgroups};
use std::{
    fmt::Write,
    sync::Arc,
    time::{Duration, Instant},
};

const HEAD: &str = "@group(0) @binding(0) var<storage, read_write> o: array<u32>;\n";

/// Branches over variables that all live to the end: blocks times locals for little source. Each `step` has `each` branches, and is copied into its
/// caller, as it takes pointers.
fn branches(variables: usize, steps: usize, each: usize) -> String {
    let step = "if *p>1u{*q=*p;}".repeat(each);
    let mut source = format!(
        "{HEAD}fn step(p: ptr<function,u32>, q: ptr<function,u32>){{ {step} }}\n@compute @workgroup_size(1) fn main(@builtin(workgroup_id) g: vec3<u32>) {{\n"
    );
    for variable in 0..variables {
        write!(source, "var v{variable}=g.x;").unwrap();
    }
    for at in 0..steps {
        let (p, q) = (at % variables, (at * 7 + 3) % variables);
        match each {
            0 => write!(source, "if o[{at}]>1u{{v{q}=v{p};}}").unwrap(),
            _ => write!(source, "step(&v{p},&v{q});").unwrap(),
        }
    }
    source.push_str("o[0]=0u");
    for variable in 0..variables.min(200) {
        write!(source, "+v{variable}").unwrap();
    }
    for variable in 200..variables {
        write!(source, ";o[{variable}]=v{variable}").unwrap();
    }
    source.push_str(";}");
    source
}

/// One long function that each of many entry points calls.
fn entry_points(count: usize) -> String {
    let body: String = (0..1600).map(|at| format!("if o[{at}]>1u{{o[g]=o[{at}];}}")).collect();
    let points = (0..count).map(|n| {
        format!("@compute @workgroup_size(1) fn m{n}(@builtin(workgroup_id) g: vec3<u32>) {{ long(g.x+{n}u); }}\n")
    });
    format!("{HEAD}fn long(g: u32) {{ {body} }}\n{}", points.collect::<String>())
}

/// Nearly the largest module that there may be, of arithmetic without a branch.
fn matrices() -> String {
    let products = "p[g.x] = p[g.x] * p[g.x + 1u];\n".repeat(560);
    format!(
        "@group(0) @binding(0) var<storage, read_write> p: array<mat4x4<f32>>;
        @compute @workgroup_size(1) fn main(@builtin(workgroup_id) g: vec3<u32>) {{ {products} }}"
    )
}

#[test]
fn the_worst_that_is_compiled_takes_bounded_time() {
    let sources = [
        ("1900 branches over 200 variables", branches(200, 1900, 0), true),
        ("1400 branches over 700 variables", branches(700, 1400, 0), true),
        ("3000 branches over 1000 variables", branches(1000, 300, 10), true),
        ("3500 branches over 400 variables", branches(400, 700, 5), false),
        ("7500 branches over 300 variables", branches(300, 1500, 5), false),
        ("560 products of matrices", matrices(), true),
        ("a long function in 64 entry points", entry_points(64), false),
    ];
    for (name, source, is_compiled) in sources {
        let device = device("cpu");
        let begin = Instant::now();
        let outcome = load(&*device, &source);
        let took = begin.elapsed();
        match outcome {
            Ok(_) => {
                println!("{name}, {} bytes of source: compiled in {took:?}", source.len());
                assert!(is_compiled, "{name}");
            }
            Err(error) => {
                println!("{name}, {} bytes of source: refused after {took:?}: {error}", source.len());
                assert_eq!((error.code, is_compiled), (Code::ResourceExhausted, false), "{name}: {error}");
            }
        }
        assert!(took < Duration::from_secs(10), "{name}: {took:?}");
    }
}

struct Hostile {
    name: &'static str,
    source: String,
    groups: [u32; 3],
}

fn hostile() -> [Hostile; 4] {
    let main =
        |body: &str| format!("@compute @workgroup_size(1) fn main(@builtin(workgroup_id) g: vec3<u32>) {{ {body} }}");
    let exponentials: String = (0..50).map(|_| "x = exp(x * 0.5);").collect();
    // 2^15 calls, each of some tens of operators: about what is let through at most.
    let fan: String =
        (1..=15).map(|n| format!("fn f{n}(x: u32) -> u32 {{ return f{0}(x) + f{0}(x + 1u); }}\n", n - 1)).collect();
    [
        Hostile { name: "no loop, huge grid", source: main("o[g.x & 3u] = g.y;"), groups: [65_535, 65_535, 1] },
        Hostile {
            name: "fifty exponentials in an endless loop",
            source: main(&format!("var x = f32(o[0]); loop {{ {exponentials} o[1] = bitcast<u32>(x); }}")),
            groups: [1000, 1, 1],
        },
        Hostile {
            name: "calls that fan out",
            source: format!(
                "fn f0(x: u32) -> u32 {{ o[1] = x; return o[x & 3u] * 3u; }}\n{fan}{}",
                main("loop { o[0] = f15(g.x); }")
            ),
            groups: [1000, 1, 1],
        },
        Hostile {
            name: "endless loops in endless loops",
            source: main("loop { loop { loop { if o[0] == 7u { break; } o[1] += 1u; } if o[2] == 7u { break; } } }"),
            groups: [1000, 1, 1],
        },
    ]
}

fn dispatch(groups: [u32; 3]) -> Vec<Command> {
    let buffer: BufferRef = whole(0);
    vec![Command::Dispatch(Dispatch {
        executable: 0,
        function: 0,
        workgroups: Workgroups::Direct(groups),
        constants: Box::default(),
        bindings: Box::new([DispatchBinding { binding: 0, buffer }]),
    })]
}

/// From `stop` to `done`, and what was in between is told.
fn stopped(device: &Arc<dyn Device>, executable: &Arc<dyn Executable>, groups: [u32; 3]) -> Duration {
    let buffer = allocate(&**device, 16);
    let job = Job::new(&[&buffer]).with(executable);
    let receiver = job.submit(&**device, dispatch(groups));
    std::thread::sleep(Duration::from_millis(10));
    let begin = Instant::now();
    job.control.stop(Error::new(Code::Cancelled, "the tenant ended"));
    let outcome = receiver.recv_timeout(Duration::from_secs(60)).unwrap();
    let took = begin.elapsed();
    assert_eq!(outcome.unwrap_err().code, Code::Cancelled);
    took
}

#[test]
fn kernels_built_not_to_be_stopped_are_stopped() {
    const ROUNDS: usize = 20;
    for Hostile { name, source, groups } in hostile() {
        let device = device("cpu");
        let executable = load(&*device, &format!("{HEAD}{source}")).unwrap();
        let mut times: Vec<_> = (0..ROUNDS).map(|_| stopped(&device, &executable, groups)).collect();
        times.sort();
        let (p50, p99) = (times[ROUNDS / 2], times[ROUNDS - 1]);
        println!("{name}: stopped after {p50:?} (p50), {p99:?} (p99 of {ROUNDS})");
        assert!(p99 < Duration::from_millis(250), "{name}: {times:?}");
        assert!(device.lost().is_none(), "{name}");
    }
}
