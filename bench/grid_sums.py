# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""Whether sums of grids serve more inputs than one grid does: ridge on a grid for each input and each pair of inputs, side by
side, against Fourier features of all inputs with as many columns.

Gaussian kernel of standardised inputs; lengthscale and lambda by a fifth of up to 8,000 rows, the R^2 that is printed by
another fifth."""
import argparse
import itertools
import pathlib

import numpy as np

from library import Library
from sketches import standardised, table

COLUMNS = (8, 16), (16, 32), (24, 72)  # of a grid of one input, of a pair
DRAWN = "sobol", "dense"


def features(library, spec, X):
    made, why = library.map({"map": "fourier", "inputs": X.shape[1], **spec})
    assert made, why
    Z = np.empty((len(X), spec["features"]))
    library.apply(made, X, Z)
    library.free(made)
    return Z


def kernel(lengthscale):
    return {"kernel": "gaussian", "lengthscale": lengthscale}


def sums_of_grids(library, X, lengthscale, columns):
    d, width = X.shape[1], np.ptp(X, axis=0)
    parts = []
    for count, D in zip((1, 2), columns):
        sets = [list(one) for one in itertools.combinations(range(d), count)]
        parts += [features(library, {"projection": "grid", "diameter": list(width[one]), "kernel": kernel(lengthscale), "features": D},
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


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library")
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--sets", nargs="+", default=["kin8nm", "power_plant"])
    parser.add_argument("--lengthscales", type=float, nargs="+", default=[0.5, 0.7, 1, 1.5, 2, 3, 5, 8])
    asked = parser.parse_args()
    library = Library(asked.library)
    print(f"{'set':<12} {'D':>6} {'grids':>8} " + " ".join(f"{name:>8}" for name in DRAWN))
    for name in asked.sets:
        X, y = table(asked.data, name, 1, 8000)
        X, y, d = standardised(X), y / y.std(), X.shape[1]
        for columns in COLUMNS:
            D = d * columns[0] + d * (d - 1) // 2 * columns[1]
            routes = [lambda length: sums_of_grids(library, X, length, columns)]
            routes += [lambda length, projection=projection: features(library, {
                "projection": projection, "kernel": kernel(length), "features": D, "seed": 1}, X) for projection in DRAWN]
            found = [min(score(made(length), y) for length in asked.lengthscales)[1] for made in routes]
            print(f"{name:<12} {D:6,} " + " ".join(f"{one:8.4f}" for one in found))


if __name__ == "__main__":
    main()
