//! WASI 0.2 for a tenant: every interface of `wasi:cli/command`, so that programs of any toolchain link, and nothing behind
//! them but clocks, random numbers, its arguments and two output streams.

use crate::terminal::{Channel, Terminal};
use hal_host::State;
use std::path::Path;
use wasmtime::component::{Linker, ResourceTable};
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};

/// Random bytes of one call: the host makes them all before it hands them over.
const MAX_RANDOM_BYTES: u64 = 1 << 20;
/// Handles to WASI's own resources: streams, pollables, clocks' subscriptions. More is an error that traps.
const MAX_WASI_HANDLES: usize = 16_384;

/// What the tenant's store holds.
pub struct Data {
    hal: State,
    wasi: WasiCtx,
    table: ResourceTable,
}

impl Data {
    /// Around the host's own part.
    pub fn new(hal: State, wasi: WasiCtx) -> Self {
        let mut table = ResourceTable::new();
        table.set_max_capacity(MAX_WASI_HANDLES);
        Self { hal, wasi, table }
    }
}

impl AsMut<State> for Data {
    fn as_mut(&mut self) -> &mut State {
        &mut self.hal
    }
}

impl WasiView for Data {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView { ctx: &mut self.wasi, table: &mut self.table }
    }
}

/// Defines all of `wasi:cli/command`'s imports.
///
/// # Errors
/// Only if one of them is defined already.
pub fn add_to_linker(linker: &mut Linker<Data>) -> wasmtime::Result<()> {
    wasmtime_wasi::p2::add_to_linker_async(linker)
}

/// Its arguments and its output. Directories, environment, input and network stay empty or closed, which are the
/// defaults; sockets are refused when they are made rather than when they connect.
pub fn context(name: &str, arguments: &[String], terminal: &Terminal) -> WasiCtx {
    WasiCtx::builder()
        .arg(name)
        .args(arguments)
        .stdout(terminal.stream(Channel::Stdout))
        .stderr(terminal.stream(Channel::Stderr))
        .allow_tcp(false)
        .allow_udp(false)
        .allow_ip_name_lookup(false)
        .max_random_size(MAX_RANDOM_BYTES)
        .build()
}

/// What a tenant is called, in its own arguments and in logs: the file's name without folders and ending.
pub fn program_name(file: &Path) -> String {
    file.file_stem().map_or_else(|| "tenant".to_owned(), |stem| stem.to_string_lossy().into_owned())
}
