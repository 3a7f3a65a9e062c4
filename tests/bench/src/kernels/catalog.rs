//! The kernels that are measured: their sizes, what they are measured beside, and bars.

use super::workload::{self, Workload};

/// Kernels that compute the same from the same.
pub struct Family {
    /// The problem and its size.
    pub name: &'static str,
    /// Makes it up.
    pub workload: fn() -> Workload,
    /// The ways to solve it.
    pub kernels: &'static [Kernel],
}

/// A kernel and how it is dispatched.
pub struct Kernel {
    /// What is special about it; may be empty.
    pub name: &'static str,
    /// WGSL with the function `main`: the same bytes for every contestant.
    pub source: &'static str,
    /// Workgroups.
    pub groups: [u32; 3],
    /// Dispatches in one submission: enough that the submission itself does not count.
    pub repeats: u32,
    /// What is measured in the same rounds, and how many times as fast ours has to be.
    pub beside: &'static [(Baseline, Option<f64>)],
}

/// What something of ours is measured beside. That is the cpu driver, if nothing else is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Baseline {
    /// Mesa's lavapipe through our vulkan driver.
    Lavapipe,
    /// The `gemm` crate.
    Gemm,
    /// A native loop, which for a copy is the system's own.
    Loop,
    /// The cpu driver once more: what differs is noise.
    Itself,
    /// A plain program over wgpu, beside which our vulkan driver is measured.
    PlainWgpu,
}

use Baseline::{Gemm, Itself, Lavapipe, Loop, PlainWgpu};

impl Baseline {
    /// The name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Lavapipe => "lavapipe",
            Gemm => "gemm",
            Loop => "native loop",
            Itself => "itself",
            PlainWgpu => "plain wgpu",
        }
    }
}

impl Kernel {
    /// Whether it is measured beside `baseline`.
    pub fn is_beside(&self, baseline: Baseline) -> bool {
        self.beside.iter().any(|(other, _)| *other == baseline)
    }
}

impl Family {
    /// The name of one of its kernels in tables.
    pub fn title(&self, kernel: &Kernel) -> String {
        format!("{} {}", self.name, kernel.name).trim_end().to_owned()
    }
}

macro_rules! source {
    ($name:literal) => {
        include_str!(concat!("../../kernels/", $name, ".wgsl"))
    };
}
pub(super) use source;

/// A kernel that is dispatched once a turn.
pub const fn kernel(
    name: &'static str,
    source: &'static str,
    groups: [u32; 3],
    beside: &'static [(Baseline, Option<f64>)],
) -> Kernel {
    Kernel { name, source, groups, repeats: 1, beside }
}

/// Our vulkan driver may take a tenth longer than a plain program: else its own slowness would flatter the cpu driver.
const PLAIN: (Baseline, Option<f64>) = (PlainWgpu, Some(0.9));

