//! Nothing but a feature set: see `Cargo.toml`.
