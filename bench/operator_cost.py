#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""Phi(x)'theta by the linear operator and by the matrix, against the number of outputs p: table, plot, and check of the shape.

Usage: operator_cost.py LIBMERCER.so [--outputs 2 4 ...] [--runs 11] [--plot operator_cost.png]
After figures 8, 9 and 10 of Brault, d'Alche-Buc, "Random Fourier features for operator-valued kernels" (2016). decomposable:
100 rows of 20 inputs, F = 100, Gamma = BB' with B p x p uniform in (0, 1). curl_free: 1,000 rows of p inputs, F = 500;
divergence_free: 100 rows of p inputs, F = 100, the square root. Rows are uniform in (0, 1), theta too. Columns: seconds to
construct (of the operator its frequencies; of the matrix all its numbers), seconds of one product (the operator makes its
features anew, the matrix does not), medians of the runs, and the most MB by which one made the process grow. Shape: the matrix
grows p times faster than the operator in time to construct and in memory, so that at the largest p the operator takes less than
a tenth of both; in the paper the curl-free and divergence-free products were about ten times slower by the operator, which is
told and not checked. p ends at 32: a matrix of 0.25 GB.
"""
import argparse
import ctypes
import pathlib
import sys
import time

import numpy as np

import figure
from operators import Operators, decomposable, gaussian, verdict

KINDS = {"decomposable": (100, 100), "curl_free": (1000, 500), "divergence_free": (100, 100)}
COLUMNS = ("construction, s", "product, s", "memory, MB")
WAYS = ("operator", "matrix")
DECOMPOSABLE_INPUTS = 20


def resident(most):
    """MB now, or the most since it was last reset."""
    status = pathlib.Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:" if most else "VmRSS:")[1].split()[0]) / 1024


def reset():
    """Gives back what is free, so that a run gets its pages anew."""
    ctypes.CDLL(None).malloc_trim(0)
    pathlib.Path("/proc/self/clear_refs").write_text("5")
    return resident(False)


def spec_of(kind, p, random):
    d, (_, F) = DECOMPOSABLE_INPUTS if kind == "decomposable" else p, KINDS[kind]
    B = random.uniform(size=(p, p))
    chosen = decomposable(B @ B.T) if kind == "decomposable" else {"operator": kind}
    return d, {**chosen, "kernel": gaussian(1.0), "inputs": d, "features": 2 * F}


def run(library, kind, p, way, random):
    """Seconds to construct, seconds of a product, MB, and the product."""
    d, spec = spec_of(kind, p, random)
    X = random.uniform(size=(KINDS[kind][0], d))
    before, start = reset(), time.perf_counter()
    with library.made(spec) as made:
        r = library.coefficients(made)
        if way == "matrix":
            Phi = library.explicit(made, X, p)
        built = time.perf_counter()
        theta = random.uniform(size=(r, 1))
        begun = time.perf_counter()
        out = (Phi @ theta).reshape(-1, p) if way == "matrix" else library.apply(made, X, theta, p)
        done = time.perf_counter()
        return (built - start, done - begun, max(resident(True) - before, 1 / 256)), out


def measure(library, kind, outputs, runs):
    """Medians by way, p and column, and the largest relative difference of the ways' products."""
    found, apart = np.empty((2, len(outputs), 3)), 0.0
    run(library, kind, outputs[0], "operator", np.random.default_rng(0))  # threads and their buffers come once
    for place, p in enumerate(outputs):
        taken = np.empty((2, runs, 3))
        for index in range(runs):
            products = []
            for k, way in enumerate(WAYS):
                taken[k, index], out = run(library, kind, p, way, np.random.default_rng(index))
                products.append(out)
            apart = max(apart, np.abs(products[0] - products[1]).max() / np.abs(products[1]).max())
        found[:, place] = np.median(taken, 1)
        found[:, place, 2] = taken[:, :, 2].max(1)
    return found, apart


def claims(found):
    for kind, (_, values, apart) in found.items():
        operator, whole = values[:, -1]
        yield f"{kind}: both ways give the same, to 1e-10", apart < 1e-10
        yield f"{kind}: constructed in less than a tenth of the time", operator[0] < whole[0] / 10
        yield f"{kind}: less than a tenth of the memory", operator[2] < whole[2] / 10


def draw(path, found):
    chart, axes = figure.subplots(len(found), 3, width=4, height=3)
    for line, (kind, (outputs, values, _)) in zip(axes, found.items()):
        for column, axis in enumerate(line):
            for k, way in enumerate(WAYS):
                look = {key: value for key, value in figure.look(k).items() if key not in ("capsize", "elinewidth")}
                axis.plot(outputs, values[k, :, column], label=way, **look)
            figure.widths_below(axis, outputs)
            axis.set_yscale("log")
            axis.grid(True, which="both", alpha=0.25)
            axis.set(xlabel="p", ylabel=COLUMNS[column], title=f"{kind}: {KINDS[kind][0]:,} rows, F = {KINDS[kind][1]}")
    figure.save(chart, axes[0][2], path, 70)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library")
    parser.add_argument("--outputs", type=int, nargs="+", default=[2, 4, 8, 16, 32])
    parser.add_argument("--runs", type=int, default=11)
    parser.add_argument("--plot")
    options = parser.parse_args()
    library, found = Operators(options.library), {}
    print(f"{'kernel':<15} {'p':>3} " + " ".join(f"{way + ' ' + column:>25}" for column in COLUMNS for way in WAYS))
    for kind in KINDS:
        outputs = options.outputs
        values, apart = measure(library, kind, outputs, options.runs)
        found[kind] = outputs, values, apart
        for place, p in enumerate(outputs):
            print(f"{kind:<15} {p:>3} " + " ".join(f"{v:>25.2e}" for v in values[:, place].T.ravel()), flush=True)
    if options.plot:
        draw(options.plot, found)
    return verdict(list(claims(found)))


if __name__ == "__main__":
    sys.exit(main())
