#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""Kernel error against time of every projection, on real data or generated rows: a table, and a plot.

Usage: kernel_error.py LIBMERCER.so [--data DIR] [--sets letter mnist kin8nm] [--plot kernel_error.png]
For each data set (standardised columns; images over 255), a Gaussian kernel whose lengthscale is the median distance of rows, each
projection and each number of features: the relative Frobenius error |ZZ' - K|/|K| over 500 rows, averaged over seeds, the standard
error of that average, its ratio to dense, and the median time to map 4,000 rows in float32. Without --data, rows are generated.
"""
import argparse
import pathlib
import statistics
import time

import numpy as np

from library import Library, read_images

PROJECTIONS = ["dense", "orthogonal", "sorf", "fastfood", "circulant", "sobol", "halton"]


def read_rows(data, name):
    if data is None:
        d = {"letter": 16, "mnist": 784, "kin8nm": 8}.get(name, 8)
        return np.random.default_rng(0).standard_normal((4000, d))
    if name == "mnist":
        return read_images(data / "mnist" / "t10k-images-idx3-ubyte.gz")
    X = np.loadtxt(data / name / f"{name}.csv", delimiter=",", skiprows=1)[:, :-1]
    return (X - X.mean(0)) / np.where(X.std(0) > 0, X.std(0), 1)


def median_distance(X):
    squares = (X**2).sum(1)
    distances = np.sqrt(np.maximum(squares[:, None] + squares[None] - 2 * X @ X.T, 0))
    return float(np.median(distances[np.triu_indices(len(X), 1)]))


def measure(library, X, lengthscale, projection, D, seeds):
    rows = np.ascontiguousarray(X[:500], np.float32)
    many = np.ascontiguousarray(X[:4000], np.float32)
    squares = (rows.astype(np.float64) ** 2).sum(1)
    K = np.exp(-np.maximum(squares[:, None] + squares[None] - 2 * rows.astype(np.float64) @ rows.T, 0)
               / (2 * lengthscale**2))
    errors, seconds = [], []
    Z, big = np.zeros((len(rows), D), np.float32), np.zeros((len(many), D), np.float32)
    for seed in range(seeds):
        made, why = library.map({"map": "fourier", "kernel": {"kernel": "gaussian", "lengthscale": lengthscale},
                                 "inputs": X.shape[1], "features": D, "seed": seed, "projection": projection})
        if made is None:
            return None, why
        library.apply(made, rows, Z)
        Z64 = Z.astype(np.float64)
        errors.append(np.linalg.norm(Z64 @ Z64.T - K) / np.linalg.norm(K))
        if seed < 3:
            library.apply(made, many, big)
            start = time.perf_counter()
            library.apply(made, many, big)
            seconds.append(time.perf_counter() - start)
        library.free(made)
    return (np.mean(errors), np.std(errors) / np.sqrt(seeds), statistics.median(seconds)), ""


def plot(path, results):
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    names = list(dict.fromkeys(r[0] for r in results))
    figure, axes = plt.subplots(1, len(names), figsize=(5 * len(names), 4), squeeze=False)
    for axis, name in zip(axes[0], names):
        for projection in PROJECTIONS:
            points = [(r[5] * 1e3, r[3]) for r in results if r[0] == name and r[1] == projection]
            if points:
                axis.loglog(*zip(*points), marker="o", label=projection)
        axis.set_title(name)
        axis.set_xlabel("milliseconds for 4,000 rows")
        axis.set_ylabel("relative Frobenius error")
        axis.grid(True, which="both", alpha=0.3)
        axis.legend()
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    print(f"wrote {path}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library")
    parser.add_argument("--data", type=pathlib.Path)
    parser.add_argument("--sets", nargs="*", default=["letter", "mnist", "kin8nm"])
    parser.add_argument("--features", nargs="*", type=int, default=[256, 1024, 4096])
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--plot", type=pathlib.Path)
    options = parser.parse_args()
    library = Library(options.library)
    results = []
    print("set,d,projection,D,error,standard_error,to_dense,seconds")
    for name in options.sets:
        X = read_rows(options.data, name)
        X = X[np.random.default_rng(1).permutation(len(X))]
        lengthscale = median_distance(X[:500])
        for D in options.features:
            dense = None
            for projection in PROJECTIONS:
                result, why = measure(library, X, lengthscale, projection, D, options.seeds)
                if result is None:
                    print(f"# {name} {projection}: {why}")
                    continue
                error, spread, seconds = result
                dense = error if projection == "dense" else dense
                results.append((name, projection, D, error, spread, seconds))
                print(f"{name},{X.shape[1]},{projection},{D},{error:.5f},{spread:.5f},{error / dense:.3f},{seconds:.5f}",
                      flush=True)
    if options.plot:
        plot(options.plot, results)


main()
