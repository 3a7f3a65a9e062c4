//! Device patterns: `cpu`, `cpu/0`, `vulkan/*`, `*`.

use crate::{
    error::{Result, invalid},
    text::{MAX_NAME_BYTES, quote},
};

/// Most patterns of one list. A guest may hand them to `narrow`.
const MAX_PATTERNS: usize = 64;

/// Which devices of which drivers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Patterns(Vec<Pattern>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Pattern {
    /// None: every driver.
    driver: Option<String>,
    /// None: every device.
    device: Option<String>,
}

/// Whether a text is a device pattern: `cpu`, `cpu/0`, `vulkan/*`, `*`.
///
/// # Errors
/// `invalid-argument`, saying what is wrong with it.
pub fn check_pattern(text: &str) -> Result<()> {
    Pattern::parse(text).map(drop)
}

impl Patterns {
    pub(crate) fn parse<S: AsRef<str>>(patterns: &[S]) -> Result<Self> {
        if patterns.len() > MAX_PATTERNS {
            return Err(invalid(format!("{} device patterns; at most {MAX_PATTERNS} are taken", patterns.len())));
        }
        patterns.iter().map(|pattern| Pattern::parse(pattern.as_ref())).collect::<Result<_>>().map(Self)
    }

    /// What keeping them costs, in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        let text = |part: &Option<String>| part.as_ref().map_or(0, String::len);
        self.0.iter().map(|pattern| (size_of::<Pattern>() + text(&pattern.driver) + text(&pattern.device)) as u64).sum()
    }

    /// Whether anything of a driver may match.
    pub(crate) fn driver(&self, name: &str) -> bool {
        self.0.iter().any(|pattern| pattern.driver.as_deref().is_none_or(|driver| driver == name))
    }

    /// Whether a device matches, by the path it is listed with or by its place in the list.
    pub(crate) fn device(&self, driver: &str, path: &str, ordinal: usize) -> bool {
        self.0.iter().any(|pattern| {
            pattern.driver.as_deref().is_none_or(|name| name == driver)
                && pattern.device.as_deref().is_none_or(|device| device == path || device == ordinal.to_string())
        })
    }
}

impl Pattern {
    fn parse(text: &str) -> Result<Self> {
        let bad = |why: &str| {
            invalid(format!("{} is no device pattern: {why}; write cpu, cpu/0, vulkan/* or *", quote(text)))
        };
        if text.len() > MAX_NAME_BYTES {
            return Err(invalid(format!(
                "a device pattern has {} bytes; at most {MAX_NAME_BYTES} are taken",
                text.len()
            )));
        }
        let (driver, device) = text.split_once('/').map_or((text, None), |(driver, device)| (driver, Some(device)));
        if driver.is_empty() || device == Some("") {
            return Err(bad("a part is empty"));
        }
        if [Some(driver), device].into_iter().flatten().any(|part| part != "*" && part.contains('*')) {
            return Err(bad("* stands for a whole part"));
        }
        // What looks like a place in the list, but is none that a device can have, would match nothing without a word.
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let place = device.is_some_and(|part| digits(part.trim_start_matches(['-', '+'])));
        if place && device.is_some_and(|part| part.parse::<u32>().is_ok_and(|place| place.to_string() == part)) != place
        {
            return Err(bad("places are counted from 0 and written without sign or leading zeros"));
        }
        let named = |part: &str| (part != "*").then(|| part.to_owned());
        Ok(Self { driver: named(driver), device: device.and_then(named) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(pattern: &str) -> Patterns {
        Patterns::parse(&[pattern]).unwrap()
    }

    #[test]
    fn patterns_match_by_driver_path_and_place() {
        assert!(one("*").device("cpu", "x", 7));
        assert!(one("cpu").device("cpu", "x", 7) && !one("cpu").device("cp", "x", 7));
        assert!(one("cpu/0").device("cpu", "x", 0) && !one("cpu/0").device("cpu", "x", 1));
        assert!(one("cpu/x").device("cpu", "x", 1) && !one("vulkan/x").device("cpu", "x", 1));
        assert!(one("vulkan/*").driver("vulkan") && !one("vulkan/*").driver("cpu"));
        assert!(one("*/0").device("any", "p", 0));
        assert!(one("vulkan/0000:01:00.0").device("vulkan", "0000:01:00.0", 3), "a path that begins with digits");
        assert!(one("vulkan/a/b").device("vulkan", "a/b", 3));
        let none: [&str; 0] = [];
        assert!(!Patterns::parse(&none).unwrap().driver("cpu"));
    }

    #[test]
    fn malformed_patterns_are_refused() {
        for bad in
            ["", "/", "cpu/", "/0", "c*", "cpu/0*", "cpu/-1", "cpu/+1", "*/01", "cpu/99999999999", &"x".repeat(300)]
        {
            assert!(Patterns::parse(&[bad]).is_err(), "{bad}");
        }
        assert!(Patterns::parse(&["cpu"; 65]).is_err());
    }
}
