//! What a case is handed: a device, short forms for what cases do over and over, and comparisons that are counted.

use crate::{
    Outcome,
    case::Form,
    commands::{le, params, table_of, to_slots},
    target::{
        Batch, BufferParams, Code, Command, Error, LimitHit, Point, Result, SlotBinding, Target, Usage, Used, WaitMode,
        Which,
    },
};
use std::{
    fmt::Debug,
    sync::atomic::{AtomicU32, Ordering},
};

/// Ten seconds: far more than anything here takes, so that a wait that fails is a finding and not a slow machine.
pub const LONG: u64 = 10_000_000_000;

/// Twenty milliseconds: a wait that has to fail.
pub const SHORT: u64 = 20_000_000;

/// One run of a case.
pub struct Context<'t, T: Target> {
    /// Where it runs.
    pub target: &'t T,
    /// A device of its own.
    pub device: T::Device,
    /// How it names buffers.
    pub form: Form,
    /// The format of its kernels.
    pub format: &'static str,
    checks: AtomicU32,
}

/// Objects.
impl<'t, T: Target> Context<'t, T> {
    pub(crate) fn new(target: &'t T, form: Form, format: Option<&'static str>) -> Outcome<Self> {
        let device =
            target.create_device(Which::Default, &[]).map_err(|error| format!("opening the device: {error}"))?;
        Ok(Self { target, device, form, format: format.unwrap_or("wgsl"), checks: AtomicU32::new(0) })
    }

    /// Another device of the same driver.
    pub fn another_device(&self) -> Outcome<T::Device> {
        self.fine(self.target.create_device(Which::Default, &[]), "opening another device")
    }

    /// A buffer for any use.
    pub fn buffer(&self, size: u64) -> Outcome<T::Buffer> {
        self.fine(self.target.allocate(&self.device, &params(), size), &format!("allocating {size} bytes"))
    }

    /// A buffer for any use that holds these bytes.
    pub fn buffer_of(&self, bytes: &[u8]) -> Outcome<T::Buffer> {
        let buffer = self.buffer(bytes.len() as u64)?;
        self.write(&buffer, 0, bytes)?;
        Ok(buffer)
    }

    /// A buffer for any use that holds these numbers.
    pub fn buffer_of_numbers(&self, numbers: &[u32]) -> Outcome<T::Buffer> {
        self.buffer_of(&le(numbers))
    }

    /// A buffer for some uses, which must be refused others.
    pub fn buffer_for(&self, usage: Usage, size: u64) -> Outcome<T::Buffer> {
        let params = BufferParams { usage, ..params() };
        self.fine(self.target.allocate(&self.device, &params, size), &format!("allocating {size} bytes for {usage}"))
    }

    /// A part of a buffer.
    pub fn subspan(&self, buffer: &T::Buffer, offset: u64, length: u64) -> Outcome<T::Buffer> {
        self.fine(self.target.subspan(buffer, offset, length), &format!("a subspan of {length} bytes from {offset}"))
    }

    /// A semaphore.
    pub fn semaphore(&self, initial: u64) -> Outcome<T::Semaphore> {
        self.fine(self.target.create_semaphore(&self.device, initial), "making a semaphore")
    }

    /// The bytes of a kernel of this crate in the case's format.
    pub fn source(&self, name: &str) -> Outcome<Vec<u8>> {
        self.target.kernel(name, self.format)
    }

    /// A kernel of this crate in the case's format.
    pub fn kernel(&self, name: &str) -> Outcome<T::Executable> {
        let source = self.source(name)?;
        let loaded = self.target.load_executable(&self.device, self.format, &[], &source);
        self.fine(loaded, &format!("loading the kernel {name} as {}", self.format))
    }

    /// The index of a function by its name.
    pub fn function(&self, executable: &T::Executable, name: &str) -> Outcome<u32> {
        let functions = self.target.functions(executable);
        let found = functions.iter().position(|function| function.name == name);
        found.map(|index| index as u32).ok_or_else(|| format!("no function {name}; there are {functions:?}"))
    }

    /// A limit of the device.
    pub fn limit(&self, name: &str) -> Outcome<u64> {
        let limits = self.target.limits(&self.device);
        let found = limits.iter().find(|limit| limit.0 == name);
        found.map(|limit| limit.1).ok_or_else(|| format!("no limit {name}; there are {limits:?}"))
    }

    /// What is used of a budget.
    pub fn used(&self, name: &str) -> Outcome<Used> {
        let budget = self.target.budget(&self.device);
        let found = budget.iter().find(|used| used.name == name).cloned();
        found.ok_or_else(|| format!("no budget {name}; there are {budget:?}"))
    }
}

