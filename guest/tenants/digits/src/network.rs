//! The network: `softmax(relu(images * dense1) * dense2)`, as one batch.

use crate::tensors::File;
use hal_guest::{Slice, prelude::*};

/// Compiled kernels and the weights on the device.
pub struct Network {
    weights: File,
    unpack: Executable,
    dense: Executable,
    dense_relu: Executable,
    softmax: Executable,
    shape: Shape,
}

/// Numbers in a row of each matrix.
#[derive(Clone, Copy)]
struct Shape {
    pixels: u32,
    hidden: u32,
    classes: u32,
}

/// A row of `classes` numbers per image each.
pub struct Outcome {
    pub logits: Vec<f32>,
    pub probabilities: Vec<f32>,
}

/// One dense layer's buffers: output = input * weight + bias.
struct Layer<'a> {
    input: &'a Buffer,
    weight: Slice<'a>,
    bias: Slice<'a>,
    output: &'a Buffer,
    /// Rows of the input, its columns, columns of the output.
    size: [u32; 3],
}

impl Network {
    /// Compiles the kernels and takes the sizes of the layers from the weights.
    pub fn load(device: &Device, weights: File) -> Result<Self> {
        let (pixels, hidden) = matrix(&weights, "dense1.weight")?;
        let (inner, classes) = matrix(&weights, "dense2.weight")?;
        if inner != hidden {
            let message = format!("the layers do not fit: the first makes {hidden} numbers, the second takes {inner}");
            return Err(Error::new(Code::InvalidArgument, message));
        }
        let dense = include_str!("../kernels/dense.wgsl");
        let relu = ExecutableParams::default().with_override("relu", true);
        Ok(Self {
            weights,
            unpack: device.load_wgsl(include_str!("../kernels/unpack.wgsl"))?,
            dense: device.load_wgsl(dense)?,
            dense_relu: device.load_executable(&relu, dense.as_bytes())?,
            softmax: device.load_wgsl(include_str!("../kernels/softmax.wgsl"))?,
            shape: Shape { pixels, hidden, classes },
        })
    }

    /// How many digits there are.
    pub fn classes(&self) -> usize {
        self.shape.classes as usize
    }

    /// Classifies the tensor `images` of a file: a byte per pixel, a row per image.
    pub fn classify(&self, device: &Device, file: &File) -> Result<Outcome> {
        let Shape { pixels, hidden, classes } = self.shape;
        let (images, _) = file.tensor("images")?;
        let (rows, columns) = matrix(file, "images")?;
        if columns != pixels {
            let message = format!("an image has {columns} pixels, the network takes {pixels}");
            return Err(Error::new(Code::InvalidArgument, message));
        }
        let floats = |columns: u32| device.buffer(u64::from(rows) * u64::from(columns) * size_of::<f32>() as u64);
        let (input, middle) = (floats(pixels)?, floats(hidden)?);
        let (logits, probabilities) = (floats(classes)?, floats(classes)?);

        let words = rows * pixels / size_of::<u32>() as u32;
        let unpack = self.unpack.function("unpack")?;
        let softmax = self.softmax.function("softmax")?;
        let first = Layer {
            input: &input,
            weight: self.weights.tensor("dense1.weight")?.0,
            bias: self.weights.tensor("dense1.bias")?.0,
            output: &middle,
            size: [rows, pixels, hidden],
        };
        let second = Layer {
            input: &middle,
            weight: self.weights.tensor("dense2.weight")?.0,
            bias: self.weights.tensor("dense2.bias")?.0,
            output: &logits,
            size: [rows, hidden, classes],
        };
        let batch = Batch::new()
            .dispatch(
                unpack.dispatch(unpack.workgroups_for([words, 1, 1])).bind(0, images).bind(1, &input).constant(words),
            )
            .barrier()
            .dispatch(first.dispatch(&self.dense_relu)?)
            .barrier()
            .dispatch(second.dispatch(&self.dense)?)
            .barrier()
            .dispatch(softmax.dispatch(rows).bind(0, &logits).bind(1, &probabilities).constant(classes));
        device.run(&batch)?;
        Ok(Outcome { logits: logits.to_vec()?, probabilities: probabilities.to_vec()? })
    }
}

impl<'a> Layer<'a> {
    fn dispatch(self, executable: &'a Executable) -> Result<hal_guest::Dispatch<'a>> {
        let [rows, _, columns] = self.size;
        let dense = executable.function("dense")?;
        Ok(dense
            .dispatch(dense.workgroups_for([columns, rows, 1]))
            .bind(0, self.input)
            .bind(1, self.weight)
            .bind(2, self.bias)
            .bind(3, self.output)
            .constant(self.size))
    }
}

/// Rows and columns of a tensor that has both.
fn matrix(file: &File, name: &str) -> Result<(u32, u32)> {
    let (_, shape) = file.tensor(name)?;
    let dimensions = match shape {
        [rows, columns] => u32::try_from(*rows).ok().zip(u32::try_from(*columns).ok()),
        _ => None,
    };
    dimensions
        .ok_or_else(|| Error::new(Code::InvalidArgument, format!("\"{name}\" is no matrix: its shape is {shape:?}")))
}
