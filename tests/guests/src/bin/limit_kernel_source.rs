//! Source that is built to hurt a compiler is answered, and the device goes on: a good kernel is loaded and runs afterwards.
//! The input is the format, a line break and the source: text for "wgsl", words in hexadecimal for "spirv". The report is the answer.
#![no_main]

use test_guests::kernels::{WORKGROUP_NUMBERS, load};
use test_guests::work::{batch, direct, dispatch, run as submit};
use test_guests::{ExecutableParams, Outcome, check, check::same, cpu, guest, memory};

guest!(input run);

fn run(input: &str) -> Outcome<String> {
    let (format, source) = input.split_once('\n').ok_or("the input is a format, a line break and a source")?;
    let bytes = if format == "spirv" { words(source)? } else { source.as_bytes().to_vec() };
    let device = cpu()?;
    let params = ExecutableParams { format: format.into(), overrides: Vec::new(), label: String::new() };
    let answer = match device.load_executable(&params, &bytes) {
        Ok(executable) => format!("{} functions", executable.functions().len()),
        Err(error) => check::show(&error),
    };

    let good = load(&device, WORKGROUP_NUMBERS)?;
    let buffer = memory::buffer(&device, 16)?;
    submit(&device, batch(&[&buffer], &[&good], vec![dispatch(0, 4, &[], &[direct(0)])]))?;
    same(memory::read_numbers::<u32>(&buffer)?, vec![1, 2, 3, 4], "what a good kernel wrote afterwards")?;
    Ok(answer)
}

fn words(text: &str) -> Outcome<Vec<u8>> {
    let words = text.split_whitespace().map(|word| u32::from_str_radix(word, 16).map(u32::to_le_bytes));
    words.collect::<Result<Vec<_>, _>>().map(|words| words.concat()).map_err(|error| error.to_string())
}
