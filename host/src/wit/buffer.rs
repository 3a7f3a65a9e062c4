//! `hal:device/buffer`, linked by hand: `write` borrows the guest's bytes where they lie, which generated bindings, with their
//! owned lists, cannot. One copy instead of two, and no allocation on the host.

use super::{Refusal, View};
use crate::bindings::hal::device::{buffer::BufferInfo, types};
use hal_core::Buffer;
use wasmtime::{
    StoreContextMut,
    component::{Linker, Resource, ResourceType, WasmList},
};

/// A WIT `result`, as a host function returns it.
type Answer<T> = wasmtime::Result<(Result<T, types::Error>,)>;

/// Values go to the guest, traps end its session.
fn answer<T>(result: Result<T, Refusal>) -> Answer<T> {
    match result {
        Ok(value) => Ok((Ok(value),)),
        Err(Refusal::Value(error)) => Ok((Err(error.into()),)),
        Err(Refusal::Trap(trap)) => Err(trap),
    }
}

/// Defines the interface over a view of the embedder's store data.
pub(super) fn add_to_linker<T: Send + 'static>(
    linker: &mut Linker<T>,
    get: fn(&mut T) -> View<'_>,
) -> wasmtime::Result<()> {
    let mut buffer = linker.instance("hal:device/buffer@0.1.0")?;
    buffer.resource("buffer", ResourceType::host::<Buffer>(), move |mut store, rep| {
        get(store.data_mut()).table.delete(Resource::<Buffer>::new_own(rep))?.close();
        Ok(())
    })?;
    buffer.func_wrap(
        "[method]buffer.info",
        move |mut store: StoreContextMut<'_, T>, (handle,): (Resource<Buffer>,)| {
            let buffer = get(store.data_mut()).get(&handle)?;
            Ok((BufferInfo::from(buffer.info()),))
        },
    )?;
    buffer.func_wrap(
        "[method]buffer.subspan",
        move |mut store: StoreContextMut<'_, T>, (handle, offset, length): (Resource<Buffer>, u64, u64)| {
            answer(subspan(get(store.data_mut()), &handle, offset, length))
        },
    )?;
    buffer.func_wrap_async(
        "[method]buffer.read",
        move |mut store: StoreContextMut<'_, T>, (handle, offset, length): (Resource<Buffer>, u64, u64)| {
            Box::new(async move {
                let buffer = get(store.data_mut()).get(&handle)?;
                answer(buffer.read(offset, length, Vec::new()).await.map_err(Refusal::from))
            })
        },
    )?;
    buffer.func_wrap_async(
        "[method]buffer.write",
        move |mut store: StoreContextMut<'_, T>, (handle, offset, bytes): (Resource<Buffer>, u64, WasmList<u8>)| {
            Box::new(async move {
                let buffer = get(store.data_mut()).get(&handle)?;
                answer(buffer.write(offset, bytes.as_le_slice(&store)).await.map_err(Refusal::from))
            })
        },
    )?;
    buffer.func_wrap(
        "[method]buffer.close",
        move |mut store: StoreContextMut<'_, T>, (handle,): (Resource<Buffer>,)| {
            get(store.data_mut()).get(&handle)?.close();
            Ok(())
        },
    )
}

fn subspan(
    mut view: View<'_>,
    handle: &Resource<Buffer>,
    offset: u64,
    length: u64,
) -> Result<Resource<Buffer>, Refusal> {
    let subspan = view.get(handle)?.subspan(offset, length)?;
    view.push(subspan)
}
