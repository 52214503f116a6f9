#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""Kernel error of a grid of frequencies and of drawn ones, for few inputs: table, plot, and check of the bound. And whether sums of
grids serve more inputs than one grid does.

Usage: grid.py LIBMERCER.so [--features 100 288 ...] [--seeds 5] [--plot grid.png]
       grid.py LIBMERCER.so --data DIR [--sets kin8nm ...] [--lengthscales 0.5 ...]
       grid.py LIBMERCER.so --rows 100000 1000000 10000000 [--features 200000] [--process]
Rows are uniform in the unit box; for each kernel and D the root mean square of k~ - k over pairs of 300 rows by projections grid,
sobol and dense (their mean over seeds), beside the largest error of the grid and the bound that its spec says. The exit code is 1 if an
error exceeds its bound. With --data the second table: ridge on a grid for each input and each pair of inputs, side by side, against
Fourier features of all inputs with as many columns, the Gaussian kernel of standardised inputs; lengthscale and lambda by a fifth
of up to 8,000 rows, the R^2 that is printed by another fifth. With --rows the third: ridge by conjugate gradients without Z'Z, Matern 3/2 of two
inputs, a smooth function and noise of 0.1; seconds of the fit and of 100,000 predictions, beside those of a sum over the rows' numbers. With
--process a Gaussian process beside it: seconds of its fit and of 10,000 variances, their standard error as the report has it, and the share of
new values of the function within two deviations.
"""
import itertools
import sys

import numpy as np

import figure
from experiment import options_of, parsed, standardised, table, timed
from library import Library
from operators import gaussian

CASES = {"gaussian, d = 2, l = 0.1": (2, {"kernel": "gaussian", "lengthscale": 0.1}),
         "gaussian, d = 3, l = 0.3": (3, {"kernel": "gaussian", "lengthscale": 0.3}),
         "matern 5/2, d = 2, l = 0.3": (2, {"kernel": "matern", "nu": 2.5, "lengthscale": 0.3})}
DRAWN = ("sobol", "dense")
COLUMNS = (8, 16), (16, 32), (24, 72)  # of a grid of one input, of a pair


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


def features(library, spec, X):
    made, why = library.map({"map": "fourier", "inputs": X.shape[1], **spec})
    assert made, why
    Z = np.empty((len(X), spec["features"]))
    library.apply(made, X, Z)
    library.free(made)
    return Z


def sums_of_grids(library, X, lengthscale, columns):
    d, width = X.shape[1], np.ptp(X, axis=0)
    parts = []
    for count, D in zip((1, 2), columns):
        sets = [list(one) for one in itertools.combinations(range(d), count)]
        parts += [features(library, {"projection": "grid", "diameter": list(width[one]), "kernel": gaussian(lengthscale), "features": D},
                           np.ascontiguousarray(X[:, one])) / np.sqrt(len(sets)) for one in sets]
    return np.hstack(parts)


def score(Z, y):
    """Error of the rows that choose, of the best lambda, and R^2 of others."""
    (Z, chooses, new), (y, y_chooses, y_new) = (np.split(A, [3 * len(A) // 5, 4 * len(A) // 5]) for A in (Z, y))
    mean, (s, V) = y.mean(), np.linalg.eigh(Z.T @ Z)
    cross, found = V.T @ (Z.T @ (y - mean)), []
    for penalty in len(y) * 10.0 ** np.arange(-9, 0):
        w = V @ (cross / (s + penalty))
        error, error_new = (((A @ w + mean - b) ** 2).mean() for A, b in ((chooses, y_chooses), (new, y_new)))
        found.append((error, 1 - error_new / y_new.var()))
    return min(found)


def sums(library, asked):
    """The table of sums of grids."""
    print(f"{'set':<12} {'D':>6} {'grids':>8} " + " ".join(f"{name:>8}" for name in DRAWN))
    for name in asked.sets:
        X, y = table(asked.data, name, 1, 8000)
        X, y, d = standardised(X), y / y.std(), X.shape[1]
        for columns in COLUMNS:
            D = d * columns[0] + d * (d - 1) // 2 * columns[1]
            routes = [lambda length: sums_of_grids(library, X, length, columns)]
            routes += [lambda length, projection=projection: features(library, {
                "projection": projection, "kernel": gaussian(length), "features": D, "seed": 1}, X) for projection in DRAWN]
            found = [min(score(made(length), y) for length in asked.lengthscales)[1] for made in routes]
            print(f"{name:<12} {D:6,} " + " ".join(f"{one:8.4f}" for one in found))


def truth(X):
    return np.sin(9 * X[:, 0] + 4 * X[:, 1]) * np.cos(11 * X[:, 1])


def process(library, spec, X, y, new):
    """Seconds of a process's fit and of its variances, their relative standard error, and coverage."""
    model, fitting = timed(lambda: library.fit_model({**spec, "model": "gp"}, X, y[:, None]))
    variance, took = timed(lambda: library.predict(model, new, 1, "latent_variance"))
    inside = (abs(library.predict(model, new, 1)[:, 0] - truth(new)) < 2 * np.sqrt(variance[:, 0])).mean()
    return fitting, took, library.said(model, b"report")["variance_error"], inside


def many(library, counts, D, processes):
    """The table of many rows."""
    print(f"{'rows':>12} {'D':>8} {'pass':>8} {'fit':>8} {'steps':>6} {'predict':>8} {'error':>9}")
    generator = np.random.default_rng(1)
    new = generator.random((100_000, 2))
    for n in counts:
        X = generator.random((n, 2))
        y = truth(X) + 0.1 * generator.standard_normal(n)
        _, summing = timed(lambda: X.sum() + y.sum())
        spec = {"search": False, "solver": "cg", "lambda": 0.01 / n, "map": {
            "map": "fourier", "projection": "grid", "features": D, "kernel": {"kernel": "matern", "nu": 1.5, "lengthscale": 0.5}}}
        model, fitting = timed(lambda: library.fit_model({**spec, "model": "ridge"}, X, y[:, None]))
        scores, predicting = timed(lambda: library.predict(model, new, 1))
        steps = library.said(model, b"report")["solver"]["iterations"]
        error = np.sqrt(((scores[:, 0] - truth(new)) ** 2).mean())
        print(f"{n:12,} {D:8,} {summing:8.3f} {fitting:8.2f} {steps:6} {predicting:8.3f} {error:9.2e}", flush=True)
        if processes:
            took, variances, error, inside = process(library, spec, X, y, new[:10_000])
            print(f"{'process':>12} fit {took:.2f}, 10,000 variances {variances:.2f}, of error {error:.3f}; {inside:.3f} inside", flush=True)
        library.model_free(model)


def main():
    parser = options_of(__doc__, data="optional")
    parser.add_argument("--sets", nargs="+", default=["kin8nm", "power_plant"])
    parser.add_argument("--lengthscales", type=float, nargs="+", default=[0.5, 0.7, 1, 1.5, 2, 3, 5, 8])
    parser.add_argument("--features", type=int, nargs="+", default=[100, 288, 840, 2000])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--rows", type=int, nargs="+")
    parser.add_argument("--process", action="store_true")
    options = parsed(parser, features=[100, 288], seeds=2, lengthscales=[1, 3])
    library, found = Library(options.library), {}
    if options.data:
        return sums(library, options)
    if options.rows:
        return many(library, options.rows, max(options.features), options.process)
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
