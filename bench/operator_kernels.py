#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""How features estimate an operator-valued kernel, against the number of frequencies F: tables, plot, and check of the shapes.

Usage: operator_kernels.py LIBMERCER.so [--frequencies 10 31 ...] [--seeds 10] [--plot operator_kernels.png]
After figures 3, 5 and 6 of Brault, d'Alche-Buc, "Random Fourier features for operator-valued kernels" (2016), their D our F. 3:
f(x_i) = sum_j K(x_i, x_j) u_j of 250 points of (-1, 1), u_j normal, K Gaussian of lengthscale 0.1 times Gamma = (I + 11')/2,
with K~ in place of K. 5: the largest norm of K~ - K over 30 points of [-1, 1]^4, lengthscale 1, over the norm of K(0). 6: F
times the norm of the variance of K~ at one pair of points, from its squared errors over maps, by the library's closed form, and
its bound of proposition 33, as printed and corrected (the last term is 2 Var A). Shapes: errors fall as F^(-1/2), of all
kernels alike; F Var stays the closed form, below the corrected bound.
"""
import argparse
import sys

import numpy as np

import figure
from figure import of_mean
from operators import Operators, decomposable, gaussian, slope, verdict

SHARED = 0.5 * np.eye(2) + 0.5
SHOWN, PAIRS, VARIANCE_MAPS = (1, 2), 30, 100
FIELDS = ("decomposable", "curl_free", "divergence_free")


def spec_of(name, p, lengthscale=1.0):
    spec = decomposable(0.5 * np.eye(p) + 0.5) if name == "decomposable" else {"operator": name}
    return {**spec, "kernel": gaussian(lengthscale)}


def map_of(spec, d, F, seed):
    return {**spec, "inputs": d, "features": 2 * F, "seed": seed}


def functions(library, frequencies, seeds):
    """f at 250 points, and f~ by F and seed: figure 3."""
    X = np.linspace(-1, 1, 250)[:, None].copy()
    U = np.random.default_rng(1).normal(size=(250, 2))
    spec = spec_of("decomposable", 2, 0.1)
    f = (library.gram(spec, X, X, 2) @ U.ravel()).reshape(-1, 2)
    found = np.empty((len(frequencies), seeds, 250, 2))
    for place, F in enumerate(frequencies):
        for seed in range(seeds):
            with library.made(map_of(spec, 1, F, seed)) as made:
                found[place, seed] = library.apply(made, X, library.adjoint(made, X, U), 2)
    return X[:, 0], f, found


def largest_errors(library, frequencies, seeds):
    """By kernel, F and seed, over the norm of K(0): figure 5."""
    X = np.random.default_rng(2).uniform(-1, 1, (PAIRS, 4))
    found = np.empty((len(FIELDS), len(frequencies), seeds))
    for k, name in enumerate(FIELDS):
        K = library.gram(spec_of(name, 4), X, X, 4)
        for place, F in enumerate(frequencies):
            for seed in range(seeds):
                with library.made(map_of(spec_of(name, 4), 4, F, seed)) as made:
                    Phi = library.explicit(made, X, 4)
                blocks = (Phi @ Phi.T - K).reshape(PAIRS, 4, PAIRS, 4).transpose(0, 2, 1, 3)
                found[k, place, seed] = np.linalg.norm(blocks, 2, (2, 3)).max() / np.linalg.norm(K[:4, :4], 2)
    return found


def variances(library, frequencies, name):
    """F |Var| at a pair by F: over maps and its standard error, in closed form, and both bounds: figure 6."""
    x, y = np.random.default_rng(3).uniform(-1, 1, (2, 1, 4))
    spec, found = spec_of(name, 4), []
    K = library.gram(spec, x, y, 4)
    for F in frequencies:
        squares = np.empty((VARIANCE_MAPS, 4, 4))
        for seed in range(VARIANCE_MAPS):
            with library.made(map_of(spec, 4, F, 1000 + seed)) as made:
                Phi = library.explicit(made, np.concatenate([x, y]), 4)
                exact, *bounds = library.variance(made, x, y, 4)
            away = Phi[:4] @ Phi[4:].T - K
            squares[seed] = away @ away
        top = np.linalg.eigh(exact)[1][:, -1]
        along = F * np.einsum("i,sij,j->s", top, squares, top)
        found.append((along.mean(), of_mean(along), *(F * np.linalg.norm(V, 2) for V in (exact, *bounds))))
    return np.array(found)


def falls(errors, frequencies):
    return -0.6 < slope(frequencies, errors) < -0.4


def claims(frequencies, errors, apart, largest, spread):
    steady = all(np.ptp(np.log(largest[k].mean(1) / largest[0].mean(1))) < np.log(2) for k in range(len(FIELDS)))
    found = [("the error of f~ falls as F^(-1/2)", falls(np.sqrt((errors**2).mean(1)), frequencies)),
             ("two realisations of f~ come together as F^(-1/2)", falls(apart, frequencies)),
             ("the largest error falls as F^(-1/2) for each kernel", all(falls(e.mean(1), frequencies) for e in largest)),
             ("the kernels' errors keep their ratios within a factor of 2", steady)]
    for name, values in spread.items():
        near = np.abs(values[:, 0] - values[:, 2]) < 4 * values[:, 1]
        found += [(f"{name}: F Var is the closed form, to four standard errors", bool(near.all())),
                  (f"{name}: the closed form is below the corrected bound",
                    bool((values[:, 2] <= values[:, 4] * (1 + 1e-12)).all()))]
    return found


def draw_functions(axes, frequencies, x, f, found):
    for axis, output in zip(axes, range(2)):
        for seed in range(2):
            for k, place in enumerate((0, len(frequencies) // 2, len(frequencies) - 1)):
                style = {**figure.look(k), "marker": "", "linestyle": figure.LINES[seed]}
                axis.plot(x, found[place, seed, :, output], label=f"F = {frequencies[place]:,}, map {seed + 1}",
                          **{key: style[key] for key in ("color", "marker", "linestyle", "linewidth")})
        axis.plot(x, f[:, output], color="black", linewidth=1.6, label="f")
        axis.set(xlabel="x", title=f"figure 3: output {output + 1}")
        axis.legend(fontsize=6)


def against(axis, frequencies, series, title, ylabel):
    for k, (label, (values, bars)) in enumerate(series.items()):
        axis.errorbar(figure.beside(frequencies, k, len(series)), values, bars, label=label, **figure.look(k))
    figure.widths_below(axis, frequencies)
    axis.set_yscale("log")
    figure.plain(axis.yaxis)
    axis.grid(True, which="both", alpha=0.25)
    axis.set(xlabel="F", ylabel=ylabel, title=title)
    axis.legend(fontsize=7)


def draw(path, frequencies, three, errors, largest, spread, seeds):
    chart, axes = figure.subplots(2, 3, width=4.4, height=3.6)
    draw_functions(axes[0][:2], frequencies, *three)
    bars = f"{seeds} maps, bars: standard error"
    against(axes[0][2], frequencies, {"f~": (errors.mean(1), of_mean(errors))},
            f"figure 3, {3 * seeds} maps, bars: standard error", "error of f~ over norm of f")
    against(axes[1][0], frequencies, {name: (e.mean(1), of_mean(e)) for name, e in zip(FIELDS, largest)},
            f"figure 5, {bars}", "largest |K~ - K| / |K(0)|")
    for axis, (name, values) in zip(axes[1][1:], spread.items()):
        series = {f"over {VARIANCE_MAPS} maps": values[:, :2].T, "closed form": (values[:, 2], None)}
        against(axis, frequencies[:len(values)], series, f"figure 6, {name}", "F times variance")
        for value, label, line in zip(values[0, 3:], ("bound as printed", "bound corrected"), (":", "--")):
            axis.axhline(value, color="black", linestyle=line, linewidth=1, label=label)
        axis.set_yscale("linear")
        axis.set_ylim(0)
        axis.legend(fontsize=7)
    figure.save(chart, axes[0][2], path, 70)


def table(frequencies, errors, largest, spread):
    print(f"{'F':>6} {'f~':>8} " + " ".join(f"{name:>16}" for name in FIELDS))
    for F, error, row in zip(frequencies, errors.mean(1), largest.mean(2).T):
        print(f"{F:>6} {error:>8.4f} " + " ".join(f"{e:>16.4f}" for e in row))
    for name, values in spread.items():
        print("{}: F Var {:.4f}, bound as printed {:.4f}, corrected {:.4f}; over maps ".format(name, *values[0, 2:])
              + ", ".join(f"{mean:.3f} ± {bar:.3f}" for mean, bar in values[:, :2]))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library")
    parser.add_argument("--frequencies", type=int, nargs="+", default=[10, 31, 100, 316, 1000, 3162])
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--plot")
    options = parser.parse_args()
    if options.seeds < 2 or len(options.frequencies) < 2:
        parser.error("at least 2 seeds and 2 numbers of frequencies")
    library, F = Operators(options.library), options.frequencies
    x, f, found = functions(library, F, 3 * options.seeds)
    errors = np.sqrt(((found - f) ** 2).sum((2, 3)) / (f**2).sum())
    apart = np.sqrt(2 * found.var(1, ddof=1).sum((1, 2)) / (f**2).sum())
    largest = largest_errors(library, F, options.seeds)
    spread = {name: variances(library, F[:4], name) for name in FIELDS[:2]}
    table(F, errors, largest, spread)
    if options.plot:
        draw(options.plot, F, (x, f, found), errors, largest, spread, options.seeds)
    return verdict(claims(np.array(F), errors, apart, largest, spread))


if __name__ == "__main__":
    sys.exit(main())
