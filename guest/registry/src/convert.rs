//! The WIT's types to ours and back. Strings are moved, never copied.

use crate::bindings::exports::hal::registry::registry as wit_registry;
use crate::bindings::hal::device::types as wit;
use crate::bindings::hal::registry::drivers as wit_drivers;
use crate::{Code, DriverInfo, Error, Failure, LimitHit, Listing};

macro_rules! same_cases {
    ($($case:ident)*) => {
        impl From<wit::StatusCode> for Code {
            fn from(code: wit::StatusCode) -> Self {
                match code { $(wit::StatusCode::$case => Code::$case,)* }
            }
        }

        impl From<Code> for wit::StatusCode {
            fn from(code: Code) -> Self {
                match code { $(Code::$case => wit::StatusCode::$case,)* }
            }
        }
    };
}

same_cases! {
    Cancelled Unknown InvalidArgument DeadlineExceeded NotFound AlreadyExists PermissionDenied ResourceExhausted
    FailedPrecondition Aborted OutOfRange Unimplemented Internal Unavailable DataLoss Unauthenticated Deferred Incompatible
}

impl From<wit::Error> for Error {
    fn from(error: wit::Error) -> Self {
        let wit::Error { code, message, limit } = error;
        let limit = limit.map(|hit| {
            let wit::LimitHit { limit, asked, available, allowed } = hit;
            LimitHit { limit, asked, available, allowed }
        });
        Self { code: code.into(), message, limit }
    }
}

impl From<Error> for wit::Error {
    fn from(error: Error) -> Self {
        let Error { code, message, limit } = error;
        let limit = limit.map(|hit| {
            let LimitHit { limit, asked, available, allowed } = hit;
            wit::LimitHit { limit, asked, available, allowed }
        });
        Self { code: code.into(), message, limit }
    }
}

impl From<wit_drivers::DriverInfo> for DriverInfo {
    fn from(info: wit_drivers::DriverInfo) -> Self {
        let wit_drivers::DriverInfo { name, full_name, version } = info;
        Self { name, full_name, version }
    }
}

impl From<DriverInfo> for wit_drivers::DriverInfo {
    fn from(info: DriverInfo) -> Self {
        let DriverInfo { name, full_name, version } = info;
        Self { name, full_name, version }
    }
}

impl From<Failure> for wit_registry::Failure {
    fn from(failure: Failure) -> Self {
        let Failure { factory, error } = failure;
        Self { factory, error: error.into() }
    }
}

impl From<Listing> for wit_registry::Listing {
    fn from(listing: Listing) -> Self {
        Self {
            drivers: listing.drivers.into_iter().map(Into::into).collect(),
            failures: listing.failures.into_iter().map(Into::into).collect(),
        }
    }
}
