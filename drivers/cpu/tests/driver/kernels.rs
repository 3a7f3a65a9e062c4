//! Kernels from source to result.

use crate::support::*;
use hal_driver::{
    Buffer, Code, Command, Control, Device, Dispatch, DispatchBinding, Error, Executable, LoadRequest, OverrideValue,
    Result, Timing, Workgroups,
};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};

const SCALE: &str = "
    struct Constants { scale: u32, offset: u32 }
    var<immediate> c: Constants;
    @group(0) @binding(0) var<storage, read> input: array<u32>;
    @group(0) @binding(3) var<storage, read_write> output: array<u32>;

    @compute @workgroup_size(64)
    fn scale(@builtin(global_invocation_id) id: vec3<u32>) {
        if id.x < arrayLength(&input) { output[id.x] = input[id.x] * c.scale + c.offset; }
    }

    @compute @workgroup_size(1)
    fn negate(@builtin(workgroup_id) id: vec3<u32>) {
        output[id.x] = ~input[id.x];
    }
";

/// Writes where each workgroup stands, in a grid whose size it asks for.
const PLACES: &str = "
    @group(0) @binding(0) var<storage, read_write> to: array<u32>;
    @compute @workgroup_size(1)
    fn places(@builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) n: vec3<u32>) {
        to[id.x + n.x * (id.y + n.y * id.z)] = 1u + id.x + 10u * id.y + 100u * id.z;
    }
";

const ENDLESS: &str = "
    @group(0) @binding(0) var<storage, read_write> to: array<u32>;
    @compute @workgroup_size(1)
    fn endless() { loop { to[0] = to[0] + 1u; } }
";

const REVERSE: &str = "
    @group(0) @binding(0) var<storage, read_write> data: array<u32>;
    var<workgroup> tile: array<u32, 64>;
    @compute @workgroup_size(64)
    fn reverse(@builtin(local_invocation_index) l: u32, @builtin(workgroup_id) g: vec3<u32>) {
        tile[l] = data[g.x * 64u + l];
        workgroupBarrier();
        data[g.x * 64u + l] = tile[63u - l];
    }
";

fn dispatch(function: u32, workgroups: Workgroups, constants: &[u32], bindings: &[DispatchBinding]) -> Command {
    Command::Dispatch(Dispatch {
        executable: 0,
        function,
        workgroups,
        constants: constants.iter().flat_map(|word| word.to_le_bytes()).collect(),
        bindings: bindings.into(),
    })
}

fn bind(binding: u32, buffer: hal_driver::BufferRef) -> DispatchBinding {
    DispatchBinding { binding, buffer }
}

struct Kernel {
    device: Arc<dyn Device>,
    executable: Arc<dyn Executable>,
}

impl Kernel {
    fn new(driver: &str, source: &str) -> Self {
        let device = device(driver);
        let executable = load(&*device, source).unwrap();
        Self { device, executable }
    }

    fn run(&self, buffers: &[&Arc<dyn Buffer>], commands: Vec<Command>) -> Result<Timing> {
        Job::new(buffers).with(&self.executable).run(&*self.device, commands)
    }

    fn buffer(&self, words: &[u32]) -> Arc<dyn Buffer> {
        let buffer = allocate(&*self.device, words.len() as u64 * 4);
        write_words(&*buffer, 0, words);
        buffer
    }
}

#[test]
fn constants_bindings_and_two_entry_points() {
    for name in DRIVERS {
        let kernel = Kernel::new(name, SCALE);
        let functions = kernel.executable.functions();
        assert_eq!(functions.iter().map(|function| function.name.as_str()).collect::<Vec<_>>(), ["scale", "negate"]);
        assert_eq!((functions[0].constant_bytes, functions[1].constant_bytes), (8, 0));
        assert_eq!(functions[0].bindings.iter().map(|binding| binding.binding).collect::<Vec<_>>(), [0, 3]);
        assert!(functions[0].bindings[0].reads && !functions[0].bindings[0].writes);
        assert!(functions[0].bindings[1].writes);
        let from: Vec<u32> = (0..1000).collect();
        let (a, b) = (kernel.buffer(&from), kernel.buffer(&[9; 1000]));
        let bindings = [bind(0, whole(0)), bind(3, whole(1))];
        kernel.run(&[&a, &b], vec![dispatch(0, Workgroups::Direct([16, 1, 1]), &[3, 7], &bindings)]).unwrap();
        assert_eq!(words(&*b), from.iter().map(|word| word * 3 + 7).collect::<Vec<_>>());
        kernel.run(&[&a, &b], vec![dispatch(1, Workgroups::Direct([5, 1, 1]), &[], &bindings)]).unwrap();
        assert_eq!(words(&*b)[..6], [!0, !1, !2, !3, !4, 22]);
    }
}

