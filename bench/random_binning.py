# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""Ridge on random binning features by their entries, as fits do it, against the same fit from the features, in single
precision like those of a fit; for every number of bins, with the largest difference of their predictions.

Inputs are normal, the target sin(sum x); the lengthscale is 4, lambda 1e-5."""
import time

import numpy as np

from experiment import options_of, parsed, timed
from library import Library, matrix, rows

BLOCK = 4096


def features(library, spec, X):
    """Blocks of features."""
    made, refused = library.map(spec)
    assert made, refused
    Z = np.empty((BLOCK, spec["features"]), np.float32)
    for first in range(0, len(X), BLOCK):
        part = X[first:first + BLOCK]
        library.apply(made, part, Z[:len(part)])
        yield first, Z[:len(part)]


def by_entries(library, spec, X, y):
    """Seconds of a fit, of predictions, and these."""
    whole = {"map": spec, "lambda": 1e-5, "search": False, "prepare": {"standardize": False, "extrapolation": "free"}}
    model, fitting = timed(lambda: library.fit_model(whole, X, y))
    scores, predicting = timed(lambda: library.predict(model, X, 1))
    return fitting, predicting, scores


def by_features(library, spec, X, y):
    start = time.perf_counter()
    D = spec["features"]
    sums = library.make("statistics_create", D, 1)
    for first, Z in features(library, spec, X):
        library.statistics_add(sums, 1, rows(Z), rows(y[first:first + len(Z)]), None)
    w, b, absent = np.empty((D, 1)), np.empty((1, 1)), rows(None)
    library.ridge_weights(sums, absent, absent, 1, 1e-5, None, matrix(w), matrix(b))
    library.statistics_free(sums)
    fitted = time.perf_counter()
    scores = np.concatenate([Z @ w + b for _, Z in features(library, spec, X)])
    return fitted - start, time.perf_counter() - fitted, scores


def main():
    parser = options_of(__doc__, plot=False)
    parser.add_argument("--rows", type=int, default=100000)
    parser.add_argument("--inputs", type=int, default=6)
    parser.add_argument("--features", type=int, default=4096)
    parser.add_argument("--bins", type=int, nargs="+", default=[8, 32, 128])
    asked = parsed(parser, rows=10000, features=1024)
    library = Library(asked.library)
    X = np.random.default_rng(1).normal(size=(asked.rows, asked.inputs)).astype(np.float32)
    y = np.sin(X.sum(1, dtype=float))[:, None]
    print(f"{'bins':>5} {'fit':>8} {'features':>8} {'predict':>8} {'features':>8} {'differ':>8} {'error':>8}")
    for bins in asked.bins:
        spec = {"map": "random_binning", "bins": bins, "kernel": {"kernel": "laplacian", "lengthscale": 4.0},
                "inputs": asked.inputs, "features": asked.features, "seed": 1}
        fit, predict, scores = by_entries(library, spec, X, y)
        other_fit, other_predict, expected = by_features(library, spec, X, y)
        print(f"{bins:5} {fit:8.2f} {other_fit:8.2f} {predict:8.2f} {other_predict:8.2f} "
              f"{np.abs(scores - expected).max():8.0e} {((scores - y) ** 2).mean():8.4f}")


if __name__ == "__main__":
    main()
