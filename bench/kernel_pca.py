# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""Time and accuracy of the model kernel_pca on random features against the same model on the map exact, which is kernel
PCA itself and takes n^3.

Inputs are normal, of ten clusters, d = 30, the lengthscale 9. In common: the mean squared cosine of the angles between
the spans of nine components of 2,000 new rows, which tell ten clusters apart, ours and the exact ones."""
import numpy as np

from experiment import options_of, parsed, timed
from library import Mercer


def clusters(n, seed):
    random = np.random.default_rng(seed)
    centres = np.random.default_rng(0).normal(size=(10, 30)) * 1.5
    return centres[random.integers(0, 10, n)] + random.normal(size=(n, 30))


def in_common(A, B):
    (a, _), (b, _) = np.linalg.qr(A - A.mean(0)), np.linalg.qr(B - B.mean(0))
    return (np.linalg.svd(a.T @ b, compute_uv=False) ** 2).mean()


def main():
    parser = options_of(__doc__, plot=False)
    parser.add_argument("--exact-rows", type=int, nargs="*", default=[2000, 4000])
    parser.add_argument("--rows", type=int, default=50000, help="of the fits that are timed alone")
    parser.add_argument("--features", type=int, nargs="+", default=[512, 1024, 2048])
    asked = parsed(parser, exact_rows=[1000], rows=5000, features=[256, 512])
    library = Mercer(asked.library)
    spec = {"model": "kernel_pca", "components": 9, "prepare": {"standardize": False, "extrapolation": "free"},
            "lengthscale": 9.0}
    new = clusters(2000, 2)
    print(f"{'n':>7} {'D':>6} {'seconds':>8} {'exact':>8} {'in common':>9}")
    for n in asked.exact_rows:
        X = clusters(n, 1)
        exact, seconds = timed(lambda: library.fit_model({**spec, "map": "exact"}, X))
        for D in (asked.features[0], asked.features[-1]):
            model, ours = timed(lambda: library.fit_model({**spec, "map": {"features": D}}, X))
            common = in_common(*(library.predict(one, new, 9) for one in (model, exact)))
            print(f"{n:7,} {D:6,} {ours:8.2f} {seconds:8.2f} {common:9.4f}")
    X = clusters(asked.rows, 1)
    for D in asked.features:
        print(f"{asked.rows:7,} {D:6,} {timed(lambda: library.fit_model({**spec, 'map': {'features': D}}, X))[1]:8.2f}")


if __name__ == "__main__":
    main()
