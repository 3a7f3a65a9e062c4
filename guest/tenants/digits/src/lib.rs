//! Classifies handwritten digits on a device: 448 images, two dense layers, four dispatches of three kernels.
//!
//! Argument: the device's URI (default `cpu://`). Needs two blobs: `weights` (`data/digits.safetensors`) and `heldout`
//! (`data/heldout.safetensors`). Prints a confusion table, the accuracy and the largest difference from the reference
//! logits, and fails if a logit is off by more than `TOLERANCE` or fewer than `REQUIRED_PERCENT` come out right.

mod network;
mod report;
mod tensors;

use hal_guest::{args, prelude::*, println, run};
use network::Network;
use report::Confusion;
use tensors::File;

run!(main);

/// How far a logit may be from the reference, which is exact: f32 sums of 128 products of this size stay well below it.
const TOLERANCE: f32 = 1e-4;

/// What the trained network is good for, with room below its 99.3 %.
const REQUIRED_PERCENT: f64 = 96.0;

fn main() -> Result<()> {
    let uri = args().nth(1).unwrap_or_else(|| "cpu://".into());
    let device = Registry::default().create_device(&uri)?;
    println!("digits on {uri}: {}", device.info().name);

    let network = Network::load(&device, File::open(&device, "weights")?)?;
    let heldout = File::open(&device, "heldout")?;
    let outcome = network.classify(&device, &heldout)?;

    let labels = heldout.read::<u8>("labels")?;
    let confusion = Confusion::new(&labels, &outcome.probabilities, network.classes())?;
    println!("{confusion}");
    let reference = heldout.read::<f32>("logits")?;
    let difference = report::largest_difference(&reference, &outcome.logits)?;
    println!("largest difference from the reference logits: {difference:.1e}");

    if difference.is_nan() || difference > TOLERANCE {
        return Err(Error::new(Code::DataLoss, format!("logits differ by {difference}, more than {TOLERANCE}")));
    }
    if confusion.percent() < REQUIRED_PERCENT {
        let message = format!("only {:.2} % are right, fewer than {REQUIRED_PERCENT} %", confusion.percent());
        return Err(Error::new(Code::DataLoss, message));
    }
    Ok(())
}
