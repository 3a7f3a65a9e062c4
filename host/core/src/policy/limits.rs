//! What a grant allows, as named numbers.

use crate::{
    error::{Error, Result, invalid},
    text::{list, quote},
};

/// KiB, MiB, GiB.
const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

/// In what unit a limit counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Bytes.
    Bytes,
    /// Objects.
    Count,
    /// Nanoseconds.
    Nanoseconds,
}

macro_rules! limits {
    ($($(#[$doc:meta])* $name:ident, $label:literal, $short:literal, $unit:ident, $default:expr;)*) => {
        /// One limit of a grant.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Limit {
            $($(#[$doc])* $name,)*
        }

        impl Limit {
            /// Every limit, in the order in which they are reported.
            pub const ALL: [Self; Self::COUNT] = [$(Self::$name,)*];
            /// How many there are.
            pub const COUNT: usize = [$($label,)*].len();

            /// The stable name: in WIT, policies, metrics and errors.
            pub const fn label(self) -> &'static str {
                match self { $(Self::$name => $label,)* }
            }

            /// What a person may write instead, on a command line or in a policy.
            const fn short(self) -> &'static str {
                match self { $(Self::$name => $short,)* }
            }

            /// The unit it counts in.
            pub const fn unit(self) -> Unit {
                match self { $(Self::$name => Unit::$unit,)* }
            }

            /// What a grant allows that does not say otherwise.
            pub const fn default_value(self) -> u64 {
                match self { $(Self::$name => $default,)* }
            }
        }
    };
}

limits! {
    /// Device memory. Default 256 MiB: a small model with its activations.
    MemoryBytes, "memory-bytes", "memory", Bytes, 256 * MIB;
    /// Buffers and subspans. Default 4,096: a few for each tensor of a large graph.
    Buffers, "buffers", "buffers", Count, 4096;
    /// Executables. Default 256: kernels of several models.
    Executables, "executables", "executables", Count, 256;
    /// Recordings. Default 1,024.
    Recordings, "recordings", "recordings", Count, 1024;
    /// Semaphores. Default 1,024.
    Semaphores, "semaphores", "semaphores", Count, 1024;
    /// Open devices. Default 4: a native device costs megabytes and a thread.
    Devices, "devices", "devices", Count, 4;
    /// Driver handles. Default 64: one opens a device and is dropped.
    Drivers, "drivers", "drivers", Count, 64;
    /// Duplicates of the factory and factories narrowed from it. Default 256: four registries at their capacity of 64.
    Factories, "factories", "factories", Count, 256;
    /// Open blobs. Counted for the session, since a blob belongs to no driver. Default 64.
    Blobs, "blobs", "blobs", Count, 64;
    /// Submissions that have not ended, the waiting ones included. Default 4,096.
    Submissions, "submissions", "submissions", Count, 4096;
    /// What the host keeps on the tenant's behalf: commands, payloads, tables, queued waits. Default 32 MiB.
    HostBytes, "host-bytes", "host", Bytes, 32 * MIB;
    /// One read or write. Default 16 MiB: copies in chunks of this size stay near memcpy's speed and hold one worker briefly.
    TransferBytes, "transfer-bytes", "transfer", Bytes, 16 * MIB;
    /// One update command's payload, which is copied and kept. Default 1 MiB, well above the 128 KiB and some that
    /// IREE's own suite queues at once.
    UpdateBytes, "update-bytes", "update", Bytes, MIB;
    /// One kernel source. Default 256 KiB: what the kernel front end takes of WGSL.
    SourceBytes, "source-bytes", "source", Bytes, 256 * KIB;
    /// How long one submission may run. Default 10 s.
    SubmissionTimeNs, "submission-time-ns", "submission-time", Nanoseconds, 10_000_000_000;
}

impl Limit {
    /// The limit with a stable name.
    ///
    /// # Errors
    /// `invalid-argument` for any other name, with the names there are.
    pub fn named(name: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|limit| limit.label() == name).ok_or_else(|| unknown(name))
    }

    /// The same for a person's input, who may also leave the unit out: `memory` for `memory-bytes`.
    fn written(name: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|limit| limit.label() == name || limit.short() == name).ok_or_else(|| unknown(name))
    }

    /// Whether it bounds each call by itself, rather than a sum that fills up.
    pub const fn per_call(self) -> bool {
        matches!(self, Self::TransferBytes | Self::UpdateBytes | Self::SourceBytes | Self::SubmissionTimeNs)
    }
}

