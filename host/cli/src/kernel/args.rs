//! The command line of `hal kernel`.

use super::{
    data::{Content, MAX_DATA_BYTES},
    source::Given,
};
use crate::args::duration;
use clap::{Args, Subcommand};
use hal_host::hal_core::text::quote;
use hal_kernel::{Element, MAX_BINDINGS, MAX_CONSTANT_BYTES};
use std::{path::PathBuf, time::Duration};

/// Most `--device` of one command: what each leaves is held in memory.
const MAX_DEVICES: usize = 8;
/// Most `--override`: more than a source can declare.
const MAX_OVERRIDES: usize = 1024;

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Kernel {
    /// Says what functions, bindings, constants and overrides a kernel has, and which drivers take it
    #[command(after_help = CHECK_HELP)]
    Check(Check),
    /// Runs a kernel on one or more devices, times it and compares what they leave
    #[command(after_help = RUN_HELP)]
    Run(Run),
}

const CHECK_HELP: &str = "\
Exit code 0 if every device takes it, 126 if the front end or a device refuses it, 125 if it cannot be
read, a device that is named cannot be opened, or nobody could be asked because an override that is
required has no value (--override).";

const RUN_HELP: &str = "\
What a binding begins with:
  N=FILE                 a file's bytes; ./zeros:1 for a file that is called zeros:1
  N=zeros:BYTES          zeros
  N=random-f32:SEED:BYTES  floats from -1 to 1
  N=random-u32:SEED:BYTES  any bits
BYTES is a multiple of 4, such as 4096 or 64KiB. What is random is the same for a seed everywhere.

What is compared: every scalar of every binding that the kernel writes, bit by bit; NaNs are all the
same, and padding is nobody's. With --ulps and --abs two values agree if they are within either. The
type is the kernel's, or that of --type, such as f16 for halves that are kept in words of u32.

Exit code 0 if the devices agree, 1 if they or the interpreter disagree or --check found a mistake,
124 if a device's time was up, 126 if the kernel was refused, 125 if it could not be run. If one device
fails, the others run and are compared all the same, and the exit code is that of the failure.

Example:
  hal kernel run saxpy.wgsl --entry saxpy --groups 16,1,1 --device cpu:// --device vulkan:// \\
    --bind 0=random-f32:1:4KiB --bind 1=zeros:4KiB --constants 0000003f --out 1=y.bin";

/// Arguments of `hal kernel check`.
#[derive(Args, Debug)]
pub struct Check {
    /// The kernel
    #[arg(value_name = "FILE.wgsl|FILE.spv")]
    pub file: PathBuf,
    /// Try this device; the default one of each driver that loads kernels, if none is named
    #[arg(long = "device", value_name = "URI", allow_hyphen_values = true)]
    pub devices: Vec<String>,
    /// Give an override a value
    #[arg(long = "override", value_name = "NAME=VALUE", value_parser = given, allow_hyphen_values = true)]
    pub overrides: Vec<Given>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `hal kernel run`.
#[derive(Args, Debug)]
pub struct Run {
    /// The kernel
    #[arg(value_name = "FILE.wgsl|FILE.spv")]
    pub file: PathBuf,
    /// The function to run
    #[arg(long, value_name = "NAME", allow_hyphen_values = true)]
    pub entry: String,
    /// How many workgroups
    #[arg(long, value_name = "X,Y,Z", value_parser = groups, allow_hyphen_values = true)]
    pub groups: [u32; 3],
    /// Run it here; further ones are compared with the first
    #[arg(long = "device", value_name = "URI", required = true, allow_hyphen_values = true)]
    pub devices: Vec<String>,
    /// What is bound, and what is in it
    #[arg(long = "bind", value_name = "N=CONTENT", value_parser = bind, allow_hyphen_values = true)]
    pub bindings: Vec<Bind>,
    /// The constants (`var<immediate>`) in hexadecimal, two digits a byte, in the order of memory
    #[arg(long, value_name = "HEX", value_parser = hex, default_value = "", allow_hyphen_values = true)]
    pub constants: Constants,
    /// Give an override a value
    #[arg(long = "override", value_name = "NAME=VALUE", value_parser = given, allow_hyphen_values = true)]
    pub overrides: Vec<Given>,
    /// Write what the first device leaves in a binding to a file, in place of what is there
    #[arg(long = "out", value_name = "N=FILE", value_parser = out, allow_hyphen_values = true)]
    pub outputs: Vec<Out>,
    /// Run it so often on each device, each time with what the bindings begin with
    #[arg(long, value_name = "COUNT", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000), allow_hyphen_values = true)]
    pub repeat: u32,
    /// Interpret the kernel as well, which is slow: compare with that, and look for indices out of bounds and races within workgroups
    #[arg(long)]
    pub check: bool,
    /// Take floats for the same that are so many floats apart
    #[arg(long, value_name = "COUNT", default_value_t = 0, allow_hyphen_values = true)]
    pub ulps: u64,
    /// Take values for the same whose difference is no larger
    #[arg(long = "abs", value_name = "DIFFERENCE", default_value_t = 0.0, value_parser = absolute, allow_hyphen_values = true)]
    pub absolute: f64,
    /// Compare what is left in a binding as scalars of this type, whatever the kernel calls it
    #[arg(long = "type", value_name = "N=TYPE", value_parser = typed, allow_hyphen_values = true)]
    pub types: Vec<Typed>,
    /// Stop each run on a device, and --check, after this time
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = timeout, allow_hyphen_values = true)]
    pub timeout: Duration,
}

