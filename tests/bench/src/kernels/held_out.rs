//! Kernels that nothing was tuned for: see `kernels/held_out/README.md`.

mod workload;

use super::catalog::{Baseline, Baseline::Lavapipe, Family, kernel, source};

/// None has a bar of its own.
const BESIDE: &[(Baseline, Option<f64>)] = &[(Lavapipe, None)];

/// They are added after the kernel compiler is frozen.
pub static FAMILIES: [Family; 5] = [
    Family {
        name: "rmsnorm 512x4096",
        workload: || workload::rmsnorm(512, 4096),
        kernels: &[kernel("", source!("held_out/rmsnorm"), [512, 1, 1], BESIDE)],
    },
    Family {
        name: "rope 512x32x128",
        workload: || workload::rope(512, 32, 128),
        kernels: &[kernel("", source!("held_out/rope"), [32, 512, 1], BESIDE)],
    },
    Family {
        name: "conv3x3 32x56x56",
        workload: || workload::conv3x3(32, 56),
        kernels: &[kernel("", source!("held_out/conv3x3"), [7, 7, 32], BESIDE)],
    },
    Family {
        name: "scan 1Mi",
        workload: || workload::scan(1 << 20),
        kernels: &[kernel("", source!("held_out/scan"), [4096, 1, 1], BESIDE)],
    },
    // The last tiles of a row and of a column are partly empty.
    Family {
        name: "causal scores 4x250x64",
        workload: || workload::causal_scores(4, 250, 64),
        kernels: &[kernel("", source!("held_out/causal_scores"), [16, 16, 4], BESIDE)],
    },
];

/// How many times as fast as on lavapipe they have to be, as the geometric mean.
pub const AT_LEAST: f64 = 6.0;

#[cfg(test)]
mod tests {
    use super::*;
    use std::{fs, path::Path};

    #[test]
    fn all_that_is_held_out_is_measured() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels/held_out");
        let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let mut files: Vec<String> = files
            .filter(|path| path.extension().is_some_and(|extension| extension == "wgsl"))
            .map(|path| fs::read_to_string(path).unwrap())
            .collect();
        let mut measured: Vec<&str> =
            FAMILIES.iter().flat_map(|family| family.kernels.iter().map(|kernel| kernel.source)).collect();
        files.sort();
        measured.sort_unstable();
        assert!(files == measured, "{} files, {} kernels", files.len(), measured.len());
    }

    #[test]
    fn each_counts_for_the_mean_alone() {
        for kernel in FAMILIES.iter().flat_map(|family| family.kernels) {
            assert_eq!(kernel.beside, [(Lavapipe, None)]);
        }
    }
}
