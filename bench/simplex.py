#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""Classes of images by features and by the exact kernel, and by vectors of a simplex and one output per class: tables, plot, and
check of the shapes.

Usage: simplex.py LIBMERCER.so --data DIR [--rows 500 1000 ...] [--features 250 500 ...] [--splits 3] [--plot simplex.png]
Figure 11 of Brault, d'Alche-Buc (2016), on mnist: seconds of a fit, by training images, of D = 1,000 features and of the exact kernel
(map exact), and the test error of the exact kernel and of features of every D from 1,000 images; targets are the simplex's vectors,
the Gaussian kernel has lengthscale 10 (20 of pixels in [-1, 1]), lambda by leave-one-out. Shapes: seconds of the exact kernel grow
faster; the error of features comes down to the exact kernel's.
The codes: 2,000 images to learn from, 2,000 test images, features of a Gaussian kernel of lengthscale 5. T
classes are T outputs (one-hot), of which the largest wins, or T - 1 outputs that are one of T vectors of a regular simplex, of
which the nearest direction wins (Mroueh, Poggio, Rosasco, Slotine 2012); outputs independent. Squares: lambda
by leave-one-out: codes are a linear map of one-hot targets, ridge regression is linear in its targets, and the inner products
of the codes are T/(T - 1) (I - 11'/T), so that with one lambda both ways take the same decisions; "alike" is on how many test
images they do, and the exit code is 1 below 99.9 %. A loss that is not a square can tell the ways apart: huber, at the least D
and with lambda by held-out rows.
"""
import sys
import time

import numpy as np

import figure
from experiment import images, options_of, parsed, shuffled, slope, timed, verdict
from figure import of_mean
from operators import PLAIN, Operators, gaussian

CLASSES, TRAINED, TESTED, LENGTHSCALE, FIXED_D, FIXED_N = 10, 2000, 2000, 5.0, 1000, 1000
SQUARES = {"select": {"by": "leave_one_out", "largest": 1e-2, "smallest": 1e-7, "count": 6}}
HUBER = {"select": {"by": "held_out", "largest": 1e-2, "smallest": 1e-4, "count": 3}, "model": "logistic", "loss": "huber"}
WAYS = ("one-hot", "simplex")


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


def against_kernel(library, code, train, test, numbers, widths):
    """Seconds by n of features and of the exact kernel; test errors by D, and the exact kernel's."""
    X_test, y_test = test

    def learnt(n, D):
        X, y = (shuffled(part, 0, n) for part in train)
        spec = {"map": "exact"} if D is None else {"map": "fourier", "features": D, "seed": 1}
        model, taken = timed(lambda: library.fit_model({"map": {**spec, "kernel": gaussian(10.0)}, **PLAIN, "search": False, "assess": False, **SQUARES}, X, code.T[y].copy()))
        wrong = np.mean((library.predict(model, X_test, len(code)) @ code).argmax(1) != y_test)
        library.model_free(model)
        return taken, wrong
    learnt(numbers[0], 100)  # threads come once
    seconds = np.array([[learnt(n, D)[0] for D in (FIXED_D, None)] for n in numbers])
    for n, (features, exact) in zip(numbers, seconds):
        print(f"n = {n:>6,}: features, D = {FIXED_D:,} {features:>8.2f} s, exact kernel {exact:>8.2f} s", flush=True)
    errors, limit = np.array([learnt(FIXED_N, D)[1] for D in widths]), learnt(FIXED_N, None)[1]
    print(f"n = {FIXED_N:,}, test errors: " + ", ".join(f"D = {D:,} {100 * e:.2f} %" for D, e in zip(widths, errors)) + f", exact kernel {100 * limit:.2f} %", flush=True)
    steeper = [slope(numbers, column) for column in seconds.T]
    return (seconds, errors, limit), [
        ("seconds of the exact kernel grow faster with the images than those of features", steeper[1] > steeper[0], f"as n^{steeper[1]:.1f} against n^{steeper[0]:.1f}"),
        ("the error of features comes down to the exact kernel's with D, to 1 % of the images", errors[-1] < limit + 0.01 and errors[-1] < errors[0],
         f"{100 * errors[0]:.1f} to {100 * errors[-1]:.1f} %, exact {100 * limit:.1f} %")]


def line(name, D, found):
    numbers = " ".join(f"{100 * a.mean():>7.2f} ± {100 * of_mean(a):.2f}" for a in found[0])
    print(f"{name:<8} {D:>6} {numbers} " + " ".join(f"{s.mean():>10.2f}" for s in found[1]), end="", flush=True)


def draw(path, widths, found, numbers, D_of_error, kernel):
    chart, axes = figure.subplots(1, 4, width=4.2, height=3.6)
    splits = found.shape[3]
    for k, name in enumerate((f"features, D = {FIXED_D:,}", "exact kernel")):
        axes[0][2].errorbar(numbers, kernel[0][:, k], label=name, **figure.look(k))
    axes[0][2].set(xscale="log", yscale="log", xlabel="images", ylabel="seconds", title="figure 11")
    axes[0][2].legend(fontsize=7)
    axes[0][3].errorbar(D_of_error, 100 * kernel[1], **figure.look(0))
    axes[0][3].axhline(100 * kernel[2], color="black", linewidth=0.8)
    axes[0][3].set(xscale="log", xlabel="D", ylabel="test error, %", title=f"figure 11, {FIXED_N:,} images; line: exact kernel")
    for axis, what, ylabel in zip(axes[0], (0, 1), ("accuracy, %", "seconds, with the search")):
        values = (100 if what == 0 else 1) * found[:, what].transpose(1, 0, 2)
        figure.curves(axis, widths, dict(zip(WAYS, values)), "D", ylabel,
                      f"mnist, {TRAINED:,} images, squares\n{splits} splits, bars: standard error", True)
    figure.save(chart, axes[0][1], path, 60)


def main():
    parser = options_of(__doc__, data=True)
    parser.add_argument("--rows", type=int, nargs="+", default=[500, 1000, 2000, 4000, 8000], help="of the exact kernel")
    parser.add_argument("--features", type=int, nargs="+", default=[250, 500, 1000, 2000])
    parser.add_argument("--splits", type=int, default=3)
    options = parsed(parser, several=("splits", "rows", "features"), features=[250, 1000], rows=[500, 1000, 2000], splits=2)
    library, train, test = Operators(options.library), *(images(options.data, "mnist", part) for part in (0, 1))
    splits = [split(train, test, seed) for seed in range(options.splits)]
    codes = np.eye(CLASSES), library.simplex(CLASSES)
    widths = [100, 300, 1000, 3000]
    kernel, claims = against_kernel(library, codes[1], train, (test[0][:TESTED], test[1][:TESTED]), options.rows, widths)
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
        draw(options.plot, options.features, np.array(of_squares), options.rows, widths, kernel)
    return verdict(claims + [("squares: with one lambda both codes decide alike on at least 99.9 % of the images", min(agreed) >= 0.999)])


if __name__ == "__main__":
    sys.exit(main())
