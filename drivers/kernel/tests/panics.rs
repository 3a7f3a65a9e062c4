//! A compiler's panic is an answer to its tenant, and nothing that the process's own panic hook hears of. Alone in its process, whose hook it sets.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking, and this one is about it")]

use hal_kernel::{ErrorCode, on_compile_thread};
use std::{
    panic,
    sync::{Arc, Mutex},
    thread,
};

#[test]
fn panics_of_compilers_are_not_heard_and_all_others_are() {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let log = heard.clone();
    panic::set_hook(Box::new(move |info| {
        log.lock().unwrap().push(info.payload_as_str().unwrap_or_default().to_owned());
    }));
    for _ in 0..2 {
        let error = on_compile_thread(|| panic!("of a compiler")).unwrap_err();
        assert_eq!(error.code, ErrorCode::Internal);
        // The place is for the report, what was said is not: it may be the tenant's own text.
        assert!(error.message.contains("at panics.rs:") && !error.message.contains("of a compiler"), "{error}");
    }
    thread::spawn(|| panic!("of another thread")).join().unwrap_err();
    // One that a compiler starts is not its own.
    on_compile_thread(|| thread::spawn(|| panic!("of a helper")).join().unwrap_err()).unwrap();
    assert_eq!(*heard.lock().unwrap(), ["of another thread", "of a helper"]);
    drop(panic::take_hook());
}
