//! Native code on two threads: what memory and the processor allow.

use super::{THREADS, contest::Contestant, workload::Workload};
use anyhow::{Result, bail};
use std::{thread, time::Instant};

/// What native code does.
#[derive(Clone, Copy)]
pub enum Routine {
    /// The `gemm` crate on square matrices.
    Gemm,
    /// A loop over two vectors, or over one, each thread its part.
    Loop,
}

/// Inputs and the output as plain memory.
pub struct Memory {
    routine: Routine,
    inputs: Vec<Vec<f32>>,
    output: Vec<f32>,
}

impl Memory {
    /// A workload whose inputs are all f32.
    pub fn new(workload: &Workload, routine: Routine) -> Self {
        let numbers = |bytes: &Vec<u8>| bytes.as_chunks().0.iter().map(|word| f32::from_le_bytes(*word)).collect();
        Self { routine, inputs: workload.inputs.iter().map(numbers).collect(), output: numbers(&workload.untouched()) }
    }

    fn stream(&mut self) -> Result<()> {
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
        Ok(())
    }

    fn gemm(&mut self) -> Result<()> {
        let count = self.output.len();
        let n = count.isqrt();
        let [a, b] = &self.inputs[..] else { bail!("{} inputs, not two", self.inputs.len()) };
        if [a.len(), b.len(), n * n] != [count; 3] {
            bail!("the matrices are not square and of one size");
        }
        let (row, threads) = (n as isize, gemm::Parallelism::Rayon(THREADS));
        // SAFETY: all three have n rows of n elements, one after the other, and nobody else uses the output.
        unsafe {
            let (c, a, b) = (self.output.as_mut_ptr(), a.as_ptr(), b.as_ptr());
            gemm::gemm(n, n, n, c, 1, row, false, a, 1, row, b, 1, row, 0.0, 1.0, false, false, false, threads);
        }
        Ok(())
    }
}

impl Contestant for Memory {
    fn turn(&mut self) -> Result<f64> {
        let begin = Instant::now();
        match self.routine {
            Routine::Gemm => self.gemm()?,
            Routine::Loop => self.stream()?,
        }
        Ok(begin.elapsed().as_secs_f64())
    }

    fn output(&mut self) -> Result<Vec<f32>> {
        Ok(self.output.clone())
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
        for (workload, routine) in [
            (workload::add(1001), Routine::Loop),
            (workload::copy(1001), Routine::Loop),
            (workload::matmul(48), Routine::Gemm),
        ] {
            let mut memory = Memory::new(&workload, routine);
            assert!(workload.check(&memory.output().unwrap()).is_err());
            assert!(memory.turn().unwrap() > 0.0);
            workload.check(&memory.output().unwrap()).unwrap();
        }
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        assert!(Memory::new(&workload::softmax(8), Routine::Gemm).turn().is_err());
        assert!(Memory::new(&workload::layernorm(8), Routine::Loop).turn().is_err());
    }
}
