//! Kernels that need more than plain WGSL, and how products are added.

use crate::support::*;
use hal_driver::{Command, Device, Dispatch, DispatchBinding, Workgroups};
use std::sync::Arc;

/// What a kernel's only function leaves in its only binding, run as one workgroup.
fn left(device: &Arc<dyn Device>, source: &str, before: &[u32]) -> Vec<u32> {
    let executable = load(&**device, source).unwrap();
    let data = allocate(&**device, before.len() as u64 * 4);
    write_words(&*data, 0, before);
    let command = Command::Dispatch(Dispatch {
        executable: 0,
        function: 0,
        workgroups: Workgroups::Direct([1, 1, 1]),
        constants: Box::new([]),
        bindings: Box::new([DispatchBinding { binding: 0, buffer: whole(0) }]),
    });
    Job::new(&[&data]).with(&executable).run(&**device, vec![command]).unwrap();
    words(&*data)
}

/// Runs a kernel that needs one feature on every driver.
fn runs(feature: &str, source: &str, before: &[u32], after: &[u32]) {
    for name in DRIVERS {
        let device = device(name);
        assert!(device.info().features.iter().any(|listed| listed == feature), "{name} lists {feature}");
        assert_eq!(load(&*device, source).unwrap().functions()[0].features, [feature]);
        assert_eq!(left(&device, source, before), after, "{feature} on {name}");
    }
}

#[test]
fn halves() {
    let source = "
        enable f16;
        @group(0) @binding(0) var<storage, read_write> d: array<f16>;
        @compute @workgroup_size(4) fn f(@builtin(local_invocation_index) l: u32) { d[l] = d[l] * 3h + 0.25h; }";
    // 1, 2, 0.1 and the largest, which becomes infinite.
    runs("shader-f16", source, &[0x4000_3c00, 0x7bff_2e66], &[0x4640_4280, 0x7c00_3866]);
}

#[test]
fn wide_integers() {
    let source = "
        @group(0) @binding(0) var<storage, read_write> d: array<u64>;
        @compute @workgroup_size(2) fn f(@builtin(local_invocation_index) l: u32) { d[l] = d[l] * 10lu + 7lu; }";
    runs("shader-int64", source, &[u32::MAX, 0, 0, 1 << 31], &[0xffff_fffd, 9, 7, 0]);
}

#[test]
fn subgroups_of_four() {
    let source = "
        @group(0) @binding(0) var<storage, read_write> d: array<u32>;
        @compute @workgroup_size(6)
        fn f(@builtin(local_invocation_index) l: u32, @builtin(subgroup_size) size: u32) {
            d[l] = subgroupAdd(d[l]) * 10u + size;
        }";
    runs("subgroup", source, &[1, 2, 3, 4, 5, 6], &[104, 104, 104, 104, 114, 114]);
    for name in DRIVERS {
        assert!(driver(name).details("0").unwrap().contains("\nsubgroups: 4 to 4 invocations\n"));
    }
}

#[test]
fn atomic_floats() {
    let source = "
        @group(0) @binding(0) var<storage, read_write> d: array<atomic<f32>, 2>;
        @compute @workgroup_size(64) fn f(@builtin(local_invocation_index) l: u32) {
            atomicAdd(&d[0], f32(l));
            if l == 9u { atomicExchange(&d[1], 2.5); }
        }";
    let bits = |floats: [f32; 2]| floats.map(f32::to_bits);
    runs("float32-atomic", source, &bits([0.5, 7.0]), &bits([2016.5, 2.5]));
}

/// A product that rounding changes, less what it is rounded to.
const PRODUCT: &str = "
    @group(0) @binding(0) var<storage, read_write> d: array<f32>;
    @compute @workgroup_size(4) fn f(@builtin(local_invocation_index) l: u32) {
        d[l] = d[l] * d[4u + l] + d[8u + l];
    }";

/// Whether the processor adds products without rounding them; `contraction=on` allows that and cannot make it so.
fn fuses() -> bool {
    #[cfg(target_arch = "x86_64")]
    return std::arch::is_x86_feature_detected!("fma");
    #[cfg(not(target_arch = "x86_64"))]
    return true;
}

#[test]
fn a_product_is_rounded_before_it_is_added_unless_contraction_is_on() {
    let (a, c) = (1.0 + 2f32.powi(-12), -1.0 - 2f32.powi(-11));
    let before: Vec<u32> = [[a; 4], [a; 4], [c; 4]].concat().into_iter().map(f32::to_bits).collect();
    for name in DRIVERS {
        let open = |parameters: &[(&str, &str)]| {
            let pairs: Vec<_> = parameters.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect();
            driver(name).open("0", &pairs).unwrap()
        };
        let sums = |device: &Arc<dyn Device>| left(device, PRODUCT, &before)[..4].to_vec();
        let (plain, off, on) = (open(&[]), open(&[("contraction", "off")]), open(&[("contraction", "on")]));
        let (twice, once) = ([0; 4], [2f32.powi(-24).to_bits(); 4]);
        assert_eq!((sums(&plain), sums(&off)), (twice.to_vec(), twice.to_vec()), "{name}");
        if fuses() {
            assert_eq!(sums(&on), once, "{name}");
        } else {
            println!("not tried: contraction on {name}, as this processor has no fused multiplication and addition");
        }
        // Each device has what it compiled itself, also where it did so before.
        assert_eq!(sums(&off), twice, "{name}");
    }
}
