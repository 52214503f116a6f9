#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""Ridge by its solvers: seconds, processor time, memory above what was there before the fit, passes, and how far the weights are
from the direct ones.

Usage: solvers.py LIBMERCER.so [--case gram cg landmarks condition choices gradients] [--rows N] [--features D] [--lambdas ...]
gram:      the Gram matrix in single precision, corrected over the rows, against the direct solve. n = 200,000, D = 4,096.
cg:        conjugate gradients without a Gram matrix. n = 200,000, D = 20,000; the direct time is that of a fiftieth of the rows
           and of 2,000 features, by the number of operations, unless --direct says to measure it.
landmarks: Nystroem features, M = 10,000 landmarks of d = 70 inputs, n = 1,000,000: processor seconds per row and iteration, from
           a fit at the given lambda and one at 1,000, which needs few, beside numpy's product of n x d and d x M in double.
condition: few rows, ever smaller lambda, against numpy's least squares of [Z; sqrt(n lambda) I] in double.
choices:   how landmarks are chosen: what 400 of 8,000 rows of five inputs miss of the kernel's trace, three seeds, and seconds.
gradients: averaged stochastic gradients on the features, the best of four steps by the rows that judge them, against ridge.
A fit runs in a process of its own. Targets: a smooth function of eight directions, and noise of a tenth.
"""
import json
import os
import pickle
import resource
import time

import numpy as np

from experiment import options_of
from library import Library
from operators import Operators, gaussian, matrix


def problem(n, d, number=np.float32, seed=1):
    """Rows and targets."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d), dtype=np.float32).astype(number)
    W = rng.standard_normal((d, 8)).astype(number) / np.sqrt(d).astype(number)
    y = np.sin(2 * X @ W).sum(1, keepdims=True, dtype=np.float64) + 0.1 * rng.standard_normal((n, 1))
    return X, y


