# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""What a careful person would fit instead, by dense linear algebra: linear ridge by leave-one-out, exact kernel ridge by 5-fold
cross-validation."""
import numpy as np

LAMBDAS = 10.0 ** np.arange(-10, 1.01, 0.5)  # per row
# Clipping breaks collinear columns apart, which smaller ones would magnify; those of d inputs, d far above n, are as large as d.
LINEAR_LAMBDAS = 10.0 ** np.arange(-4, 4.01, 0.5)
LENGTHSCALES = 2.0 ** np.arange(-4, 5.01, 0.5)  # times sqrt(d), of standardised inputs


def coded(y, classes):
    return np.eye(classes)[y.astype(int)] if classes else y[:, None]


def score(predicted, y, classes):
    if classes:
        return float(np.mean(predicted.argmax(1) == y))
    return float(1 - np.sum((predicted[:, 0] - y) ** 2) / np.sum((y - y.mean()) ** 2))


def standardised(X, others, same_unit):
    """same_unit: centred alone."""
    mean, scale = X.mean(0), X.std(0)
    scale[(scale == 0) | same_unit] = 1
    return (X - mean) / scale, [(other - mean) / scale for other in others]


def linear(train, test, classes, same_unit):
    (X, y), (X_test, y_test) = train, test
    X, (X_test,) = standardised(X, [np.clip(X_test, X.min(0), X.max(0))], same_unit)
    Y = coded(y, classes)
    n, mean = len(y), Y.mean(0)
    U, s, Vt = np.linalg.svd(X, full_matrices=False)
    C = U.T @ (Y - mean)
    best = (np.inf, None)
    for shift in n * LINEAR_LAMBDAS:
        shrink = s**2 / (s**2 + shift)
        leverage = 1 / n + (U**2) @ shrink
        left = (Y - mean - U @ (shrink[:, None] * C)) / np.maximum(1 - leverage, 1e-8)[:, None]
        best = min(best, (np.mean(left**2), shift), key=lambda pair: pair[0])
    weights = Vt.T @ ((s / (s**2 + best[1]))[:, None] * C)
    return score(X_test @ weights + mean, y_test, classes)


def squared_distances(X, Z):
    return np.maximum((X**2).sum(1)[:, None] + (Z**2).sum(1)[None] - 2 * X @ Z.T, 0)


def predictions(K, K_test, Y):
    """For every lambda."""
    mean = Y.mean(0)
    s, V = np.linalg.eigh(K)
    C, left = V.T @ (Y - mean), K_test @ V
    return [left @ (C / (np.maximum(s, 0) + len(K) * value)[:, None]) + mean for value in LAMBDAS]


def exact(train, test, classes, same_unit):
    """Squared error decides, of one-hot codes for classes."""
    (X, y), (X_test, y_test) = train, test
    X, (X_test,) = standardised(X, [X_test], same_unit)
    Y, n, d = coded(y, classes), len(y), X.shape[1]
    squares = squared_distances(X, X)
    folds = np.random.RandomState(0).permutation(n) % 5
    errors = np.zeros((len(LENGTHSCALES), len(LAMBDAS)))
    for i, lengthscale in enumerate(LENGTHSCALES):
        K = np.exp(-squares / (2 * d * lengthscale**2))
        for fold in range(5):
            a, b = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
            for j, P in enumerate(predictions(K[np.ix_(a, a)], K[np.ix_(b, a)], Y[a])):
                errors[i, j] += np.sum((P - Y[b]) ** 2)
    i, j = np.unravel_index(np.argmin(errors), errors.shape)
    width = 2 * d * LENGTHSCALES[i] ** 2
    P = predictions(np.exp(-squares / width), np.exp(-squared_distances(X_test, X) / width), Y)[j]
    return score(P, y_test, classes)


def scores(train, test, classes, same_unit=False):
    return [linear(train, test, classes, same_unit), exact(train, test, classes, same_unit)]
