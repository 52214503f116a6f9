#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""Polynomial kernels of unit rows: Fourier features of fitted frequencies against sketches, at equal columns; a table, and the order in words.

Usage: spherical.py LIBMERCER.so --data DIR [--features 1024] [--degrees 3 7 10 20] [--ranges 2 4] [--seeds 10]
1,000 rows of letter (d = 16) and of mnist (d = 784), centred, divided by their norms. The kernel (1 - |x - y|^2/a^2)^p is the
polynomial one of gamma = 2/a^2 and offset 1 - 2/a^2, which the sketches estimate without a bias. Relative Frobenius error
|ZZ' - K|/|K|, a mean over seeds; beside it the largest bias that the map of fitted frequencies says. The exit code is 1 unless
fitted frequencies, orthogonal, are below TensorSketch at every degree from 20 on.
"""
import argparse
import pathlib
import sys

import numpy as np

import figure
from library import Library, read_images

ROWS = 1000


def read_rows(data, name):
    if name == "mnist":
        X = read_images(data / "mnist" / "t10k-images-idx3-ubyte.gz")
    else:
        X = np.loadtxt(data / name / f"{name}.csv", delimiter=",", skiprows=1)[:, :-1]
        X = X / np.where(X.std(0) > 0, X.std(0), 1)
    X = X[np.random.default_rng(1).permutation(len(X))[:ROWS]] - X.mean(0)
    return np.ascontiguousarray(X / np.linalg.norm(X, axis=1, keepdims=True))


def specs_of(d, degree, a, features):
    sphere = {"kernel": {"kernel": "sphere_polynomial", "degree": degree, "a": a}, "map": "fourier"}
    sketched = {"kernel": {"kernel": "polynomial", "degree": degree, "gamma": 2 / a**2, "offset": 1 - 2 / a**2}}
    common = {"inputs": d, "features": features}
    return {"spherical": common | sphere | {"projection": "dense"},
            "spherical orthogonal": common | sphere | {"projection": "orthogonal"},
            "spherical sorf": common | sphere | {"projection": "sorf"},
            "TensorSketch": common | sketched | {"map": "tensor_sketch"},
            "TensorSRHT": common | sketched | {"map": "tensor_srht", "field": "complex_to_real"}}


def errors_of(library, spec, X, K, seeds):
    """Errors, and the largest bias, where the map says one."""
    errors, bias = [], 0.0
    Z = np.empty((len(X), spec["features"]))
    for seed in range(seeds):
        made, reason = library.map(spec | {"seed": seed})
        assert made, reason
        bias = library.spec(made).get("largest_bias", 0.0)
        library.apply(made, X, Z)
        errors.append(np.linalg.norm(Z @ Z.T - K) / np.linalg.norm(K))
        library.free(made)
    return np.array(errors), bias


def in_words(means):
    return " < ".join(name for name, _ in sorted(means.items(), key=lambda item: item[1]))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library")
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--features", type=int, default=1024)
    parser.add_argument("--degrees", type=int, nargs="+", default=[3, 7, 10, 20])
    parser.add_argument("--ranges", type=float, nargs="+", default=[2, 4])
    parser.add_argument("--seeds", type=int, default=10)
    options = parser.parse_args()
    library, beaten = Library(options.library), []
    for name in ("letter", "mnist"):
        X = read_rows(options.data, name)
        inner = X @ X.T
        for a in options.ranges:
            for degree in options.degrees:
                K = (1 - (2 - 2 * inner) / a**2)**degree
                means, said = {}, 0.0
                for label, spec in specs_of(X.shape[1], degree, a, options.features).items():
                    errors, bias = errors_of(library, spec, X, K, options.seeds)
                    means[label], said = errors.mean(), max(said, bias)
                    print(f"{name}, a = {a:g}, degree {degree:>2}, {label:<20} {errors.mean():.4f} ± {figure.of_mean(errors):.4f}")
                print(f"{name}, a = {a:g}, degree {degree:>2}: {in_words(means)}; largest bias {said:.1e}", flush=True)
                if degree >= 20:
                    beaten.append(means["spherical orthogonal"] < means["TensorSketch"])
    print(f"degrees from 20 on: fitted frequencies are below TensorSketch in {sum(beaten)} of {len(beaten)} cases")
    return 0 if all(beaten) else 1


if __name__ == "__main__":
    sys.exit(main())
