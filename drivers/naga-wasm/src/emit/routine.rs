//! Functions of the runtime, emitted when something calls them.

use wasm_encoder::{BlockType, Function, MemArg, MemArgTarget, ValType};

use super::body::{Body, Target};
use super::module::{Emitter, val};
use crate::ir::{Helper, Ty};

/// A function of the runtime.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(crate) enum Routine {
    Helper(Helper),
    /// `2^x` and `log2(x)` of `f64`, to about 1e-13.
    Exp2Wide,
    Log2Wide,
    /// Sine and cosine of `f64`.
    SinWide,
    CosWide,
    /// Arc tangent of `f64`.
    AtanWide,
    /// `(address, value) -> old`
    AtomicMinS,
    AtomicMinU,
    AtomicMaxS,
    AtomicMaxU,
}

impl Helper {
    /// The type of its result.
    pub(crate) fn result(self) -> Ty {
        match self {
            Self::FrexpExponent | Self::ToHalf | Self::ReverseBits | Self::ConstantWord => Ty::I32,
            _ => Ty::F32,
        }
    }

    fn params(self) -> Vec<ValType> {
        match self {
            Self::Pow | Self::Atan2 => vec![ValType::F32; 2],
            Self::Ldexp => vec![ValType::F32, ValType::I32],
            Self::FromHalf | Self::ReverseBits | Self::ConstantWord => vec![ValType::I32],
            _ => vec![ValType::F32],
        }
    }
}

impl Routine {
    fn signature(self) -> (Vec<ValType>, ValType) {
        match self {
            Self::Helper(helper) => (helper.params(), val(helper.result())),
            Self::Exp2Wide | Self::Log2Wide | Self::SinWide | Self::CosWide | Self::AtanWide => {
                (vec![ValType::F64], ValType::F64)
            }
            Self::AtomicMinS | Self::AtomicMinU | Self::AtomicMaxS | Self::AtomicMaxU => {
                (vec![ValType::I32; 2], ValType::I32)
            }
        }
    }
}

impl Emitter<'_> {
    /// The function index of a routine.
    pub(crate) fn routine(&mut self, routine: Routine) -> u32 {
        if let Some(&index) = self.functions.routines.get(&routine) {
            return index;
        }
        let (params, result) = routine.signature();
        let index = self.functions.reserve(&params, &[result]);
        self.functions.routines.insert(routine, index);
        let body = self.routine_body(routine, &params);
        self.functions.define(index, body);
        index
    }

    fn routine_body(&mut self, routine: Routine, params: &[ValType]) -> Function {
        match routine {
            Routine::Helper(helper) => self.helper_body(helper, params),
            Routine::Exp2Wide => super::exponential::exp2_wide(),
            Routine::Log2Wide => super::exponential::log2_wide(),
            Routine::SinWide => super::trigonometry::sine_wide(false),
            Routine::CosWide => super::trigonometry::sine_wide(true),
            Routine::AtanWide => super::trigonometry::atan_wide(),
            Routine::AtomicMinS | Routine::AtomicMinU | Routine::AtomicMaxS | Routine::AtomicMaxU => {
                atomic_search(routine)
            }
        }
    }

    fn helper_body(&mut self, helper: Helper, params: &[ValType]) -> Function {
        match helper {
            Helper::Exp
            | Helper::Exp2
            | Helper::Log
            | Helper::Log2
            | Helper::Pow
            | Helper::Sinh
            | Helper::Cosh
            | Helper::Tanh
            | Helper::Asinh
            | Helper::Acosh
            | Helper::Atanh => super::exponential::body(self, helper, params),
            Helper::Sin | Helper::Cos | Helper::Tan | Helper::Asin | Helper::Acos | Helper::Atan | Helper::Atan2 => {
                super::trigonometry::body(self, helper, params)
            }
            Helper::Ldexp
            | Helper::FrexpFraction
            | Helper::FrexpExponent
            | Helper::ToHalf
            | Helper::FromHalf
            | Helper::ReverseBits => super::bits::body(helper, params),
            Helper::ConstantWord => self.constant_word(params),
        }
    }

    /// The constants are globals, which have no computed index: a row of comparisons.
    fn constant_word(&self, params: &[ValType]) -> Function {
        let mut body = Body::new(params, &[], Target::Other);
        for word in 0..self.unit.constant_bytes / 4 {
            body.code().local_get(0).i32_const(word.cast_signed()).i32_eq().if_(BlockType::Empty);
            body.code().global_get(self.globals.constant(word)).return_().end();
        }
        body.code().i32_const(0).end();
        body.into_function()
    }
}

/// Minimum or maximum in memory, by exchanging until nobody came in between.
fn atomic_search(routine: Routine) -> Function {
    let mut body = Body::new(&[ValType::I32; 2], &[ValType::I32; 2], Target::Other);
    let (address, value, old, wanted) = (0, 1, 2, 3);
    let memarg = MemArg { offset: 0, align: 2, target: MemArgTarget::Memory(0), ordering: None };
    let mut code = body.code();
    code.loop_(BlockType::Empty);
    code.local_get(address).i32_atomic_load(memarg).local_set(old);
    code.local_get(old).local_get(value).local_get(old).local_get(value);
    match routine {
        Routine::AtomicMinS => code.i32_lt_s(),
        Routine::AtomicMinU => code.i32_lt_u(),
        Routine::AtomicMaxS => code.i32_gt_s(),
        _ => code.i32_gt_u(),
    };
    code.select().local_set(wanted);
    code.local_get(address).local_get(old).local_get(wanted).i32_atomic_rmw_cmpxchg(memarg);
    code.local_get(old).i32_ne().br_if(0);
    code.end();
    code.local_get(old).end();
    body.into_function()
}
