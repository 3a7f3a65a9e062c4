"""Trains the network that the `digits` tenant runs, and writes the two files it reads.

    python train.py [--out DIRECTORY]

Writes `digits.safetensors` (the weights) and `heldout.safetensors` (images the network never saw, their labels, and
the logits that a right implementation gives). Two runs write the same bytes; README.md says what the files hold.
"""

import argparse
import json
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

SEED = 20
SIDE = 8  # Pixels along an edge of an image.
PIXELS = SIDE * SIDE
PIXEL_MAX = 16  # A pixel counts the set dots of a 4x4 cell of the scanned bitmap.
CLASSES = 10

# With 128 hidden units every weight tensor but the last is a multiple of 256 bytes, and so is every held-out tensor
# but the last when the number of images is a multiple of 32.
HIDDEN = 128
HELDOUT = 448

# Chosen by cross-validation inside the training part; the held-out images had no say.
EPOCHS = 300
BATCH = 64
LEARNING_RATE = 3e-3
WEIGHT_DECAY = 0.05  # Decoupled, as in AdamW: the fraction taken off each weight, times the learning rate.
LABEL_SMOOTHING = 0.05
NOISE = 0.05  # Standard deviation of the noise added to training pixels, in units of PIXEL_MAX.

# Weights are rounded to multiples of 2^-14. Then every sum below is exact in float64 in any order, so that the
# reference logits do not depend on a machine's BLAS, and differences in the last bits of training are rounded away.
GRID = 2.0**-14

# Bindings start at multiples of 256 bytes on every driver; with files laid out so, a range of an uploaded file can be
# bound where it lies.
ALIGNMENT = 256
MIN_ACCURACY = 0.96


def split():
    """The data set, split so that each digit has the same share in both parts; held-out images in data-set order."""
    digits = load_digits()
    images = digits.data.astype(np.uint8)
    labels = digits.target.astype(np.uint8)
    train, heldout = train_test_split(
        np.arange(len(labels)), test_size=HELDOUT, stratify=labels, random_state=SEED
    )
    train, heldout = np.sort(train), np.sort(heldout)
    return images[train], labels[train], images[heldout], labels[heldout]


def shifted(images):
    """Nine variants of the images, each moved by at most one pixel along each axis; variant 4 is where they were."""
    padded = np.pad(images.reshape(-1, SIDE, SIDE), ((0, 0), (1, 1), (1, 1)))
    moves = [padded[:, y : y + SIDE, x : x + SIDE] for y in range(3) for x in range(3)]
    return np.stack([move.reshape(-1, PIXELS) for move in moves])


def forward(parameters, inputs):
    """The hidden activations and the logits of a batch of rows."""
    w1, b1, w2, b2 = parameters
    hidden = np.maximum(inputs @ w1 + b1, 0)
    return hidden, hidden @ w2 + b2


def softmax(logits):
    exponentials = np.exp(logits - logits.max(axis=1, keepdims=True))
    return exponentials / exponentials.sum(axis=1, keepdims=True)


def gradients(parameters, inputs, targets):
    """The gradients of the mean cross-entropy of a batch."""
    hidden, logits = forward(parameters, inputs)
    d_logits = (softmax(logits) - targets) / len(inputs)
    d_hidden = (d_logits @ parameters[2].T) * (hidden > 0)
    return [inputs.T @ d_hidden, d_hidden.sum(axis=0), hidden.T @ d_logits, d_logits.sum(axis=0)]