/// `--bind`.
#[derive(Clone, Debug, PartialEq)]
pub struct Bind {
    /// The `n` of `@binding(n)`.
    pub binding: u32,
    /// What it begins with.
    pub content: Content,
}

/// `--out`.
#[derive(Clone, Debug)]
pub struct Out {
    /// The `n` of `@binding(n)`.
    pub binding: u32,
    /// Where to.
    pub file: PathBuf,
}

/// `--type`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Typed {
    /// The `n` of `@binding(n)`.
    pub binding: u32,
    /// What it is full of.
    pub element: Element,
}

/// `--constants`. A type of its own, because clap takes a `Vec` for many values.
#[derive(Clone, Debug)]
pub struct Constants(pub Vec<u8>);

/// Requires that there are no more devices and overrides than are taken.
///
/// # Errors
/// A sentence.
pub fn counts(devices: &[String], overrides: &[Given]) -> anyhow::Result<()> {
    anyhow::ensure!(devices.len() <= MAX_DEVICES, "{} devices; at most {MAX_DEVICES} are taken", devices.len());
    anyhow::ensure!(overrides.len() <= MAX_OVERRIDES, "over {MAX_OVERRIDES} overrides");
    Ok(())
}

fn groups(text: &str) -> Result<[u32; 3], String> {
    let wrong = || "three numbers, such as 16,1,1".to_owned();
    let numbers: Vec<u32> =
        text.split(',').map(|part| number(part).ok_or_else(wrong)).take(4).collect::<Result<_, _>>()?;
    numbers.try_into().map_err(|_| wrong())
}

/// Digits alone: what `parse` takes beside them, such as a plus sign, is a slip here.
fn number(text: &str) -> Option<u32> {
    if text.bytes().all(|byte| byte.is_ascii_digit()) { text.parse().ok() } else { None }
}

fn numbered(text: &str) -> Result<(u32, &str), String> {
    let (left, right) = text.split_once('=').ok_or("write it as N=..., with the number of the binding")?;
    let binding = number(left).filter(|number| *number < MAX_BINDINGS);
    let binding =
        binding.ok_or_else(|| format!("{} is no binding; they are 0 to {}", quote(left), MAX_BINDINGS - 1))?;
    if right.is_empty() { Err("nothing is said behind the =".to_owned()) } else { Ok((binding, right)) }
}

fn bind(text: &str) -> Result<Bind, String> {
    let (binding, content) = numbered(text)?;
    Ok(Bind { binding, content: content.parse()? })
}

fn out(text: &str) -> Result<Out, String> {
    let (binding, file) = numbered(text)?;
    Ok(Out { binding, file: file.into() })
}

fn typed(text: &str) -> Result<Typed, String> {
    let (binding, name) = numbered(text)?;
    let names = Element::ALL.map(Element::name).join(", ");
    let element =
        Element::from_name(name).ok_or_else(|| format!("{} is no type of scalars; there are {names}", quote(name)))?;
    Ok(Typed { binding, element })
}

fn absolute(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| number.is_finite() && !number.is_sign_negative());
    number.ok_or_else(|| "a number from 0, such as 1e-6".to_owned())
}

fn hex(text: &str) -> Result<Constants, String> {
    if text.len() > 2 * MAX_CONSTANT_BYTES as usize {
        return Err(format!("constants have at most {MAX_CONSTANT_BYTES} bytes"));
    }
    let byte = |digits: &[u8]| -> Option<u8> {
        let [high, low] = digits else { return None };
        let digit = |digit: u8| char::from(digit).to_digit(16);
        u8::try_from(digit(*high)? << 4 | digit(*low)?).ok()
    };
    let bytes: Option<Vec<u8>> = text.as_bytes().chunks(2).map(byte).collect();
    bytes.map(Constants).ok_or_else(|| "two digits of 0-9 and a-f for each byte, such as 0000003f".to_owned())
}

