#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""Times a Fourier map of mercer against scikit-learn's RBFSampler.transform, alternating, in one process.

Usage: compare_sklearn.py LIBMERCER.so [--runs 7] [--n 10000] [--features 4096] [--d 16 64 784] [--projection dense] [--aligned]
Both map float32 rows to float32 features. mercer writes into an array that is allocated and touched beforehand;
RBFSampler allocates its result, as its interface demands. Prints one line per d: medians and their ratio.
"""
import argparse
import ctypes
import json
import statistics
import time

import numpy as np
from sklearn.kernel_approximation import RBFSampler


def fourier_map(library, projection, d, features, lengthscale):
    made = ctypes.c_void_p()
    spec = {"map": "fourier", "kernel": {"kernel": "gaussian", "lengthscale": lengthscale}, "inputs": d,
            "features": features, "projection": projection}
    assert library.mercer_map_from_spec(json.dumps(spec).encode(), ctypes.byref(made)) == 0
    return made


def at_cache_line(n, D):
    store = np.zeros(n * D + 16, np.float32)
    start = -(store.ctypes.data // 4) % 16
    return store[start:start + n * D].reshape(n, D)


def pointer(array):
    return array.ctypes.data_as(ctypes.c_void_p)


def timed(call):
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--n", type=int, default=10000)
    parser.add_argument("--features", type=int, default=4096)
    parser.add_argument("--projection", default="dense")
    parser.add_argument("--aligned", action="store_true", help="let Z start at a cache line, as posix_memalign does; "
                        "NumPy's large arrays start 16 bytes after one")
    parser.add_argument("--d", type=int, nargs="*", default=[16, 64, 784])
    options = parser.parse_args()
    library = ctypes.CDLL(options.library)
    n, D = options.n, options.features
    Z = at_cache_line(n, D) if options.aligned else np.zeros((n, D), np.float32)
    print("d,n,D,projection,mercer_s,sklearn_s,ratio,kernel_error_mercer,kernel_error_sklearn")
    for d in options.d:
        X = np.random.default_rng(0).standard_normal((n, d)).astype(np.float32)
        lengthscale = float(np.sqrt(d))
        made = fourier_map(library, options.projection, d, D, lengthscale)
        sampler = RBFSampler(gamma=1 / (2 * d), n_components=D, random_state=0).fit(X)
        ours = lambda: library.mercer_map_apply_f32(made, ctypes.c_int64(n), pointer(X), ctypes.c_int64(d),
                                                    pointer(Z), ctypes.c_int64(D))
        assert ours() == 0
        theirs = sampler.transform(X)
        rows = X[:300].astype(np.float64)
        exact = np.exp(-((rows[:, None] - rows[None]) ** 2).sum(-1) / (2 * d))
        error = [np.linalg.norm(F[:300] @ F[:300].T - exact) / np.linalg.norm(exact) for F in (Z, theirs)]
        del theirs
        times = [(timed(ours), timed(lambda: sampler.transform(X))) for _ in range(options.runs)]
        a, b = (statistics.median(t[i] for t in times) for i in (0, 1))
        print(f"{d},{n},{D},{options.projection},{a:.5f},{b:.5f},{a / b:.3f},{error[0]:.4f},{error[1]:.4f}", flush=True)


main()
