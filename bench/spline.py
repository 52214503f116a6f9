#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""Ridge regression on random features of the spline kernel learns at the rate of the kernel itself, from few features.

Usage: spline.py LIBMERCER.so [--rows 100 200 ...] [--seeds 10] [--plot spline.png]
After section 5 of Rudi, Rosasco, "Generalization properties of learning with random features" (2017). With Lambda_q(x, z) =
1 + sum_{k >= 1} 2 cos(2 pi k (x - z))/k^q on [0, 1], whose closed forms are Bernoulli polynomials, the features
psi(w, x) = Lambda_{1/(2 gamma)}(x, w), w uniform, are of the kernel Lambda_{1/gamma}; all their leverages are equal by symmetry,
so that F_inf(lambda) = N(lambda) and alpha = gamma. The target is Lambda_{r/gamma + 1/2}(x, 0), its noise has deviation 1/2.
lambda and M are those of the bound "ridge"; the excess risk is the mean squared error on a grid, its slope -2r/(2r + gamma).
The fewest features: the least M = 1, 2, 3, ... (steps of a tenth) whose mean error over seeds is at most twice that of the
kernel; theory gives its exponent. N(lambda) and F_inf(lambda) come from sums (mercer_ridge_leverage).
"""
import argparse
import json
import sys

import numpy as np

import figure
from library import Mercer, matrix, rows
from operators import slope, verdict

CASES = {"r = 11/16, gamma = 1/8": (11 / 16, 1 / 8), "r = 7/8, gamma = 1/4": (7 / 8, 1 / 4)}
GRID = np.arange(4096)[:, None] / 4096
BERNOULLI = {2: [1, -1, 1 / 6], 4: [1, -2, 1, 0, -1 / 30], 6: [1, -3, 5 / 2, 0, -1 / 2, 0, 1 / 42],
             8: [1, -4, 14 / 3, 0, -7 / 3, 0, 2 / 3, 0, -1 / 30]}


def spline(q, x, z):
    """Lambda_q of all pairs: sum_k 2 cos(2 pi k u)/k^q = (-1)^{q/2 + 1} (2 pi)^q B_q(u)/q! for even q."""
    sign = -1 if q % 4 == 0 else 1
    size = (2 * np.pi) ** q / np.prod(np.arange(1.0, q + 1))
    return 1 + sign * size * np.polyval(BERNOULLI[q], np.mod(x - z.T, 1))


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


def guidance(library, n, r, gamma):
    return json.loads(library.text("bound", json.dumps({"bound": "ridge", "rows": n, "r": r, "gamma": gamma, "alpha": gamma}).encode()))


def problem(n, r, gamma, seed):
    random = np.random.default_rng([seed, n])
    X = random.uniform(size=(n, 1))
    return X, spline(round(r / gamma + 0.5), X, np.zeros((1, 1))) + 0.5 * random.normal(size=(n, 1)), random


def features(X, places, gamma):
    return np.ascontiguousarray(spline(round(1 / (2 * gamma)), X, places) / np.sqrt(len(places)))


def risk(values, r, gamma):
    return float(np.mean((values - spline(round(r / gamma + 0.5), GRID, np.zeros((1, 1)))) ** 2))


def of_features(library, n, M, penalty, r, gamma, seed):
    X, Y, random = problem(n, r, gamma, seed)
    places = random.uniform(size=(M, 1))
    w = Ridge(library, features(X, places, gamma), Y).weights(penalty)
    return risk(features(GRID, places, gamma) @ w, r, gamma)


def of_kernel(n, penalty, r, gamma, seed):
    X, Y, _ = problem(n, r, gamma, seed)
    q = round(1 / gamma)
    return risk(spline(q, GRID, X) @ np.linalg.solve(spline(q, X, X) + n * penalty * np.eye(n), Y), r, gamma)


def fewest(library, n, penalty, r, gamma, seeds, enough):
    M = 1
    while np.mean([of_features(library, n, M, penalty, r, gamma, seed) for seed in range(seeds)]) > enough:
        M = max(M + 1, round(1.1 * M))
    return M


def dimensions(library, n, penalty, gamma):
    """N and F_inf by 400 features, and the closed form of both."""
    random = np.random.default_rng(3)
    X = random.uniform(size=(n, 1))
    scores = Ridge(library, features(X, random.uniform(size=(400, 1)), gamma), X.copy()).leverage(penalty)
    eigenvalues = np.arange(1.0, 1e5) ** (-1 / gamma)
    return scores.sum(), 400 * scores.max(), 1 / (1 + penalty) + 2 * np.sum(eigenvalues / (eigenvalues + penalty))


def measured(library, name, numbers, seeds):
    r, gamma = CASES[name]
    found = []
    print(f"{name}\n{'n':>7} {'lambda':>9} {'M':>5} {'risk':>10} {'of kernel':>10} {'fewest':>7} {'N':>6} {'F_inf':>6} {'exact':>6}")
    for n in numbers:
        told = guidance(library, n, r, gamma)
        penalty, M = told["lambda"], told["frequencies"]
        mine = np.mean([of_features(library, n, M, penalty, r, gamma, seed) for seed in range(seeds)])
        exact = np.mean([of_kernel(n, penalty, r, gamma, seed) for seed in range(seeds)])
        least = fewest(library, n, penalty, r, gamma, seeds, 2 * exact)
        N, F, closed = dimensions(library, n, penalty, gamma)
        found.append((n, mine, exact, M, least, N, F, closed))
        print(f"{n:7,} {penalty:9.5f} {M:5} {mine:10.6f} {exact:10.6f} {least:7} {N:6.2f} {F:6.2f} {closed:6.2f}", flush=True)
    return np.array(found).T, told


def claims(name, found, told):
    n, mine, exact, _, least, N, F, closed = found
    rate, of_kernel_, growth = slope(n, mine), slope(n, exact), slope(n, least)
    return [(f"{name}: the excess risk falls as n^{rate:.2f}, the kernel's as n^{of_kernel_:.2f}, theory n^{told['rate']:.2f}",
             abs(rate - told["rate"]) < 0.1 and abs(rate - of_kernel_) < 0.1),
            (f"{name}: with c = 1 it is at most {np.max(mine / exact):.2f} times the kernel's", np.max(mine / exact) < 1.5),
            (f"{name}: the fewest features grow as n^{growth:.2f}, theory n^{told['exponent']:.2f}",
             abs(growth - told["exponent"]) < 0.15),
            (f"{name}: N and F_inf from sums are within {np.max(np.abs(np.r_[N, F] / np.r_[closed, closed] - 1)):.2f} of the closed form",
             np.max(np.abs(np.r_[N, F] / np.r_[closed, closed] - 1)) < 0.25)]


def plot(path, results):
    figure_, axes = figure.subplots(1, 2)
    for k, (name, (found, told)) in enumerate(results.items()):
        n, mine, exact, M, least = found[:5]
        axes[0, 0].errorbar(n, mine, label=f"features, {name}", **figure.look(2 * k))
        axes[0, 0].errorbar(n, exact, label=f"kernel, {name}", **figure.look(2 * k + 1))
        axes[0, 0].plot(n, exact[0] * (n / n[0]) ** told["rate"], "k:", linewidth=0.8)
        axes[0, 1].errorbar(n, M, label=f"theory, c = 1, {name}", **figure.look(2 * k))
        axes[0, 1].errorbar(n, least, label=f"fewest, {name}", **figure.look(2 * k + 1))
    for axis, label in zip(axes[0], ("excess risk (dotted: the rate of theory)", "features")):
        axis.set_xscale("log")
        axis.set_yscale("log")
        axis.set_xlabel("rows n")
        axis.set_title(label)
        axis.legend(fontsize=7)
    figure_.savefig(path, dpi=110, bbox_inches="tight")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library")
    parser.add_argument("--rows", type=int, nargs="*", default=[100, 200, 400, 800, 1600, 3200])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--plot")
    asked = parser.parse_args()
    library = Mercer(asked.library)
    results = {name: measured(library, name, asked.rows, asked.seeds) for name in CASES}
    if asked.plot:
        plot(asked.plot, results)
    return verdict([claim for name, (found, told) in results.items() for claim in claims(name, found, told)])


if __name__ == "__main__":
    sys.exit(main())