/// Bytes.
impl<T: Target> Context<'_, T> {
    /// Writes.
    pub fn write(&self, buffer: &T::Buffer, offset: u64, bytes: &[u8]) -> Outcome {
        self.fine(self.target.write(buffer, offset, bytes), &format!("writing {} bytes at {offset}", bytes.len()))
    }

    /// Reads.
    pub fn read(&self, buffer: &T::Buffer, offset: u64, length: u64) -> Outcome<Vec<u8>> {
        self.fine(self.target.read(buffer, offset, length), &format!("reading {length} bytes at {offset}"))
    }

    /// All bytes of a buffer.
    pub fn bytes(&self, buffer: &T::Buffer) -> Outcome<Vec<u8>> {
        self.read(buffer, 0, self.target.buffer_info(buffer).size)
    }

    /// Compares all bytes of a buffer.
    pub fn holds(&self, buffer: &T::Buffer, expected: &[u8], what: &str) -> Outcome {
        let found = self.bytes(buffer)?;
        self.counted();
        if found == expected {
            return Ok(());
        }
        if found.len() != expected.len() {
            return Err(format!("{what}: expected {} bytes, got {}", expected.len(), found.len()));
        }
        let first = found.iter().zip(expected).position(|(a, b)| a != b).unwrap_or_default();
        let wrong = found.iter().zip(expected).filter(|(a, b)| a != b).count();
        let show = |bytes: &[u8]| {
            bytes[first..].iter().take(16).map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" ")
        };
        Err(format!(
            "{what}: {wrong} of {} bytes are wrong; from {first} expected {}, got {}",
            expected.len(),
            show(expected),
            show(&found)
        ))
    }

    /// Compares all numbers of a buffer.
    pub fn holds_numbers(&self, buffer: &T::Buffer, expected: &[u32], what: &str) -> Outcome {
        self.holds(buffer, &le(expected), what)
    }
}

