#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""Ridge regression on random features of the spline kernel learns at the rate of the kernel itself, from few features.

Usage: spline.py LIBMERCER.so [--figures 1 rates] [--rows 100 200 ...] [--seeds 10] [--plot spline.png]
1 is figure 1 of Rudi, Rosasco, "Generalization properties of learning with random features" (2017): by the bound "ridge", the
exponents c of the M = n^c features that suffice, over r and gamma, with alpha = 1 and alpha = gamma. rates is after its numerical results.
With Lambda_q(x, z) = 1 + sum_{k >= 1} 2 cos(2 pi k (x - z))/k^q on [0, 1], the kernel spline, the features
psi(w, x) = Lambda_{1/(2 gamma)}(x, w), w uniform, are of the kernel Lambda_{1/gamma}; all their leverages are equal by symmetry,
so that F_inf(lambda) = N(lambda) and alpha = gamma. The target is Lambda_{r/gamma + 1/2}(x, 0), its noise has deviation 1/2.
lambda and M are those of the bound "ridge"; the excess risk is the mean squared error on a grid, its slope -2r/(2r + gamma).
The fewest features: the least M = 1, 2, 3, ... (steps of a tenth) whose mean error over seeds is at most twice that of the
kernel; theory gives its exponent. Best lambda: that of least mean risk over seeds with M features, its slope
-1/(2r + gamma). N(lambda) and F_inf(lambda) come from sums (mercer_ridge_leverage).
"""
import json
import sys

import numpy as np

import figure
from experiment import options_of, parsed, slope, verdict
from library import matrix, rows
from operators import Operators

CASES = {"r = 11/16, gamma = 1/8": (11 / 16, 1 / 8), "r = 7/8, gamma = 1/4": (7 / 8, 1 / 4)}
GRID = np.arange(4096)[:, None] / 4096
LAMBDAS = 10.0 ** np.arange(-5, 0.01, 0.125)
ORIGIN = np.zeros((1, 1))
REGULARITIES, SIZES = np.linspace(0.5, 1, 11), np.linspace(0, 1, 11)  # r, gamma


class Library(Operators):
    def spline(self, q, x, z):
        """Lambda_q of all pairs. The kernel's value at x = z is its variance, 1 + 2 zeta(q)."""
        k = np.arange(1.0, 1000)
        zeta = np.sum(k**-q) + 1000.0 ** (1 - q) / (q - 1) + 0.5 * 1000.0**-q + q * 1000.0 ** (-q - 1) / 12
        return self.gram({"kernel": {"kernel": "spline", "order": q, "variance": 1 + 2 * zeta}}, np.ascontiguousarray(x), np.ascontiguousarray(z), 1)


class Ridge:
    """Sums over rows of features, and what is made of them."""

    def __init__(self, library, Z, Y):
        self.library, self.features = library, Z.shape[1]
        sums = library.make("statistics_create", self.features, 1)
        library.statistics_add(sums, 1, rows(Z), rows(Y), None)
        self.ridge = library.make("ridge_create", sums, 0, None)
        library.statistics_free(sums)

    def __del__(self):
        self.library.ridge_free(self.ridge)

    def weights(self, penalty):
        w, b = np.empty((self.features, 1)), np.empty((1, 1))
        self.library.ridge_solve(self.ridge, penalty, matrix(w), matrix(b))
        return w

    def leverage(self, penalty):
        scores = np.empty((1, self.features))
        self.library.ridge_leverage(self.ridge, penalty, matrix(scores))
        return scores[0]


def guidance(library, n, r, gamma, alpha=None):
    asked = {"bound": "ridge", "rows": n, "r": r, "gamma": gamma, "alpha": gamma if alpha is None else alpha}
    return json.loads(library.text("bound", json.dumps(asked).encode()))


def target(library, X, r, gamma):
    return library.spline(round(r / gamma + 0.5), X, ORIGIN)


def problem(library, n, r, gamma, seed):
    random = np.random.default_rng([seed, n])
    X = random.uniform(size=(n, 1))
    return X, target(library, X, r, gamma) + 0.5 * random.normal(size=(n, 1)), random


def features(library, X, places, gamma):
    return np.ascontiguousarray(library.spline(round(1 / (2 * gamma)), X, places) / np.sqrt(len(places)))


