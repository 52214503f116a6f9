#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""Learning a potential in three dimensions from its values, and from values and gradients: a table, and a plot.

Usage: hermite.py LIBMERCER.so [--features 1000] [--seeds 3] [--points 80 160 ...] [--plot hermite.png]
The potential is a sum of twelve Gaussian wells and barriers in the cube [-1, 1]^3, sampled uniformly, with noise of a tenth of its
standard deviation on values and on derivatives. Both ways have the same Fourier features of a Gaussian kernel; lengthscale and
lambda are those with the least error on 500 further values. The error is that of 2,000 values without noise, over their standard
deviation. The last column is the factor by which values alone need more points for the same error, along the line between points
in the logarithms.
"""
import ctypes
import json

import numpy as np

import figure
from experiment import options_of, parsed
from library import Library, _api, rows

LENGTHSCALES = [0.5, 0.7, 1.0]
LAMBDAS = [1e-7, 1e-6, 1e-5, 1e-4, 1e-3]
NOISE = 0.1
TESTED, CHOOSING = 2000, 500


class Potential:
    """Value and gradient of a sum of Gaussians, scaled to a standard deviation of 1."""

    def __init__(self, seed):
        random = np.random.default_rng(seed)
        self.centres = random.uniform(-1, 1, (12, 3))
        self.heights = random.normal(0, 1, 12)
        self.widths = random.uniform(0.3, 0.7, 12)
        self.heights /= self(random.uniform(-1, 1, (20000, 3)))[0].std()

    def __call__(self, X):
        away = X[:, None] - self.centres[None]
        wells = self.heights * np.exp(-(away**2).sum(2) / (2 * self.widths**2))
        return wells.sum(1), -((wells / self.widths**2)[:, :, None] * away).sum(1)


def fit(library, made, X, f, gradient, lam):
    """A model of values, and of gradients if there are any: all have the same noise, so the same weight."""
    keep, sets = [], []
    for k in range(-1, 0 if gradient is None else 3):
        order = (ctypes.c_int32 * 3)(*(int(j == k) for j in range(3)))
        one = _api.make("observations")
        one.weight, one.partial, one.X = 1.0, ctypes.addressof(order), rows(X)
        one.Y = rows(np.ascontiguousarray(f[:, None] if k < 0 else gradient[:, k:k + 1]))
        keep += [order, one]
        sets.append(one)
    data = _api.make("data")
    listed = (_api.structs["mercer_observations"] * len(sets))(*sets)
    data.sets, data.set_count, data.map = ctypes.addressof(listed), len(sets), made
    return library.make("model_fit", json.dumps({"lambda": lam}).encode(), ctypes.byref(data), None)


def errors_of(library, model, X, f):
    return float(np.sqrt(np.mean((library.predict(model, X, 1)[:, 0] - f) ** 2)))


def measure(library, n, seed, features, with_gradient):
    """The error at the lengthscale and lambda that are best on further values."""
    potential, random = Potential(seed), np.random.default_rng(1000 + seed)
    X, choose, test = (random.uniform(-1, 1, (count, 3)) for count in (n, CHOOSING, TESTED))
    f, gradient = potential(X)
    f = f + NOISE * random.normal(size=n)
    gradient = gradient + NOISE * random.normal(size=gradient.shape)
    best = (np.inf, np.inf)
    for lengthscale in LENGTHSCALES:
        made, why = library.map({"map": "fourier", "kernel": {"kernel": "gaussian", "lengthscale": lengthscale},
                                 "inputs": 3, "features": features, "seed": seed, "projection": "sobol"})
        assert made is not None, why
        for lam in LAMBDAS:
            model = fit(library, made, X, f, gradient if with_gradient else None, lam)
            chosen = errors_of(library, model, choose, potential(choose)[0])
            best = min(best, (chosen, errors_of(library, model, test, potential(test)[0])))
            library.model_free(model)
        library.free(made)
    return best[1]


def times_more(points, values, errors):
    """For each error by gradients: how many times its points values alone need; NaN beyond the points measured."""
    needed = np.interp(-np.log(errors), -np.log(values), np.log(points), right=np.nan)
    return np.exp(needed) / points


def main():
    parser = options_of(__doc__)
    parser.add_argument("--features", type=int, default=1000)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--points", type=int, nargs="+", default=[80, 160, 320, 640, 1280])
    arguments = parsed(parser, points=[80, 160, 320], seeds=2, features=300)
    library = Library(arguments.library)
    points = np.array(arguments.points)
    found = np.array([[[measure(library, n, seed, arguments.features, way) for seed in range(arguments.seeds)]
                       for n in points] for way in (False, True)])
    means = np.exp(np.log(found).mean(2))
    spread = np.log(found).std(2, ddof=1) / np.sqrt(arguments.seeds) if arguments.seeds > 1 else 0 * means
    print(f"{'points':>7} {'values':>10} {'gradients':>10} {'points saved':>13}")
    for n, of_values, of_both, times in zip(points, *means, times_more(points, means[0], means[1])):
        saved = "beyond" if np.isnan(times) else f"{times:.1f}x"
        print(f"{n:>7} {of_values:>10.5f} {of_both:>10.5f} {saved:>13}")
    if not arguments.plot:
        return
    chart, axes = figure.subplots(1, 1)
    axis = axes[0][0]
    for k, name in enumerate(("values", "values and gradients")):
        bars = means[k] * np.exp([-2 * spread[k], 2 * spread[k]])
        axis.errorbar(points, means[k], [means[k] - bars[0], bars[1] - means[k]], label=name, **figure.look(k))
    figure.widths_below(axis, arguments.points)
    axis.set_yscale("log")
    axis.set_xlabel("points")
    axis.set_ylabel("root mean squared error / standard deviation")
    axis.set_title(f"A potential in 3-D, D = {arguments.features:,}, {arguments.seeds} seeds")
    figure.save(chart, axis, arguments.plot)


if __name__ == "__main__":
    main()
