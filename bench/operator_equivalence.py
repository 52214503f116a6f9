#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""Ridge regression on features and kernel ridge regression with the kernel of these features, as lambda falls to 0: table,
plot, and check of the shape.

Usage: operator_equivalence.py LIBMERCER.so [--rows 50] [--features 100] [--plot operator_equivalence.png]
After figure 7 of Brault, d'Alche-Buc, "Random Fourier features for operator-valued kernels" (2016): a sine with noise of
deviation 0.1, Gaussian features, lambda of 1e-2, 1e-5, 1e-10 and 0. theta is the library's; u solves (K/N + lambda I) u = y/N with K = Phi Phi', by numpy. Columns: the part of theta in the kernel of W
(outside the span of the features of the rows), and r = sum_i phi(x_i) u_i - theta, over the norm of theta; the largest
difference of the two functions on (-1, 1), over the largest value. Shape (theorem 35): theta is orthogonal to the kernel for
every lambda; for lambda > 0 r = 0, to rounding over lambda; at 0 no coefficient of r is, and the functions differ: K is
singular to rounding, and many functions fit alike.
"""
import argparse
import sys

import numpy as np

import figure
from operators import Operators, gaussian, matrix, verdict

LAMBDAS = [1e-2, 1e-5, 1e-10, 0.0]
GRID = np.linspace(-1, 1, 401)[:, None].copy()


def data(n):
    random = np.random.default_rng(0)
    X = random.uniform(-1, 1, (n, 1))
    return X, np.sin(np.pi * X) + 0.1 * random.normal(size=(n, 1))


def learn(library, spec, X, y, value):
    """theta, and its function on the grid."""
    theta = np.empty((spec["features"], 1))
    with library.learnt(spec, X, y, search=False, center=False, **{"lambda": value}) as model:
        library.model_weights(model, matrix(theta), matrix(None))
        return theta[:, 0], library.predict(model, GRID, 1)[:, 0]


def outside(Phi, theta):
    """The part of theta outside the span of the rows' features."""
    _, s, Vt = np.linalg.svd(Phi, full_matrices=False)
    V = Vt[s > 1e-13 * s[0]]
    return theta - V.T @ (V @ theta)


def compare(library, spec, X, y, value):
    """lambda, both functions on the grid, theta's part in the kernel and r over the norm of theta."""
    with library.made(spec) as made:
        Phi, at, n = library.explicit(made, X, 1), library.explicit(made, GRID, 1), len(X)
    u = np.linalg.solve(Phi @ Phi.T / n + value * np.eye(n), y / n)
    theta, f = learn(library, spec, X, y, value)
    by_rows, size = (Phi.T @ u)[:, 0], np.linalg.norm(theta)
    return value, f, at @ by_rows, outside(Phi, theta) / size, (by_rows - theta) / size


def apart(f, g):
    return np.abs(f - g).max() / np.abs(f).max()


def claims(found):
    norm, positive, zero = np.linalg.norm, found[:-1], found[-1]
    return [("theta has no part in the kernel of W, to 1e-4, for every lambda", all(norm(line[3]) < 1e-4 for line in found)),
            ("for lambda > 0 r is 0, to 1e-5", all(norm(line[4]) < 1e-5 for line in positive)),
            ("for lambda > 0 both routes give one function, to 1e-5", all(apart(line[1], line[2]) < 1e-5 for line in positive)),
            ("at lambda = 0 no coefficient of r is below 1e-6", bool((np.abs(zero[4]) > 1e-6).all())),
            ("at lambda = 0 the functions differ by more than 1 %", apart(zero[1], zero[2]) > 0.01)]


def draw(path, X, y, found):
    chart, axes = figure.subplots(len(found), 3, width=4, height=2.3)
    for line, (value, f, g, beyond, r) in zip(axes, found):
        line[0].plot(X[:, 0], y[:, 0], ".", color="0.6", markersize=4)
        line[0].plot(GRID[:, 0], f, color="C0", label="features")
        line[0].plot(GRID[:, 0], g, color="C1", linestyle="--", label="kernel of the features")
        line[0].set(ylim=(-1.6, 1.6), title=f"lambda = {value:g}")
        line[0].legend(fontsize=6)
        for axis, values, title in zip(line[1:], (beyond, r), ("theta in the kernel of W", "r over the norm of theta")):
            axis.plot(np.abs(values) + 1e-20, ".", markersize=3)
            axis.set(yscale="log", ylim=(1e-20, 1e6), title=title, xlabel="coefficient")
    chart.tight_layout()
    chart.savefig(path, dpi=70)
    print(f"wrote {path}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library")
    parser.add_argument("--rows", type=int, default=50)
    parser.add_argument("--features", type=int, default=100)
    parser.add_argument("--plot")
    options = parser.parse_args()
    library, (X, y) = Operators(options.library), data(options.rows)
    spec = {"kernel": gaussian(0.3), "inputs": 1, "features": options.features, "seed": 1}
    found = [compare(library, spec, X, y, value) for value in LAMBDAS]
    print(f"{'lambda':>8} {'theta in kernel':>16} {'r':>9} {'functions apart':>16}")
    for line in found:
        print(f"{line[0]:>8g} {np.linalg.norm(line[3]):>16.1e} {np.linalg.norm(line[4]):>9.1e} {apart(line[1], line[2]):>16.1e}")
    if options.plot:
        draw(options.plot, X, y, found)
    return verdict(claims(found))


if __name__ == "__main__":
    sys.exit(main())