#[test]
fn one_command_after_the_other_sees_its_effects() {
    for name in DRIVERS {
        let kernel = Kernel::new(name, SCALE);
        let (a, b) = (kernel.buffer(&[1; 64]), kernel.buffer(&[0; 64]));
        let step = dispatch(0, Workgroups::Direct([1, 1, 1]), &[2, 1], &[bind(0, whole(0)), bind(3, whole(1))]);
        let back = Command::Copy { source: whole(1), target: whole(0) };
        let commands = vec![[step, Command::Barrier, back, Command::Barrier]; 10];
        kernel.run(&[&a, &b], commands.concat()).unwrap();
        assert_eq!(words(&*a), [2047; 64]);
    }
}

#[test]
fn workgroups_know_their_place() {
    for name in DRIVERS {
        let kernel = Kernel::new(name, PLACES);
        let [x, y, z] = [5, 4, 3];
        let to = kernel.buffer(&[0; 60]);
        kernel.run(&[&to], vec![dispatch(0, Workgroups::Direct([x, y, z]), &[], &[bind(0, whole(0))])]).unwrap();
        let expected = (0..60).map(|at| 1 + at % x + 10 * (at / x % y) + 100 * (at / x / y));
        assert_eq!(words(&*to), expected.collect::<Vec<_>>());
    }
}

#[test]
fn a_large_dispatch_is_shared_and_complete() {
    for name in DRIVERS {
        let kernel = Kernel::new(name, SCALE);
        let from: Vec<u32> = (0..4_000_000).collect();
        let (a, b) = (kernel.buffer(&from), kernel.buffer(&vec![0; from.len()]));
        let bindings = [bind(0, whole(0)), bind(3, whole(1))];
        kernel.run(&[&a, &b], vec![dispatch(0, Workgroups::Direct([62_500, 1, 1]), &[5, 1], &bindings)]).unwrap();
        assert!(words(&*b).iter().zip(0_u32..).all(|(&word, at)| word == at * 5 + 1));
    }
}

#[test]
fn counts_in_a_buffer_are_checked_when_they_are_used() {
    for name in DRIVERS {
        let kernel = Kernel::new(name, PLACES);
        let to = kernel.buffer(&[0; 64]);
        let run = |counts: &[u32; 3]| {
            let indirect = kernel.buffer(&[&[7; 4], &counts[..]].concat());
            let workgroups = Workgroups::Indirect(at(1, 16, 12));
            kernel.run(&[&to, &indirect], vec![dispatch(0, workgroups, &[], &[bind(0, whole(0))])])
        };
        run(&[2, 2, 1]).unwrap();
        assert_eq!(words(&*to)[..5], [1, 2, 11, 12, 0]);
        run(&[0, 9, 9]).unwrap();
        for counts in [[65_536, 1, 1], [1, u32::MAX, 1], [1, 1, 65_536], [u32::MAX; 3], [65_535; 3]] {
            write_words(&*to, 0, &[0; 64]);
            assert_eq!(run(&counts).unwrap_err().code, Code::OutOfRange, "{counts:?}");
            assert_eq!(words(&*to), [0; 64], "no workgroup runs");
        }
        assert!(kernel.device.lost().is_none());
        // An earlier command of the same work may have written them.
        let counts = kernel.buffer(&[0; 3]);
        let three: Vec<u8> = [3_u32, 1, 1].iter().flat_map(|word| word.to_le_bytes()).collect();
        let commands = vec![
            Command::Update { target: at(1, 0, 12), bytes: three.into() },
            Command::Barrier,
            dispatch(0, Workgroups::Indirect(at(1, 0, 12)), &[], &[bind(0, whole(0))]),
        ];
        kernel.run(&[&to, &counts], commands).unwrap();
        assert_eq!(words(&*to)[..4], [1, 2, 3, 0]);
    }
}

