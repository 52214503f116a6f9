#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""Classes of images by vectors of a simplex and by one output per class, at equal D: table, plot, and check of the shape.

Usage: simplex.py LIBMERCER.so --data DIR [--features 250 500 ...] [--splits 3] [--plot simplex.png]
2,000 images of mnist to learn from, 2,000 of its test images, features of a Gaussian kernel of lengthscale 5. T
classes are T outputs (one-hot), of which the largest wins, or T - 1 outputs that are one of T vectors of a regular simplex, of
which the nearest direction wins (Mroueh, Poggio, Rosasco, Slotine 2012); outputs independent. Squares: lambda
by leave-one-out: codes are a linear map of one-hot targets, ridge regression is linear in its targets, and the inner products
of the codes are T/(T - 1) (I - 11'/T), so that with one lambda both ways take the same decisions; "alike" is on how many test
images they do, and the exit code is 1 below 99.9 %. A loss that is not a square can tell the ways apart: huber, at the least D
and with lambda by held-out rows.
"""
import argparse
import gzip
import pathlib
import sys
import time

import numpy as np

import figure
from figure import of_mean
from library import read_images
from operators import Operators, gaussian, verdict

CLASSES, TRAINED, TESTED, LENGTHSCALE = 10, 2000, 2000, 5.0
SQUARES = {"select": {"by": "leave_one_out", "largest": 1e-2, "smallest": 1e-7, "count": 6}}
HUBER = {"select": {"by": "held_out", "largest": 1e-2, "smallest": 1e-4, "count": 3}, "model": "logistic", "loss": "huber"}
WAYS = ("one-hot", "simplex")


def read(data, part):
    folder = data / "mnist"
    labels = gzip.decompress((folder / f"{part}-labels-idx1-ubyte.gz").read_bytes())
    return read_images(folder / f"{part}-images-idx3-ubyte.gz"), np.frombuffer(labels, np.uint8)[8:]


def split(train, test, seed):
    random = np.random.default_rng(seed)
    (X, y), (X_test, y_test) = ((X[chosen], y[chosen]) for (X, y), count in ((train, TRAINED), (test, TESTED))
                                for chosen in [random.permutation(len(y))[:count]])
    return X, y, X_test, y_test


def decide(library, code, D, rows, how, seed):
    """Classes of the test rows by the columns of a code, the lambda taken, and seconds."""
    X, y, X_test, _ = rows
    choices, start = {"kernel": gaussian(LENGTHSCALE), "features": D, "projection": "orthogonal", "seed": seed}, time.perf_counter()
    with library.learnt(choices, X, code.T[y].copy(), search=False, **how) as model:
        taken = time.perf_counter() - start
        return (library.predict(model, X_test, len(code)) @ code).argmax(1), library.said(model, b"spec")["lambda"], taken


def by_squares(library, codes, splits, D):
    """Accuracies and seconds by way and split, and how often both decide alike with one lambda."""
    found, alike = np.empty((2, 2, len(splits))), np.empty(len(splits))
    for seed, rows in enumerate(splits):
        decisions = []
        for k, code in enumerate(codes):
            decided, value, taken = decide(library, code, D, rows, SQUARES, seed)
            found[:, k, seed] = (decided == rows[3]).mean(), taken
            decisions.append((decided, value))
        again = decide(library, codes[1], D, rows, {"lambda": decisions[0][1]}, seed)[0]
        alike[seed] = (again == decisions[0][0]).mean()
    return found, alike


def by_huber(library, codes, splits, D):
    """Accuracies and seconds by way and split."""
    found = np.empty((2, 2, len(splits)))
    for seed, rows in enumerate(splits):
        for k, code in enumerate(codes):
            decided, _, taken = decide(library, code, D, rows, HUBER, seed)
            found[:, k, seed] = (decided == rows[3]).mean(), taken
    return found


def line(name, D, found):
    numbers = " ".join(f"{100 * a.mean():>7.2f} ± {100 * of_mean(a):.2f}" for a in found[0])
    print(f"{name:<8} {D:>6} {numbers} " + " ".join(f"{s.mean():>10.2f}" for s in found[1]), end="", flush=True)


def draw(path, widths, found):
    chart, axes = figure.subplots(1, 2, width=4.4, height=3.6)
    splits = found.shape[3]
    for axis, what, ylabel in zip(axes[0], (0, 1), ("accuracy, %", "seconds, with the search")):
        values = (100 if what == 0 else 1) * found[:, what].transpose(1, 0, 2)
        figure.curves(axis, widths, dict(zip(WAYS, values)), "D", ylabel,
                      f"mnist, {TRAINED:,} images, squares\n{splits} splits, bars: standard error", True)
    figure.save(chart, axes[0][1], path)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library")
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--features", type=int, nargs="+", default=[250, 500, 1000, 2000])
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--plot")
    options = parser.parse_args()
    if options.splits < 2:
        parser.error("--splits: at least 2, for standard errors")
    library, train, test = Operators(options.library), read(options.data, "train"), read(options.data, "t10k")
    splits = [split(train, test, seed) for seed in range(options.splits)]
    codes = np.eye(CLASSES), library.simplex(CLASSES)
    print(f"{'loss':<8} {'D':>6} " + " ".join(f"{way + ', %':>14}" for way in WAYS) + " " +
          " ".join(f"{way + ' s':>10}" for way in WAYS) + "  alike, %")
    of_squares, agreed = [], []
    for D in options.features:
        found, alike = by_squares(library, codes, splits, D)
        line("squares", D, found)
        print(f" {100 * alike.mean():>9.2f}")
        of_squares.append(found)
        agreed.append(alike.min())
    line("huber", options.features[0], by_huber(library, codes, splits, options.features[0]))
    print()
    if options.plot:
        draw(options.plot, options.features, np.array(of_squares))
    return verdict([("squares: with one lambda both codes decide alike on at least 99.9 % of the images", min(agreed) >= 0.999)])


if __name__ == "__main__":
    sys.exit(main())
