#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""Kernel error of the map maclaurin for the Gaussian: columns by degree drawn or optimised, three sketches; a table, and a plot.

Usage: maclaurin.py LIBMERCER.so --data DIR [--sets kin8nm letter ...] [--seeds 20] [--plot maclaurin.png]
For each data set (standardised columns, the lengthscale their median distance) and D of 1, 2, 3, 5 times d, padded to a power of
two, beside the column of degree 0 (complex columns of a complex sketch): the relative Frobenius error |Re ZZ* - K|/|K| over 1,000
rows, a mean over seeds and its standard error. Optimised maps are made from 500 other rows; their columns of degrees 1, 2, ... and
the milliseconds that making took are shown for the first seed. Random Fourier features of as many real columns stand beside them.
Then: whether optimised columns err less than drawn ones everywhere, and how far the errors are from REFERENCE, measured by another
program; z counts our standard error and the rounding of its two digits. The exit code is 1 if a claim does not hold.
"""
import argparse
import pathlib
import sys
import time
from collections import namedtuple

import numpy as np

import figure
from library import Library
from operators import verdict
from sketches import median_distance

SKETCHES = {"TensorSRHT": {"map": "tensor_srht", "kind": "stacked", "field": "real"},
            "complex TensorSRHT": {"map": "tensor_srht", "kind": "stacked", "field": "complex"},
            "Rademacher": {"map": "product_sketch", "field": "real"}}
Point = namedtuple("Point", "name D error standard_error")
# Of optimised columns by TensorSRHT: set, real or complex, D.
REFERENCE = {("kin8nm", "", 8): 0.17, ("kin8nm", "", 16): 0.045, ("kin8nm", "", 40): 0.022, ("kin8nm", "complex ", 8): 0.11,
             ("kin8nm", "complex ", 16): 0.034, ("kin8nm", "complex ", 40): 0.017, ("letter", "", 16): 0.11, ("letter", "", 80): 0.020}


def read_rows(data, name):
    X = np.loadtxt(data / name / f"{name}.csv", delimiter=",", skiprows=1)[:, :-1]
    X = (X - X.mean(0)) / np.where(X.std(0) > 0, X.std(0), 1)
    return X[np.random.default_rng(1).permutation(len(X))]


def squared_distances(X):
    squares = (X**2).sum(1)
    return np.maximum(squares[:, None] + squares[None] - 2 * X @ X.T, 0)


def errors_of(library, spec, X, sample, seeds, K):
    """Errors, columns by degree and the seconds that making took."""
    errors, said, seconds = [], [], 0
    for seed in range(seeds):
        start = time.perf_counter()
        seeded = spec | {"seed": seed}
        made = library.fit(seeded, sample) if spec.get("allocation") == "optimized" else library.map(seeded)[0]
        if seed == 0:
            seconds = time.perf_counter() - start
            said = library.spec(made).get("columns", [])
        is_complex = spec.get("sketch", {}).get("field") == "complex"
        Z = np.empty((len(X), spec["features"]), np.complex128 if is_complex else np.float64)
        library.apply(made, X, Z)
        errors.append(np.linalg.norm((Z @ Z.conj().T).real - K) / np.linalg.norm(K))
        library.free(made)
    return np.array(errors), said, seconds


def specs_of(d, lengthscale, D):
    common = {"kernel": {"kernel": "gaussian", "lengthscale": lengthscale}, "inputs": d}
    for sketch, own in SKETCHES.items():
        for allocation in ("random", "optimized"):
            yield (f"{sketch} {allocation}",
                   common | {"map": "maclaurin", "features": D + 1, "allocation": allocation, "sketch": own})
    yield "random Fourier", common | {"map": "fourier", "features": D + D % 2, "projection": "orthogonal"}


def plot(path, points, titles):
    chart, axes = figure.subplots(1, len(titles))
    for (name, title), axis in zip(titles.items(), axes[0]):
        labels = list(dict.fromkeys(p.name[1] for p in points))
        for k, label in enumerate(labels):
            some = [p for p in points if p.name == (name, label)]
            axis.errorbar(figure.beside([p.D for p in some], k, len(labels)), [p.error for p in some],
                          [2 * p.standard_error for p in some], label=label, **figure.look(k))
        figure.widths_below(axis, sorted({p.D for p in points if p.name[0] == name}))
        figure.error_against(axis, "columns D", title)
    figure.save(chart, axes[0, -1], path)


def claims_of(points):
    at = {(p.name, p.D): p for p in points}
    worst = max((p.error / at[(p.name[0], p.name[1].replace("optimized", "random")), p.D].error, p.name, p.D) for p in points if "optimized" in p.name[1])
    claims = [(f"optimised columns err less than drawn ones everywhere (most {worst[0]:.2f} times as much: {worst[1][0]}, {worst[1][1]}, D = {worst[2]})",
               worst[0] < 1)]
    for (name, field, D), error in REFERENCE.items():
        found = at.get(((name, f"{field}TensorSRHT optimized"), D))
        if found:
            digit = 10.0 ** np.floor(np.log10(error) - 1)
            z = (found.error - error) / np.hypot(found.standard_error, digit / 12**0.5)
            claims.append((f"{name}, {field}TensorSRHT, D = {D}: {found.error:.4f} is at most a sixth above {error:g} (z = {z:+.1f})",
                           found.error < 7 / 6 * error))
    return claims


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library")
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--sets", nargs="*", default=["kin8nm", "letter"])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--plot", type=pathlib.Path)
    options = parser.parse_args()
    library = Library(options.library)
    points, titles = [], {}
    print("set,d,D,map,error,standard_error,ms,columns")
    for name in options.sets:
        X = np.ascontiguousarray(read_rows(options.data, name))
        rows, sample, d = X[:1000], np.ascontiguousarray(X[1000:1500]), X.shape[1]
        squares = squared_distances(rows)
        lengthscale = median_distance(rows)
        K = np.exp(-squares / (2 * lengthscale**2))
        titles[name] = f"{name}, d = {d}, ℓ = {lengthscale:.3g}\n{options.seeds} seeds, bars: ±2 standard errors"
        padded = 1 << (d - 1).bit_length()
        for D in [padded * factor for factor in (1, 2, 3, 5)]:
            for label, spec in specs_of(d, lengthscale, D):
                errors, columns, seconds = errors_of(library, spec, rows, sample, options.seeds, K)
                points.append(Point((name, label), D, errors.mean(), figure.of_mean(errors)))
                print(f"{name},{d},{D},{label},{errors.mean():.4f},{figure.of_mean(errors):.4f},{1e3 * seconds:.1f},"
                      f"{' '.join(f'{c:g}' for c in columns)}", flush=True)
    if options.plot:
        plot(options.plot, points, titles)
    return verdict(claims_of(points))


if __name__ == "__main__":
    sys.exit(main())
