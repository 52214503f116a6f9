# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""What a careful person would fit instead, each by its library's own words where there is one: linear ridge by leave-one-out and exact
kernel ridge by 5-fold cross-validation in dense linear algebra, and of scikit-learn gradient boosting, a pipeline of 1,000 Fourier
features by 5-fold cross-validation, and an exact Gaussian process with a lengthscale for each input."""
import time
import warnings

import numpy as np

LAMBDAS = 10.0 ** np.arange(-10, 1.01, 0.5)  # per row
# Clipping breaks collinear columns apart, which smaller ones would magnify; those of d inputs, d far above n, are as large as d.
LINEAR_LAMBDAS = 10.0 ** np.arange(-4, 4.01, 0.5)
LENGTHSCALES = 2.0 ** np.arange(-4, 5.01, 0.5)  # times sqrt(d), of standardised inputs
MOST_ROWS = {"exact": 2000, "process": 700, "pipeline": 20000}  # beyond, a split takes minutes


class Rows:
    """Training and test rows. Columns of text have their levels as numbers; they are said in `text`. variance: by which squared errors
    are divided, that of the test's targets if it is None."""

    def __init__(self, train, test, classes, same_unit=False, text=(), variance=None):
        (self.raw, self.y), (self.raw_test, self.y_test) = train, test
        self.classes, self.text, self.same_unit = classes, list(text), same_unit
        self.variance = np.var(self.y_test) if variance is None else variance

    def columns(self, clip=False):
        """Standardised, texts as indicators."""
        X, Z = (one_hot(X, self.text, self.raw) for X in (self.raw, self.raw_test))
        mean, scale = X.mean(0), X.std(0)
        scale[(scale == 0) | self.same_unit] = 1
        Z = np.clip(Z, X.min(0), X.max(0)) if clip else Z
        return (X - mean) / scale, (Z - mean) / scale

    def score(self, predicted):
        """Of codes of classes, labels or numbers."""
        if self.classes:
            labels = predicted.argmax(1) if predicted.ndim == 2 else predicted
            return float(np.mean(labels == self.y_test))
        return float(1 - np.mean((predicted.reshape(-1) - self.y_test) ** 2) / self.variance)


def one_hot(X, text, levels_of):
    if not text:
        return X
    plain = np.delete(X, text, axis=1)
    return np.hstack([plain] + [(X[:, [j]] == np.unique(levels_of[:, j])).astype(float) for j in text])


def coded(y, classes):
    return np.eye(classes)[y.astype(int)] if classes else y[:, None]


def linear(rows):
    X, X_test = rows.columns(clip=True)
    Y = coded(rows.y, rows.classes)
    n, mean = len(Y), Y.mean(0)
    U, s, Vt = np.linalg.svd(X, full_matrices=False)
    C = U.T @ (Y - mean)
    best = (np.inf, None)
    for shift in n * LINEAR_LAMBDAS:
        shrink = s**2 / (s**2 + shift)
        leverage = 1 / n + (U**2) @ shrink
        left = (Y - mean - U @ (shrink[:, None] * C)) / np.maximum(1 - leverage, 1e-8)[:, None]
        best = min(best, (np.mean(left**2), shift), key=lambda pair: pair[0])
    weights = Vt.T @ ((s / (s**2 + best[1]))[:, None] * C)
    return rows.score(X_test @ weights + mean)


def squared_distances(X, Z):
    return np.maximum((X**2).sum(1)[:, None] + (Z**2).sum(1)[None] - 2 * X @ Z.T, 0)


def predictions(K, K_test, Y):
    """For every lambda."""
    mean = Y.mean(0)
    s, V = np.linalg.eigh(K)
    C, left = V.T @ (Y - mean), K_test @ V
    return [left @ (C / (np.maximum(s, 0) + len(K) * value)[:, None]) + mean for value in LAMBDAS]


def exact(rows):
    """Squared error decides, of one-hot codes for classes."""
    X, X_test = rows.columns()
    Y, n, d = coded(rows.y, rows.classes), len(X), X.shape[1]
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
    return rows.score(predictions(np.exp(-squares / width), np.exp(-squared_distances(X_test, X) / width), Y)[j])


def trees(rows):
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
    categories = [j for j in rows.text if rows.raw[:, j].max() < 255]
    made = (HistGradientBoostingClassifier if rows.classes else HistGradientBoostingRegressor)(
        random_state=0, categorical_features=categories or None)
    return rows.score(made.fit(rows.raw, rows.y).predict(rows.raw_test))


def pipeline(rows):
    from sklearn.kernel_approximation import RBFSampler
    from sklearn.linear_model import Ridge, RidgeClassifier
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import make_pipeline
    X, X_test = rows.columns()
    median = np.median(squared_distances(X[:1000], X[:1000]))
    name = "ridgeclassifier" if rows.classes else "ridge"
    made = make_pipeline(RBFSampler(n_components=1000, random_state=0), RidgeClassifier() if rows.classes else Ridge())
    found = GridSearchCV(made, {"rbfsampler__gamma": list(4.0 ** np.arange(-2, 3) / median), f"{name}__alpha": list(10.0 ** np.arange(-4, 2))}, cv=5)
    return rows.score(found.fit(X, rows.y).predict(X_test))


def process(rows):
    """Regression alone."""
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
    X, X_test = rows.columns()
    kernel = ConstantKernel(1) * RBF(np.full(X.shape[1], np.sqrt(X.shape[1])), (1e-2, 1e4)) + WhiteKernel(0.1, (1e-8, 1e2))
    return rows.score(GaussianProcessRegressor(kernel, normalize_y=True).fit(X, rows.y).predict(X_test))


METHODS = {"linear": linear, "exact": exact, "trees": trees, "pipeline": pipeline, "process": process}


def measured(name, rows):
    """Score and processor seconds of a method; NaN where it takes no classes or too many rows."""
    if len(rows.y) > MOST_ROWS.get(name, np.inf) or (name == "process" and (rows.classes or rows.raw.shape[1] > 60)):
        return [float("nan")] * 2
    before = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        score = METHODS[name](rows)
    return [score, time.process_time() - before]
