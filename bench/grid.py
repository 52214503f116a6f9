#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""Kernel error of a grid of frequencies and of drawn ones, for few inputs: table, plot, and check of the bound.

Usage: grid.py LIBMERCER.so [--features 100 288 ...] [--seeds 5] [--plot grid.png]
Rows are uniform in the unit box; for each kernel and D the root mean square of k~ - k over pairs of 300 rows by projections grid,
sobol and dense (their mean over seeds), beside the largest error of the grid and the bound that its spec says. The exit code is 1 if an
error exceeds its bound.
"""
import argparse
import sys

import numpy as np

import figure
from library import Library

CASES = {"gaussian, d = 2, l = 0.1": (2, {"kernel": "gaussian", "lengthscale": 0.1}),
         "gaussian, d = 3, l = 0.3": (3, {"kernel": "gaussian", "lengthscale": 0.3}),
         "matern 5/2, d = 2, l = 0.3": (2, {"kernel": "matern", "nu": 2.5, "lengthscale": 0.3})}
DRAWN = ("sobol", "dense")


def exact(kernel, X):
    t = np.sqrt(((X[:, None] - X[None]) ** 2).sum(2)) / kernel["lengthscale"]
    u = np.sqrt(5) * t
    return np.exp(-t**2 / 2) if kernel["kernel"] == "gaussian" else (1 + u + u**2 / 3) * np.exp(-u)


def errors(library, spec, X, K):
    """Root mean square and largest error, and the map's bound of it."""
    made, why = library.map(spec)
    assert made is not None, why
    Z = np.zeros((len(X), spec["features"]))
    library.apply(made, X, Z)
    difference, bound = Z @ Z.T - K, library.spec(made).get("error_bound")
    library.free(made)
    return np.sqrt((difference**2).mean()), abs(difference).max(), bound


def measure(library, d, kernel, D, seeds):
    X = np.random.default_rng(0).random((300, d))
    K = exact(kernel, X)
    spec = {"map": "fourier", "kernel": kernel, "inputs": d, "features": D}
    grid = errors(library, {**spec, "projection": "grid", "diameter": 1}, X, K)
    drawn = [np.mean([errors(library, {**spec, "projection": name, "seed": seed}, X, K)[0] for seed in range(seeds)])
             for name in DRAWN]
    return (*grid, *drawn)


def draw(path, widths, found):
    chart, axes = figure.subplots(1, len(found), width=4.4, height=3.6)
    for axis, (title, numbers) in zip(axes[0], found.items()):
        for k, name in enumerate(("grid", "bound of grid", *DRAWN)):
            axis.errorbar(widths, numbers[:, (0, 2, 3, 4)[k]], label=name, **figure.look(k))
        axis.set(xscale="log", yscale="log", xlabel="D", ylabel="root mean square error of k", title=title)
    figure.save(chart, axes[0][-1], path)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library")
    parser.add_argument("--features", type=int, nargs="+", default=[100, 288, 840, 2000])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--plot")
    options = parser.parse_args()
    library, found = Library(options.library), {}
    print(f"{'kernel':<28} {'D':>6} " + " ".join(f"{name:>9}" for name in ("grid", "largest", "bound", *DRAWN)))
    for title, (d, kernel) in CASES.items():
        found[title] = np.array([measure(library, d, kernel, D, options.seeds) for D in options.features])
        for D, numbers in zip(options.features, found[title]):
            print(f"{title:<28} {D:>6} " + " ".join(f"{number:>9.1e}" for number in numbers))
    if options.plot:
        draw(options.plot, options.features, found)
    return 0 if all((numbers[:, 1] <= numbers[:, 2] + 1e-13).all() for numbers in found.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
