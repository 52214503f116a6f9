#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""Generated gradient fields learnt by curl-free features, by independent ones and by the exact kernels: tables, plot, and check
of the shapes.

Usage: field_features.py LIBMERCER.so [--rows 100 300 1000] [--features 100 300 ...] [--splits 3] [--plot field_features.png]
wells, figure 4 of Brault, Heinonen, d'Alche-Buc, "Random Fourier features for operator-valued kernels" (2016): the gradient of
five Gaussians of width 0.4, three up at (0, 0), (0, 1), (0, -1) and two down at (1, 0), (-1, 0) (numbers are ours, the paper's
text has lost them), known at 200 and at 1,000 points of [-2, 2]^2 with noise of a tenth of the deviation; squared error over
variance against D, lengthscale and lambda by the library's search. At equal D curl-free features have half the coefficients of
independent ones; independent, D/2 has as many. Shape: curl-free features err less at every D, and for equal coefficients.
five, figure 12 of Brault, d'Alche-Buc (2016): the gradient in [-1, 1]^5 of 100 random Fourier features of lengthscale 0.4 with
normal coefficients; R2 and seconds against rows, D = 1,000, and R2 against D for the second number of rows; lengthscale the
median distance, as there, and 0.4; lambda by the search, of exact kernels by held-out rows. Exact kernels to as many. Shapes: R2 of curl-free features is above
that of independent ones at every number of rows; it comes near the exact one's with D; seconds of the exact kernel grow faster
with the rows.
"""
import sys
import time

import numpy as np

import figure
from figure import of_mean
from operators import Operators, arguments, decomposable, gaussian, parsed, slope, verdict

LAMBDAS = [10.0**-k for k in range(1, 6)]
WAYS = ("curl_free", "independent")
WELL_WAYS = (*WAYS, "independent, D/2")
NOISE = 0.1
TESTED, FIXED_D = 1000, 1000


def wells(library, random, n):
    X = random.uniform(-2, 2, (n, 2))
    centres, heights = np.array([[0, 0], [0, 1], [0, -1], [1, 0], [-1, 0]]), np.array([1, 1, 1, -1, -1])
    away = X[:, None] - centres
    bumps = heights * np.exp(-(away**2).sum(2) / (2 * 0.4**2))
    field = -(bumps[:, :, None] * away).sum(1) / 0.4**2
    return X, field + NOISE * field.std() * random.normal(size=field.shape)


def five(library, random, n):
    """Phi'theta of curl-free features is the gradient of a sum of scalar features with these coefficients, but for signs."""
    X = random.uniform(-1, 1, (n, 5))
    with library.made({"operator": "curl_free", "kernel": gaussian(0.4), "inputs": 5, "features": 200,
                       "seed": int(random.integers(1 << 30))}) as made:
        return X, library.apply(made, X, random.normal(size=(library.coefficients(made), 1)), 5)


def split(library, field, n, seed):
    """Training and test rows in units of the field's deviation."""
    X, Y = field(library, np.random.default_rng(seed), n + TESTED)
    return X[:n], Y[:n] / Y.std(), X[n:], Y[n:] / Y.std()


def kernel_of(way, lengthscale, d):
    spec = {"operator": "curl_free"} if way == "curl_free" else decomposable(np.eye(d))
    return {**spec, "kernel": gaussian(lengthscale)} if lengthscale else spec


def by_features(library, way, D, lengthscale, X, Y, X_test, seed):
    """Predictions; no lengthscale: it is searched."""
    choices = {**kernel_of(way, lengthscale, X.shape[1]), "inputs": X.shape[1], "features": D, "seed": seed}
    with library.learnt(choices, X, Y) as model:
        return library.predict(model, X_test, X.shape[1])


