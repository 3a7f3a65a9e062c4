//! Empty: only its dependencies matter.
fn main() {}
