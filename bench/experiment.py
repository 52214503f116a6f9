# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""What the experiments share: options, data sets and their preparation, errors of predictions, and claims that are checked."""
import argparse
import functools
import gzip
import pathlib
import time

import numpy as np

IMAGES = {"mnist": ("train", "t10k"), "fashion_mnist": ("train2k", "test976")}


def options_of(about, data=False, plot=True, quick=True):
    """What every experiment is asked with; parsed() reads it where it has a quick form. data: False, True or "optional"."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library")
    if data:
        parser.add_argument("--data", type=pathlib.Path, required=data is True, help="the folder of the sets: NAME/NAME.csv, images as in mnist")
    if plot:
        parser.add_argument("--plot", type=pathlib.Path, help="a file for the plot")
    if quick:
        parser.add_argument("--quick", action="store_true", help="smaller sizes, where none are given")
    return parser


def parsed(parser, several=(), **quick):
    """The options; with --quick other defaults. `several` are those of which a shape needs two: lists, or a number."""
    options = parser.parse_args()
    if options.quick:
        parser.set_defaults(**quick)
        options = parser.parse_args()
    for name in several:
        value = getattr(options, name)
        if (len(value) if isinstance(value, list) else value) < 2:
            parser.error(f"--{name}: at least 2")
    return options


@functools.lru_cache(maxsize=1)
def read_csv(data, name, targets=1):
    """Inputs, and the last columns, the targets: a vector if there is one."""
    path = next(p for p in (data / name / f"{name}.csv", data / name / f"{name}.train.csv") if p.exists())
    both = np.loadtxt(path, delimiter=",", skiprows=1)
    return both[:, :-targets], both[:, -1] if targets == 1 else both[:, -targets:]


def read_images(path):
    raw = np.frombuffer(gzip.decompress(path.read_bytes()), np.uint8)
    return raw[16:].reshape(-1, 784).astype(np.float64) / 255


def read_labels(path):
    return np.frombuffer(gzip.decompress(path.read_bytes()), np.uint8)[8:]


@functools.lru_cache(maxsize=2)
def images(data, name, part):
    """Pixels from 0 to 1 and labels of the training images, part 0, or of the test images, part 1."""
    return tuple(read(data / name / f"{IMAGES[name][part]}-{kind}-ubyte.gz")
                 for read, kind in ((read_images, "images-idx3"), (read_labels, "labels-idx1")))


def table(data, name, seed, most=None, pool=1):
    """Rows and targets in a random order; images of pool x pool pixels averaged."""
    X, y = images(data, name, 0) if name in IMAGES else read_csv(data, name)
    order = np.random.default_rng(seed).permutation(len(X))[:most]
    X, y = X[order], y[order].astype(float)
    if name in IMAGES and pool > 1:
        X = X.reshape(-1, 28 // pool, pool, 28 // pool, pool).mean((2, 4)).reshape(len(X), -1)
    return X, y


def shuffled(X, seed, most=None):
    return X[np.random.default_rng(seed).permutation(len(X))[:most]]


def timed(call):
    """What it returns, and its seconds."""
    start = time.perf_counter()
    found = call()
    return found, time.perf_counter() - start


def standardised(X):
    return np.ascontiguousarray((X - X.mean(0)) / np.where(X.std(0) > 0, X.std(0), 1))


def unit(X, centred):
    """Rows of length 1. Centred: standardised before, as the thesis's table D.1 is met by (covtype 0.358, 0.301 against 0.361, 0.300) and not by means alone (0.137, 0.192)."""
    X = standardised(X) if centred else X
    return np.ascontiguousarray(X / np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-12))


def squared_distances(X, Y=None):
    Y = X if Y is None else Y
    return np.maximum((X**2).sum(1)[:, None] + (Y**2).sum(1) - 2 * X @ Y.T, 0)


def median_distance(X):
    return float(np.median(np.sqrt(squared_distances(X))[np.triu_indices(len(X), 1)]))


def padded(d):
    return 1 << (d - 1).bit_length()


def frobenius(estimate, K):
    """The relative error of a kernel's matrix."""
    return np.linalg.norm(estimate - K) / np.linalg.norm(K)


def r2(found, Y):
    return 1 - ((found - Y) ** 2).sum() / ((Y - Y.mean(0)) ** 2).sum()


def density(found, y):
    """Mean negative log density of targets by predictive means and variances, in nats."""
    return float(np.mean(0.5 * np.log(2 * np.pi * found[1]) + (y - found[0]) ** 2 / (2 * found[1])))


def divergence(found, exact):
    """Mean over rows and outputs of KL(found || exact) of normal means and variances."""
    variance = np.maximum(exact[1], 1e-12)
    ratio = np.maximum(found[1], 1e-12) / variance
    return float(np.mean(0.5 * (ratio - np.log(ratio) - 1 + (exact[0] - found[0]) ** 2 / variance)))


def slope(x, y):
    """Of log y against log x."""
    return np.polyfit(np.log(x), np.log(y), 1)[0]


def verdict(claims):
    """Prints statements, whether they hold and, where there are any, their numbers, as `papers` reads them; the exit code."""
    for text, holds, *numbers in claims:
        print(f"{'holds' if holds else 'DOES NOT HOLD'}: {text}" + (f" [{numbers[0]}]" if numbers else ""))
    return 0 if all(holds for _, holds, *_ in claims) else 1


def of(hits):
    """3 of 4."""
    hits = list(hits)
    return f"{sum(map(bool, hits))} of {len(hits)}"