/// What the drivers are compared by. Those with [`Itself`] are the controls: one that computes, one that streams, one that is short.
pub static FAMILIES: [Family; 11] = [
    Family {
        name: "matmul 512",
        workload: || workload::matmul(512),
        kernels: &[
            kernel("naive", source!("matmul_naive"), [32, 32, 1], &[(Lavapipe, Some(5.0))]),
            kernel("tile of 16", source!("matmul_tile16"), [32, 32, 1], &[(Lavapipe, Some(9.0))]),
            kernel(
                "tile of 64, strided",
                source!("matmul_strided"),
                [8, 8, 1],
                &[(Lavapipe, Some(11.0)), (Gemm, Some(0.15)), (Itself, None), PLAIN],
            ),
            kernel("tile of 64, blocked", source!("matmul_blocked"), [8, 8, 1], &[(Lavapipe, Some(7.0))]),
            kernel("tile of 64, vec4", source!("matmul_vec4"), [8, 8, 1], &[(Lavapipe, Some(5.0))]),
        ],
    },
    // The others are as fast here as there, and lavapipe takes seconds for each.
    Family {
        name: "matmul 1024",
        workload: || workload::matmul(1024),
        kernels: &[
            kernel("naive", source!("matmul_naive"), [64, 64, 1], &[(Lavapipe, Some(5.0))]),
            kernel("tile of 64, strided", source!("matmul_strided"), [16, 16, 1], &[(Gemm, Some(0.15))]),
        ],
    },
    Family {
        name: "softmax 1024x1024",
        workload: || workload::softmax(1024),
        kernels: &[kernel("", source!("softmax"), [1024, 1, 1], &[(Lavapipe, Some(5.0))])],
    },
    Family {
        name: "layernorm 1024x1024",
        workload: || workload::layernorm(1024),
        kernels: &[kernel("", source!("layernorm"), [1024, 1, 1], &[(Lavapipe, Some(8.0))])],
    },
    Family {
        name: "matvec 1024x1024",
        workload: || workload::matvec(1024),
        kernels: &[Kernel {
            repeats: 8,
            ..kernel("", source!("matvec"), [1024, 1, 1], &[(Lavapipe, Some(5.5)), (Itself, None), PLAIN])
        }],
    },
    Family {
        name: "attention 512x64",
        workload: || workload::attention(512, 64),
        kernels: &[kernel("", source!("attention"), [512, 1, 1], &[(Lavapipe, Some(6.5))])],
    },
    Family {
        name: "gelu 4Mi",
        workload: || workload::gelu(4 << 20),
        kernels: &[kernel("", source!("gelu"), [1024, 16, 1], &[(Lavapipe, Some(3.5)), (Itself, None), PLAIN])],
    },
    Family {
        name: "matvec q4 4096x4096",
        workload: || workload::q4(4096),
        kernels: &[kernel("", source!("matvec_q4"), [4096, 1, 1], &[(Lavapipe, Some(4.0))])],
    },
    Family {
        name: "matvec int8 4096x4096",
        workload: || workload::int8(4096),
        kernels: &[kernel("", source!("matvec_int8"), [4096, 1, 1], &[(Lavapipe, Some(4.0))])],
    },
    // Memory bounds these, so a ratio to lavapipe would say nothing.
    Family {
        name: "add 16Mi",
        workload: || workload::add(16 << 20),
        kernels: &[kernel("", source!("add"), [1024, 64, 1], &[(Loop, Some(0.8))])],
    },
    Family {
        name: "copy 16Mi",
        workload: || workload::copy(16 << 20),
        kernels: &[kernel("", source!("copy"), [1024, 64, 1], &[(Loop, Some(0.8))])],
    },
];

/// What only a stop ends, each built to keep the counter in the emitted code from noticing that.
pub static ENDLESS: [Family; 1] = [Family {
    name: "built to last:",
    workload: workload::zeros,
    kernels: &[
        kernel("a loop", source!("stops/endless"), [64, 64, 1], &[]),
        kernel("a nest", source!("stops/nest"), [64, 64, 1], &[]),
        kernel("dear operations", source!("stops/dear"), [64, 64, 1], &[]),
        kernel("a grid", source!("stops/grid"), [65_535, 65_535, 1], &[]),
        kernel("workgroup memory", source!("stops/clear"), [65_535, 65_535, 1], &[]),
        kernel("copies", source!("stops/copies"), [64, 64, 1], &[]),
        kernel("calls", source!("stops/calls"), [64, 64, 1], &[]),
        kernel("gathers", source!("stops/gathers"), [64, 64, 1], &[]),
        kernel("atomics", source!("stops/atomics"), [64, 64, 1], &[]),
        kernel("subnormal numbers", source!("stops/subnormal"), [64, 64, 1], &[]),
    ],
}];

/// As them, of one buffer that nobody has touched.
pub const FRESH: &str = source!("stops/pages");

/// A sum of two vectors.
pub const ADD: &str = source!("add");

/// A kernel that no driver takes for a small one.
pub const COUNT: &str = source!("count");

#[cfg(test)]
mod tests {
    use super::super::held_out;
    use super::*;

    #[test]
    fn what_controls_need_is_there() {
        let kernels = || FAMILIES.iter().flat_map(|family| family.kernels);
        assert!(kernels().any(|kernel| kernel.is_beside(Itself)));
        for kernel in kernels().filter(|kernel| kernel.is_beside(PlainWgpu)) {
            assert!(kernel.is_beside(Lavapipe), "our vulkan driver is not measured");
        }
    }

    #[test]
    fn titles_tell_kernels_apart() {
        let families = FAMILIES.iter().chain(&held_out::FAMILIES);
        let titles = families.flat_map(|family| family.kernels.iter().map(|kernel| family.title(kernel)));
        let mut titles: Vec<String> = titles.collect();
        titles.sort();
        assert!(titles.windows(2).all(|two| two[0] != two[1]), "{titles:?}");
    }
}
