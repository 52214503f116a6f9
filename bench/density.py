# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""How near the score of a known density the model density comes, against kernel density estimation.

Rows are of two normal densities with unit covariance, means -+ 1.5 in each of two inputs, d = 4. Measured on new rows:
the Fisher divergence 1/2 E ||grad log p_hat - grad log p||^2, of the base density alone too. Kernel density estimation
has the bandwidth that is best on these very rows; the model chooses lambda and lengthscale by rows held out."""

import numpy as np

from experiment import options_of, timed
from library import Mercer

APART = 1.5


def mixture(n, d, seed):
    random = np.random.default_rng(seed)
    side = np.where(random.random(n) < 0.35, APART, -APART)
    X = random.normal(size=(n, d))
    X[:, :2] += side[:, None]
    return X


def score(X):
    """The gradient of the logarithm of the mixture's density."""
    log_odds = np.log(0.35 / 0.65) + 2 * APART * X[:, :2].sum(1)
    out = -X
    out[:, :2] += (APART * np.tanh(log_odds / 2))[:, None]
    return out


def divergence(gradient, X):
    return 0.5 * ((gradient - score(X)) ** 2).sum(1).mean()


def kernel_gradient(X, new, h):
    log = -((new[:, None] - X[None]) ** 2).sum(2) / (2 * h * h)
    weights = np.exp(log - log.max(1, keepdims=True))
    weights /= weights.sum(1, keepdims=True)
    return (weights @ X - new) / (h * h)


def main():
    parser = options_of(__doc__, plot=False, quick=False)
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--inputs", type=int, default=4)
    parser.add_argument("--features", type=int, nargs="+", default=[64, 256, 1024])
    parser.add_argument("--seeds", type=int, default=5)
    asked = parser.parse_args()
    library = Mercer(asked.library)
    found = {}
    for seed in range(asked.seeds):
        X, new = mixture(asked.rows, asked.inputs, 2 * seed), mixture(1000, asked.inputs, 2 * seed + 1)
        bandwidths = 0.2 * 1.2 ** np.arange(12)
        kernels = min(divergence(kernel_gradient(X, new, h), new) for h in bandwidths)
        normal = divergence(-(new - X.mean(0)) @ np.linalg.inv(np.cov(X.T)), new)
        found.setdefault("kernels", []).append((kernels, 0))
        found.setdefault("normal", []).append((normal, 0))
        for D in asked.features:
            model, seconds = timed(lambda: library.fit_model({"model": "density", "map": {"features": D}, "seed": seed}, X))
            found.setdefault(f"{D} features", []).append((divergence(library.predict(model, new, asked.inputs, "gradient"), new), seconds))
    print(f"{'':>14} {'divergence':>10} {'spread':>7} {'seconds':>8}")
    for name, of in found.items():
        values, seconds = np.array(of).T
        print(f"{name:>14} {values.mean():10.4f} {values.std(ddof=min(1, len(of) - 1)):7.4f} {seconds.mean():8.1f}")


if __name__ == "__main__":
    main()