fn given(text: &str) -> Result<Given, String> {
    let (name, value) = text.split_once('=').ok_or("write it as NAME=VALUE")?;
    if name.is_empty() || value.is_empty() {
        return Err("write it as NAME=VALUE".to_owned());
    }
    Ok(Given { name: name.to_owned(), value: value.to_owned() })
}

/// An hour is more than any device gives a kernel.
fn timeout(text: &str) -> Result<Duration, String> {
    let time = duration(text)?;
    if time > Duration::from_secs(3600) { Err("at most 60min".to_owned()) } else { Ok(time) }
}

impl std::str::FromStr for Content {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let seeded = |rest: &str| -> Result<(u64, u64), String> {
            let (seed, size) = rest.split_once(':').ok_or("a seed and a size are needed, such as random-f32:1:4KiB")?;
            let digits = seed.bytes().all(|byte| byte.is_ascii_digit());
            let seed = seed.parse().ok().filter(|_| digits);
            Ok((seed.ok_or("the seed is a whole number below 2^64")?, self::size(size)?))
        };
        if let Some(size) = text.strip_prefix("zeros:") {
            return Ok(Self::Zeros { bytes: self::size(size)? });
        }
        if let Some(rest) = text.strip_prefix("random-f32:") {
            return seeded(rest).map(|(seed, bytes)| Self::RandomF32 { seed, bytes });
        }
        if let Some(rest) = text.strip_prefix("random-u32:") {
            return seeded(rest).map(|(seed, bytes)| Self::RandomU32 { seed, bytes });
        }
        Ok(Self::File(text.into()))
    }
}

fn size(text: &str) -> Result<u64, String> {
    let bytes = hal_host::hal_core::policy::bytes(text).map_err(|error| error.message)?;
    match bytes {
        0 => Err("a binding has some bytes".to_owned()),
        _ if bytes > MAX_DATA_BYTES => Err(format!("at most {}", crate::text::bytes(MAX_DATA_BYTES))),
        _ if !bytes.is_multiple_of(4) => Err(format!("{bytes} bytes are no multiple of 4")),
        _ => Ok(bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_digits() {
        assert_eq!(groups("1,2,4294967295"), Ok([1, 2, u32::MAX]));
        for wrong in ["", "1", "1,1", "1,1,1,1", "1,,1", "+1,1,1", "1,1,4294967296", "a,1,1", "1, 1,1"] {
            assert!(groups(wrong).is_err(), "{wrong:?}");
        }
        assert_eq!(hex("0aFf").unwrap().0, [10, 255]);
        assert!(hex(&"00".repeat(128)).is_ok() && hex("").unwrap().0.is_empty());
        for wrong in ["0", "0x00", "0g", "+1", "ä", &"00".repeat(129)] {
            assert!(hex(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn tolerances_and_types() {
        assert_eq!((absolute("0"), absolute("1e-6"), absolute("2.5")), (Ok(0.0), Ok(1e-6), Ok(2.5)));
        for wrong in ["", "-1", "-0.0", "inf", "nan", "1e999", "1ulp"] {
            assert!(absolute(wrong).is_err(), "{wrong:?}");
        }
        assert_eq!(typed("3=f16"), Ok(Typed { binding: 3, element: Element::F16 }));
        assert!(
            typed("3=f64")
                .unwrap_err()
                .ends_with("\"f64\" is no type of scalars; there are f16, f32, i32, u32, i64, u64")
        );
        for wrong in ["f16", "=f16", "3=", "64=f16", "-1=f16", "3=F16", "3=vec2<f32>"] {
            assert!(typed(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn what_a_binding_begins_with() {
        let content = |text: &str| bind(text).map(|bind| (bind.binding, bind.content));
        assert_eq!(content("63=zeros:1KiB"), Ok((63, Content::Zeros { bytes: 1024 })));
        assert_eq!(content("0=random-f32:7:4"), Ok((0, Content::RandomF32 { seed: 7, bytes: 4 })));
        let most = format!("1=random-u32:{}:8", u64::MAX);
        assert_eq!(content(&most), Ok((1, Content::RandomU32 { seed: u64::MAX, bytes: 8 })));
        assert_eq!(content("2=a=b"), Ok((2, Content::File("a=b".into()))));
        for wrong in [
            "",
            "0",
            "0=",
            "=x",
            "64=x",
            "-1=x",
            "0=zeros:",
            "0=zeros:0",
            "0=zeros:6",
            "0=zeros:1TiB",
            "0=random-f32:4",
            "0=random-f32::4",
            "0=random-u32:-1:4",
            "0=random-u32:18446744073709551616:4",
        ] {
            assert!(content(wrong).is_err(), "{wrong:?}");
        }
    }
}
