//! Budgets: each hit exactly at its limit, refused, and usable again after release.

use crate::{
    Context, Outcome,
    case::Suite,
    commands::{fill, params, update, whole},
    target::{Batch, Code, Command, Result, Target, Which},
};

/// Makes objects until nothing is left, and looks at the exact edge.
fn edge<T: Target, V>(cx: &Context<'_, T>, name: &str, mut make: impl FnMut() -> Result<V>) -> Outcome {
    let before = cx.used(name)?;
    let room = before.allowed - before.used;
    let mut made = Vec::new();
    for n in 0..room {
        made.push(cx.fine(make(), &format!("number {} of {room} of {name}", n + 1))?);
    }
    for which in ["the first", "the second"] {
        let hit = cx.limited(make(), name, &format!("{which} too many of {name}"))?;
        let numbers = (hit.asked, hit.available, hit.allowed);
        cx.same(numbers, (1, 0, before.allowed), &format!("{name}: asked, available, allowed"))?;
    }
    cx.same(cx.used(name)?.used, before.allowed, &format!("{name}: used at the edge"))?;
    made.pop();
    made.push(cx.fine(make(), &format!("{name}: one after one was given back"))?);
    cx.limited(make(), name, &format!("{name}: one too many again"))?;
    drop(made);
    cx.settles(name, before.used)?;
    cx.succeeds(make(), &format!("{name}: one after all were given back")).map(|_| ())
}

pub(super) fn edges<T: Target>(suite: &mut Suite<'_, T>) {
    suite.case("Buffers", |cx| edge(cx, "buffers", || cx.target.allocate(&cx.device, &params(), 16)));
    suite.case("Subspans", |cx| {
        let buffer = cx.buffer_of(&[7; 16])?;
        edge(cx, "buffers", || cx.target.subspan(&buffer, 0, 16))?;
        cx.holds(&buffer, &[7; 16], "the buffer behind them")
    });
    suite.case("Semaphores", |cx| edge(cx, "semaphores", || cx.target.create_semaphore(&cx.device, 0)));
    suite.case("Recordings", |cx| {
        let batch = || Batch { buffers: Vec::new(), executables: Vec::new(), commands: vec![Command::Barrier] };
        edge(cx, "recordings", || cx.target.create_recording(&cx.device, &batch(), 0))
    });
    suite.case("Devices", |cx| edge(cx, "devices", || cx.target.create_device(Which::Default, &[])));
    suite.formats("Executables", |cx| {
        let source = cx.source("workgroup_ids")?;
        edge(cx, "executables", || cx.target.load_executable(&cx.device, cx.format, &[], &source))
    });
    suite.case("Memory", |cx| {
        let before = cx.used("memory-bytes")?;
        let room = before.allowed - before.used;
        let allocate = |size| cx.target.allocate(&cx.device, &params(), size);
        let hit = cx.limited(allocate(room + 1), "memory-bytes", "one byte more than is left")?;
        cx.same(
            (hit.asked, hit.available, hit.allowed),
            (room + 1, room, before.allowed),
            "asked, available, allowed",
        )?;
        // In pieces, so that a largest buffer below the budget does not matter.
        let piece = cx.limit("max-buffer-bytes")?.min(room / 4);
        let mut held = Vec::new();
        let mut left = room;
        while left > 0 {
            let size = piece.min(left);
            held.push(cx.fine(allocate(size), &format!("{size} of the last {left} bytes"))?);
            left -= size;
        }
        cx.same(cx.used("memory-bytes")?.used, before.allowed, "used at the edge")?;
        let hit = cx.limited(allocate(1), "memory-bytes", "one byte at the edge")?;
        cx.same((hit.asked, hit.available), (1, 0), "asked and available")?;
        let (gate, none) = (cx.semaphore(0)?, cx.semaphore(0)?);
        let alloca = cx.target.alloca(&cx.device, &[(&gate, 1)], &params(), 1, &[(&none, 1)]);
        cx.limited(alloca, "memory-bytes", "an alloca at the edge, which is charged at once")?;
        drop(held);
        cx.settles("memory-bytes", before.used)?;
        let buffer = cx.buffer_of(&[7; 64])?;
        cx.holds(&buffer, &[7; 64], "memory after all was given back")
    });
    // What is closed behind work that waits is still there, and still paid for.
    suite.case("CloseBehindAWait", |cx| {
        let before = cx.used("memory-bytes")?.used;
        let (gate, done) = (cx.semaphore(0)?, cx.semaphore(0)?);
        let buffer = cx.buffer(4096)?;
        cx.submit(&[(&gate, 1)], &[&buffer], &[], vec![fill(whole(0), &[1])], &[(&done, 1)])?;
        cx.target.close_buffer(&buffer);
        drop(buffer);
        cx.same(cx.used("memory-bytes")?.used, before + 4096, "what work in flight still pays for")?;
        cx.signal(&gate, 1)?;
        cx.wait(&done, 1)?;
        cx.settles("memory-bytes", before)
    });
    suite.case("SubspanKeepsTheCharge", |cx| {
        let before = cx.used("memory-bytes")?.used;
        let buffer = cx.buffer_of(&[7; 4096])?;
        let view = cx.subspan(&buffer, 0, 1)?;
        drop(buffer);
        cx.same(cx.used("memory-bytes")?.used, before + 4096, "what a subspan of one byte holds")?;
        cx.holds(&view, &[7], "the byte")?;
        drop(view);
        cx.settles("memory-bytes", before)
    });
    suite.case("SubmissionsInFlight", |cx| {
        let (gate, before) = (cx.semaphore(0)?, cx.used("submissions")?);
        let submit = |signal: &[_]| cx.try_submit(&[(&gate, 1)], &[], &[], Vec::new(), signal);
        for n in before.used..before.allowed {
            cx.fine(submit(&[]), &format!("submission {n}"))?;
        }
        let hit = cx.limited(submit(&[]), "submissions", "one submission too many")?;
        cx.same((hit.asked, hit.available, hit.allowed), (1, 0, before.allowed), "asked, available, allowed")?;
        cx.signal(&gate, 1)?;
        cx.settles("submissions", before.used)?;
        let done = cx.semaphore(0)?;
        cx.fine(submit(&[(&done, 1)]), "a submission after they have ended")?;
        cx.wait(&done, 1)
    });
    suite.case("HostBytes", |cx| {
        let (before, gate) = (cx.used("host-bytes")?, cx.semaphore(0)?);
        let buffer = cx.buffer(1 << 20)?;
        let bytes = vec![3; 1 << 20];
        let submit = || cx.try_submit(&[(&gate, 1)], &[&buffer], &[], vec![update(whole(0), &bytes)], &[]);
        let mut queued = 0u64;
        let error = loop {
            match submit() {
                Ok(()) => queued += 1,
                Err(error) => break error,
            }
            cx.ensure(queued <= before.allowed >> 20, || format!("{queued} MiB were kept of {}", before.allowed))?;
        };
        cx.limited::<()>(Err(error), "host-bytes", "payloads beyond what the host keeps")?;
        cx.ensure(queued > 0, || "not one payload was kept".into())?;
        cx.target.fail(&gate, Code::Cancelled, "enough");
        cx.settles("host-bytes", before.used)?;
        cx.submit_and_wait(&[&buffer], &[], vec![update(whole(0), &bytes)])?;
        cx.same(cx.read(&buffer, 0, 4)?, vec![3; 4], "an update after that")
    });
}