fn unknown(name: &str) -> Error {
    invalid(format!("no limit is called {}; there are {}", quote(name), list(Limit::ALL.map(Limit::label))))
}

/// A number for each [`Limit`].
///
/// There is no "unlimited": whoever wants a lot writes how much.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits([u64; Limit::COUNT]);

impl Default for Limits {
    fn default() -> Self {
        Self::new()
    }
}

impl Limits {
    /// The defaults: memory-bytes 256 MiB, buffers 4,096, executables 256, recordings 1,024, semaphores 1,024, devices 4, drivers
    /// 64, factories 256, blobs 64, submissions 4,096, host-bytes 32 MiB, transfer-bytes 16 MiB, update-bytes 1 MiB,
    /// source-bytes 256 KiB, submission-time-ns 10 s. Each [`Limit`] says why.
    pub const fn new() -> Self {
        let mut values = [0; Limit::COUNT];
        let mut index = 0;
        while index < Limit::COUNT {
            #[allow(clippy::indexing_slicing, reason = "both arrays have COUNT elements; const code has no iterators")]
            {
                values[index] = Limit::ALL[index].default_value();
            }
            index += 1;
        }
        Self(values)
    }

    /// Every number at its largest: for nodes of the tree that only sum up.
    pub(crate) const fn boundless() -> Self {
        Self([u64::MAX; Limit::COUNT])
    }

    /// One number.
    pub fn get(&self, limit: Limit) -> u64 {
        self.0.get(limit as usize).copied().unwrap_or(0)
    }

    /// Changes one number.
    #[must_use]
    pub fn with(mut self, limit: Limit, value: u64) -> Self {
        self.put(limit, value);
        self
    }

    /// Changes one number by its stable name.
    ///
    /// # Errors
    /// `invalid-argument` for an unknown name, with the names there are.
    pub fn set(&mut self, name: &str, value: u64) -> Result<()> {
        self.put(Limit::named(name)?, value);
        Ok(())
    }

    pub(crate) fn put(&mut self, limit: Limit, value: u64) {
        if let Some(slot) = self.0.get_mut(limit as usize) {
            *slot = value;
        }
    }

    /// Every number under its name.
    pub fn iter(&self) -> impl Iterator<Item = (Limit, u64)> + '_ {
        Limit::ALL.into_iter().zip(self.0.iter().copied())
    }

    /// No number above the other's.
    pub(crate) fn cut_to(&mut self, most: &Self) {
        for (value, most) in self.0.iter_mut().zip(most.0) {
            *value = (*value).min(most);
        }
    }

    /// Changes what a text like `memory=64MiB,buffers=16,submission-time=2s` names.
    ///
    /// # Errors
    /// `invalid-argument` for an unknown name, one that is there twice, a value that is no number of its unit, or a text that names none.
    pub fn parse(&mut self, text: &str) -> Result<()> {
        let mut seen = Vec::new();
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let Some((name, value)) = part.split_once('=') else {
                return Err(invalid(format!("{} is not of the form name=value, such as memory=64MiB", quote(part))));
            };
            let limit = self.set_written(name.trim(), value.trim())?;
            if seen.contains(&limit) {
                return Err(invalid(format!("the limit \"{}\" is given twice", limit.label())));
            }
            seen.push(limit);
        }
        if seen.is_empty() {
            return Err(invalid("no limit is named; write them as name=value, such as memory=64MiB"));
        }
        Ok(())
    }

    /// Changes one number as a person writes it.
    pub(crate) fn set_written(&mut self, name: &str, value: &str) -> Result<Limit> {
        let limit = Limit::written(name)?;
        let value = match limit.unit() {
            Unit::Bytes => bytes(value),
            Unit::Count => number(value, &[("", 1)], "a whole number"),
            Unit::Nanoseconds => duration_ns(value),
        };
        self.put(limit, value.map_err(|error| invalid(format!("limit \"{}\": {}", limit.label(), error.message)))?);
        Ok(limit)
    }
}

