//! Features that a device lists or does not.

use crate::{
    Context, Outcome,
    case::Suite,
    commands::{dispatch, whole},
    target::{Code, Target, Which},
};

/// Runs a kernel that needs a feature, in so many workgroups with one buffer, where the device lists it. Where not, and wherever the portable profile is asked
/// for, it is refused by the feature's name.
fn needs<T: Target>(
    cx: &Context<'_, T>,
    feature: &str,
    kernel: &str,
    groups: u32,
    before: &[u32],
    after: &[u32],
) -> Outcome {
    let source = cx.source(kernel)?;
    let load = |device: &T::Device| cx.target.load_executable(device, cx.format, &[], &source);
    let refused = |device: &T::Device, what: &str| {
        let error = cx.refused(load(device), Code::Incompatible, &format!("{feature} on {what}"))?;
        cx.ensure(error.message.contains(feature), || format!("expected a message with {feature}, got {error}"))
    };
    let portable = cx.target.create_device(Which::Default, &[("profile", "portable")]);
    refused(&cx.fine(portable, "opening a device with the portable profile")?, "a device with the portable profile")?;
    let listed = cx.target.device_info(&cx.device).features.iter().any(|name| name == feature);
    let known = cx.fine(cx.target.query(&cx.device, "hal.features", feature), "asking for the feature")?;
    cx.same(known, u64::from(listed), "the feature as a number")?;
    if !listed {
        return refused(&cx.device, "a device that does not list it");
    }
    let executable = cx.fine(load(&cx.device), &format!("loading the kernel {kernel} as {}", cx.format))?;
    let data = cx.buffer_of_numbers(before)?;
    cx.submit_and_wait(&[&data], &[&executable], vec![dispatch(0, groups, &[], &[whole(0)])])?;
    cx.holds_numbers(&data, after, feature)
}

pub(super) fn features<T: Target>(suite: &mut Suite<'_, T>) {
    suite.formats("Float16", |cx| {
        // 1 and 2, 0.5 and 100, -1.5 and 0, 8 and 0.25.
        let before = [0x4000_3c00, 0x5640_3800, 0x0000_be00, 0x3400_4800];
        let after = [0x4640_4280, 0x5cb1_3f00, 0x3400_c440, 0x3c00_4e10];
        needs(cx, "shader-f16", "half", 1, &before, &after)
    });
    suite.formats("Int64", |cx| {
        let before = [u32::MAX, 0, 0, 0, 1, 0x8000_0000, 0x8000_0000, 0x1999_9999];
        let product = |low: u32, high: u32| {
            let value = (i64::from(high) << 32 | i64::from(low)).wrapping_mul(10).wrapping_sub(7);
            [value as u32, (value >> 32) as u32]
        };
        let after: Vec<u32> = before.chunks(2).flat_map(|words| product(words[0], words[1])).collect();
        needs(cx, "shader-int64", "wide", 1, &before, &after)
    });
    suite.formats("Subgroup", |cx| needs(cx, "subgroup", "subgroup", 3, &[0, 0], &[3 * 2016, 3 * 64]));
    suite.formats("Float32Atomic", |cx| {
        let sum = (0..256u16).map(f32::from).sum::<f32>();
        needs(cx, "float32-atomic", "float_atomic", 4, &[0.5f32.to_bits()], &[(sum + 0.5).to_bits()])
    });
    suite.formats("Int64Atomic", |cx| {
        let sum = (0..256u64).sum::<u64>() * 0x1000_0001 + 5;
        needs(cx, "int64-atomic", "wide_atomic", 4, &[5, 0], &[sum as u32, (sum >> 32) as u32])
    });
}