#[test]
fn barriers_and_workgroup_memory() {
    for name in DRIVERS {
        let kernel = Kernel::new(name, REVERSE);
        let data = kernel.buffer(&(0..6400).collect::<Vec<_>>());
        kernel.run(&[&data], vec![dispatch(0, Workgroups::Direct([100, 1, 1]), &[], &[bind(0, whole(0))])]).unwrap();
        let expected = (0..6400).map(|at| at / 64 * 64 + 63 - at % 64);
        assert_eq!(words(&*data), expected.collect::<Vec<_>>());
    }
}

#[test]
fn an_endless_kernel_is_stopped() {
    for name in DRIVERS {
        let kernel = Kernel::new(name, ENDLESS);
        let to = kernel.buffer(&[0; 4]);
        for groups in [1, 10_000] {
            let endless = || vec![dispatch(0, Workgroups::Direct([groups, 1, 1]), &[], &[bind(0, whole(0))])];
            let begin = Instant::now();
            let deadline = Control::new(Some(begin + Duration::from_millis(30)));
            let job = Job::new(&[&to]).with(&kernel.executable).under(deadline);
            assert_eq!(job.run(&*kernel.device, endless()).unwrap_err().code, Code::DeadlineExceeded);
            let late = begin.elapsed().saturating_sub(Duration::from_millis(30));
            println!("{name}, {groups} workgroups: {late:?} after the deadline");
            assert!(late < Duration::from_millis(500), "{late:?} late");

            let job = Job::new(&[&to]).with(&kernel.executable);
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    std::thread::sleep(Duration::from_millis(30));
                    job.control.stop(Error::new(Code::Cancelled, "the tenant ended"));
                });
                assert_eq!(job.run(&*kernel.device, endless()).unwrap_err().code, Code::Cancelled);
            });
        }
        assert!(kernel.device.lost().is_none(), "a kernel that was stopped harms nobody");
        let again = Kernel { device: kernel.device.clone(), executable: load(&*kernel.device, PLACES).unwrap() };
        again.run(&[&to], vec![dispatch(0, Workgroups::Direct([2, 1, 1]), &[], &[bind(0, whole(0))])]).unwrap();
        assert_eq!(words(&*to)[..2], [1, 2]);
    }
}

#[test]
fn out_of_bounds_stays_inside_the_binding() {
    const WILD: &str = "
        var<immediate> index: u32;
        @group(0) @binding(0) var<storage, read_write> output: array<u32>;
        @group(0) @binding(1) var<storage, read> input: array<u32>;
        @compute @workgroup_size(1)
        fn wild() {
            output[index] = 0xdeadbeefu;
            output[0] = input[index];
            atomicAdd(&counts[index], 1u);
        }
        @group(0) @binding(2) var<storage, read_write> counts: array<atomic<u32>>;
    ";
    for name in DRIVERS {
        let kernel = Kernel::new(name, WILD);
        for index in [4, 5, 8, 64, 1 << 20, 0x3fff_ffff, 0x4000_0000, 0x7fff_ffff, 0x8000_0000, 0xffff_fff0, u32::MAX] {
            let all = kernel.buffer(&[0x0ca0_a000; 256]);
            let part = |number: u64| at(0, number * 64 + 16, 16);
            for number in 1..4_u64 {
                write_words(&*all, number * 64 + 16, &[number as u32; 4]);
            }
            let bindings = [bind(0, part(1)), bind(1, part(2)), bind(2, part(3))];
            kernel.run(&[&all], vec![dispatch(0, Workgroups::Direct([1, 1, 1]), &[index], &bindings)]).unwrap();
            let after = words(&*all);
            let inside = |at: usize| (1..4).any(|number| (number * 16 + 4..number * 16 + 8).contains(&at));
            for (at, &word) in after.iter().enumerate().filter(|(at, _)| !inside(*at)) {
                assert_eq!(word, 0x0ca0_a000, "{name}: index {index:#x} changed word {at}, outside every binding");
            }
            assert!(after[20] == 2 || after[20] == 0, "{name}: index {index:#x} read {:#x}", after[20]);
            assert!(kernel.device.lost().is_none());
        }
    }
}

