//! Everything ends: kernels without an end, grids without an end, and devices that are stopped from outside.

use super::*;
use hal_driver::Code;

const ENDLESS: &str = "
    @group(0) @binding(0) var<storage, read_write> out: array<u32>;
    @compute @workgroup_size(64) fn main() { loop { out[0] += 1u; if out[1] == 7u { break; } } }";

/// As long as any of these may take, far above what they take.
const PATIENCE: Duration = Duration::from_secs(60);

fn outcome(
    device: &dyn Device,
    source: &str,
    groups: [u32; 3],
    time: Duration,
) -> (Result<Timing>, Duration, Arc<dyn Buffer>) {
    let executable = load(device, source).unwrap();
    let out = allocate(device, 64);
    let control = Arc::new(Control::new(Some(Instant::now() + time)));
    let begin = Instant::now();
    let commands = vec![dispatch(&executable, groups)];
    let outcome = submit(device, &[&out], Some(&executable), commands, control).recv_timeout(PATIENCE).expect("an end");
    (outcome, begin.elapsed(), out)
}

#[test]
fn a_loop_without_an_end_ends_with_an_error_and_the_device_lives() {
    let Some(device) = device() else { return };
    let nest = "
        @group(0) @binding(0) var<storage, read_write> out: array<u32>;
        fn inner() { loop { out[0] += 1u; if out[1] == 7u { break; } } }
        @compute @workgroup_size(64) fn main() { loop { loop { inner(); if out[1] == 7u { break; } } if out[2] == 7u { break; } } }";
    let barrier = "
        @group(0) @binding(0) var<storage, read_write> out: array<u32>;
        var<workgroup> shared_word: u32;
        @compute @workgroup_size(64) fn main(@builtin(local_invocation_index) at: u32) {
            loop {
                if at == 0u { shared_word += 1u; }
                let seen = workgroupUniformLoad(&shared_word);
                if seen == 0u { break; }
                workgroupBarrier();
                out[0] = seen;
            }
        }";
    for source in [ENDLESS, nest, barrier] {
        for groups in [[1, 1, 1], [500, 1, 1]] {
            let (outcome, time, _) = outcome(&*device, source, groups, Duration::from_secs(5));
            let error = outcome.expect_err("it cannot end well");
            assert_eq!(error.code, Code::DeadlineExceeded, "{error}");
            assert!(time < Duration::from_secs(30), "{time:?}");
        }
    }
    assert_eq!(device.lost(), None);
    let fine = allocate(&*device, 4);
    write(&*fine, 0, &[1, 2, 3, 4]);
    assert_eq!(bytes(&*fine), [1, 2, 3, 4]);
}

#[test]
fn a_grid_too_large_for_its_deadline_is_stopped_at_it() {
    let Some(device) = device() else { return };
    let source = "
        @group(0) @binding(0) var<storage, read_write> out: array<atomic<u32>>;
        @compute @workgroup_size(64) fn main() { atomicAdd(&out[0], 1u); }";
    let (outcome, time, _) = outcome(&*device, source, [65_535, 65_535, 1], Duration::from_secs(1));
    assert_eq!(outcome.expect_err("it takes minutes").code, Code::DeadlineExceeded);
    assert!(time < Duration::from_secs(10), "{time:?}");
    assert_eq!(device.lost(), None);
}

#[test]
fn a_kernel_whose_groups_differ_a_hundredfold_is_not_stopped() {
    let Some(device) = device() else { return };
    // Later groups have a hundred times the work of the first.
    let source = "
        @group(0) @binding(0) var<storage, read_write> out: array<atomic<u32>>;
        @compute @workgroup_size(64) fn main(@builtin(workgroup_id) id: vec3<u32>) {
            var sum = 0u;
            for (var i = 0u; i < 50u + id.x * 2u; i++) { sum += i & 1u; }
            atomicAdd(&out[0], sum);
        }";
    let groups = 2500;
    let (outcome, _, out) = outcome(&*device, source, [groups, 1, 1], PATIENCE);
    outcome.unwrap();
    let expected = (0..groups).map(|id| 64 * (25 + id)).fold(0, u32::wrapping_add);
    assert_eq!(words(&*out)[0], expected);
}

