# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""The Gaussian process itself, of the Gaussian kernel with one lengthscale, in n^3: what features are held against. Needs SciPy."""
from collections import namedtuple

import numpy as np
from scipy.linalg import cholesky, lapack
from scipy.optimize import minimize

# Of each row: the mean, and the variance of a new target. Of all: the variance of the noise, the lengthscale, the fit's warnings.
Process = namedtuple("Process", "value variance noise lengthscale warnings")


def squares(X, Z):
    return np.maximum((X ** 2).sum(1)[:, None] + (Z ** 2).sum(1) - 2 * X @ Z.T, 0)


def drawn(X, lengthscale, random):
    """A function of variance 1 at the rows of X."""
    K = np.exp(-squares(X, X) / (2 * lengthscale ** 2)) + 1e-8 * np.eye(len(X))
    return cholesky(K, lower=True) @ random.normal(size=len(X))


class Exact:
    """y = b + f + noise: f of variance a, noise of a ratio, b of a flat prior. a is the most likely one; value is the negative log
    marginal likelihood of the n - 1 contrasts, but for a constant (Rasmussen and Williams 2006, section 5.4)."""

    def __init__(self, X, y, lengthscale, ratio):
        self.X, self.y, self.lengthscale, self.ratio = X, y, lengthscale, ratio
        n, self.distances = len(y), squares(X, X)
        self.K = np.exp(-self.distances / (2 * lengthscale ** 2))
        root = cholesky(self.K + ratio * np.eye(n), lower=True)
        lower = lapack.dpotri(root, lower=1)[0]
        self.inverse = np.tril(lower) + np.tril(lower, -1).T
        self.ones = self.inverse.sum(1)
        self.b = self.ones @ y / self.ones.sum()
        self.residuals = self.inverse @ (y - self.b)
        self.amplitude = y @ self.residuals / (n - 1)
        self.value = 0.5 * ((n - 1) * np.log(self.amplitude) + np.log(self.ones.sum())) + np.log(np.diag(root)).sum()

    def slopes(self):
        """Of the value in the logarithms of lengthscale and ratio."""
        projected = self.inverse - np.outer(self.ones, self.ones) / self.ones.sum()
        changes = self.K * self.distances / self.lengthscale ** 2, self.ratio * np.eye(len(self.y))
        return np.array([0.5 * (np.vdot(projected, d) - self.residuals @ d @ self.residuals / self.amplitude) for d in changes])

    def at(self, X_test, amplitude=None):
        a, k = amplitude or self.amplitude, np.exp(-squares(X_test, self.X) / (2 * self.lengthscale ** 2))
        variance = 1 - np.einsum("ij,ij->i", k @ self.inverse, k) + (1 - k @ self.ones) ** 2 / self.ones.sum()
        return Process(self.b + k @ self.residuals, a * (variance + self.ratio), a * self.ratio, self.lengthscale, [])


def most_likely(X, y):
    """Climbed to by L-BFGS, from three lengthscales on the first 240 rows, then on all."""
    def climbed(m, start):
        def value(theta):
            at = Exact(X[:m], y[:m], *np.exp(theta))
            return at.value, at.slopes()
        return minimize(value, start, jac=True, method="L-BFGS-B", bounds=[(-7, 7), (-14, 5)], options={"ftol": 1e-9})
    few = min(len(y), 240)
    median = np.log(np.median(np.sqrt(squares(X[:few], X[:few]))))
    best = min((climbed(few, [median + step, -3]) for step in (0, -1.4, 1.4)), key=lambda found: found.fun)
    return Exact(X, y, *np.exp(climbed(len(y), best.x).x))
