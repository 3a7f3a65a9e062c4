//! Native code on two threads: what memory and the processor allow.

use super::{THREADS, workload::Workload};
use anyhow::{Result, bail};
use std::{thread, time::Instant};

/// Inputs and the output as plain memory.
pub struct Memory {
    inputs: Vec<Vec<f32>>,
    output: Vec<f32>,
}

impl Memory {
    /// A workload whose inputs are all f32.
    pub fn new(workload: &Workload) -> Self {
        let numbers = |bytes: &Vec<u8>| bytes.as_chunks().0.iter().map(|word| f32::from_le_bytes(*word)).collect();
        // Not zero, so that the system has handed all of it out before the first turn.
        Self { inputs: workload.inputs.iter().map(numbers).collect(), output: vec![f32::NAN; workload.expected.len()] }
    }

    /// What came out.
    pub fn output(&self) -> &[f32] {
        &self.output
    }

    /// A loop over two vectors, or over one, each thread its part. Answers seconds.
    ///
    /// # Errors
    /// There is another number of inputs.
    pub fn stream(&mut self) -> Result<f64> {
        let begin = Instant::now();
        let part = self.output.len().div_ceil(THREADS);
        let parts = self.output.chunks_mut(part);
        match &self.inputs[..] {
            [a] => thread::scope(|scope| {
                parts.zip(a.chunks(part)).for_each(|(c, a)| drop(scope.spawn(|| copy(a, c))));
            }),
            [a, b] => thread::scope(|scope| {
                let inputs = a.chunks(part).zip(b.chunks(part));
                parts.zip(inputs).for_each(|(c, (a, b))| drop(scope.spawn(|| add(a, b, c))));
            }),
            inputs => bail!("no loop takes {} inputs", inputs.len()),
        }
        Ok(begin.elapsed().as_secs_f64())
    }

    /// The `gemm` crate on square matrices. Answers seconds.
    ///
    /// # Errors
    /// There are not two inputs of the output's size.
    pub fn gemm(&mut self) -> Result<f64> {
        let count = self.output.len();
        let n = count.isqrt();
        let [a, b] = &self.inputs[..] else { bail!("{} inputs, not two", self.inputs.len()) };
        if [a.len(), b.len(), n * n] != [count; 3] {
            bail!("the matrices are not square and of one size");
        }
        let (row, threads) = (n as isize, gemm::Parallelism::Rayon(THREADS));
        let begin = Instant::now();
        // SAFETY: all three have n rows of n elements, one after the other, and nobody else uses the output.
        unsafe {
            let (c, a, b) = (self.output.as_mut_ptr(), a.as_ptr(), b.as_ptr());
            gemm::gemm(n, n, n, c, 1, row, false, a, 1, row, b, 1, row, 0.0, 1.0, false, false, false, threads);
        }
        Ok(begin.elapsed().as_secs_f64())
    }
}

fn add(a: &[f32], b: &[f32], c: &mut [f32]) {
    a.iter().zip(b).zip(c).for_each(|((a, b), c)| *c = a + b);
}

/// What a compiler makes of a loop that copies is the system's own copy.
fn copy(a: &[f32], c: &mut [f32]) {
    c.copy_from_slice(a);
}

#[cfg(test)]
mod tests {
    use super::super::workload;
    use super::*;

    #[test]
    fn native_code_is_right() {
        for workload in [workload::add(1001), workload::copy(1001)] {
            let mut memory = Memory::new(&workload);
            assert!(workload.check(memory.output()).is_err());
            assert!(memory.stream().unwrap() > 0.0);
            workload.check(memory.output()).unwrap();
        }
        let workload = workload::matmul(48);
        let mut memory = Memory::new(&workload);
        memory.gemm().unwrap();
        workload.check(memory.output()).unwrap();
        assert!(Memory::new(&workload::softmax(8)).gemm().is_err());
    }
}
