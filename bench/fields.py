#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""Measured vector fields from few of their points, with features of fields and of independent outputs: table and plot.

Usage: fields.py LIBMERCER.so --data DIR [--sets magnetic wind_gfs] [--points 50 ...] [--splits 4] [--features 300]
                 [--plot fields.png]
magnetic: the horizontal part of the magnetic field in a room, training rows from trials 1 to 4, test rows from trial 5, another
walk. wind_gfs: the wind over the North Pacific (140 to 230 degrees east, 10 to 55 north) in Mercator's projection, times the
cosine of the latitude: angles are kept, so that this field has sources and vortices where the one on the sphere has them.
Of each way lengthscale, lambda and alpha are chosen by the library's search. Errors are of test rows, root mean squared, over that of the mean of the training rows; r counts coefficients. "independent-same-r" has as many as
curl_free, by half the features. held: the share of components of test rows inside intervals of 90 %, of model gp.
"""

import numpy as np

import figure
from experiment import options_of, parsed
from operators import Operators, map_spec

INDEPENDENT = {"operator": "decomposable", "gamma": [1, 0, 0, 1]}
# Each way: its map, and into how many parts D is cut.
WAYS = {"curl_free": ({"operator": "curl_free"}, 1),
        "divergence_free": ({"operator": "divergence_free", "root": "orthonormal"}, 1),
        "helmholtz": ({"operator": "helmholtz", "root": "orthonormal"}, 1),
        "independent": (INDEPENDENT, 1), "independent-same-r": (INDEPENDENT, 2)}
TESTED, GRID = 1000, 24


def read(path):
    table = np.loadtxt(path, delimiter=",", skiprows=1)
    return np.ascontiguousarray(table[:, :2]), np.ascontiguousarray(table[:, 2:4])


def magnetic(data):
    return [read(data / "magnetic" / f"magnetic.{part}.csv") for part in ("train", "test")]


def wind_gfs(data):
    """In units of 20 degrees at the equator; one file, so that its rows are split."""
    degrees, wind = read(data / "wind_gfs/wind_gfs.csv")
    inside = (abs(degrees[:, 0] - 185) <= 45) & (abs(degrees[:, 1] - 32.5) <= 22.5)
    longitude, latitude = np.radians(degrees[inside]).T
    X = np.column_stack([longitude, np.arctanh(np.sin(latitude))]) / np.radians(20)
    return [(X, wind[inside] * np.cos(latitude)[:, None])]


def split(parts, n, seed):
    """Training and test rows, the targets less their mean over their deviation in the training rows."""
    (X, Y), (X_test, Y_test) = parts[0], parts[-1]
    random = np.random.default_rng(seed)
    order = random.permutation(len(X))
    others = order[n:] if len(parts) == 1 else random.permutation(len(X_test))
    train, test = order[:n], others[:TESTED]
    mean = Y[train].mean(0)
    scale = np.sqrt(((Y[train] - mean) ** 2).mean())
    return X[train], (Y[train] - mean) / scale, X_test[test], (Y_test[test] - mean) / scale


def learn(library, way, features, X, Y, X_test, seed):
    """Predictions and the half widths of their intervals of 90 %, and r."""
    spec, share = WAYS[way]
    choices = {**spec, "inputs": 2, "features": features // share // 2 * 2, "projection": "orthogonal", "seed": seed}
    with library.learnt(choices, X, Y, model="gp", ard="off", assess=False) as model:
        found, variance = (library.predict(model, np.ascontiguousarray(X_test), 2, what) for what in ("value", "predictive_variance"))
    return found, 1.645 * np.sqrt(variance), map_spec(choices)["features"]


def measure(library, parts, n, options):
    """Errors of every way (rows) and split, the shares held, and the r of every way."""
    errors, held, r = np.empty((len(WAYS), options.splits)), np.empty((len(WAYS), options.splits)), [0] * len(WAYS)
    for seed in range(options.splits):
        X, Y, X_test, Y_test = split(parts, n, seed)
        for k, way in enumerate(WAYS):
            found, width, r[k] = learn(library, way, options.features, X, Y, X_test, seed)
            errors[k, seed] = np.sqrt(((found - Y_test)**2).sum() / (Y_test**2).sum())
            held[k, seed] = np.mean(abs(found - Y_test) <= width)
    return errors, held, r


def table(name, n, errors, held, r):
    """A row of means with standard errors, and how each way compares with independent outputs split by split."""
    free = errors[list(WAYS).index("independent")]
    for k, way in enumerate(WAYS):
        less = errors[k] - free
        print(f"{name:<9} {n:>5}  {way:<20} {r[k]:>5} {errors[k].mean():>7.4f} ± {figure.of_mean(errors[k]):.4f}  "
              f"{less.mean():>+8.4f} ± {figure.of_mean(less):.4f}  {held[k].mean():.3f}", flush=True)


def curves(axis, name, points, errors):
    """errors: sizes, ways, splits."""
    means, count = errors.mean(2), errors.shape[2]
    for k, way in enumerate(WAYS):
        axis.errorbar(figure.beside(points, k, len(WAYS)), means[:, k], errors[:, k].std(1, ddof=1) / np.sqrt(count),
                      label=way, **figure.look(k))
    figure.widths_below(axis, points)
    axis.set_yscale("log")
    figure.plain(axis.yaxis)
    axis.grid(True, which="both", alpha=0.25)
    axis.set(xlabel="training rows", ylabel="error over that of the mean", title=f"{name}, {count} splits, bars: standard error")


def nearest(X, low, high):
    """Rows of X nearest to the points of a grid, each once."""
    places = [np.linspace(low[j], high[j], GRID) for j in range(2)]
    grid = np.stack(np.meshgrid(*places), -1).reshape(-1, 2)
    away = ((grid[:, None] - X[None]) ** 2).sum(2)
    near = away.min(1) < ((high - low) / GRID).max() ** 2 / 4
    return np.unique(away.argmin(1)[near])


def arrows(library, axes, parts, n, way, options):
    """Truth, fit and error at test rows near a grid; the arrows of all three have one scale."""
    X, Y, X_test, Y_test = split(parts, n, 0)
    at = nearest(X_test, X_test.min(0), X_test.max(0))
    fitted = learn(library, way, options.features, X, Y, X_test[at], 0)[0]
    scale = 9 * np.sqrt((Y_test[at] ** 2).sum(1)).max()
    for axis, title, field in zip(axes, ("measured", f"{way} from {n} rows", "error"), (Y_test[at], fitted, fitted - Y_test[at])):
        axis.quiver(*X_test[at].T, *field.T, scale=scale, width=0.005)
        axis.set(aspect="equal", title=title)


def compare(library, name, axes, options):
    """The table of a set, and its line of plots where there is one."""
    parts = {"magnetic": magnetic, "wind_gfs": wind_gfs}[name](options.data)
    found = []
    for n in options.points:
        errors, held, r = measure(library, parts, n, options)
        table(name, n, errors, held, r)
        found.append(errors)
    if axes is not None:
        best = list(WAYS)[int(found[-1].mean(1).argmin())]
        arrows(library, axes[:3], parts, options.points[-1], best, options)
        curves(axes[3], name, options.points, np.array(found))


def main():
    parser = options_of(__doc__, data=True)
    parser.add_argument("--sets", nargs="+", choices=["magnetic", "wind_gfs"], default=["magnetic", "wind_gfs"])
    parser.add_argument("--points", type=int, nargs="+", default=[50, 100, 200, 400])
    parser.add_argument("--splits", type=int, default=4)
    parser.add_argument("--features", type=int, default=300)
    options = parsed(parser, several=("splits",), points=[50, 100], splits=2)
    library = Operators(options.library)
    chart, axes = figure.subplots(len(options.sets), 4, width=4.6) if options.plot else (None, [None] * len(options.sets))
    print(f"{'set':<9} {'rows':>5}  {'way':<20} {'r':>5} {'error':>7}            minus independent   held")
    for name, line in zip(options.sets, axes):
        compare(library, name, line, options)
    if options.plot:
        figure.save(chart, axes[0][3], options.plot)


if __name__ == "__main__":
    main()
