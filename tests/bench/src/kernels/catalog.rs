//! The kernels that are measured, with their sizes and bars.

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
    /// Whether contestants are also checked against themselves with it.
    pub is_control: bool,
    /// How many times as fast as on lavapipe it has to be, with two threads each.
    pub at_least: Option<f64>,
}

macro_rules! source {
    ($name:literal) => {
        include_str!(concat!("../../kernels/", $name, ".wgsl"))
    };
}

const fn kernel(name: &'static str, source: &'static str, groups: [u32; 3], at_least: Option<f64>) -> Kernel {
    Kernel { name, source, groups, repeats: 1, is_control: false, at_least }
}

/// The ways to multiply square matrices.
const fn products(n: u32) -> [Kernel; 5] {
    let (of_16, of_64) = ([n / 16, n / 16, 1], [n / 64, n / 64, 1]);
    [
        kernel("naive", source!("matmul_naive"), of_16, Some(5.0)),
        kernel("tile of 16", source!("matmul_tile16"), of_16, Some(9.0)),
        kernel(STRIDED, source!("matmul_strided"), of_64, Some(11.0)),
        kernel("tile of 64, blocked", source!("matmul_blocked"), of_64, Some(7.0)),
        kernel("tile of 64, vec4", source!("matmul_vec4"), of_64, Some(5.0)),
    ]
}

/// The kernel that is also measured against native code.
pub const STRIDED: &str = "tile of 64, strided";

/// What the drivers are compared by.
pub static FAMILIES: [Family; 9] = [
    Family { name: "matmul 512", workload: || workload::matmul(512), kernels: &products(512) },
    Family { name: "matmul 1024", workload: || workload::matmul(1024), kernels: &products(1024) },
    Family {
        name: "softmax 1024x1024",
        workload: || workload::softmax(1024),
        kernels: &[kernel("", source!("softmax"), [1024, 1, 1], Some(5.0))],
    },
    Family {
        name: "layernorm 1024x1024",
        workload: || workload::layernorm(1024),
        kernels: &[kernel("", source!("layernorm"), [1024, 1, 1], Some(8.0))],
    },
    Family {
        name: "matvec 1024x1024",
        workload: || workload::matvec(1024),
        kernels: &[Kernel { repeats: 8, ..kernel("", source!("matvec"), [1024, 1, 1], Some(5.5)) }],
    },
    Family {
        name: "attention 512x64",
        workload: || workload::attention(512, 64),
        kernels: &[kernel("", source!("attention"), [512, 1, 1], Some(6.5))],
    },
    Family {
        name: "gelu 4Mi",
        workload: || workload::gelu(4 << 20),
        kernels: &[kernel("", source!("gelu"), [1024, 16, 1], Some(3.5))],
    },
    Family {
        name: "matvec q4 4096x4096",
        workload: || workload::q4(4096),
        kernels: &[kernel("", source!("matvec_q4"), [4096, 1, 1], Some(4.0))],
    },
    Family {
        name: "matvec int8 4096x4096",
        workload: || workload::int8(4096),
        kernels: &[kernel("", source!("matvec_int8"), [4096, 1, 1], Some(4.0))],
    },
];

/// What the processor's memory bounds, and native code is the measure of.
pub static STREAMS: [Family; 2] = [
    Family {
        name: "add 16Mi",
        workload: || workload::add(16 << 20),
        kernels: &[kernel("", source!("add"), [1024, 64, 1], None)],
    },
    Family {
        name: "copy 16Mi",
        workload: || workload::copy(16 << 20),
        kernels: &[kernel("", source!("copy"), [1024, 64, 1], None)],
    },
];

/// A thousand sums.
pub const ADD: &str = source!("add");

/// A kernel that no driver takes for a small one.
pub const COUNT: &str = source!("count");

impl Family {
    /// The name of one of its kernels in tables.
    pub fn title(&self, kernel: &Kernel) -> String {
        format!("{} {}", self.name, kernel.name).trim_end().to_owned()
    }
}
