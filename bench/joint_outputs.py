#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""Four related outputs of twenty inputs, learnt by decomposable features and by the exact kernel: tables, plot, and check of
shapes.

Usage: joint_outputs.py LIBMERCER.so [--rows 100 300 ...] [--features 30 100 ...] [--many 10000] [--splits 10] [--plot FILE.png]
tasks, figures 13 and 14 of Brault, d'Alche-Buc, "Random Fourier features for operator-valued kernels" (2016), after Audiffren
and Kadri: x uniform in [0, 1]^20, y_k = w_k'(x1^2, x4^2, x1 x2, x3 x5, x2, x4, 1) with w_k normal of variances (0.5, 0.25, 0.1,
0.05, 0.15, 0.1, 0.15), Gamma the covariance of the outputs. R2 and seconds against rows, R2 against rows for every D. Shapes:
the exact kernel is not below the features for equal rows; the gap closes as D grows; seconds of the exact kernel grow faster
with the rows.
low_rank, section D.2 of Brault, Heinonen, d'Alche-Buc (2016): x uniform in [-1, 1]^20, y a function of 5,000 frequencies with
Gamma of rank 2 and norm 1 and coefficients uniform in (-1, 1), as it is and with normal noise of another covariance of rank 2,
its norm a tenth of that of the outputs' covariance (their number is lost); Gamma is given, D = 10,000. Root mean squares of
errors on rows without noise. Shapes: errors fall with the rows; features are within a tenth of the exact kernel's; with noise
Gamma errs less than independent outputs.
Lengthscales are the median distance, lambda of features by leave-one-out to D = 2,000, else, and of the exact kernel, by
held-out rows.
"""
import sys
import time

import numpy as np

import figure
from experiment import median_distance, options_of, parsed, r2, slope, verdict
from figure import of_mean
from operators import Operators, decomposable, gaussian

LAMBDAS = [10.0**-k for k in range(1, 9)]
OUTPUTS, INPUTS, TESTED = 4, 20, 1000
VARIANCES = np.array([0.5, 0.25, 0.1, 0.05, 0.15, 0.1, 0.15])


def tasks(library, random, n):
    X = random.uniform(size=(n, INPUTS))
    x1, x2, x3, x4, x5 = X[:, :5].T
    parts = np.column_stack([x1**2, x4**2, x1 * x2, x3 * x5, x2, x4, np.ones(n)])
    return X, parts @ (random.normal(size=(OUTPUTS, 7)) * np.sqrt(VARIANCES)).T


def of_rank_two(random):
    root = random.normal(size=(OUTPUTS, 2))
    return root @ root.T / np.linalg.norm(root, 2) ** 2


def low_rank(library, random, n):
    """Rows, outputs, noise of them, and Gamma."""
    X, Gamma = random.uniform(-1, 1, (n, INPUTS)), of_rank_two(random)
    with library.made({**decomposable(Gamma), "kernel": gaussian(median_distance(X[:200])), "inputs": INPUTS, "features": 10000,
                       "seed": int(random.integers(1 << 30))}) as made:
        Y = library.apply(made, X, random.uniform(-1, 1, (library.coefficients(made), 1)), OUTPUTS)
    size = 0.1 * np.linalg.norm(np.cov(Y.T), 2)
    return X, Y, random.multivariate_normal(np.zeros(OUTPUTS), size * of_rank_two(random), n), Gamma


def by_features(library, Gamma, D, X, Y, X_test, seed):
    """Predictions and seconds."""
    start = time.perf_counter()
    choices = {**decomposable(Gamma), "kernel": gaussian(median_distance(X[:200])), "inputs": INPUTS, "features": D, "seed": seed}
    with library.learnt(choices, X, Y) as model:
        taken = time.perf_counter() - start
        return library.predict(model, X_test, OUTPUTS), taken


def by_kernel(library, Gamma, X, Y, X_test, seed):
    """Exact ridge regression, (K + N lambda I) u = y, by numpy: K = k x Gamma, whose eigenvectors are products of theirs."""
    mean, start = Y.mean(0), time.perf_counter()
    spec = {"kernel": gaussian(median_distance(X[:200]))}
    g, V = np.linalg.eigh(Gamma)

    def fits(rows, at):
        """Predictions by lambda."""
        k, U = np.linalg.eigh(library.gram(spec, X[rows], X[rows], 1))
        turned, across = U.T @ (Y - mean)[rows] @ V, library.gram(spec, at, X[rows], 1) @ U
        return lambda value: across @ (turned / (np.outer(k, g) + len(X) * value)) @ (V * g).T + mean

    order = np.random.default_rng(seed).permutation(len(X))
    out = order[:len(X) // 5]
    held = fits(order[len(X) // 5:], X[out])
    found = fits(order, X_test)(min(LAMBDAS, key=lambda value: ((held(value) - Y[out]) ** 2).sum()))
    return found, time.perf_counter() - start


def learn_tasks(library, rows, widths, splits):
    """R2 and seconds by way (every D, then the exact kernel), rows and split."""
    found = np.empty((2, len(widths) + 1, len(rows), splits))
    for seed in range(splits):
        X, Y = tasks(library, np.random.default_rng(seed), max(rows) + TESTED)
        X_test, Y_test = X[max(rows):], Y[max(rows):]
        for place, n in enumerate(rows):
            Gamma = np.cov(Y[:n].T) * OUTPUTS / np.trace(np.cov(Y[:n].T))
            for k, D in enumerate([*widths, None]):
                values, taken = (by_features(library, Gamma, D, X[:n], Y[:n], X_test, seed) if D else
                                 by_kernel(library, Gamma, X[:n], Y[:n], X_test, seed))
                found[:, k, place, seed] = r2(values, Y_test), taken
    return found


NOISY = ("features", "exact kernel", "features, noise", "exact kernel, noise", "independent features, noise")


def learn_low_rank(library, rows, D, splits):
    """Root mean squares of errors by way, rows and split, over that of the outputs."""
    found = np.empty((len(NOISY), len(rows), splits))
    for seed in range(splits):
        X, Y, noise, Gamma = low_rank(library, np.random.default_rng(seed), max(rows) + TESTED)
        X_test, Y_test = X[max(rows):], Y[max(rows):]
        for place, n in enumerate(rows):
            for k in range(len(NOISY)):
                seen = Y[:n] + noise[:n] if k > 1 else Y[:n]
                G = np.eye(OUTPUTS) if k == 4 else Gamma
                values = (by_kernel(library, G, X[:n], seen, X_test, seed) if k in (1, 3) else
                          by_features(library, G, D, X[:n], seen, X_test, seed))[0]
                found[k, place, seed] = np.sqrt(1 - r2(values, Y_test))
    return found


def claims(rows, of_tasks, noisy):
    (score, seconds), errors = of_tasks.mean(3), noisy.mean(2)
    gap = score[-1] - score[:-1]
    bar = of_mean(of_tasks[0][-1] - of_tasks[0][:-1])
    falls = bool((np.diff(errors, axis=1) < 0).all())
    ratios = (noisy[[0, 2]] / noisy[[1, 3]]).reshape(-1, noisy.shape[2])
    more = of_mean(ratios[ratios.mean(1).argmax()])
    return [("tasks: the exact kernel's R2 is not below that of features for equal rows, to two standard errors",
             bool((gap > -2 * bar).all()), f"R2 {score[-1, -1]:.3f}; features " + ", ".join(f"{value:.3f}" for value in score[:-1, -1])),
            ("tasks: the gap closes as D grows, at the most rows to less than a fifth", gap[-1, -1] < gap[0, -1] / 5, f"{gap[0, -1]:.4f} to {gap[-1, -1]:.4f}"),
            ("tasks: seconds of the exact kernel grow faster with the rows than those of any D",
             all(slope(rows, seconds[-1]) > slope(rows, way) for way in seconds[:-1]),
             f"as n^{slope(rows, seconds[-1]):.1f}; features n^" + ", ".join(f"{slope(rows, way):.1f}" for way in seconds[:-1])),
            ("low_rank: errors fall with the rows", falls),
            ("low_rank: features err at most a tenth more than the exact kernel, with and without noise",
             bool((errors[[0, 2]] < 1.1 * errors[[1, 3]]).all()), f"at most {np.max(errors[[0, 2]] / errors[[1, 3]]):.3f} ± {more:.3f} times"),
            ("low_rank: with noise Gamma errs less than independent outputs at every number of rows",
             bool((errors[2] < errors[4]).all()), ", ".join(f"{a:.3f} against {b:.3f}" for a, b in zip(errors[2], errors[4])))]


def draw(path, rows, widths, of_tasks, noisy, many):
    chart, axes = figure.subplots(1, 3, width=4.6, height=3.8)
    names = [f"features, D = {D:,}" for D in widths] + ["exact kernel"]
    bars = f"\n{noisy.shape[2]} splits, bars: standard error"
    figure.curves(axes[0][0], rows, dict(zip(names, of_tasks[0])), "rows", "R2", f"tasks{bars}", True)
    figure.curves(axes[0][1], rows, dict(zip(names, of_tasks[1])), "rows", "seconds, with the search", f"tasks{bars}")
    figure.curves(axes[0][2], rows, dict(zip(NOISY, noisy)), "rows", "error over the outputs' deviation",
                  f"low_rank, D = {many:,}{bars}")
    axes[0][0].legend(fontsize=7)
    figure.save(chart, axes[0][2], path, 80)


def table(rows, names, values, title):
    print(f"{title:<30} " + " ".join(f"{n:>16,}" for n in rows))
    for name, line in zip(names, values):
        print(f"{name:<30} " + " ".join(f"{v.mean():>7.4f} ± {of_mean(v):.4f}" for v in line), flush=True)


def main():
    parser = options_of(__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[100, 300, 1000])
    parser.add_argument("--features", type=int, nargs="+", default=[30, 100, 300, 1000, 2000])
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--many", type=int, default=10000, help="features of low_rank")
    options = parsed(parser, several=("rows", "features", "splits"), rows=[100, 300], features=[30, 100, 300, 1000], many=3000, splits=3)
    library, rows, widths = Operators(options.library), options.rows, options.features
    of_tasks = learn_tasks(library, rows, widths, options.splits)
    names = [f"features, D = {D:,}" for D in widths] + ["exact kernel"]
    table(rows, names, of_tasks[0], "tasks, R2 by rows")
    table(rows, names, of_tasks[1], "tasks, seconds by rows")
    noisy = learn_low_rank(library, rows, options.many, options.splits)
    table(rows, NOISY, noisy, "low_rank, error by rows")
    if options.plot:
        draw(options.plot, rows, widths, of_tasks, noisy, options.many)
    return verdict(claims(rows, of_tasks, noisy))


if __name__ == "__main__":
    sys.exit(main())