def apart(run):
    """The result of run() in a process of its own, with what it took."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        before, wall = resource.getrusage(resource.RUSAGE_SELF), time.time()
        try:
            result = run()
        except Exception as failure:  # the parent says it
            result = str(failure)
        after = resource.getrusage(resource.RUSAGE_SELF)
        took = {"seconds": time.time() - wall, "processor": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
                "MB": (after.ru_maxrss - before.ru_maxrss) / 1024}
        with os.fdopen(writing, "wb") as pipe:
            pickle.dump((result, took), pipe)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        result, took = pickle.load(pipe)
    os.waitpid(child, 0)
    if isinstance(result, str):
        print("refused:", result)
        return None, took
    return result, took


def fitted(library, spec, X, y):
    """Weights, intercept and report."""
    model = library.fit_model(spec, X, y)
    D = spec["map"]["features"]
    w, intercept = np.empty((D, 1)), np.empty((1, 1))
    library.model_weights(model, matrix(w), matrix(intercept))
    report = library.said(model, b"report")
    library.model_free(model)
    return w, intercept, report


def spec_of(options, features, lengthscale, weight, solver, **own):
    return {"search": False, "lambda": weight, "solver": solver, "precision": options.precision,
            "prepare": {"standardize": False, "transform": "none", "extrapolation": "free"},
            "map": {"kernel": gaussian(lengthscale), "features": features, **own}}


def compare(library, options, n, d, features, solvers, **own):
    X, y = problem(n, d)
    for weight in options.lambdas:
        base = None
        for solver in solvers:
            spec = spec_of(options, features, np.sqrt(d), weight, solver, **own)
            result, took = apart(lambda spec=spec: fitted(library, spec, X, y))
            line = {"n": n, "d": d, "D": features, "lambda": weight, "solver": solver, **{k: round(v, 2) for k, v in took.items()}}
            if result is not None:
                base = base if base is not None else (result, took)
                line["error"] = float(np.linalg.norm(result[0] - base[0][0]) / np.linalg.norm(base[0][0]))
                line["times_faster"] = round(base[1]["processor"] / took["processor"], 2)
                line["report"] = result[2]
            print(json.dumps(line), flush=True)


def landmarks(library, options):
    n, d, M = options.rows or 1000000, options.inputs or 70, options.features or 10000
    X, y = problem(n, d)
    solver = (options.solvers or ["cg"])[0]
    runs = []
    for weight in (options.lambdas[0], 1e3):
        result, took = apart(lambda weight=weight: fitted(
            library, spec_of(options, M, np.sqrt(d), weight, solver, map="nystroem"), X, y))
        runs.append((result[2]["solver"]["iterations"], took["processor"]))
        print(json.dumps({"n": n, "d": d, "M": M, "lambda": weight, "solver": solver, **took, **result[2]}), flush=True)
    A, B, C = X[:1024].astype(np.float64), np.random.default_rng(2).standard_normal((d, M)), np.ones((1024, M))
    start = time.process_time()
    for _ in range(20):
        np.matmul(A, B, out=C)
    product = (time.process_time() - start) / (20 * len(A))
    each = (runs[0][1] - runs[1][1]) / (runs[0][0] - runs[1][0]) / n
    print(json.dumps({"us per row and iteration": 1e6 * each, "of the product": 1e6 * product, "ratio": each / product,
                      "processor seconds an iteration at n = 10^7": 1e7 * each}), flush=True)


def condition(library, options):
    """Errors of the weights and passes, against the least squares of [Z; sqrt(n lambda) I] by QR, refined once."""
    from scipy.sparse.linalg import lsqr
    n, D = options.rows or 4000, options.features or 1000
    X, y = problem(n, 3, np.float64)
    choices = {"kernel": gaussian(2.0), "features": D}
    with library.made({"inputs": 3, **choices}) as made:
        Z = library.explicit(made, X, 1)
    largest = np.linalg.norm(Z, 2) ** 2
    for weight in options.lambdas:
        shift = n * weight
        A, b = np.vstack([Z, np.sqrt(shift) * np.eye(D)]), np.vstack([y, np.zeros((D, 1))])
        Q, R = np.linalg.qr(A)
        exact = np.linalg.solve(R, Q.T @ b)
        exact += np.linalg.solve(R, Q.T @ (b - A @ exact))

        def error(w):
            return float(f"{np.linalg.norm(w.ravel() - exact.ravel()) / np.linalg.norm(exact):.1e}")
        line = {"lambda": weight, "condition": float(f"{(largest + shift) / shift:.1e}")}
        for solver in options.solvers or ["direct", "cg", "mixed"]:
            spec = {"search": False, "lambda": weight, "solver": solver, "precision": "f64", "center": False,
                    "prepare": {"standardize": False, "transform": "none", "extrapolation": "free"},
                    "map": {**choices, "projection": "dense"}}
            result, _ = apart(lambda spec=spec: fitted(library, spec, X, y))
            line[solver] = "refused" if result is None else (error(result[0]), result[2].get("solver", {}).get("iterations"))
        found = lsqr(Z, y[:, 0], damp=np.sqrt(shift), atol=1e-16, btol=1e-16, conlim=0, iter_lim=5000)
        line["lsqr"] = error(found[0]), found[2]
        print(json.dumps(line), flush=True)


def choices(library):
    rng = np.random.default_rng(5)
    X = rng.standard_normal((8000, 5)) * np.where(np.arange(8000) % 20 == 7, 3, 0.4)[:, None]
    for choice in ("uniform", "kmeans", "farthest", "leverage", "rpcholesky"):
        missed, start = [], time.process_time()
        for seed in range(3):
            spec = {"map": "nystroem", "kernel": gaussian(1.0), "inputs": 5, "features": 400, "landmarks": choice, "seed": seed}
            made, Z = library.fit(spec, X), np.empty((8000, 400))
            library.apply(made, X, Z)
            missed.append(1 - np.square(Z).sum() / len(X))
            library.free(made)
        took = (time.process_time() - start) / 3
        print(f"{choice:12} misses {np.mean(missed):.2e} ({min(missed):.1e} to {max(missed):.1e}), {took:.2f} s", flush=True)


def averaged_gradients(Z, y, weight, step, passes, batch=100):
    """The mean of the second half of the iterates (Polyak, Juditsky 1992)."""
    rng, n = np.random.default_rng(2), len(Z)
    w, mean = np.zeros(Z.shape[1]), np.zeros(Z.shape[1])
    steps = passes * n // batch
    for k in range(steps):
        rows = rng.integers(0, n, batch)
        w -= step * (Z[rows].T @ (Z[rows] @ w - y[rows]) / batch + weight * w)
        if k >= steps // 2:
            mean += w / (steps - steps // 2)
    return mean


def gradients(n=40000, d=8, D=1000, others=5000):
    for weight, lengthscale in ((1e-4, 2.0), (1e-6, 1.0)):
        rng = np.random.default_rng(0)
        X = rng.standard_normal((n + others, d))
        y = np.sin(2 * X[:, 0]) * X[:, 1] + np.cos(X[:, 2] * X[:, 3]) + 0.1 * rng.standard_normal(n + others)
        P = X @ rng.standard_normal((d, D // 2)) / lengthscale
        Z, y = np.hstack([np.cos(P), np.sin(P)]) / np.sqrt(D // 2), y - y[:n].mean()
        H = Z[:n].T @ Z[:n] / n + weight * np.eye(D)
        w, largest = np.linalg.solve(H, Z[:n].T @ y[:n] / n), np.linalg.eigvalsh(H)[-1]

        def score(v):
            return 1 - np.mean((y[n:] - Z[n:] @ v) ** 2) / y[n:].var()
        print(f"lambda {weight:g}: ridge R^2 {score(w):.4f}")
        for passes in (1, 5, 25):
            found = max((averaged_gradients(Z[:n], y[:n], weight, step / largest, passes) for step in (0.125, 0.25, 0.5, 1)), key=score)
            print(f"  {passes} passes: R^2 {score(found):.4f}, weights off by {np.linalg.norm(found - w) / np.linalg.norm(w):.2f}", flush=True)


def main():
    parser = options_of(__doc__, plot=False, quick=False)
    parser.add_argument("--case", nargs="+", default=["gram"])
    parser.add_argument("--rows", type=int)
    parser.add_argument("--inputs", type=int)
    parser.add_argument("--features", type=int)
    parser.add_argument("--lambdas", type=float, nargs="+", default=[1e-4])
    parser.add_argument("--solvers", nargs="+")
    parser.add_argument("--precision", default="f32")
    options = parser.parse_args()
    library = Operators(options.library)
    print(f"load {os.getloadavg()[0]:.1f} of {os.cpu_count()} cores", flush=True)
    if "gram" in options.case:
        compare(library, options, options.rows or 200000, options.inputs or 16, options.features or 4096,
                options.solvers or ["direct", "mixed"])
    if "cg" in options.case:
        compare(library, options, options.rows or 200000, options.inputs or 16, options.features or 20000,
                options.solvers or ["cg"])
    if "choices" in options.case:
        choices(Library(options.library))
    if "condition" in options.case:
        condition(library, options)
    if "landmarks" in options.case:
        landmarks(library, options)
    if "gradients" in options.case:
        gradients()


if __name__ == "__main__":
    main()
