//! Two functions of one executable run one after the other; what is between them is ordered by a barrier.
#![no_main]

use test_guests::kernels::{NEGATE_AND_DOUBLE, load};
use test_guests::work::{batch, direct, dispatch, run as submit};
use test_guests::{Command, Outcome, check::same, cpu, guest, memory};

guest!(run);

fn run() -> Outcome {
    let device = cpu()?;
    let executable = load(&device, NEGATE_AND_DOUBLE)?;
    let names: Vec<_> = executable.functions().into_iter().map(|function| function.name).collect();
    same(names, vec!["negate".into(), "double".into()], "functions in the order of the source")?;
    let input = memory::numbers(&device, &[1i32, -2, 3, i32::MIN])?;
    let (between, output) = (memory::buffer(&device, 16)?, memory::buffer(&device, 16)?);
    let commands = vec![
        dispatch(0, 4, &[], &[direct(0), direct(1)]),
        Command::Barrier,
        dispatch(1, 4, &[], &[direct(1), direct(2)]),
    ];
    submit(&device, batch(&[&input, &between, &output], &[&executable], commands))?;
    same(memory::read_numbers::<i32>(&between)?, vec![-1, 2, -3, i32::MIN], "negated")?;
    same(memory::read_numbers::<i32>(&output)?, vec![-2, 4, -6, 0], "negated and doubled")
}
