//! A compile worker of its own, for embedders that cannot call `hal_host::worker::init` first thing in their `main`
//! (a library, a test): name it with `Builder::compile_worker`.

fn main() {
    hal_host::worker::init();
    eprintln!("hal-compile-worker compiles for a host, which starts it by itself; it is no use by hand");
    std::process::exit(2);
}