def risks(library, n, M, penalties, r, gamma, seed):
    """Of features, by lambda."""
    X, Y, random = problem(library, n, r, gamma, seed)
    places = random.uniform(size=(M, 1))
    ridge, across = Ridge(library, features(library, X, places, gamma), Y), features(library, GRID, places, gamma)
    w = np.hstack([ridge.weights(penalty) for penalty in penalties])
    return np.mean((across @ w - target(library, GRID, r, gamma)) ** 2, 0)


def of_kernel(library, n, penalty, r, gamma, seed):
    X, Y, _ = problem(library, n, r, gamma, seed)
    q = round(1 / gamma)
    found = library.spline(q, GRID, X) @ np.linalg.solve(library.spline(q, X, X) + n * penalty * np.eye(n), Y)
    return float(np.mean((found - target(library, GRID, r, gamma)) ** 2))


def fewest(library, n, penalty, r, gamma, seeds, enough):
    M = 1
    while np.mean([risks(library, n, M, [penalty], r, gamma, seed) for seed in range(seeds)]) > enough:
        M = max(M + 1, round(1.1 * M))
    return M


def dimensions(library, n, penalty, gamma):
    """N and F_inf by 400 features, and the closed form of both."""
    random = np.random.default_rng(3)
    X = random.uniform(size=(n, 1))
    scores = Ridge(library, features(library, X, random.uniform(size=(400, 1)), gamma), X.copy()).leverage(penalty)
    eigenvalues = np.arange(1.0, 1e5) ** (-1 / gamma)
    return scores.sum(), 400 * scores.max(), 1 / (1 + penalty) + 2 * np.sum(eigenvalues / (eigenvalues + penalty))


def measured(library, name, numbers, seeds):
    r, gamma = CASES[name]
    found = []
    print(f"{name}\n{'n':>7} {'lambda':>9} {'M':>5} {'risk':>10} {'of kernel':>10} {'fewest':>7} {'N':>6} {'F_inf':>6} {'exact':>6} {'best lambda':>11} {'its risk':>10}")
    for n in numbers:
        told = guidance(library, n, r, gamma)
        penalty, M = told["lambda"], told["frequencies"]
        by_lambda = np.mean([risks(library, n, M, [penalty, *LAMBDAS], r, gamma, seed) for seed in range(seeds)], 0)
        mine, best = by_lambda[0], int(by_lambda[1:].argmin())
        exact = np.mean([of_kernel(library, n, penalty, r, gamma, seed) for seed in range(seeds)])
        least = fewest(library, n, penalty, r, gamma, seeds, 2 * exact)
        N, F, closed = dimensions(library, n, penalty, gamma)
        found.append((n, mine, exact, M, least, N, F, closed, LAMBDAS[best], by_lambda[1 + best], penalty))
        print(f"{n:7,} {penalty:9.5f} {M:5} {mine:10.6f} {exact:10.6f} {least:7} {N:6.2f} {F:6.2f} {closed:6.2f} {LAMBDAS[best]:11.5f} {by_lambda[1 + best]:10.6f}", flush=True)
    return np.array(found).T, told


def claims(name, found, told):
    n, mine, exact, _, least, N, F, closed, best, risk, _ = found
    rate, of_kernel_, growth = slope(n, mine), slope(n, exact), slope(n, least)
    of_best, of_lambda = slope(n, risk), slope(n, best)
    away = np.max(np.abs(np.r_[N, F] / np.r_[closed, closed] - 1))
    return [(f"{name}: the excess risk falls as theory says, and as the kernel's", abs(rate - told["rate"]) < 0.1 and abs(rate - of_kernel_) < 0.1,
             f"n^{rate:.2f}, the kernel's n^{of_kernel_:.2f}, theory n^{told['rate']:.2f}"),
            (f"{name}: with c = 1 it is at most 1.5 times the kernel's", np.max(mine / exact) < 1.5, f"{np.max(mine / exact):.2f} times"),
            (f"{name}: with the best lambda it falls at that rate, too", abs(of_best - told["rate"]) < 0.15, f"n^{of_best:.2f}"),
            (f"{name}: the best lambda falls as theory's", abs(of_lambda + 1 / (2 * CASES[name][0] + CASES[name][1])) < 0.15,
             f"n^{of_lambda:.2f}, theory n^{-1 / (2 * CASES[name][0] + CASES[name][1]):.2f}"),
            (f"{name}: the fewest features grow as theory says", abs(growth - told["exponent"]) < 0.15, f"n^{growth:.2f}, theory n^{told['exponent']:.2f}"),
            (f"{name}: N and F_inf from sums are within a quarter of the closed form", away < 0.25, f"within {away:.2f}")]