/// A size as a person writes it: `4096`, `64KiB`, `16MiB`, `2GiB`.
///
/// # Errors
/// `invalid-argument`.
pub fn bytes(text: &str) -> Result<u64> {
    let units = [("KiB", KIB), ("MiB", MIB), ("GiB", GIB), ("TiB", GIB * KIB), ("B", 1), ("", 1)];
    number(text, &units, "a size such as 4096, 64KiB, 16MiB or 2GiB")
}

/// A time as a person writes it, in nanoseconds: `500ms`, `10s`. A bare number is nanoseconds.
///
/// # Errors
/// `invalid-argument`.
pub fn duration_ns(text: &str) -> Result<u64> {
    let units = [("ns", 1), ("us", 1_000), ("ms", 1_000_000), ("min", 60_000_000_000), ("s", 1_000_000_000), ("", 1)];
    number(text, &units, "a time such as 500ms, 10s or 2min")
}

fn number(text: &str, units: &[(&str, u64)], what: &str) -> Result<u64> {
    let split = units.iter().find_map(|(unit, factor)| {
        let digits = text.strip_suffix(unit)?.trim_end();
        (!digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())).then_some((digits, *factor))
    });
    let Some((digits, factor)) = split else { return Err(invalid(format!("{} is not {what}", quote(text)))) };
    let value = digits.parse::<u64>().ok().and_then(|number| number.checked_mul(factor));
    value.ok_or_else(|| invalid(format!("{} is too large; at most {} of the smallest unit fit", quote(text), u64::MAX)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hal_driver::Code;

    #[test]
    fn names_are_found_and_unknown_ones_list_them() {
        for limit in Limit::ALL {
            assert_eq!(Limit::named(limit.label()), Ok(limit));
            assert_eq!(Limits::new().get(limit), limit.default_value());
        }
        let error = Limits::new().set("memory", 1).unwrap_err();
        assert_eq!(error.code, Code::InvalidArgument);
        assert!(error.message.contains("memory-bytes") && error.message.contains("\"memory\""), "{error}");
    }

    #[test]
    fn a_command_line_is_read() {
        let mut limits = Limits::new();
        limits.parse("memory=64MiB, buffers=16,transfer-bytes=1 KiB,submission-time=250ms,").unwrap();
        assert_eq!(limits.get(Limit::MemoryBytes), 64 * MIB);
        assert_eq!(limits.get(Limit::Buffers), 16);
        assert_eq!(limits.get(Limit::TransferBytes), KIB);
        assert_eq!(limits.get(Limit::SubmissionTimeNs), 250_000_000);
        for bad in [
            "memory",
            "memory=",
            "memory=-1",
            "memory=1.5GiB",
            "memory=64mb",
            "buffers=1KiB",
            "x=1",
            "submission-time=1h",
            "memory=99999999999TiB",
            "memory=+1",
            "",
            " , ",
            "buffers=1,buffers=1",
            "memory=1MiB,memory-bytes=2MiB",
        ] {
            assert_eq!(Limits::new().parse(bad).unwrap_err().code, Code::InvalidArgument, "{bad}");
        }
        for (bad, word) in [
            ("memory=17179869184GiB", "too large"),
            ("memory=99999999999999999999", "too large"),
            ("submission-time=9999999999999999999min", "too large"),
            ("memory=64mb", "is not a size"),
            ("memory=1MiB,memory=2MiB", "\"memory-bytes\" is given twice"),
            ("", "no limit is named"),
        ] {
            let error = Limits::new().parse(bad).unwrap_err();
            assert!(error.message.contains(word), "{bad}: {error}");
        }
    }

    #[test]
    fn limits_only_shrink_when_cut() {
        let mut limits = Limits::new().with(Limit::Buffers, 10).with(Limit::Devices, 100);
        limits.cut_to(&Limits::new());
        assert_eq!(limits.get(Limit::Buffers), 10);
        assert_eq!(limits.get(Limit::Devices), 4);
    }
}
