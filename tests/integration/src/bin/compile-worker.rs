//! The process that compiles for the tests: a test binary's `main` is not its own, so it cannot be one.

fn main() {
    hal_host::worker::init();
    eprintln!("this program compiles for a host and is started by one");
    std::process::exit(2);
}