def train(images, labels, seed=SEED):
    """The parameters, trained in float64 on pixels scaled to 0..1, for raw pixels 0..PIXEL_MAX, rounded to GRID."""
    rng = np.random.default_rng(seed)
    parameters = [
        rng.normal(0, np.sqrt(2 / PIXELS), (PIXELS, HIDDEN)),
        np.zeros(HIDDEN),
        rng.normal(0, np.sqrt(2 / HIDDEN), (HIDDEN, CLASSES)),
        np.zeros(CLASSES),
    ]
    first = [np.zeros_like(p) for p in parameters]
    second = [np.zeros_like(p) for p in parameters]
    variants = shifted(images / PIXEL_MAX)
    targets = np.eye(CLASSES)[labels] * (1 - LABEL_SMOOTHING) + LABEL_SMOOTHING / CLASSES
    batches = -(-len(images) // BATCH)
    step = 0
    for _ in range(EPOCHS):
        order = rng.permutation(len(images))
        # About half of the images stay where they are (variant 4), the others move.
        moves = np.where(rng.random(len(images)) < 0.5, 4, rng.integers(0, len(variants), len(images)))
        for rows in np.array_split(order, batches):
            inputs = variants[moves[rows], rows]
            inputs = inputs + rng.normal(0, NOISE, inputs.shape)
            step += 1
            rate = LEARNING_RATE * 0.5 * (1 + np.cos(np.pi * step / (EPOCHS * batches)))
            for p, g, m, v in zip(parameters, gradients(parameters, inputs, targets[rows]), first, second):
                m += 0.1 * (g - m)
                v += 0.001 * (g * g - v)
                scaled = (m / (1 - 0.9**step)) / (np.sqrt(v / (1 - 0.999**step)) + 1e-8)
                decay = WEIGHT_DECAY * p if p.ndim == 2 else 0
                p -= rate * (scaled + decay)
    parameters[0] /= PIXEL_MAX
    return [np.round(p / GRID) * GRID for p in parameters]


def accuracy(parameters, images, labels):
    _, logits = forward(parameters, images.astype(np.float64))
    return float((logits.argmax(axis=1) == labels).mean())


def write_safetensors(path, tensors, metadata):
    """Writes the tensors in the order given, the first and each later one at a multiple of ALIGNMENT in the file.

    The library's own writer chooses the order itself, which would put a short tensor in front of others.
    """
    names = {"float32": "F32", "uint8": "U8"}
    header, offset = {"__metadata__": metadata}, 0
    for name, tensor in tensors.items():
        if offset % ALIGNMENT:
            raise ValueError(f"{name} would start at {offset}, which is not a multiple of {ALIGNMENT}")
        header[name] = {
            "dtype": names[tensor.dtype.name],
            "shape": list(tensor.shape),
            "data_offsets": [offset, offset + tensor.nbytes],
        }
        offset += tensor.nbytes
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-(8 + len(text)) % ALIGNMENT)  # The format lets spaces follow the header.
    data = b"".join(np.ascontiguousarray(t, t.dtype.newbyteorder("<")).tobytes() for t in tensors.values())
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)
    for name, tensor in load_file(path).items():
        np.testing.assert_array_equal(tensor, tensors[name])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    data = Path(__file__).parent / "data"
    parser.add_argument("--out", type=Path, default=data, help="default: data beside train.py")
    out = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)

    train_images, train_labels, images, labels = split()
    parameters = train(train_images, train_labels)
    hidden, logits = forward(parameters, images.astype(np.float64))
    predicted = logits.argmax(axis=1)
    right = int((predicted == labels).sum())
    if right < MIN_ACCURACY * HELDOUT:
        raise SystemExit(f"only {right} of {HELDOUT} held-out images are right; nothing was written")

    w1, b1, w2, b2 = (p.astype(np.float32) for p in parameters)
    write_safetensors(
        out / "digits.safetensors",
        {"dense1.weight": w1, "dense1.bias": b1, "dense2.weight": w2, "dense2.bias": b2},
        {
            "network": "logits = relu(image * dense1.weight + dense1.bias) * dense2.weight + dense2.bias",
            "input": f"one row of {PIXELS} raw pixels from 0 to {PIXEL_MAX} per image, as f32",
            "output": f"one row of {CLASSES} logits per image, column d for digit d",
            "layout": "row-major, weights have a row per input and a column per output",
            "heldout_accuracy": f"{right}/{HELDOUT}",
            "data": "E. Alpaydin, C. Kaynak (1998), Optical Recognition of Handwritten Digits, doi:10.24432/C50P49",
            "data_license": "CC-BY-4.0",
        },
    )
    write_safetensors(
        out / "heldout.safetensors",
        {"images": images, "logits": logits.astype(np.float32), "labels": labels},
        {
            "images": f"one row of {PIXELS} pixels from 0 to {PIXEL_MAX} per image, {SIDE} rows of {SIDE}",
            "logits": "what digits.safetensors gives for each image, exact sums rounded once to f32",
            "labels": "the digit of each image",
            "data": "E. Alpaydin, C. Kaynak (1998), Optical Recognition of Handwritten Digits, doi:10.24432/C50P49",
            "data_license": "CC-BY-4.0",
        },
    )

    confusion = np.zeros((CLASSES, CLASSES), int)
    np.add.at(confusion, (labels, predicted), 1)
    print("rows: digit, columns: answer")
    print("\n".join(f"{d} |" + "".join(f"{n:4}" for n in row) for d, row in enumerate(confusion)))
    trained = accuracy(parameters, train_images, train_labels)
    print(f"training {trained:.2%}, held out {right}/{HELDOUT} = {right / HELDOUT:.2%}")
    print(f"largest hidden activation {hidden.max():.2f}, largest logit {np.abs(logits).max():.2f}")


if __name__ == "__main__":
    main()