/// Few iterations are not counted, and heavy ones take long: neither may make a piece that does not end.
#[test]
fn heavy_bodies_and_groups_that_differ_end_soon_too() {
    let Some(device) = device() else { return };
    let heavy = "
        @group(0) @binding(0) var<storage, read_write> out: array<f32>;
        fn heavy(x: f32) -> f32 { return sin(cos(tan(exp(sin(cos(tan(exp(log(abs(x) + 1.0) + sin(x))))))))); }
        fn heavier(x: f32) -> f32 { return heavy(x) + heavy(x + 1.0) + heavy(x + 2.0) + heavy(x + 3.0) + heavy(x + 4.0); }
        fn heaviest(x: f32) -> f32 { return heavier(x) + heavier(x * 2.0) + heavier(x * 3.0) + heavier(x * 4.0); }";
    let endless = format!(
        "{heavy} @compute @workgroup_size(1024) fn main() {{ var x = out[1]; loop {{ x += heaviest(x); if out[2] == 7.0 {{ break; }} }} out[0] = x; }}"
    );
    let late = format!(
        "{heavy} @compute @workgroup_size(64) fn main(@builtin(workgroup_id) id: vec3<u32>) {{
            if id.x < 2000u {{ return; }}
            var x = out[1];
            for (var i = 0; i < 900; i++) {{ x += heaviest(x); }}
            out[0] = x;
        }}"
    );
    for (source, groups) in [(endless, [4, 1, 1]), (late, [65_535, 64, 1])] {
        let (outcome, time, _) = outcome(&*device, &source, groups, Duration::from_secs(3));
        assert_eq!(outcome.expect_err("it takes longer").code, Code::DeadlineExceeded);
        println!("ended after {time:?}");
        assert!(time < Duration::from_secs(25), "{time:?}");
        assert_eq!(device.lost(), None);
    }
}

/// A triangle: the work of a group grows past what is not counted.
#[test]
fn a_kernel_whose_groups_grow_is_not_stopped() {
    let Some(device) = device() else { return };
    let source = "
        @group(0) @binding(0) var<storage, read_write> out: array<atomic<u32>>;
        @compute @workgroup_size(64) fn main(@builtin(workgroup_id) id: vec3<u32>) {
            var sum = 0u;
            for (var i = 0u; i < id.x * 1024u / 1340u; i++) { sum += i & 1u; }
            atomicAdd(&out[0], sum);
        }";
    let groups = 6000;
    let (outcome, _, out) = outcome(&*device, source, [groups, 1, 1], PATIENCE);
    outcome.unwrap();
    let expected = (0..groups).map(|id| 64 * (id * 1024 / 1340 / 2)).fold(0, u32::wrapping_add);
    assert_eq!(words(&*out)[0], expected);
}

#[test]
fn iterations_up_to_the_published_limit_are_right() {
    let Some(device) = device() else { return };
    let limit = device.limits().max_loop_iterations;
    let rounds = u32::try_from(limit.min(1 << 20)).unwrap() - 2;
    let source = format!(
        "@group(0) @binding(0) var<storage, read_write> out: array<u32>;
        @compute @workgroup_size(1) fn main() {{
            var sum = 0u;
            for (var i = 0u; i < {rounds}u; i++) {{ sum += 1u; }}
            out[0] = sum;
        }}"
    );
    let (outcome, _, out) = outcome(&*device, &source, [1, 1, 1], PATIENCE);
    outcome.unwrap();
    assert_eq!(words(&*out)[0], rounds);
    println!("this device's limit: {limit} iterations");
}

/// Invocations that run in step share the count of a device that cuts off: no wrong result may pass for a right one.
#[test]
fn loops_that_the_device_cuts_off_are_found_out() {
    let Some(device) = device() else { return };
    let prefix = "
        @group(0) @binding(0) var<storage, read_write> out: array<u32>;
        @compute @workgroup_size(8) fn main(@builtin(local_invocation_index) l: u32) { var c = 0u;";
    let diverging = format!(
        "{prefix} let a = select(0u, 60000u, (l & 1u) == 0u);
        for (var i = 0u; i < a; i++) {{ c += 1u; }}
        for (var i = 0u; i < 60000u - a; i++) {{ c += 1u; }}
        out[l] = c; }}"
    );
    let taking_turns = format!(
        "{prefix} for (var k = 0u; k < 8u; k++) {{
            if l == k {{ var i = 0u; loop {{ c += 1u; continuing {{ i++; break if i >= 20000u; }} }} }}
            switch k {{ case 9u: {{ break; }} default: {{ c += 0u; }} }}
        }} out[l] = c; }}"
    );
    for (source, expected) in [(diverging, 60_000), (taking_turns, 20_000)] {
        match outcome(&*device, &source, [1, 1, 1], PATIENCE) {
            (Ok(_), _, out) => assert_eq!(words(&*out)[..8], [expected; 8]),
            (Err(error), ..) => {
                assert!(
                    error.code == Code::DeadlineExceeded && error.message.contains("max-loop-iterations"),
                    "{error}"
                );
            }
        }
    }
}

