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
import argparse
import ctypes

import numpy as np

import figure
from library import Library, Rows, address, matrix, rows, size

LENGTHSCALES = [0.5, 0.7, 1.0]
LAMBDAS = [1e-7, 1e-6, 1e-5, 1e-4, 1e-3]
NOISE = 0.1
TESTED, CHOOSING = 2000, 500


class Observations(ctypes.Structure):
    """mercer_observations."""
    _fields_ = [("struct_size", ctypes.c_uint32), ("reserved", ctypes.c_int32), ("weight", ctypes.c_double),
                ("partial", address), ("X", Rows), ("Y", Rows), ("row_weights", address)]


class Data(ctypes.Structure):
    """mercer_data."""
    _fields_ = [("struct_size", ctypes.c_uint32), ("reserved", ctypes.c_int32), ("X", Rows), ("Y", Rows), ("weights", address),
                ("source", address), ("sets", ctypes.POINTER(Observations)), ("set_count", ctypes.c_int64), ("map", address)]


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
    x = rows(X)
    for k in range(-1, 0 if gradient is None else 3):
        order = (ctypes.c_int32 * 3)(*(int(j == k) for j in range(3)))
        Y = np.ascontiguousarray(f[:, None] if k < 0 else gradient[:, k:k + 1])
        y = rows(Y)
        keep += [order, Y]
        sets.append(Observations(ctypes.sizeof(Observations), 0, 1.0, ctypes.addressof(order), x, y, None))
    model = ctypes.c_void_p()
    data = Data(struct_size=ctypes.sizeof(Data), sets=(Observations * len(sets))(*sets), set_count=len(sets), map=made)
    status = library.mercer_model_fit(b'{"lambda":%r}' % lam, ctypes.byref(data), None, ctypes.byref(model))
    assert status == 0, library.mercer_last_error()
    return model


def errors_of(library, model, X, f):
    predicted = np.empty((len(X), 1))
    status = library.mercer_model_predict(model, rows(X), b"value", None, None, matrix(predicted))
    assert status == 0, library.mercer_last_error()
    return float(np.sqrt(np.mean((predicted[:, 0] - f) ** 2)))


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
            model = fit(library.library, made, X, f, gradient if with_gradient else None, lam)
            chosen = errors_of(library.library, model, choose, potential(choose)[0])
            best = min(best, (chosen, errors_of(library.library, model, test, potential(test)[0])))
            library.library.mercer_model_free(model)
        library.free(made)
    return best[1]


def times_more(points, values, errors):
    """For each error by gradients: how many times its points values alone need; NaN beyond the points measured."""
    needed = np.interp(-np.log(errors), -np.log(values), np.log(points), right=np.nan)
    return np.exp(needed) / points


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library")
    parser.add_argument("--features", type=int, default=1000)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--points", type=int, nargs="+", default=[80, 160, 320, 640, 1280])
    parser.add_argument("--plot")
    arguments = parser.parse_args()
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
