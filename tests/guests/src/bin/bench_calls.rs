//! What `tests/bench` measures: each call of `run` repeats one operation as often as the input says, and nothing else.
//!
//! Input: an operation, a number of rounds, a size in bytes. What an operation needs is made once and kept between calls.
#![no_main]

use std::cell::OnceCell;
use test_guests::check::fine;
use test_guests::work::{at, batch, direct, dispatch, semaphore};
use test_guests::{Buffer, Device, DriverFactory, Executable, FOR_EVER, Outcome, Registry, Semaphore};
use test_guests::{factories, guest, kernels, memory};

guest!(input run);

/// The largest buffer that a transfer is measured with.
const BUFFER_BYTES: u64 = 16 << 20;

/// Elements of the dispatch that is measured: small, so that what is measured is the way there and back.
const ELEMENTS: u32 = 1024;

struct Objects {
    factory: DriverFactory,
    registry: Registry,
    device: Device,
    buffer: Buffer,
}

/// A loaded kernel with its buffers, and a timeline that counts dispatches.
struct Kernel {
    executable: Executable,
    input: Buffer,
    output: Buffer,
    timeline: Semaphore,
}

thread_local! {
    static OBJECTS: OnceCell<Objects> = const { OnceCell::new() };
    static KERNEL: OnceCell<Kernel> = const { OnceCell::new() };
}

fn run(input: &str) -> Outcome<String> {
    let words: Vec<&str> = input.split(' ').collect();
    let [operation, rounds, bytes] = words[..] else { return Err(format!("not three words: {input}")) };
    let rounds: u32 = rounds.parse().map_err(|_| format!("no number of rounds: {rounds}"))?;
    let bytes: u64 = bytes.parse().map_err(|_| format!("no number of bytes: {bytes}"))?;
    OBJECTS.with(|cell| {
        let objects = match cell.get() {
            Some(objects) => objects,
            None => {
                let made = Objects::new()?;
                cell.get_or_init(|| made)
            }
        };
        objects.repeat(operation, rounds, bytes)
    })?;
    Ok(String::new())
}

impl Objects {
    fn new() -> Outcome<Self> {
        let registry = Registry::default();
        let device = fine(registry.create_device("local-sync://"), "opening local-sync")?;
        let buffer = memory::buffer(&device, BUFFER_BYTES)?;
        let factory = factories::granted().into_iter().next().ok_or("no factory was granted")?;
        Ok(Self { factory, registry, device, buffer })
    }

    fn repeat(&self, operation: &str, rounds: u32, bytes: u64) -> Outcome {
        match operation {
            "nothing" => {}
            "ping" => (0..rounds).for_each(|_| {
                std::hint::black_box(self.factory.id());
            }),
            "enumerate" => (0..rounds).for_each(|_| drop(self.registry.enumerate())),
            "try-create" => {
                for _ in 0..rounds {
                    fine(self.registry.try_create("local-sync"), "making a driver")?;
                }
            }
            "create-device" => {
                for _ in 0..rounds {
                    fine(self.registry.create_device("null://"), "opening a device")?;
                }
            }
            "write" => {
                let data = vec![7; bytes as usize];
                for _ in 0..rounds {
                    fine(self.buffer.write(0, &data), "writing")?;
                }
            }
            "read" => {
                for _ in 0..rounds {
                    fine(self.buffer.read(0, bytes), "reading")?;
                }
            }
            "dispatch" => KERNEL.with(|cell| {
                let kernel = match cell.get() {
                    Some(kernel) => kernel,
                    None => {
                        let made = Kernel::new(&self.device)?;
                        cell.get_or_init(|| made)
                    }
                };
                (0..rounds).try_for_each(|_| kernel.dispatch(&self.device))
            })?,
            other => return Err(format!("no such operation: {other}")),
        }
        Ok(())
    }
}

impl Kernel {
    fn new(device: &Device) -> Outcome<Self> {
        Ok(Self {
            executable: kernels::load(device, kernels::SCALE_AND_OFFSET)?,
            input: memory::buffer(device, u64::from(ELEMENTS) * 4)?,
            output: memory::buffer(device, u64::from(ELEMENTS) * 4)?,
            timeline: semaphore(device)?,
        })
    }

    fn dispatch(&self, device: &Device) -> Outcome {
        let command = dispatch(0, ELEMENTS, &[0; 8], &[direct(0), direct(1)]);
        let batch = batch(&[&self.input, &self.output], &[&self.executable], vec![command]);
        let next = fine(self.timeline.query(), "asking the timeline")? + 1;
        fine(device.submit(&[], &batch, &[at(&self.timeline, next)], None), "submitting")?;
        fine(self.timeline.wait(next, FOR_EVER), "waiting")
    }
}