def by_kernel(library, way, lengthscale, X, Y, X_test, seed):
    """Predictions of exact ridge regression; lambda in units of K(0)."""
    spec = kernel_of(way, lengthscale, X.shape[1])
    shifts = [len(X) * x * (lengthscale**-2 if way == "curl_free" else 1) for x in LAMBDAS]
    held, kept = np.split(np.random.default_rng(seed).permutation(len(X)), [len(X) // 5])
    errors = [((found - Y[held]) ** 2).sum() for found in library.exact(spec, X[kept], Y[kept], shifts, X[held])]
    return library.exact(spec, X, Y, [shifts[int(np.argmin(errors))]], X_test)[0]


def error_of(found, Y):
    return ((found - Y) ** 2).sum() / (Y**2).sum()


def learn_wells(library, widths, n, splits):
    """Errors by way, D and split."""
    errors = np.empty((len(WELL_WAYS), len(widths), splits))
    for seed in range(splits):
        X, Y, X_test, Y_test = split(library, wells, n, seed)
        for place, D in enumerate(widths):
            for k, (way, share) in enumerate(zip((*WAYS, WAYS[1]), (1, 1, 2))):
                found = by_features(library, way, D // share // 2 * 2, None, X, Y, X_test, seed)
                errors[k, place, seed] = error_of(found, Y_test)
    return errors


def learn_five(library, n, D, median, splits, exact):
    """R2 and seconds by way (features, then exact kernels, NaN where not asked for) and split."""
    found = np.full((2, 4, splits), np.nan)
    for seed in range(splits):
        X, Y, X_test, Y_test = split(library, five, n, seed)
        distances = np.sqrt(((X[:200, None] - X[:200]) ** 2).sum(2))
        lengthscale = np.median(distances[np.triu_indices(len(distances), 1)]) if median else 0.4
        for k, way in enumerate((*WAYS, *(WAYS if exact else ()))):
            start = time.perf_counter()
            values = (by_features(library, way, D, lengthscale, X, Y, X_test, seed) if k < 2 else
                      by_kernel(library, way, lengthscale, X, Y, X_test, seed))
            found[:, k, seed] = 1 - error_of(values, Y_test), time.perf_counter() - start
    return found


NAMES = (*WAYS, "curl_free kernel", "independent kernel")


def well_claims(n, errors):
    curl_free, independent, as_many = errors.mean(2)
    return [(f"wells, {n:,} points: curl-free features err less at every D", bool((curl_free < independent).all())),
            (f"wells, {n:,} points: they err less for equal coefficients", bool((curl_free < as_many).all()))]


def five_claims(name, rows, by_rows, by_width):
    """by_rows and by_width: sizes, (R2, seconds), ways, splits."""
    means = by_rows.mean(3)
    gap = means[1, 0, 2] - by_width[:, 0, 0].mean(1)
    seconds = means[:2, 1]
    return [(f"five, {name}: R2 of curl-free features is above independent ones at every number of rows",
             bool((means[:, 0, 0] > means[:, 0, 1]).all())),
            (f"five, {name}: the gap to the exact kernel at the largest D is less than half of that at the least",
             gap[-1] < gap[0] / 2),
            (f"five, {name}: seconds of the exact kernel grow faster with the rows than those of features",
             slope(rows[:2], seconds[:, 2]) > slope(rows[:2], seconds[:, 0]))]


def draw(path, rows, widths, of_wells, of_five, splits):
    chart, axes = figure.subplots(2, 4, width=3.9, height=3.5)
    bars = f"\n{splits} splits, bars: standard error"
    for axis, (n, errors) in zip(axes[0], of_wells.items()):
        figure.curves(axis, widths[:-1], dict(zip(WELL_WAYS, errors)), "D", "squared error / variance",
                      f"wells, {n:,} points{bars}")
        axis.axhline(NOISE**2, color="black", linewidth=0.8)
        axis.legend(fontsize=7)
    for column, (name, (by_rows, by_width)) in enumerate(of_five.items()):
        per_way = by_rows.transpose(1, 2, 0, 3)
        figure.curves(axes[0][2 + column], rows, dict(zip(NAMES, per_way[0])), "rows", "R2",
                      f"five, {name}\nD = {FIXED_D:,}", True)
        figure.curves(axes[1][column], widths, dict(zip(WAYS, by_width.transpose(1, 2, 0, 3)[0])), "D", "R2",
                      f"five, {name}\n{rows[1]} rows; line: curl-free kernel", True)
        axes[1][column].axhline(per_way[0, 2, 1].mean(), color="black", linewidth=0.8)
        figure.curves(axes[1][2 + column], rows, dict(zip(NAMES, per_way[1])), "rows", "seconds, with the search",
                      f"five, {name}")
    figure.save(chart, axes[0][3], path, 70)


def table(name, sizes, values, unit):
    for size, line in zip(sizes, values):
        print(f"{name:<22} {size:>6} {unit} " + " ".join(f"{v.mean():>10.4f} ± {of_mean(v):.4f}" for v in line), flush=True)


def main():
    parser = arguments(__doc__, [100, 300, 1000, 3000], "the last for five alone")
    parser.add_argument("--points", type=int, nargs="+", default=[200, 1000], help="of the wells")
    options = parsed(parser)
    library, rows, widths, splits = Operators(options.library), options.rows, options.features, options.splits
    of_wells, of_five, found = {}, {}, []
    for n in options.points:
        of_wells[n] = learn_wells(library, widths[:-1], n, splits)
        table(f"wells, {n:,} points", widths[:-1], of_wells[n].transpose(1, 0, 2), "D   ")
        found += well_claims(n, of_wells[n])
    for median, name in ((True, "median distance"), (False, "lengthscale 0.4")):
        by_rows = np.array([learn_five(library, n, FIXED_D, median, splits, n <= rows[1]) for n in rows])
        by_width = np.array([learn_five(library, rows[1], D, median, splits, False) for D in widths])
        table(f"five, {name}", rows, by_rows[:, 0], "rows")
        table("  seconds", rows, by_rows[:, 1], "rows")
        table("", widths, by_width[:, 0, :2], "D   ")
        of_five[name] = by_rows, by_width
        found += five_claims(name, rows, by_rows, by_width)
    if options.plot:
        draw(options.plot, rows, widths, of_wells, of_five, splits)
    return verdict(found)


if __name__ == "__main__":
    sys.exit(main())
