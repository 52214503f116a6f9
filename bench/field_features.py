#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""Generated fields learnt by curl-free and divergence-free features, by independent ones and by the exact kernels: tables, plot,
and check of the shapes.

Usage: field_features.py LIBMERCER.so [--fields wells vortices five] [--rows 100 300 1000] [--features 100 300 ...] [--splits 3] [--plot FILE.png]
wells, figure 4 of Brault, Heinonen, d'Alche-Buc, "Random Fourier features for operator-valued kernels" (2016): the gradient of
five Gaussians of width 0.4, three up at (0, 0), (0, 1), (0, -1) and two down at (1, 0), (-1, 0) (numbers are ours, the paper's
text has lost them), known at 200 and at 1,000 points of [-2, 2]^2 with noise of a tenth of the deviation; squared error over
variance against D, lengthscale and lambda by the library's search. At equal D curl-free features have half the coefficients of
independent ones; independent, D/2 has as many. Shape: curl-free features tend more quickly to the level of the noise with D, as the
paper has it, and err less for equal coefficients.
vortices: the same field turned by a right angle, which has no sources, by divergence-free features (the orthonormal root).
five, figure 12 of Brault, d'Alche-Buc (2016): the gradient in [-1, 1]^5 of 100 random Fourier features of lengthscale 0.4 with
normal coefficients; R2 and seconds against rows, D = 1,000, and R2 against D for the second number of rows; lengthscale the
median distance, as there, and 0.4; lambda by the search, of exact kernels by held-out rows. Exact kernels to as many. Shapes: R2 of curl-free features is above
that of independent ones at every number of rows; it comes near the exact one's with D; seconds of the exact kernel grow faster
with the rows.
"""
import sys

import numpy as np

import figure
from experiment import median_distance, options_of, parsed, slope, timed, verdict
from figure import of_mean
from operators import Operators, decomposable, gaussian

LAMBDAS = [10.0**-k for k in range(1, 6)]
WAYS = ("curl_free", "independent")
OWN = {"wells": "curl_free", "vortices": "divergence_free"}  # the features that know the field
NOISE = 0.1
TESTED, FIXED_D = 1000, 1000


def gradient(X):
    centres, heights = np.array([[0, 0], [0, 1], [0, -1], [1, 0], [-1, 0]]), np.array([1, 1, 1, -1, -1])
    away = X[:, None] - centres
    bumps = heights * np.exp(-(away**2).sum(2) / (2 * 0.4**2))
    return -(bumps[:, :, None] * away).sum(1) / 0.4**2


def wells(library, random, n):
    X = random.uniform(-2, 2, (n, 2))
    field = gradient(X)
    return X, field + NOISE * field.std() * random.normal(size=field.shape)


def vortices(library, random, n):
    X, field = wells(library, random, n)
    return X, np.ascontiguousarray(field[:, ::-1] * [1, -1])


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
    spec = {"curl_free": {"operator": "curl_free"}, "divergence_free": {"operator": "divergence_free", "root": "orthonormal"}}.get(way) or decomposable(np.eye(d))
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


def learn_planar(library, name, widths, n, splits):
    """Errors by way (the field's own, independent, independent with half the features), D and split."""
    errors = np.empty((3, len(widths), splits))
    for seed in range(splits):
        X, Y, X_test, Y_test = split(library, wells if name == "wells" else vortices, n, seed)
        for place, D in enumerate(widths):
            for k, (way, share) in enumerate(((OWN[name], 1), ("independent", 1), ("independent", 2))):
                found = by_features(library, way, D // share // 2 * 2, None, X, Y, X_test, seed)
                errors[k, place, seed] = error_of(found, Y_test)
    return errors


def learn_five(library, n, D, median, splits, exact):
    """R2 and seconds by way (features, then exact kernels, NaN where not asked for) and split."""
    found = np.full((2, 4, splits), np.nan)
    for seed in range(splits):
        X, Y, X_test, Y_test = split(library, five, n, seed)
        lengthscale = median_distance(X[:200]) if median else 0.4
        for k, way in enumerate((*WAYS, *(WAYS if exact else ()))):
            values, seconds = timed(lambda: by_features(library, way, D, lengthscale, X, Y, X_test, seed) if k < 2 else
                                    by_kernel(library, way, lengthscale, X, Y, X_test, seed))
            found[:, k, seed] = 1 - error_of(values, Y_test), seconds
    return found


NAMES = (*WAYS, "curl_free kernel", "independent kernel")


def planar_claims(name, n, widths, errors):
    own, independent, as_many = errors.mean(2)
    falls = [slope(widths, one - NOISE**2) for one in (own, independent)]
    features = OWN[name].replace("_", "-")
    return [(f"{name}, {n:,} points: {features} features tend more quickly to the level of the noise with D, and end nearer to it", falls[0] < falls[1] and own[-1] < independent[-1],
             f"above it as D^{falls[0]:.2f} against D^{falls[1]:.2f}; errors {numbers(own, independent)}"),
            (f"{name}, {n:,} points: they err less for equal coefficients", bool((own < as_many).all()), numbers(own, as_many))]


def numbers(low, high):
    return ", ".join(f"{a:.3g} against {b:.3g}" for a, b in zip(low, high))


def five_claims(name, rows, by_rows, by_width):
    """by_rows and by_width: sizes, (R2, seconds), ways, splits."""
    means = by_rows.mean(3)
    gap = means[1, 0, 2] - by_width[:, 0, 0].mean(1)
    seconds = means[:2, 1]
    return [(f"five, {name}: R2 of curl-free features is above independent ones at every number of rows",
             bool((means[:, 0, 0] > means[:, 0, 1]).all()), numbers(means[:, 0, 0], means[:, 0, 1])),
            (f"five, {name}: the gap to the exact kernel at the largest D is less than half of that at the least",
             gap[-1] < gap[0] / 2, f"{gap[0]:.3f}, {gap[-1]:.3f}"),
            (f"five, {name}: seconds of the exact kernel grow faster with the rows than those of features",
             slope(rows[:2], seconds[:, 2]) > slope(rows[:2], seconds[:, 0]), f"seconds by rows {numbers(seconds[:, 2], seconds[:, 0])}")]


def arrows(axis, name):
    """The field without noise, as in figures 1 and 2."""
    X = np.stack(np.meshgrid(*[np.linspace(-2, 2, 21)] * 2), -1).reshape(-1, 2)
    field = np.array(gradient(X))
    u, v = (field if name == "wells" else field[:, ::-1] * [1, -1]).T
    axis.quiver(*X.T, u, v, width=0.004)
    axis.set(title=f"{name}: {'gradient' if name == 'wells' else 'divergence-free twin'}", aspect="equal")


def draw(path, rows, widths, planar, of_five, splits):
    bars = f"\n{splits} splits, bars: standard error"
    names = list(dict.fromkeys(name for name, _ in planar))
    panels = [lambda axis, name=name: arrows(axis, name) for name in names]

    def of_planar(axis, key):
        (name, n), errors = key, planar[key]
        figure.curves(axis, widths[:-1], dict(zip((OWN[name], "independent", "independent, D/2"), errors)), "D", "squared error / variance",
                      f"{name}, {n:,} points{bars}")
        axis.axhline(NOISE**2, color="black", linewidth=0.8)
        axis.legend(fontsize=7)

    def of_rows(axis, name, which, ylabel):
        figure.curves(axis, rows, dict(zip(NAMES, of_five[name][0].transpose(1, 2, 0, 3)[which])), "rows", ylabel, f"five, {name}\nD = {FIXED_D:,}", which == 0)
        axis.legend(fontsize=7)

    def of_widths(axis, name):
        figure.curves(axis, widths, dict(zip(WAYS, of_five[name][1].transpose(1, 2, 0, 3)[0])), "D", "R2",
                      f"five, {name}\n{rows[1]} rows; line: curl-free kernel", True)
        axis.axhline(of_five[name][0][1, 0, 2].mean(), color="black", linewidth=0.8)
        axis.legend(fontsize=7)
    panels += [lambda axis, key=key: of_planar(axis, key) for key in planar]
    for name in of_five:
        panels += [lambda axis, name=name: of_rows(axis, name, 0, "R2"), lambda axis, name=name: of_rows(axis, name, 1, "seconds, with the search"),
                   lambda axis, name=name: of_widths(axis, name)]
    columns = min(len(panels), 4)
    chart, axes = figure.subplots(-(-len(panels) // columns), columns, width=3.9, height=3.5)
    for axis, panel in zip(axes.flat, panels):
        panel(axis)
    for axis in axes.flat[len(panels):]:
        axis.set_axis_off()
    chart.tight_layout()
    figure.write(chart, path, 60)


def table(name, sizes, values, unit):
    for size, line in zip(sizes, values):
        print(f"{name:<22} {size:>6} {unit} " + " ".join(f"{v.mean():>10.4f} ± {of_mean(v):.4f}" for v in line), flush=True)


def main():
    parser = options_of(__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[100, 300, 1000])
    parser.add_argument("--features", type=int, nargs="+", default=[100, 300, 1000, 3000], help="the last for five alone")
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--points", type=int, nargs="+", default=[200, 1000], help="of wells and vortices")
    parser.add_argument("--fields", nargs="+", choices=[*OWN, "five"], default=[*OWN, "five"])
    options = parsed(parser, several=("rows", "features", "splits"), points=[200], rows=[100, 300], features=[100, 300, 1000], splits=2)
    library, rows, widths, splits = Operators(options.library), options.rows, options.features, options.splits
    if len(widths) < 3 and set(options.fields) & set(OWN):
        parser.error("--features: at least 3, two of them for wells and vortices")
    planar, of_five, found = {}, {}, []
    for name in (name for name in OWN if name in options.fields):
        for n in options.points:
            planar[name, n] = learn_planar(library, name, widths[:-1], n, splits)
            table(f"{name}, {n:,} points", widths[:-1], planar[name, n].transpose(1, 0, 2), "D   ")
            found += planar_claims(name, n, widths[:-1], planar[name, n])
    for median, name in ((True, "median distance"), (False, "lengthscale 0.4")) if "five" in options.fields else ():
        by_rows = np.array([learn_five(library, n, FIXED_D, median, splits, n <= rows[1]) for n in rows])
        by_width = np.array([learn_five(library, rows[1], D, median, splits, False) for D in widths])
        table(f"five, {name}", rows, by_rows[:, 0], "rows")
        table("  seconds", rows, by_rows[:, 1], "rows")
        table("", widths, by_width[:, 0, :2], "D   ")
        of_five[name] = by_rows, by_width
        found += five_claims(name, rows, by_rows, by_width)
    if options.plot:
        draw(options.plot, rows, widths, planar, of_five, splits)
    return verdict(found)


if __name__ == "__main__":
    sys.exit(main())
