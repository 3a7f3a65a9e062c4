//! Tests of guests on a whole host. They are in `tests/guests`, one function for each guest program of the crate `test-guests`, of the same name.