/// The queue.
impl<T: Target> Context<'_, T> {
    /// Queues commands.
    pub fn submit(
        &self,
        wait: &[Point<'_, T>],
        buffers: &[&T::Buffer],
        executables: &[&T::Executable],
        commands: Vec<Command>,
        signal: &[Point<'_, T>],
    ) -> Outcome {
        self.fine(self.try_submit(wait, buffers, executables, commands, signal), "submitting")
    }

    /// The same, with the answer as it is.
    pub fn try_submit(
        &self,
        wait: &[Point<'_, T>],
        buffers: &[&T::Buffer],
        executables: &[&T::Executable],
        commands: Vec<Command>,
        signal: &[Point<'_, T>],
    ) -> Result<()> {
        let batch = Batch { buffers: buffers.to_vec(), executables: executables.to_vec(), commands };
        self.target.submit(&self.device, wait, &batch, signal)
    }

    /// Queues a barrier.
    pub fn barrier(&self, wait: &[Point<'_, T>], signal: &[Point<'_, T>]) -> Outcome {
        self.submit(wait, &[], &[], Vec::new(), signal)
    }

    /// Queues commands and waits for them.
    pub fn submit_and_wait(
        &self,
        buffers: &[&T::Buffer],
        executables: &[&T::Executable],
        commands: Vec<Command>,
    ) -> Outcome {
        self.fine(self.try_submit_and_wait(buffers, executables, commands), "submitting and waiting")
    }

    /// The same, with the answer as it is.
    pub fn try_submit_and_wait(
        &self,
        buffers: &[&T::Buffer],
        executables: &[&T::Executable],
        commands: Vec<Command>,
    ) -> Result<()> {
        let done = self.target.create_semaphore(&self.device, 0)?;
        self.try_submit(&[], buffers, executables, commands, &[(&done, 1)])?;
        self.target.wait(&done, 1, LONG)
    }

    /// Records commands that name `buffers` by index, in the case's form, executes the recording and waits for it.
    pub fn record_and_run(
        &self,
        buffers: &[&T::Buffer],
        executables: &[&T::Executable],
        commands: Vec<Command>,
    ) -> Outcome {
        let recording = self.record(buffers, executables, commands)?;
        self.run_recorded(&recording, buffers)
    }

    /// Records commands that name `buffers` by index, in the case's form.
    pub fn record(
        &self,
        buffers: &[&T::Buffer],
        executables: &[&T::Executable],
        mut commands: Vec<Command>,
    ) -> Outcome<T::Recording> {
        let executables = executables.to_vec();
        let (batch, slots) = match self.form {
            Form::Direct => (Batch { buffers: buffers.to_vec(), executables, commands }, 0),
            Form::Table => {
                commands.iter_mut().for_each(to_slots);
                (Batch { buffers: Vec::new(), executables, commands }, buffers.len() as u32)
            }
        };
        self.fine(self.target.create_recording(&self.device, &batch, slots), "recording")
    }

    /// Executes what [`Context::record`] made with as many buffers, and waits for it.
    pub fn run_recorded(&self, recording: &T::Recording, buffers: &[&T::Buffer]) -> Outcome {
        let done = self.semaphore(0)?;
        self.execute_recorded(&[], recording, buffers, &[(&done, 1)])?;
        self.wait(&done, 1)
    }

    /// Executes what [`Context::record`] made with as many buffers.
    pub fn execute_recorded(
        &self,
        wait: &[Point<'_, T>],
        recording: &T::Recording,
        buffers: &[&T::Buffer],
        signal: &[Point<'_, T>],
    ) -> Outcome {
        let table = if self.form == Form::Table { buffers } else { &[] };
        self.execute(wait, recording, table, &table_of(table.len()), signal)
    }

    /// Executes a recording.
    pub fn execute(
        &self,
        wait: &[Point<'_, T>],
        recording: &T::Recording,
        buffers: &[&T::Buffer],
        bindings: &[SlotBinding],
        signal: &[Point<'_, T>],
    ) -> Outcome {
        self.fine(self.target.execute(&self.device, wait, recording, buffers, bindings, signal), "executing")
    }

    /// Memory from the queue.
    pub fn alloca(&self, wait: &[Point<'_, T>], size: u64, signal: &[Point<'_, T>]) -> Outcome<T::Buffer> {
        self.fine(
            self.target.alloca(&self.device, wait, &params(), size, signal),
            &format!("an alloca of {size} bytes"),
        )
    }

    /// Gives it back.
    pub fn dealloca(&self, wait: &[Point<'_, T>], buffer: &T::Buffer, signal: &[Point<'_, T>]) -> Outcome {
        self.fine(self.target.dealloca(&self.device, wait, buffer, signal), "a dealloca")
    }

    /// Waits for a value.
    pub fn wait(&self, semaphore: &T::Semaphore, value: u64) -> Outcome {
        self.fine(self.target.wait(semaphore, value, LONG), &format!("waiting for {value}"))
    }

    /// Waits for several.
    pub fn wait_for(&self, points: &[Point<'_, T>], mode: WaitMode, timeout_ns: u64) -> Result<u32> {
        self.target.wait_semaphores(&self.device, points, mode, timeout_ns)
    }

    /// Raises a value.
    pub fn signal(&self, semaphore: &T::Semaphore, value: u64) -> Outcome {
        self.fine(self.target.signal(semaphore, value), &format!("signalling {value}"))
    }

    /// Twenty milliseconds.
    pub fn nap(&self) -> Outcome {
        let never = self.semaphore(0)?;
        self.refused(self.target.wait(&never, 1, SHORT), Code::DeadlineExceeded, "a wait for nobody's signal")
            .map(|_| ())
    }

    /// Waits until so much of a budget is in use, as it was: what a submission held may go a moment after its signal.
    pub fn settles(&self, name: &str, expected: u64) -> Outcome {
        for _ in 0..100 {
            if self.used(name)?.used == expected {
                break;
            }
            self.nap()?;
        }
        self.same(self.used(name)?.used, expected, &format!("what is used of {name}"))
    }

    /// Compares a semaphore's value.
    pub fn value_is(&self, semaphore: &T::Semaphore, expected: u64, what: &str) -> Outcome {
        let value = self.fine(self.target.query_semaphore(semaphore), what)?;
        self.same(value, expected, what)
    }
}

/// Comparisons.
impl<T: Target> Context<'_, T> {
    fn counted(&self) {
        self.checks.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn checks(&self) -> u32 {
        self.checks.load(Ordering::Relaxed)
    }

    /// The value, or what was being done and the error.
    pub fn fine<V>(&self, result: Result<V>, what: &str) -> Outcome<V> {
        result.map_err(|error| format!("{what}: {error}"))
    }

    /// A success that is the finding itself.
    pub fn succeeds<V>(&self, result: Result<V>, what: &str) -> Outcome<V> {
        self.counted();
        self.fine(result, what)
    }

    /// Fails unless both are equal.
    pub fn same<V: PartialEq + Debug>(&self, found: V, expected: V, what: &str) -> Outcome {
        self.counted();
        if found == expected {
            Ok(())
        } else {
            Err(format!("{what}: expected {}, got {}", brief(&expected), brief(&found)))
        }
    }

    /// Fails unless it is so.
    pub fn ensure(&self, so: bool, what: impl FnOnce() -> String) -> Outcome {
        self.counted();
        if so { Ok(()) } else { Err(what()) }
    }

    /// The error, which must have the code.
    pub fn refused<V>(&self, result: Result<V>, code: Code, what: &str) -> Outcome<Error> {
        self.refused_with(result, &[code], what)
    }

    /// The error, which must have one of the codes.
    pub fn refused_with<V>(&self, result: Result<V>, codes: &[Code], what: &str) -> Outcome<Error> {
        self.counted();
        match result {
            Err(error) if codes.contains(&error.code) => Ok(error),
            Err(error) => Err(format!("{what}: expected {codes:?}, got {error}")),
            Ok(_) => Err(format!("{what}: expected {codes:?}, but it was allowed")),
        }
    }

    /// The limit that was hit, which must be this one.
    pub fn limited<V>(&self, result: Result<V>, limit: &str, what: &str) -> Outcome<LimitHit> {
        let error = self.refused(result, Code::ResourceExhausted, what)?;
        match error.limit {
            Some(hit) if hit.limit == limit => Ok(hit),
            _ => Err(format!("{what}: expected the limit {limit:?} to be hit, got {error}")),
        }
    }
}

/// At most 200 characters of a value.
fn brief(value: &impl Debug) -> String {
    let text = format!("{value:?}");
    match text.char_indices().nth(200) {
        None => text,
        Some((end, _)) => format!("{}... ({} bytes)", &text[..end], text.len()),
    }
}
