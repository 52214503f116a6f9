#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""Times mercer's dense Fourier map against scikit-learn's RBFSampler.transform, alternating, in one process.

Usage: compare_sklearn.py LIBMERCER.so [--runs 7] [--n 10000] [--features 4096] [--d 16 64 784]
Both map float32 rows to float32 features. mercer writes into an array that is allocated and touched beforehand;
RBFSampler allocates its result, as its interface demands. Prints one line per d: medians and their ratio.
"""
import argparse
import ctypes
import statistics
import time

import numpy as np
from sklearn.kernel_approximation import RBFSampler


def dense_map(library, d, features, lengthscale):
    kernel, made = ctypes.c_void_p(), ctypes.c_void_p()
    ell = ctypes.c_double(lengthscale)
    assert library.mercer_kernel_gaussian(ctypes.byref(ell), ctypes.c_int64(1), ctypes.byref(kernel)) == 0
    assert library.mercer_fourier_create(kernel, ctypes.c_int64(d), ctypes.c_int64(features), None,
                                         ctypes.byref(made)) == 0
    return made


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
    parser.add_argument("--d", type=int, nargs="*", default=[16, 64, 784])
    options = parser.parse_args()
    library = ctypes.CDLL(options.library)
    n, D = options.n, options.features
    Z = np.zeros((n, D), np.float32)
    print("d,n,D,mercer_s,sklearn_s,ratio,kernel_error_mercer,kernel_error_sklearn")
    for d in options.d:
        X = np.random.default_rng(0).standard_normal((n, d)).astype(np.float32)
        lengthscale = float(np.sqrt(d))
        made = dense_map(library, d, D, lengthscale)
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
        print(f"{d},{n},{D},{a:.5f},{b:.5f},{a / b:.3f},{error[0]:.4f},{error[1]:.4f}", flush=True)


main()
