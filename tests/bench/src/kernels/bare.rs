//! The cpu driver alone, for whoever works on its compiler: a line for each kernel as soon as there is one, and no ratio that could be taken for
//! a figure.

use super::{
    Run, catalog,
    contest::contest,
    driver::{self, Bound},
    held_out,
};
use crate::{Arguments, statistics};
use anyhow::Result;
use std::{rc::Rc, time::Instant};

/// Prints the lines. Answers why some are missing.
///
/// # Errors
/// The driver's.
pub fn measure(arguments: &Arguments) -> Result<Vec<String>> {
    let run = Run::new(arguments)?;
    println!("{:32} {:>10} {:>10} {:11} {:>10}", "kernel", "ms", "speed", "", "load ms");
    Ok(run.each_kernel(catalog::FAMILIES.iter().chain(&held_out::FAMILIES), |title, kernel, workload| {
        let bound = Bound::new(&driver::open(&*run.cpu)?, workload)?;
        let begin = Instant::now();
        let ready = Rc::new(bound.load(kernel.source, &workload.constants, kernel.groups, kernel.repeats)?);
        let load = begin.elapsed().as_secs_f64();
        let taken = contest(&mut [("cpu", Box::new(ready))], workload, run.rounds)?.concat();
        let seconds = statistics::median(&taken);
        let (ms, speed) = (seconds * 1e3, workload.work / seconds);
        println!("{title:32} {ms:10.3} {speed:10.2} {:11} {:10.2}", workload.unit, load * 1e3);
        Ok(())
    }))
}
