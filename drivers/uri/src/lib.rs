//! Device URIs: `scheme [":" ["//" | "/"] path ["?" key["=" value] *("&" key["=" value])]]`.
//!
//! The scheme names a driver, the path one of its devices (empty: the default device), the parameters how to open it. Nothing is
//! normalised: no percent-decoding, no case folding, no trimming of scheme or path, no fragment. What a path or a
//! parameter means is the driver's business; this crate only takes the text apart.
//!
//! ```
//! let uri = hal_uri::Uri::parse("vulkan://0?features=f16&trace")?;
//! assert_eq!(uri.scheme(), "vulkan");
//! assert_eq!(uri.path(), "0");
//! assert_eq!(uri.params(), [("features", "f16"), ("trace", "")]);
//! # Ok::<(), hal_uri::Error>(())
//! ```
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

use alloc::vec::Vec;
use core::fmt;

/// Longest URI that is taken, in bytes. A guest's URI is copied once per component it passes and quoted in logs.
pub const MAX_URI_BYTES: usize = 4096;

/// Most parameters in one URI. Far more than a driver has, few enough to look through one by one.
pub const MAX_PARAMS: usize = 128;

/// Why a text is no device URI. Neither reason depends on the driver.
///
/// The text itself is not repeated: it came from a guest, and may be long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// Over [`MAX_URI_BYTES`].
    TooLong {
        /// Length of the refused text.
        bytes: usize,
    },
    /// Over [`MAX_PARAMS`].
    TooManyParams,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::TooLong { bytes } => {
                write!(f, "the URI has {bytes} bytes; at most {MAX_URI_BYTES} are taken")
            }
            Error::TooManyParams => write!(f, "the URI has more than {MAX_PARAMS} parameters"),
        }
    }
}

impl core::error::Error for Error {}

/// A device URI in its parts, all of them slices of the text that was parsed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Uri<'a> {
    scheme: &'a str,
    path: &'a str,
    params: Vec<(&'a str, &'a str)>,
}

impl<'a> Uri<'a> {
    /// Takes a URI apart.
    ///
    /// # Errors
    /// [`Error::TooLong`] and [`Error::TooManyParams`]; every other text is a URI, if perhaps not one that a driver knows.
    pub fn parse(text: &'a str) -> Result<Self, Error> {
        check_length(text)?;
        let Some((scheme, rest)) = text.split_once(':') else {
            return Ok(Self { scheme: text, path: "", params: Vec::new() });
        };
        let rest = rest.strip_prefix("//").or_else(|| rest.strip_prefix('/')).unwrap_or(rest);
        let (path, params) = rest.split_once('?').unwrap_or((rest, ""));
        Ok(Self { scheme, path, params: parse_params(params)? })
    }

    /// The driver's name: all before the first `:`, or the whole text without one. May be empty, which no driver's name is.
    pub fn scheme(&self) -> &'a str {
        self.scheme
    }

    /// The device's path as the driver lists it; empty for the driver's default device.
    pub fn path(&self) -> &'a str {
        self.path
    }

    /// The parameters in the order of the text, repeated keys included. Keys and values may be empty.
    pub fn params(&self) -> &[(&'a str, &'a str)] {
        &self.params
    }
}

/// The scheme alone, for whoever only has to find the driver and hands the URI on to it.
///
/// # Errors
/// [`Error::TooLong`].
pub fn scheme(text: &str) -> Result<&str, Error> {
    check_length(text)?;
    Ok(text.split_once(':').map_or(text, |(scheme, _)| scheme))
}

/// Splits the part behind the `?`: pairs apart at `&`, key and value at the first `=`.
///
/// ASCII white space around the whole is dropped, then one leading and one trailing `&`; if nothing is left there are no
/// pairs, otherwise every `&` that is left divides two of them.
///
/// # Errors
/// [`Error::TooManyParams`].
pub fn parse_params(text: &str) -> Result<Vec<(&str, &str)>, Error> {
    let text = text.trim_ascii();
    let text = text.strip_prefix('&').unwrap_or(text);
    let text = text.strip_suffix('&').unwrap_or(text);
    let mut pairs = Vec::new();
    if text.is_empty() {
        return Ok(pairs);
    }
    for pair in text.split('&') {
        if pairs.len() == MAX_PARAMS {
            return Err(Error::TooManyParams);
        }
        pairs.push(pair.split_once('=').unwrap_or((pair, "")));
    }
    Ok(pairs)
}

fn check_length(text: &str) -> Result<(), Error> {
    if text.len() > MAX_URI_BYTES { Err(Error::TooLong { bytes: text.len() }) } else { Ok(()) }
}

#[cfg(test)]
mod tests;