/// A device that runs eight invocations in step fills up a group of six with two more. What they loop for is nobody's business.
#[test]
fn loops_of_invocations_that_do_not_exist_are_not_counted() {
    let Some(device) = device() else { return };
    let entries = [
        "(@builtin(local_invocation_index) w: u32, @builtin(global_invocation_id) id: vec3<u32>) { run(w, id.x); }",
        "(in: In) { run(in.w, in.id.x); }",
        "(@builtin(local_invocation_id) l: vec3<u32>, @builtin(global_invocation_id) id: vec3<u32>) { run(l.x, id.x); }",
    ];
    for entry in entries {
        let source = format!(
            "@group(0) @binding(0) var<storage, read_write> out: array<u32>;
            var<workgroup> six: u32;
            struct In {{ @builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) w: u32 }}
            fn run(w: u32, at: u32) {{
                if w == 0u {{ six = 6u; }}
                workgroupBarrier();
                for (var i = 0u; i < 3u; i++) {{
                    var k = w;
                    while k != six {{ k++; }}
                    out[at] += k;
                }}
            }}
            @compute @workgroup_size(6) fn main{entry}"
        );
        let (outcome, _, out) = outcome(&*device, &source, [2, 1, 1], PATIENCE);
        outcome.unwrap_or_else(|error| panic!("{source}: {error}"));
        assert_eq!(words(&*out)[..13], [[18; 12].as_slice(), &[0]].concat());
    }
}

#[test]
fn work_that_is_told_to_stop_stops_between_pieces() {
    let Some(device) = device() else { return };
    let source = "
        @group(0) @binding(0) var<storage, read_write> out: array<atomic<u32>>;
        @compute @workgroup_size(64) fn main() { atomicAdd(&out[0], 1u); }";
    let executable = load(&*device, source).unwrap();
    let out = allocate(&*device, 64);
    let control = Arc::new(Control::new(None));
    let commands = vec![dispatch(&executable, [65_535, 65_535, 1])];
    let ended = submit(&*device, &[&out], Some(&executable), commands, control.clone());
    thread::sleep(Duration::from_millis(200));
    let begin = Instant::now();
    control.stop(Error::new(Code::Cancelled, "on purpose"));
    let outcome = ended.recv_timeout(PATIENCE).expect("an end");
    assert_eq!(outcome.expect_err("it was stopped").code, Code::Cancelled);
    println!("stopped after {:?}", begin.elapsed());
    assert!(begin.elapsed() < Duration::from_secs(10));
}

#[test]
fn one_device_that_works_does_not_keep_another_waiting() {
    let (Some(busy), Some(quick)) = (device(), device()) else { return };
    let executable = load(&*busy, ENDLESS).unwrap();
    let out = allocate(&*busy, 64);
    let control = Arc::new(Control::new(Some(Instant::now() + Duration::from_secs(3))));
    let commands = vec![dispatch(&executable, [200, 1, 1])];
    let ended = submit(&*busy, &[&out], Some(&executable), commands, control);
    let buffer = allocate(&*quick, 4);
    let mut slowest = Duration::ZERO;
    for round in 0..20_u32 {
        let begin = Instant::now();
        let fill = Command::Fill { target: at(0, 0, 4), pattern: round.to_le_bytes() };
        run(&*quick, &[&buffer], None, vec![fill]).unwrap();
        assert_eq!(words(&*buffer), [round]);
        slowest = slowest.max(begin.elapsed());
    }
    println!("the slowest of 20 rounds beside an endless kernel: {slowest:?}");
    assert!(slowest < Duration::from_secs(20), "{slowest:?}");
    ended.recv_timeout(PATIENCE).expect("an end").expect_err("it has no end of its own");
}
