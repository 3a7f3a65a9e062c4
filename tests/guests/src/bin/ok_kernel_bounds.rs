//! A kernel that reads and writes far outside its bindings touches nothing but them: neighbours in the same memory stay as they were.
#![no_main]

use test_guests::kernels::load;
use test_guests::work::{batch, direct, dispatch, part, run as submit};
use test_guests::{Outcome, check::same, cpu, ensure, guest, memory};

guest!(run);

const WILD: &str = "
var<immediate> start: u32;
@group(0) @binding(0) var<storage, read_write> data: array<u32>;
@group(0) @binding(1) var<storage, read_write> found: array<u32>;

@compute @workgroup_size(64)
fn wild(@builtin(global_invocation_id) id: vec3<u32>) {
    found[0] = found[0] | data[start + id.x * 1048573u];
    data[start + id.x * 1048573u] = 0xdeadbeefu;
    data[id.x + 16u] = 0xdeadbeefu;
}
";

fn run() -> Outcome {
    let device = cpu()?;
    let executable = load(&device, WILD)?;
    // A secret on both sides of the binding, in the same allocation and in others.
    let before = memory::numbers(&device, &[0x5ec4e700u32; 64])?;
    let buffer = memory::numbers(&device, &[0x5ec4e700u32; 192])?;
    let after = memory::numbers(&device, &[0x5ec4e700u32; 64])?;
    let found = memory::buffer(&device, 4)?;
    for start in [16u32, 64, 1 << 20, u32::MAX, u32::MAX / 4 + 1, 1 << 31] {
        memory::write(&found, &[0; 4])?;
        let zeroes = vec![0; 256];
        test_guests::check::fine(buffer.write(256, &zeroes), "clearing the bound part")?;
        let bindings = [part(direct(0), 256, 64), direct(1)];
        let command = dispatch(0, 16, &start.to_le_bytes(), &bindings);
        submit(&device, batch(&[&buffer, &found], &[&executable], vec![command]))?;
        for (other, name) in [(&before, "before"), (&after, "after")] {
            same(
                memory::read_numbers::<u32>(other)?,
                vec![0x5ec4e700; 64],
                &format!("the buffer allocated {name}, start {start}"),
            )?;
        }
        let all = memory::read_numbers::<u32>(&buffer)?;
        same(all[..64].to_vec(), vec![0x5ec4e700; 64], "what lies before the binding")?;
        same(all[128..].to_vec(), vec![0x5ec4e700; 64], "what lies well behind the binding")?;
        same(all[80..128].to_vec(), vec![0; 48], "what lies directly behind the binding")?;
        let leaked = memory::read_numbers::<u32>(&found)?[0];
        ensure!(
            leaked & 0x5ec4e700 != 0x5ec4e700,
            "start {start}: a kernel read what lies outside its binding: {leaked:#x}"
        );
    }
    Ok(())
}
