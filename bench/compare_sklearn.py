#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""Times a map of mercer against its transformer in scikit-learn, alternating, in one process.

Usage: compare_sklearn.py LIBMERCER.so [--map fourier] [--projection dense] [--aligned]
       compare_sklearn.py LIBMERCER.so --map tensor_sketch [--degree 3] [--density 0.01]
       compare_sklearn.py LIBMERCER.so --map additive [--order 1] [--density 0.1]
       compare_sklearn.py LIBMERCER.so --map nystroem [--doubles]
Common: [--runs 7] [--n ROWS] [--features 4096] [--d INPUTS ...]
fourier: RBFSampler.transform, n = 10,000, d = 16, 64, 784; tensor_sketch: PolynomialCountSketch.transform, n = 2,000,
d = 64, 1,024, rows of unit length. Both map float32 rows; mercer writes float32, "reused" into an array that was written
before, "fresh" into one allocated for the call, as the transformers do (PolynomialCountSketch's is of doubles); additive: AdditiveChi2Sampler.transform, n = 10,000, d = 64, 784, D = d (2 order + 1); nystroem: Nystroem.transform, n = 10,000, d = 64, at
most 1,024 landmarks. --density: non-negative CSR rows for both; --doubles: scikit-learn's rows, and so its arithmetic, are
double. Prints one line per d: medians, kernel errors, and how many times faster than the transformer mercer is.
"""
import statistics

import numpy as np
import scipy.sparse
from sklearn.kernel_approximation import AdditiveChi2Sampler, Nystroem, PolynomialCountSketch, RBFSampler

from experiment import options_of, timed
from library import Library


class Fourier:
    n, d = 10000, [16, 64, 784]

    def __init__(self, options, d):
        self.X = np.random.default_rng(0).standard_normal((options.n, d)).astype(np.float32)
        self.spec = {"map": "fourier", "kernel": {"kernel": "gaussian", "lengthscale": float(np.sqrt(d))},
                     "projection": options.projection}
        self.features = options.features
        self.transformer = RBFSampler(gamma=1 / (2 * d), n_components=options.features, random_state=0)

    def kernel(self, rows):
        return np.exp(-((rows[:, None] - rows[None]) ** 2).sum(-1) / (2 * rows.shape[1]))


def sparse_rows(random, n, d, density):
    """Non-negative CSR rows."""
    each = max(1, round(density * d))
    columns = np.concatenate([np.sort(random.choice(d, each, replace=False)) for _ in range(n)])
    return scipy.sparse.csr_matrix((random.random(n * each).astype(np.float32), columns.astype(np.int32),
                                    np.arange(n + 1, dtype=np.int32) * each), shape=(n, d))


class TensorSketch:
    n, d = 2000, [64, 1024]

    def __init__(self, options, d):
        random = np.random.default_rng(0)
        if options.density is None:
            X = random.standard_normal((options.n, d))
            self.X = (X / np.linalg.norm(X, axis=1)[:, None]).astype(np.float32)
        else:
            self.X = sparse_rows(random, options.n, d, options.density)
        self.degree = options.degree
        self.spec = {"map": "tensor_sketch", "field": "real",
                     "kernel": {"kernel": "polynomial", "degree": self.degree, "gamma": 1, "offset": 0}}
        self.features = options.features
        self.transformer = PolynomialCountSketch(degree=self.degree, n_components=options.features, random_state=0)

    def kernel(self, rows):
        return (rows @ rows.T) ** self.degree


class Additive:
    n, d = 10000, [64, 784]

    def __init__(self, options, d):
        random = np.random.default_rng(0)
        self.X = (random.random((options.n, d)).astype(np.float32) if options.density is None
                  else sparse_rows(random, options.n, d, options.density))
        self.features = d * (2 * options.order + 1)
        self.spec = {"map": "additive", "kernel": {"kernel": "additive_chi2"}, "order": options.order}
        self.transformer = AdditiveChi2Sampler(sample_steps=options.order + 1)

    def kernel(self, rows):
        sums = rows[:, None] + rows[None]
        return (2 * rows[:, None] * rows[None] / np.where(sums > 0, sums, 1)).sum(-1)


class Landmarks:
    n, d, fitted = 10000, [64], True

    def __init__(self, options, d):
        self.X = np.random.default_rng(0).standard_normal((options.n, d)).astype(np.float32)
        self.features = min(options.features, 1024)
        self.spec = {"map": "nystroem", "kernel": {"kernel": "gaussian", "lengthscale": float(np.sqrt(d))}}
        self.transformer = Nystroem(gamma=1 / (2 * d), n_components=self.features, random_state=0)

    def kernel(self, rows):
        return np.exp(-((rows[:, None] - rows[None]) ** 2).sum(-1) / (2 * rows.shape[1]))


CASES = {"fourier": Fourier, "tensor_sketch": TensorSketch, "additive": Additive, "nystroem": Landmarks}


def at_cache_line(n, D):
    store = np.zeros(n * D + 16, np.float32)
    start = -(store.ctypes.data // 4) % 16
    return store[start:start + n * D].reshape(n, D)


def compare(library, case, runs, aligned, doubles):
    """Number of features, median times of ours (reused, fresh) and theirs, and their kernel errors over 300 rows."""
    X = case.X
    Z = at_cache_line(X.shape[0], case.features) if aligned else np.zeros((X.shape[0], case.features), np.float32)
    spec = case.spec | {"inputs": X.shape[1], "features": Z.shape[1]}
    made, why = (library.fit(spec, X), "") if hasattr(case, "fitted") else library.map(spec)
    assert made is not None, why
    their_rows = X.astype(np.float64) if doubles else X
    transformer = case.transformer.fit(their_rows)
    ours = lambda: library.apply(made, X, Z)
    fresh = lambda: library.apply(made, X, np.empty(Z.shape, np.float32))
    ours()
    theirs = transformer.transform(their_rows)
    rows = X[:300].toarray() if scipy.sparse.issparse(X) else X[:300]
    exact = case.kernel(rows.astype(np.float64))
    heads = [F[:300].toarray() if scipy.sparse.issparse(F) else F[:300] for F in (Z, theirs)]
    errors = [np.linalg.norm(F @ F.T - exact) / np.linalg.norm(exact) for F in heads]
    del theirs
    times = [[timed(call)[1] for call in (ours, fresh, lambda: transformer.transform(their_rows))] for _ in range(runs)]
    library.free(made)
    return Z.shape[1], [statistics.median(each) for each in zip(*times)], errors


def main():
    parser = options_of(__doc__, plot=False, quick=False)
    parser.add_argument("--map", choices=list(CASES), default="fourier")
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--n", type=int)
    parser.add_argument("--features", type=int, default=4096)
    parser.add_argument("--d", type=int, nargs="*")
    parser.add_argument("--projection", default="dense")
    parser.add_argument("--degree", type=int, default=3)
    parser.add_argument("--order", type=int, default=1)
    parser.add_argument("--density", type=float)
    parser.add_argument("--doubles", action="store_true")
    parser.add_argument("--aligned", action="store_true", help="let Z start at a cache line, as posix_memalign does; "
                        "NumPy's large arrays start 16 bytes after one")
    options = parser.parse_args()
    library, kind = Library(options.library), CASES[options.map]
    options.n = options.n or kind.n
    what = {"fourier": options.projection, "tensor_sketch": f"tensor_sketch_{options.degree}",
            "additive": f"additive_{options.order}", "nystroem": "uniform"}[options.map]
    print("d,n,D,projection,reused_s,fresh_s,sklearn_s,kernel_error_mercer,kernel_error_sklearn,reused_times_faster,"
          "fresh_times_faster")
    for d in options.d or kind.d:
        D, times, errors = compare(library, kind(options, d), options.runs, options.aligned, options.doubles)
        reused, fresh, theirs = times
        print(f"{d},{options.n},{D},{what},{reused:.5f},{fresh:.5f},{theirs:.5f},{errors[0]:.4f},{errors[1]:.4f},"
              f"{theirs / reused:.1f},{theirs / fresh:.1f}", flush=True)


main()
