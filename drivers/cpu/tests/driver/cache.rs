//! Machine code that outlives a factory.

use crate::support::*;
use hal_driver::{CodeCache, Command, Device, Dispatch, DispatchBinding, Factory, Workgroups};
use hal_driver_cpu::{Config, CpuFactory};
use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

/// Two entry points, which write what the two constants say.
fn source(first: u32, second: u32) -> String {
    let entry = |name: &str, value: u32| {
        format!(
            "@compute @workgroup_size(64) fn {name}(@builtin(local_invocation_index) i: u32) {{ to[i] = {value}u + i; }}\n"
        )
    };
    format!(
        "@group(0) @binding(0) var<storage, read_write> to: array<u32, 64>;\n{}{}",
        entry("first", first),
        entry("second", second)
    )
}

type Parts = Vec<Vec<u8>>;

/// A cache in memory that counts.
#[derive(Debug, Default)]
struct Counted(Mutex<Counts>);

#[derive(Debug, Default)]
struct Counts {
    code: HashMap<Parts, Vec<u8>>,
    /// Loads that were answered with code.
    found: usize,
    /// Each of them was a compilation.
    stored: usize,
}

fn owned(parts: &[&[u8]]) -> Parts {
    parts.iter().map(|part| part.to_vec()).collect()
}

// SAFETY: it answers what it was given under the same parts; where a test says otherwise it puts code there that an engine of the same version
// serialised, whole.
unsafe impl CodeCache for Counted {
    fn load(&self, parts: &[&[u8]]) -> Option<Vec<u8>> {
        let mut counts = self.0.lock().unwrap();
        let found = counts.code.get(&owned(parts)).cloned();
        counts.found += usize::from(found.is_some());
        found
    }

    fn store(&self, parts: &[&[u8]], code: &[u8]) {
        let mut counts = self.0.lock().unwrap();
        counts.code.insert(owned(parts), code.to_vec());
        counts.stored += 1;
    }
}

impl Counted {
    /// How many loads were answered and how many kernels were compiled, since the last time.
    fn take(&self) -> (usize, usize) {
        let mut counts = self.0.lock().unwrap();
        (std::mem::take(&mut counts.found), std::mem::take(&mut counts.stored))
    }

    /// The entry that was made of a module in which this constant is.
    fn entry_with(&self, value: u32) -> Parts {
        let counts = self.0.lock().unwrap();
        let mut constant = vec![0x41];
        // Signed LEB128 of a number with 21 bits.
        constant.extend([(value & 127) as u8 | 128, (value >> 7 & 127) as u8 | 128, (value >> 14) as u8]);
        let has = |parts: &&Parts| parts[2].windows(constant.len()).any(|window| window == constant);
        let found: Vec<_> = counts.code.keys().filter(has).cloned().collect();
        assert_eq!(found.len(), 1, "modules with {value}");
        found[0].clone()
    }

    fn replace(&self, parts: &Parts, code: Vec<u8>) {
        self.0.lock().unwrap().code.insert(parts.clone(), code);
    }

    fn code(&self, parts: &Parts) -> Vec<u8> {
        self.0.lock().unwrap().code[parts].clone()
    }
}

/// A device as another process would have it: of a factory, and so an engine, of its own.
fn another(cache: &Arc<Counted>) -> Arc<dyn Device> {
    let factory = CpuFactory::new(Config::new().workers(2).code_cache(cache.clone())).unwrap();
    factory.create("local-sync").unwrap().open("0", &[]).unwrap()
}

/// The first number that each entry point writes.
fn results(device: &dyn Device, source: &str) -> [u32; 2] {
    let executable = load(device, source).unwrap();
    assert_eq!(executable.functions().len(), 2);
    [0, 1].map(|function| {
        let to = allocate(device, 256);
        let dispatch = Command::Dispatch(Dispatch {
            executable: 0,
            function,
            workgroups: Workgroups::Direct([1; 3]),
            constants: Box::new([]),
            bindings: Box::new([DispatchBinding { binding: 0, buffer: whole(0) }]),
        });
        Job::new(&[&to]).with(&executable).run(device, vec![dispatch]).unwrap();
        let words = words(&*to);
        assert!((0..64).all(|at| words[at] == words[0] + at as u32) && to.size() == 256, "{words:?}");
        words[0]
    })
}

const FIRST: u32 = 1_000_001;
const SECOND: u32 = 1_000_002;

#[test]
fn another_device_or_factory_compiles_nothing_again() {
    let cache = Arc::new(Counted::default());
    let source = source(FIRST, SECOND);
    let one = another(&cache);
    assert_eq!(results(&*one, &source), [FIRST, SECOND]);
    assert_eq!(cache.take(), (0, 2), "an entry for each entry point");
    // The device remembers it, and does not ask.
    assert_eq!(results(&*one, &source), [FIRST, SECOND]);
    assert_eq!(cache.take(), (0, 0));
    for _ in 0..2 {
        assert_eq!(results(&*another(&cache), &source), [FIRST, SECOND]);
        assert_eq!(cache.take(), (2, 0));
    }
}

#[test]
fn only_what_compiles_to_the_same_is_found() {
    let cache = Arc::new(Counted::default());
    assert_eq!(results(&*another(&cache), &source(FIRST, SECOND)), [FIRST, SECOND]);
    assert_eq!(cache.take(), (0, 2));
    // One entry point is another, and the source is not the same.
    assert_eq!(results(&*another(&cache), &source(FIRST, FIRST + 7)), [FIRST, FIRST + 7]);
    assert_eq!(cache.take(), (1, 1));
}

/// Compiling the module once more would not lead to this.
#[test]
fn what_was_kept_is_what_runs() {
    let cache = Arc::new(Counted::default());
    let source = source(FIRST, SECOND);
    results(&*another(&cache), &source);
    let (first, second) = (cache.entry_with(FIRST), cache.entry_with(SECOND));
    cache.replace(&first, cache.code(&second));
    assert_eq!(results(&*another(&cache), &source), [SECOND, SECOND]);
}

#[test]
fn code_of_another_engine_is_compiled_again_and_replaced() {
    let cache = Arc::new(Counted::default());
    let source = source(FIRST, SECOND);
    results(&*another(&cache), &source);
    let first = cache.entry_with(FIRST);
    let good = cache.code(&first);
    let foreign = wasmtime::Module::new(&wasmtime::Engine::default(), b"\0asm\x01\0\0\0").unwrap().serialize().unwrap();
    cache.replace(&first, foreign);
    cache.take();
    assert_eq!(results(&*another(&cache), &source), [FIRST, SECOND]);
    assert_eq!(cache.take(), (2, 1), "both were there, one was of no use");
    assert_eq!(cache.code(&first).len(), good.len());
}

#[test]
fn a_source_is_refused_whatever_is_kept() {
    let cache = Arc::new(Counted::default());
    let wrong = format!("{} fn wrong() -> u32 {{ return 1.5; }}", source(FIRST, SECOND));
    results(&*another(&cache), &source(FIRST, SECOND));
    cache.take();
    for _ in 0..2 {
        assert!(load(&*another(&cache), &wrong).is_err());
        assert_eq!(cache.take(), (0, 0));
    }
}
