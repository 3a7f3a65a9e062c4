//! Random kernels.

use hal_differential::{
    config,
    generator::{ATOMICS, Kernel, kernel},
    kernels::program,
    runtime, targets,
};
use hal_interpreter::{Bound, Dispatch, ErrorKind, Options};
use proptest::test_runner::{TestCaseError, TestRunner};
use std::cell::Cell;

/// More than a kernel of this generator should ever need.
const STEPS: u64 = 2_000_000;

fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn buffers(kernel: &Kernel) -> Vec<(u32, Vec<u8>)> {
    let atomics = vec![5; usize::from(ATOMICS)];
    vec![(0, bytes(&kernel.input)), (1, bytes(&atomics)), (2, vec![0; kernel.words() * 4])]
}

#[test]
fn random_kernels_do_what_the_interpreter_does() {
    let (targets, runtime) = (targets(), runtime());
    let mut runner = TestRunner::new(config(32, "proptest-regressions/kernels.txt"));
    let (tried, refused) = (Cell::new(0), Cell::new(0));
    let result = runner.run(&kernel(), |kernel| {
        tried.set(tried.get() + 1);
        let source = kernel.text();
        let program = match program(&source) {
            Ok(program) => program,
            Err(error) if error.code == hal_kernel::ErrorCode::ResourceExhausted => {
                refused.set(refused.get() + 1);
                return Err(TestCaseError::reject("too long"));
            }
            Err(error) => return Err(TestCaseError::fail(format!("{error}"))),
        };
        let before = buffers(&kernel);
        let mut bound: Vec<Bound> =
            before.iter().map(|(binding, bytes)| Bound { binding: *binding, bytes: bytes.clone() }).collect();
        let launch = Dispatch { function: "main", groups: kernel.workgroups(), constants: &[] };
        let options = Options { steps: STEPS, ..Options::default() };
        match hal_interpreter::run(&program, &launch, &mut bound, &options) {
            Ok(_) => {}
            Err(error) if error.kind == ErrorKind::Steps => {
                refused.set(refused.get() + 1);
                return Err(TestCaseError::reject("too slow"));
            }
            Err(error) => return Err(TestCaseError::fail(format!("{error}"))),
        }
        for target in &targets {
            let got = runtime.block_on(target.dispatch(&source, "main", kernel.workgroups(), &[], &before));
            let got = got.map_err(|error| TestCaseError::fail(format!("{}: {error}", target.name)))?;
            for (bound, got) in bound.iter().zip(&got) {
                let differs = got.chunks(4).zip(bound.bytes.chunks(4)).position(|(got, want)| got != want);
                if let Some(at) = differs {
                    let (binding, name) = (bound.binding, target.name);
                    let reason = format!("{name}: binding {binding} differs at word {at}");
                    return Err(TestCaseError::fail(reason));
                }
            }
        }
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("{error}"));
    println!("{} kernels, {} of them too long", tried.get(), refused.get());
}
