#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""Seven torques of one robot arm, one of them observed per row: outputs joined by a graph against independent ones: table,
plot, and check of the shape.

Usage: multitask.py LIBMERCER.so --data DIR [--points 50 100 ...] [--splits 16] [--plot multitask.png]
After table 3 of Brault, d'Alche-Buc, "Random Fourier features for operator-valued kernels" (2016), on the 4,449 rows of sarcos
at hand: N rows drawn for each task by itself, the other six outputs missing; D = max(N, 500)/2, as there. independent: Gamma =
I. laplacian: Gamma = (L + 0.3 t I)^-1, L the Laplacian of the graph of weights exp(-gamma d_kl), t its mean degree, d_kl the
mean square of y^k - y^l in units of their deviations (L alone has no inverse). similarity: Gamma = exp(-gamma d_kl). Both of
mean diagonal 1. d, the deviations and signs (the leading vector of the correlations, so that opposite torques are joined too)
come from 400 rows with all outputs, kept out of training and test. lambda: the library's search;
lengthscale, of independent outputs for all, and gamma: by its R2, in the mean over the splits. Fewer splits of more than 100
rows, but at least 10. nMSE: squared error over variance, mean of the tasks, in per cent, on 1,000 other rows. Shape: the graph
helps at the fewest rows, by more than two standard errors over the splits, and at the most rows less than half as much.
"""
import sys

import numpy as np

import figure
from experiment import options_of, parsed, read_csv, standardised, verdict
from figure import of_mean
from operators import Operators, decomposable, gaussian

TASKS, KNOWN, TESTED = 7, 400, 1000
LENGTHSCALES = [8.0, 12.0, 18.0]
GAMMAS = {"laplacian": [3.0, 8.0], "similarity": [1.0, 2.0]}
WAYS = ("independent", *GAMMAS)
FIRST_SPLIT = 100  # the graph, the scales and the grids were chosen on splits before it


def read(data):
    X, Y = read_csv(data, "sarcos", TASKS)
    return standardised(X), Y


def split(X, Y, n, seed):
    """Training rows with one target each, test rows, and the known outputs."""
    random = np.random.default_rng(seed)
    known, test, others = np.split(random.permutation(len(X)), [KNOWN, KNOWN + TESTED])
    train = np.concatenate([random.permutation(others)[:n] for _ in range(TASKS)])
    Y = (Y - Y[known].mean(0)) / Y[known].std(0)
    signs = np.sign(np.linalg.eigh(np.corrcoef(Y[known].T))[1][:, -1])
    Y = Y * np.where(signs == 0, 1, signs)
    targets, task = np.full((len(train), TASKS), np.nan), np.repeat(np.arange(TASKS), n)
    targets[np.arange(len(train)), task] = Y[train, task]
    return X[train], targets, X[test], Y[test], Y[known]


def joined(library, way, gamma, known):
    weights = np.exp(-gamma * ((known[:, :, None] - known[:, None]) ** 2).mean(0))
    if way == "laplacian":
        degrees = weights.sum(1) - 1
        weights = np.linalg.inv(np.diag(1 + degrees) - weights + 0.3 * degrees.mean() * np.eye(TASKS))
    return weights * TASKS / np.trace(weights)


def learn(library, Gamma, lengthscale, n, rows, seed):
    """The R2 of the search, and the nMSE."""
    X, targets, X_test, Y_test, _ = rows
    choices = {**decomposable(Gamma), "inputs": X.shape[1], "kernel": gaussian(lengthscale), "features": max(n, 500) // 2,
               "projection": "orthogonal", "seed": seed}
    with library.learnt(choices, X, targets) as model:
        found = library.predict(model, X_test, TASKS)
        return library.said(model, b"report")["criterion_score"], 100 * np.mean(((found - Y_test) ** 2).mean(0) / Y_test.var(0))


def chosen(candidates, learnt, splits):
    """The candidate with the largest mean R2 of its searches, and its nMSE by split."""
    found = np.array([[learnt(candidate, seed) for seed in range(splits)] for candidate in candidates])
    place = found[:, :, 0].mean(1).argmax()
    return candidates[place], found[place, :, 1]


def measure(library, X, Y, n, splits):
    """nMSE by way and split, and what was taken: lengthscale, gammas."""
    rows = [split(X, Y, n, FIRST_SPLIT + seed) for seed in range(splits)]
    lengthscale, free = chosen(LENGTHSCALES, lambda ell, seed: learn(library, np.eye(TASKS), ell, n, rows[seed], seed), splits)
    errors, taken = [free], [lengthscale]
    for way, gammas in GAMMAS.items():
        gamma, values = chosen(gammas, lambda gamma, seed: learn(library, joined(library, way, gamma, rows[seed][-1]),
                                                                 lengthscale, n, rows[seed], seed), splits)
        errors.append(values)
        taken.append(gamma)
    return np.array(errors), taken


def gains(errors):
    """Per cent less error than independent outputs, by way and split."""
    return 100 * (1 - errors / errors[0])


def claims(points, errors):
    for k, way in enumerate(GAMMAS, 1):
        few, most = gains(errors[0])[k], gains(errors[-1])[k]
        yield f"{way}: a gain at {points[0]} rows per task, by more than two standard errors", few.mean() > 2 * of_mean(few), f"{few.mean():.1f} ± {of_mean(few):.1f} %"
        yield f"{way}: at {points[-1]} rows per task it is less than half of that", most.mean() < few.mean() / 2, f"{most.mean():.1f} ± {of_mean(most):.1f} %"


def draw(path, points, errors):
    chart, axes = figure.subplots(1, 2, width=4.6, height=3.8)
    for k, way in enumerate(WAYS):
        for axis, values in zip(axes[0], (errors, map(gains, errors))):
            means, bars = np.array([(v[k].mean(), of_mean(v[k])) for v in values]).T
            axis.errorbar(figure.beside(points, k, len(WAYS)), means, bars, label=way, **figure.look(k))
    axes[0][0].set_yscale("log")
    figure.plain(axes[0][0].yaxis)
    for axis, label in zip(axes[0], ("nMSE, %", "less error than independent, %")):
        figure.widths_below(axis, points)
        axis.grid(True, which="both", alpha=0.25)
        axis.set(xlabel="rows per task", ylabel=label,
                 title="sarcos, 7 tasks, one per row\nbars: standard error over splits")
    figure.save(chart, axes[0][1], path, 60)


def main():
    parser = options_of(__doc__, data=True)
    parser.add_argument("--points", type=int, nargs="+", default=[50, 100, 200, 400, 800])
    parser.add_argument("--splits", type=int, default=16)
    options = parsed(parser, several=("points", "splits"), points=[50, 200], splits=4)
    library, (X, Y), found = Operators(options.library), read(options.data), []
    most = len(X) - KNOWN - TESTED
    if max(options.points) > most:
        parser.error(f"at most {most} rows")
    print(f"{'rows':>8} " + " ".join(f"{way + ', %':>16}" for way in WAYS) +
          " ".join(f"{'gain of ' + way:>20}" for way in GAMMAS) + "  lengthscale, gammas")
    for n in options.points:
        splits = min(options.splits, max(10, options.splits * 100 // n))
        errors, taken = measure(library, X, Y, n, splits)
        numbers = " ".join(f"{v.mean():>8.3f} ± {of_mean(v):.3f}" for v in errors)
        gained = " ".join(f"{v.mean():>12.2f} ± {of_mean(v):.2f}" for v in gains(errors)[1:])
        print(f"{n:>4} x {TASKS} {numbers} {gained}  {' '.join(f'{value:g}' for value in taken)}", flush=True)
        found.append(errors)
    if options.plot:
        draw(options.plot, options.points, found)
    return verdict(list(claims(options.points, found)))


if __name__ == "__main__":
    sys.exit(main())
