#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""How time and memory grow with rows n, inputs d, features D and outputs p, beside the costs that the tables and the guide state.

Usage: growth.py LIBMERCER.so [--only TEXT ...] [--all] [--quick]
Every map and projection of `mercer specs`, the solvers and the models: processor time of one thread. Each size is double the one
before; all sizes in turn are a round, and the exponent is the slope of the medians, over rounds, of the times over that of the
first size. What is stated is taken at the same sizes. Memory is what a process of its own takes above what it had with its rows,
by its two largest sizes. Printed is what is off by more than 0.1 (--quick: 0.2), with --all everything; status 1 where one of these has no reason.
"""
import json
import math
import os
import resource
import sys
import time

os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})  # one thread of the library, of BLAS and of NumPy

import numpy as np  # noqa: E402

from experiment import options_of, parsed, slope  # noqa: E402
from library import Library, matrix, rows  # noqa: E402
from solvers import apart  # noqa: E402

SIZES = {"n": 1000, "d": 128, "D": 1024}
LONG = {"n": 250, "d": 256, "D": 8192}
POLYNOMIAL = {"kernel": "polynomial", "degree": 3, "offset": 1}
GAUSSIAN = {"kernel": "gaussian", "lengthscale": 8}
PARTS = {"parts": [GAUSSIAN, {"kernel": "cauchy", "lengthscale": 8}]}
DENSE = {"parts": [{"map": "fourier", "projection": "dense"}] * 2}

# Of Fourier features whose projection is a matrix, and of others; of every other map what its spec has beside its name, what is
# stated, and the smallest sizes.
MATRIX = ("n*D*(d/2+27)", SIZES)
STRUCTURED = ("n*D/2*log2(d)", {"n": 1000, "d": 128, "D": 8192})
MAPS = {
    "linear gaussian": ({}, "n*d*D", SIZES),
    "linear rademacher": ({"projection": "rademacher"}, "n*d*D", SIZES),
    "linear srht": ({"projection": "srht"}, "n*(D*log2(d)+d)", SIZES),
    "linear countsketch": ({"projection": "countsketch"}, "n*(4*d+D)", SIZES),
    "linear osnap": ({"projection": "osnap"}, "n*(16*d+D)", SIZES),
    "positive": ({"kernel": {"kernel": "exponential", "lengthscale": 16}}, "n*d*D", SIZES),
    "arc_cosine": ({}, "n*d*D", SIZES),
    "sign": ({}, "n*d*D", SIZES),
    "optical": ({}, "n*2*d*D", SIZES),
    "nystroem": ({"kernel": {"kernel": "gaussian", "lengthscale": 2}}, "n*D*(2*d+260+D/2)", SIZES),
    "exact": ({"kernel": GAUSSIAN}, "n*D*(d+130)", SIZES),
    "additive": ({"features": "3*d"}, "n*3*d", {"n": 4000, "d": 512}),
    "laplace": ({}, "n*d*D", SIZES),
    "anova": ({}, "n*2*d*D", {**SIZES, "d": 64}),
    "poisson": ({"kernel": {"kernel": "gaussian", "lengthscale": 32}}, "n*D*(2*d+54)", SIZES),
    "eigenfunctions": ({"kernel": {"kernel": "gaussian", "lengthscale": 2}}, "n*D*d", {**SIZES, "d": 8}),
    "random_binning": ({}, "n*D*d/32", SIZES),
    "weighted_minhash": ({}, "n*D*(d/32+2)", {**SIZES, "n": 250}),
    "exact_polynomial": ({"kernel": POLYNOMIAL, "features": "comb(d+3,3)"}, "n*comb(d+3,3)", {"n": 200, "d": 12}),
    "maclaurin": ({"kernel": {"kernel": "exponential", "lengthscale": 16}}, "n*(d*log2(d)+D)", LONG),
    "sum": ({"kernel": {"kernel": "sum", **PARTS}, **DENSE}, "n*D*(d/2+27)", SIZES),
    "product": ({"kernel": {"kernel": "product", **PARTS}, **DENSE}, "n*D*(d+54)", SIZES),
    "product_sketch": ({"kernel": POLYNOMIAL}, "n*3*d*D", SIZES),
    "tensor_sketch": ({"kernel": POLYNOMIAL}, "n*3*(d+D*log2(D))", {"n": 250, "d": 64, "D": 4096}),
    "tensor_srht": ({"kernel": POLYNOMIAL}, "n*3*(d*log2(d)+D)", LONG),
    "hierarchical_sketch": ({"kernel": POLYNOMIAL}, "n*3*(d*log2(d)+D*log2(D))", SIZES),
    "craft": ({"kernel": POLYNOMIAL}, "n*(3*(d*log2(d)+4*D)+4*D*log2(4*D))", SIZES),
}
KEPT = "d*D"  # numbers of projections that are matrices: those whose time is d*D a row

# Of fits: what the spec has beside its map, time, bytes, and the smallest sizes; a letter without a size does not vary. Operations
# are multiply-adds in single precision, of which one in double takes two, a cosine 27, an exponential in double 130, a number of
# CountSketch four and one that is sorted for the ranges of inputs 3,000.
MAP = "n*D*(d/2+27)+3000*n*d"
WIDE = {"n": 8000, "d": 16, "D": 512, "p": 1}
TALL = {"n": 4000, "d": 16, "D": 512, "p": 2}
FITS = {
    "ridge direct": ({}, f"{MAP}+n*D*(D+2*p)+D**3/3", "8*D*D", WIDE),
    "ridge direct, n < D": ({}, f"{MAP}+n*n*D+n**3/3", "8*n*n", {"n": 512, "d": 16, "D": 8192}),
    "ridge mixed": ({"solver": "mixed"}, f"{MAP}+n*D*D/2", "16*D*D", {**WIDE, "n": 16000, "D": 1024}),
    "ridge cg": ({"solver": "cg", "lambda": 1e-3}, MAP, "D*256*8", {**WIDE, "n": 16000, "D": 1024}),
    "gp": ({"model": "gp"}, f"{MAP}+n*D*(D+2*p)+D**3", "8*D*D", WIDE),
    "logistic": ({"model": "logistic", "task": "classification"}, f"{MAP}+n*D*D+D**3/3", "8*D*D", TALL),
    "dirichlet": ({"model": "dirichlet", "task": "classification", "alpha": 0.1}, f"{MAP}+p*(n*D*D+D**3)", "20*D*D*p", TALL),
    "svgp": ({"model": "svgp", "task": "classification"}, "n*D*D*(p if p>2 else 1)", "20*D*D*p", {**TALL, "D": 256}),
    "kernel_pca": ({"model": "kernel_pca", "components": 10, "lambda": 0}, f"{MAP}+n*D*D+8*D**3", "8*D*D", {"n": 8000, "d": 16, "D": 512}),
    "density": ({"model": "density"}, "n*d*D*D", "8*D*D", {"n": 2000, "d": 4, "D": 128}),
    "sparse_inputs": ({"model": "sparse_inputs", "tau": 0.01}, "n*d*D*D", "24*(d+1)*D*D", {"n": 2000, "d": 4, "D": 64, "p": 1}),
}
# Why a line is off, by its case and letter; "" is all letters.
PAST = "Z of 64 MB and more is written past the caches"
LEAVES = "a row of Z, or all of Z, leaves a cache as it grows"
SORTS = "preparation sorts the inputs, and fresh memory: half the time at these sizes"
WHY = {
    ("fourier sorf", "D"): PAST,
    ("fourier fastfood", "D"): PAST,
    ("fourier circulant", "d"): "numbers of a short FFT cost more than those of a long one",
    ("fourier orthogonal", ""): "bytes: blocks are drawn in double beside the map",
    ("fourier simplex", ""): "bytes: blocks are drawn in double beside the map",
    ("linear countsketch", ""): LEAVES,
    ("linear osnap", ""): LEAVES,
    ("additive", "d"): LEAVES,
    ("tensor_srht", ""): LEAVES,
    ("poisson", ""): "logarithms of the inputs, once a row",
    ("eigenfunctions", "d"): "for a few inputs: each has a table that is looked up",
    ("exact_polynomial", "d"): "monomials come from those of a degree less, whose rows leave the caches",
    ("maclaurin", ""): "few columns for each degree: a transform of d numbers serves up to d",
    ("tensor_sketch", "D"): "FFTW does 68 GFLOP/s at 2,048 numbers, 20 at 16,384, by plans that are not measured",
    ("craft", "d"): "the transform of d numbers takes more of its time than its operations",
    ("ridge direct", "n"): "bytes: a block of up to 32 MB, which fewer rows do not fill",
    ("ridge direct", "D"): "bytes: a block of up to 32 MB beside Z'Z",
    ("ridge direct", "d"): SORTS,
    ("ridge direct, n < D", ""): "features of n rows are made in blocks, whose memory is larger than the Gram matrix",
    ("ridge mixed", ""): "bytes: a block beside Z'Z, and features as long as they fit 512 MiB",
    ("ridge cg", ""): "the number of passes grows with D and falls with n; features are kept as long as they fit 512 MiB",
    ("gp", ""): "bytes: a block of up to 32 MB beside Z'Z",
    ("logistic", ""): "steps of n D for each class, whose number varies, beside the factor of a Hessian; bytes: features of up to 512 MiB are kept",
    ("dirichlet", ""): "features and fresh memory, 20 D^2 bytes for each class, are half the time at these sizes",
    ("svgp", ""): "bytes: features of up to 512 MiB are kept; time: the number of steps",
    ("kernel_pca", ""): SORTS,
    ("density", ""): "derivatives are made in blocks beside sums of D^2",
    ("sparse_inputs", ""): "solves, D^3 each, beside the sums; the number of their steps",
}

def stated(formula, sizes):
    return eval(formula, {"log2": math.log2, "comb": math.comb}, sizes)  # the formulas are those of this file


def drawn(n, d):
    return np.random.default_rng(n + d).random((n, d), dtype=np.float32)


class Transform:
    """A call that makes the map, once, and features of rows into an array that was written before."""

    def __init__(self, library, spec, sizes):
        self.spec = {"inputs": sizes["d"], **spec, "features": stated(spec.get("features", "D"), sizes)}
        self.library, self.map, self.X = library, None, drawn(sizes["n"], sizes["d"])
        self.Z = np.ones((sizes["n"], self.spec["features"]), np.float32)

    def __call__(self):
        if self.map is None and self.spec["map"] in ("exact", "nystroem"):
            self.map = self.library.fit(self.spec, drawn(self.spec["features"], self.X.shape[1]))
        elif self.map is None:
            self.map = self.library.make("map_from_spec", json.dumps(self.spec).encode())
        self.library.map_transform(self.map, rows(self.X), None, None, matrix(self.Z))

    def __del__(self):
        self.library.free(self.map)


def fit(library, own, sizes):
    """A call that fits a model to a smooth function, or classes by its size, and to none where the model has no targets."""
    n, d, p = sizes["n"], sizes["d"], sizes.get("p")
    X = drawn(n, d)
    value = np.sin(X @ np.linspace(1, 2, d, dtype=np.float32))
    Y = None if p is None and "model" in own else np.tile(value[:, None], (1, p or 1)).astype(np.float64)
    if own.get("task"):
        Y = np.minimum(value.argsort().argsort() * p // n, p - 1).astype(np.float64)[:, None]
    kernel = {"kernel": "gaussian", "lengthscale": math.sqrt(d)}
    spec = {"search": False, "assess": False, "lambda": 1e-4, **own,
            "map": {"map": "fourier", "projection": "dense", "kernel": kernel, "features": sizes["D"]}}
    return lambda: library.model_free(library.fit_model(spec, X, Y))


def cases(library):
    """Name, letter, sizes, and what makes the call at sizes, with the formulas of time and bytes; bytes of rows are not counted."""
    said = json.loads(library.text("specs", None))
    maps = {f"fourier {p['name']}": ({"projection": p["name"]}, *(STRUCTURED if "log d" in p["help"] else MATRIX)) for p in said["projections"]}
    maps |= MAPS
    kernels = {m["name"]: m["default_kernel"] for m in said["maps"]}
    absent = kernels.keys() - {name.split()[0] for name in maps} - {"custom"}
    absent |= {m["name"] for m in said["models"]} - {name.replace(",", " ").split()[0] for name in FITS}
    if absent:
        sys.exit(f"growth.py: without a line: {', '.join(sorted(absent))}")
    for name, (own, cost, sizes) in maps.items():
        spec = {"map": name.split()[0], "kernel": kernels[name.split()[0]], **own}
        kept = KEPT if "d*D" in cost or (name, cost) == (f"fourier {name.split()[-1]}", MATRIX[0]) else None
        yield name, cost, kept, sizes, lambda s, spec=spec: Transform(library, spec, s)
    for name, (own, cost, kept, sizes) in FITS.items():
        yield name, cost, kept, sizes, lambda s, own=own: fit(library, own, s)


def time_exponents(makes, cost, sizes, letter, options):
    """Measured and stated, for a letter that takes its size and doubles."""
    steps, seconds = [{**sizes, letter: sizes[letter] << k} for k in range(options.steps - ("p" in sizes))], []
    calls = [makes(step) for step in steps]
    for call in calls:
        call()
    start = time.process_time()
    calls[0]()
    often = math.ceil(options.least / max(time.process_time() - start, 1e-6))
    for _ in range(options.rounds):
        seconds.append([])
        for call in calls:
            start = time.process_time()
            for _ in range(often):
                call()
            seconds[-1].append(time.process_time() - start)
    grown, at = np.median(np.array(seconds) / np.array(seconds)[:, :1], 0), [step[letter] for step in steps]
    return slope(at, grown), slope(at, [stated(cost, step) for step in steps])


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def grown_by(makes, warm, sizes):
    """Bytes above what a process had that has its rows and has called the library before."""
    makes(warm)()
    call = makes(sizes)
    before = peak()
    call()
    return peak() - before


def memory_exponents(makes, kept, sizes, letter):
    """The same of bytes, a megabyte added to each, which is what is not resolved."""
    steps = [{**sizes, letter: sizes[letter] << k} for k in (1, 2)]
    warm = {**sizes, "n": 256, "D": 64}
    grown = [2**20 + apart(lambda step=step: grown_by(makes, warm, step))[0] for step in steps]
    at = [step[letter] for step in steps]
    return slope(at, grown), slope(at, [stated(kept, step) for step in steps])


def main():
    parser = options_of(__doc__, plot=False)
    parser.add_argument("--only", nargs="+", default=[""], help="cases whose names have one of these texts")
    parser.add_argument("--all", action="store_true", help="print every line")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=4, help="sizes of a letter")
    parser.add_argument("--off", type=float, default=0.1, help="how far an exponent may be from what is stated")
    parser.add_argument("--least", type=float, default=0.004, help="processor seconds of the smallest size")
    options = parsed(parser, several=("steps",), rounds=2, steps=3, least=0.0005, off=0.2)
    library = Library(options.library)
    asked = [(*case, letter) for case in cases(library) if any(text in case[0] for text in options.only) for letter in case[3]]
    # Memory first, while this process, whose heap its children have, has used none.
    bytes_of = {}
    for name, _, kept, sizes, makes, letter in () if options.quick else asked:
        if kept == KEPT and letter in "dD":
            wide = {**sizes, "n": 16, "d": sizes["d"] * (2 if letter == "d" else 4), "D": sizes["D"] * (8 if letter == "d" else 16)}
            bytes_of[name, letter] = memory_exponents(makes, kept, wide, letter)
        elif kept and kept != KEPT and letter in "nD":
            bytes_of[name, letter] = memory_exponents(makes, kept, {**sizes, "n": 4 * sizes["n"]} if letter == "n" and "n" not in kept else sizes, letter)
    print("| case | letter | time, stated | measured | bytes, stated | measured | why |\n|---|---|---|---|---|---|---|")
    off = {}
    for name, cost, _, sizes, makes, letter in asked:
        pairs = [time_exponents(makes, cost, sizes, letter, options), *filter(None, [bytes_of.get((name, letter))])]
        if any(abs(found - said) > options.off for found, said in pairs):
            off[name, letter] = next((WHY[key] for key in ((name, letter), (name, "")) if key in WHY), "")
        if options.all or (name, letter) in off:
            cells = [f"{said:.2f} | {found:.2f}" for found, said in pairs] + [" | "] * (2 - len(pairs))
            print(f"| {name} | {letter} | {' | '.join(cells)} | {off.get((name, letter), '')} |", flush=True)
    print(f"\n{len(asked) - len(off)} of {len(asked)} lines are within {options.off} of what is stated")
    without = [f"{name}, {letter}" for (name, letter), why in off.items() if not why]
    sys.exit(f"without a reason: {'; '.join(without)}" if without else 0)


if __name__ == "__main__":
    main()
