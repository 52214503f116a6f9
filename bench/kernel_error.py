#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""Kernel error against time of every projection, on real data or generated rows: a table, and a plot.

Usage: kernel_error.py LIBMERCER.so [--data DIR] [--sets letter mnist kin8nm] [--plot kernel_error.png]
For each data set (standardised columns; images over 255), a Gaussian kernel whose lengthscale is the median distance of rows, each
projection and each number of features: the relative Frobenius error |ZZ' - K|/|K| over 500 rows, averaged over seeds, the standard
error of that average, its ratio to dense, and the median time to map 4,000 rows in float32. Without --data, rows are generated.
The plot shows the error against D and against time, with bars of two standard errors.
"""
import statistics
from collections import namedtuple

import numpy as np

import figure
from experiment import frobenius, images, median_distance, options_of, parsed, read_csv, shuffled, squared_distances, standardised, timed
from library import Library

PROJECTIONS = ["dense", "orthogonal", "sorf", "fastfood", "circulant", "sobol", "halton"]


def read_rows(data, name):
    if data is None:
        d = {"letter": 16, "mnist": 784, "kin8nm": 8}.get(name, 8)
        return np.random.default_rng(0).standard_normal((4000, d))
    return images(data, name, 1)[0] if name == "mnist" else standardised(read_csv(data, name)[0])


def measure(library, X, lengthscale, projection, D, seeds):
    rows = np.ascontiguousarray(X[:500], np.float32)
    many = np.ascontiguousarray(X[:4000], np.float32)
    K = np.exp(-squared_distances(rows.astype(float)) / (2 * lengthscale**2))
    errors, seconds = [], []
    Z, big = np.zeros((len(rows), D), np.float32), np.zeros((len(many), D), np.float32)
    for seed in range(seeds):
        made, why = library.map({"map": "fourier", "kernel": {"kernel": "gaussian", "lengthscale": lengthscale},
                                 "inputs": X.shape[1], "features": D, "seed": seed, "projection": projection})
        if made is None:
            return None, why
        library.apply(made, rows, Z)
        errors.append(frobenius(Z.astype(float) @ Z.T, K))
        if seed < 3:
            library.apply(made, many, big)
            seconds.append(timed(lambda: library.apply(made, many, big))[1])
        library.free(made)
    return (np.mean(errors), np.std(errors) / np.sqrt(seeds), statistics.median(seconds)), ""


Point = namedtuple("Point", "set projection D error standard_error seconds")


def plot(path, points, titles):
    chart, axes = figure.subplots(2, len(titles))
    for column, (name, title) in enumerate(titles.items()):
        over_width, over_time = axes[:, column]
        for k, projection in enumerate(PROJECTIONS):
            some = [p for p in points if (p.set, p.projection) == (name, projection)]
            if not some:
                continue
            D, error, bars, time_of = ([p.D for p in some], [p.error for p in some], [2 * p.standard_error for p in some],
                                       [1e3 * p.seconds for p in some])
            over_width.errorbar(figure.beside(D, k, len(PROJECTIONS)), error, bars, label=projection, **figure.look(k))
            over_time.errorbar(time_of, error, bars, **figure.look(k))
            figure.widths_at(over_time, time_of, error, D, k)
        figure.widths_below(over_width, sorted({p.D for p in points}))
        figure.error_against(over_width, "features D", title)
        figure.error_against(over_time, "milliseconds for 4,000 rows (D at the points)", title, is_time=True)
    figure.save(chart, axes[0, -1], path)


def main():
    parser = options_of(__doc__, data="optional")
    parser.add_argument("--sets", nargs="*", default=["letter", "mnist", "kin8nm"])
    parser.add_argument("--features", nargs="*", type=int, default=[256, 1024, 4096])
    parser.add_argument("--seeds", type=int, default=10)
    options = parsed(parser, sets=["letter"], features=[256, 1024], seeds=3)
    library = Library(options.library)
    points, titles = [], {}
    print("set,d,projection,D,error,standard_error,to_dense,seconds")
    for name in options.sets:
        X = read_rows(options.data, name)
        X = shuffled(X, 1)
        lengthscale = median_distance(X[:500])
        titles[name] = (f"{name if options.data else 'normal rows'}, d = {X.shape[1]}, ℓ = {lengthscale:.3g}\n"
                        f"{options.seeds} seeds, bars: ±2 standard errors")
        for D in options.features:
            dense = None
            for projection in PROJECTIONS:
                result, why = measure(library, X, lengthscale, projection, D, options.seeds)
                if result is None:
                    print(f"# {name} {projection}: {why}")
                    continue
                error, spread, seconds = result
                dense = error if projection == "dense" else dense
                points.append(Point(name, projection, D, error, spread, seconds))
                print(f"{name},{X.shape[1]},{projection},{D},{error:.5f},{spread:.5f},{error / dense:.3f},{seconds:.5f}",
                      flush=True)
    if options.plot:
        plot(options.plot, points, titles)


main()
