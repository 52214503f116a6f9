# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""The kernel inception distance by polynomial sketches, beside the exact one of blocks of rows: figure 4.11 and table 4.2 of Wacker's thesis
(2022). In place of Inception features the images are seen through a fixed tensor_srht map of their pixels, of degree 2, whose
rows x have x'x/d about 1; the distance is that of two halves of one set, as between its training and test rows.
Run: kid.py LIBMERCER.so --data DIR [--plot kid.png]"""
import sys

import numpy as np

import figure
from experiment import images, options_of, parsed, shuffled, timed, unit, verdict
import sketches
from library import Library

CONTENDERS = {"TensorSketch": sketches.TENSOR_SKETCH, "TensorSRHT": sketches.UPSAMPLED | {"field": "real"},
              "complex-to-real TensorSRHT": sketches.UPSAMPLED | {"field": "complex_to_real"}}
BLOCKS = "exact, of blocks"


def seen(library, data, name, d, most):
    """Two halves of the images of a set as d features each, in single precision."""
    pixels = np.concatenate([images(data, name, part)[0] for part in (0, 1)])
    spec = sketches.sized(sketches.UPSAMPLED | {"field": "real"}, {"kernel": "polynomial", "degree": 2, "offset": 0.0}, 784, d, 1)
    (X,), _ = sketches.features(library, spec, [unit(shuffled(pixels, 1, most), False)])
    X = np.ascontiguousarray(X * np.sqrt(d), np.float32)
    return X[:len(X) // 2], X[len(X) // 2:]


def unbiased(within_x, within_y, across, m, n):
    return within_x / (m * (m - 1)) + within_y / (n * (n - 1)) - 2 * across / (m * n)


def of_blocks(X, Y, p, size, rng):
    """The exact unbiased distance of some rows of each."""
    x, y = X[rng.permutation(len(X))[:size]], Y[rng.permutation(len(Y))[:size]]

    def sums(a, b, own):
        K = (a @ b.T / a.shape[1] + 1.0) ** p
        return K.sum(dtype=np.float64) - (np.trace(K, dtype=np.float64) if own else 0)
    return unbiased(sums(x, x, True), sums(y, y, True), sums(x, y, False), len(x), len(y))


def of_features(library, handle, D, X, Y):
    totals = []
    for rows in (X, Y):
        Z = np.empty((len(rows), D), np.float32)
        library.apply(handle, rows, Z)
        totals.append((Z.sum(0, dtype=np.float64), np.vdot(Z, Z).astype(np.float64)))
    (s, q), (t, r) = totals
    return unbiased(s @ s - q, t @ t - r, s @ t, len(X), len(Y))


def measured(estimate, trials):
    """The deviation of the estimates, its standard error over it, and the seconds of one."""
    found, seconds = timed(lambda: [estimate(trial) for trial in range(trials)])
    return np.std(found, ddof=1), np.mean(found), seconds / trials


def panel_of(library, data, name, p, asked):
    X, Y = seen(library, data, name, asked.d, asked.most)
    rng = np.random.default_rng(2)
    print(f"{name}, {len(X):,} and {len(Y):,} images, p = {p}, {asked.trials} estimates each")
    series = {BLOCKS: []}
    for size in (n for n in asked.blocks if n <= min(len(X), len(Y))):
        series[BLOCKS].append((size, *measured(lambda t: of_blocks(X, Y, p, size, rng), asked.trials)))
    kernel = {"kernel": "polynomial", "degree": p, "gamma": 1 / asked.d, "offset": 1.0}
    for label, spec in CONTENDERS.items():
        series[label] = []
        for D in asked.features:
            def estimate(seed):
                handle, reason = library.map(sketches.sized(spec, kernel, asked.d, D, seed))
                assert handle, reason
                value = of_features(library, handle, D, X, Y)
                library.free(handle)
                return value
            series[label].append((D, *measured(estimate, asked.trials)))
    for label, found in series.items():
        for size, deviation, mean, seconds in found:
            print(f"  {label:27} {size:6,}  mean {mean:10.3e}  deviation {deviation:9.3e}  {1e3 * seconds:8.1f} ms", flush=True)
    return {label: np.array(found) for label, found in series.items()}


def gain(series, label):
    """The deviation of blocks in the time of the widest sketch, along the line of their logarithms, over that of the sketch."""
    blocks, widest = series[BLOCKS], series[label][-1]
    slope, start = np.polyfit(np.log(blocks[:, 3]), np.log(blocks[:, 1]), 1)
    return np.exp(start + slope * np.log(widest[3])) / widest[1]


def claims(name, p, series, trials, d):
    """D from d on, as in the table of the thesis."""
    noise = np.sqrt(1 / (trials - 1))  # of a ratio of two deviations of normal numbers, relative
    gains = {label: gain(series, label) for label in CONTENDERS}
    wide = series["TensorSketch"][:, 0] >= d
    ratio = {label: np.exp(np.mean(np.log(series[label][wide, 1] / series["TensorSketch"][wide, 1]))) for label in CONTENDERS}
    slack = 2 * noise / np.sqrt(wide.sum())
    real, complex_ = ratio["TensorSRHT"], ratio["complex-to-real TensorSRHT"]
    told = ", ".join(f"{label} {value:.1f}" for label, value in gains.items())
    yield f"{name}, p = {p}: in the same time blocks deviate more than sketches, times {told}", min(gains.values()) > 1
    yield (f"{name}, p = {p}: complex-to-real TensorSRHT deviates {complex_:.2f} times as much as TensorSketch, no more",
           complex_ < 1 + slack)
    yield (f"{name}, p = {p}: real TensorSRHT deviates {real:.2f} times as much as TensorSketch, no less",
           real > 1 - slack) if p > 3 else (f"{name}, p = {p}: real TensorSRHT deviates about as much, {real:.2f} times", 0.8 < real < 1.25)


def main():
    parser = options_of(__doc__, data=True)
    parser.add_argument("--sets", nargs="*", default=["mnist", "fashion_mnist"])
    parser.add_argument("--degrees", type=int, nargs="*", default=[3, 6])
    parser.add_argument("--trials", type=int, default=100)
    parser.add_argument("--most", type=int, default=10000, help="images of a set")
    parser.add_argument("-d", type=int, default=512, help="features that images are seen through")
    parser.add_argument("--features", type=int, nargs="*", default=[64, 128, 256, 512, 1024, 2048])
    parser.add_argument("--blocks", type=int, nargs="*", default=[50, 100, 250, 500, 1000, 2000])
    asked = parsed(parser, trials=30, most=4000, features=[64, 256, 1024], blocks=[50, 250, 1000])
    library, panels, told = Library(asked.library), [], []
    for name in asked.sets:
        for p in asked.degrees:
            series = panel_of(library, asked.data, name, p, asked)
            told += claims(name, p, series, asked.trials, asked.d)
            panels.append(figure.Panel(f"{name}, p = {p}", "seconds of an estimate", "deviation of the KID",
                                         {label: (found[:, 3], found[:, 1]) for label, found in series.items()}, "xy"))
    if asked.plot:
        figure.draw(asked.plot, panels)
    return verdict(told)


if __name__ == "__main__":
    sys.exit(main())