#[test]
fn sources_that_cannot_be_loaded_say_where() {
    for name in DRIVERS {
        let device = device(name);
        let error = load(&*device, "@compute @workgroup_size(1)\nfn main() { let x = y; }").err().unwrap();
        assert_eq!(error.code, Code::InvalidArgument);
        assert!(error.message.contains("2:"), "{error}");
        let request = LoadRequest { format: "msl", bytes: b"", overrides: &[], label: "" };
        assert_eq!(device.load(&request).err().unwrap().code, Code::Incompatible);
        let many: String = (0..100).map(|n| format!("@compute @workgroup_size(1) fn f{n}() {{}}\n")).collect();
        assert_eq!(load(&*device, &many).err().unwrap().code, Code::ResourceExhausted);
        let large = "@compute @workgroup_size(1025) fn main() {}";
        assert!(load(&*device, large).is_err());
        assert!(device.lost().is_none());
    }
}

#[test]
fn a_kernel_that_is_long_without_a_loop_is_refused() {
    // A kilobyte of source, and 2^40 calls between two looks at the deadline.
    let links: String =
        (1..41).map(|n| format!("fn f{n}(x: u32) -> u32 {{ return f{0}(x) + f{0}(x + 1u); }}\n", n - 1)).collect();
    let source = format!(
        "@group(0) @binding(0) var<storage, read_write> data: array<u32>;
        fn f0(x: u32) -> u32 {{ return data[x]; }}
        {links}
        @compute @workgroup_size(1) fn main() {{ data[0] = f40(1u); }}"
    );
    for name in DRIVERS {
        assert_eq!(load(&*device(name), &source).err().unwrap().code, Code::ResourceExhausted);
    }
}

#[test]
fn overrides_change_the_kernel() {
    const TUNED: &str = "
        override width: u32 = 2u;
        @group(0) @binding(0) var<storage, read_write> to: array<u32>;
        @compute @workgroup_size(width)
        fn main(@builtin(local_invocation_index) l: u32) { to[l] = width; }
    ";
    for name in DRIVERS {
        let device = device(name);
        let load = |overrides: &[(String, OverrideValue)]| {
            device.load(&LoadRequest { format: "wgsl", bytes: TUNED.as_bytes(), overrides, label: "" })
        };
        let five = [("width".to_owned(), OverrideValue::U32(5))];
        assert_eq!(load(&[]).unwrap().functions()[0].workgroup_size, [2, 1, 1]);
        let executable = load(&five).unwrap();
        assert_eq!(executable.functions()[0].workgroup_size, [5, 1, 1]);
        let kernel = Kernel { device: device.clone(), executable };
        let to = kernel.buffer(&[0; 8]);
        kernel.run(&[&to], vec![dispatch(0, Workgroups::Direct([1, 1, 1]), &[], &[bind(0, whole(0))])]).unwrap();
        assert_eq!(words(&*to), [5, 5, 5, 5, 5, 0, 0, 0]);
        let wrong = [("width".to_owned(), OverrideValue::F32(2.5))];
        assert_eq!(load(&wrong).err().unwrap().code, Code::InvalidArgument);
    }
}

#[test]
fn what_was_compiled_before_loads_at_once() {
    let device = device("cpu");
    let time = || {
        let begin = Instant::now();
        load(&*device, SCALE).unwrap();
        begin.elapsed()
    };
    let (first, second) = (time(), time());
    println!("first load {first:?}, second {second:?}");
    assert!(second * 5 < first, "first load {first:?}, second {second:?}");
    device.trim().unwrap();
    load(&*device, SCALE).unwrap();
}

#[test]
fn two_devices_compute_at_once() {
    let kernels = [Kernel::new("cpu", SCALE), Kernel::new("cpu", SCALE)];
    let buffers = kernels.each_ref().map(|kernel| (kernel.buffer(&[1; 64_000]), kernel.buffer(&[0; 64_000])));
    for round in 0..20 {
        let outcomes = [0, 1].map(|index| {
            let (kernel, (a, b)) = (&kernels[index], &buffers[index]);
            let bindings = [bind(0, whole(0)), bind(3, whole(1))];
            let step = dispatch(0, Workgroups::Direct([1000, 1, 1]), &[round, index as u32], &bindings);
            Job::new(&[a, b]).with(&kernel.executable).submit(&*kernel.device, vec![step])
        });
        for (index, outcome) in outcomes.into_iter().enumerate() {
            outcome.recv().unwrap().unwrap();
            assert!(words(&*buffers[index].1).iter().all(|&word| word == round + index as u32));
        }
    }
}