def exponents(library):
    """c of M = n^c by r and gamma: alpha = 1, then alpha = gamma."""
    return np.array([[[guidance(library, 10**6, r, gamma, alpha)["exponent"] for gamma in SIZES for alpha in ((1.0,) if whole else (gamma,))]
                      for r in REGULARITIES] for whole in (True, False)])


def exponent_claims(c):
    r, gamma = REGULARITIES[:, None], SIZES[None]
    closed = [(alpha + (2 * r - 1) * (1 + gamma - alpha)) / (2 * r + gamma) for alpha in (1.0, gamma)]
    apart = max(np.max(np.abs(a - b)) for a, b in zip(c, closed))
    return [("figure 1: the bound's exponents are those of the theorem", apart < 1e-12, f"{apart:.0e} apart"),
            ("figure 1: root n features suffice at r = 1/2, gamma = 1, and at r = 1, gamma = 0, n at r = 1/2, gamma = 0",
             bool(np.allclose([c[0][0, -1], c[0][-1, 0], c[0][0, 0]], [0.5, 0.5, 1]))),
            ("figure 1: with alpha = gamma never more are needed, and a constant number at r = 1/2, gamma = 0",
             bool(np.all(c[1] <= c[0] + 1e-12) and abs(c[1][0, 0]) < 1e-12)),
            ("figure 1: fewer than n are enough where gamma > 0 and r > 1/2", bool(np.all(c[0][1:, 1:] < 1)), f"at most n^{c[0][1:, 1:].max():.2f}")]


def plot(path, results, c):
    figure_, axes = figure.subplots(1, 3 * bool(results) + 2 * (c is not None), width=4.4, height=3.8)
    for axis, values, label in zip(axes[0, -2:], () if c is None else c, ("alpha = 1", "alpha = gamma")):
        drawn = axis.contourf(SIZES, REGULARITIES, values, 20)
        axis.set(xlabel="gamma", ylabel="r", title=f"figure 1: c of M = n^c, {label}")
        figure_.colorbar(drawn)
    for k, (name, (found, told)) in enumerate(results.items()):
        n, mine, exact, M, least, best, risk, theory = (found[j] for j in (0, 1, 2, 3, 4, 8, 9, 10))
        shown = ({"features": mine, "kernel": exact, "best lambda": risk}, {"theory, c = 1": M, "fewest": least}, {"theory": theory, "best": best})
        for axis, series in zip(axes[0], shown):
            for j, (label, values) in enumerate(series.items()):
                axis.errorbar(n, values, label=f"{label}, {name}", **figure.look(3 * k + j))
        axes[0, 0].plot(n, exact[0] * (n / n[0]) ** told["rate"], "k:", linewidth=0.8)
    for axis, label in zip(axes[0], ("excess risk (dotted: the rate of theory)", "features", "lambda") if results else ()):
        axis.set(xscale="log", yscale="log", xlabel="rows n", title=label)
        axis.legend(fontsize=6)
    figure_.tight_layout()
    figure.write(figure_, path, 70)


def main():
    parser = options_of(__doc__)
    parser.add_argument("--rows", type=int, nargs="*", default=[100, 200, 400, 800, 1600, 3200])
    parser.add_argument("--figures", nargs="+", choices=["1", "rates"], default=["1", "rates"])
    parser.add_argument("--seeds", type=int, default=20)
    asked = parsed(parser, rows=[100, 200, 400, 800], seeds=10)
    library = Library(asked.library)
    c = exponents(library) if "1" in asked.figures else None
    results = {name: measured(library, name, asked.rows, asked.seeds) for name in CASES} if "rates" in asked.figures else {}
    if asked.plot:
        plot(asked.plot, results, c)
    return verdict(([] if c is None else exponent_claims(c)) + [claim for name, (found, told) in results.items() for claim in claims(name, found, told)])


if __name__ == "__main__":
    sys.exit(main())
