#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""Features of operator-valued kernels: how they estimate the kernel, when ridge regression on them is kernel ridge regression, and
what they cost: tables, plots, and check of the shapes. Figures of Brault, d'Alche-Buc, "Random Fourier features for operator-valued
kernels" (2016).

Usage: operator_features.py LIBMERCER.so [--figures kernels equivalence cost] [--frequencies 10 31 ...] [--seeds 10]
                            [--outputs 2 4 ...] [--runs 11] [--plot FILE.png]
kernels: figures 3, 5 and 6, their D our F. 3:
f(x_i) = sum_j K(x_i, x_j) u_j of 250 points of (-1, 1), u_j normal, K Gaussian of lengthscale 0.1 times Gamma = (I + 11')/2,
with K~ in place of K. 5: the largest norm of K~ - K over 30 points of [-1, 1]^4, lengthscale 1, over the norm of K(0). 6: F
times the norm of the variance of K~ at one pair of points, from its squared errors over maps, by the library's closed form, and
its bound of proposition 33, as printed and corrected (the last term is 2 Var A). Shapes: errors fall as F^(-1/2), of all
kernels alike; F Var stays the closed form, below the corrected bound.
equivalence: figure 7, as lambda falls to 0: a sine with noise of
deviation 0.1, Gaussian features, lambda of 1e-2, 1e-5, 1e-10 and 0. theta is the library's; u solves (K/N + lambda I) u = y/N with K = Phi Phi', by numpy. Columns: the part of theta in the kernel of W
(outside the span of the features of the rows), and r = sum_i phi(x_i) u_i - theta, over the norm of theta; the largest
difference of the two functions on (-1, 1), over the largest value. Shape (theorem 35): theta is orthogonal to the kernel for
every lambda; for lambda > 0 r = 0, to rounding over lambda; at 0 no coefficient of r is, and the functions differ: K is
singular to rounding, and many functions fit alike.
cost: figures 8, 9 and 10, Phi(x)'theta by the linear operator and by the matrix, against the number of outputs p. decomposable:
100 rows of 20 inputs, F = 100, Gamma = BB' with B p x p uniform in (0, 1). curl_free: 1,000 rows of p inputs, F = 500;
divergence_free: 100 rows of p inputs, F = 100, the square root. Rows are uniform in (0, 1), theta too. Columns: seconds to
construct (of the operator its frequencies; of the matrix all its numbers), seconds of one product (the operator makes its
features anew, the matrix does not), medians of the runs, and the most MB by which one made the process grow. Shape: the matrix
grows p times faster than the operator in time to construct and in memory, so that at the largest p the operator takes less than
a tenth of both; in the paper the curl-free and divergence-free products were about ten times slower by the operator, which is
told and not checked. p ends at 32: a matrix of 0.25 GB.
"""
import ctypes
import pathlib
import sys
import time

import numpy as np

import figure
from experiment import options_of, parsed, slope, verdict
from figure import of_mean
from operators import Operators, decomposable, gaussian, matrix

SHARED = 0.5 * np.eye(2) + 0.5
SHOWN, PAIRS, VARIANCE_MAPS = (1, 2), 30, 100
FIELDS = ("decomposable", "curl_free", "divergence_free")


def kernel_of(name, p, lengthscale=1.0):
    spec = decomposable(0.5 * np.eye(p) + 0.5) if name == "decomposable" else {"operator": name}
    return {**spec, "kernel": gaussian(lengthscale)}


def map_of(spec, d, F, seed):
    return {**spec, "inputs": d, "features": 2 * F, "seed": seed}


def functions(library, frequencies, seeds):
    """f at 250 points, and f~ by F and seed: figure 3."""
    X = np.linspace(-1, 1, 250)[:, None].copy()
    U = np.random.default_rng(1).normal(size=(250, 2))
    spec = kernel_of("decomposable", 2, 0.1)
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
        K = library.gram(kernel_of(name, 4), X, X, 4)
        for place, F in enumerate(frequencies):
            for seed in range(seeds):
                with library.made(map_of(kernel_of(name, 4), 4, F, seed)) as made:
                    Phi = library.explicit(made, X, 4)
                blocks = (Phi @ Phi.T - K).reshape(PAIRS, 4, PAIRS, 4).transpose(0, 2, 1, 3)
                found[k, place, seed] = np.linalg.norm(blocks, 2, (2, 3)).max() / np.linalg.norm(K[:4, :4], 2)
    return found


def variances(library, frequencies, name):
    """F |Var| at a pair by F: over maps and its standard error, in closed form, and both bounds: figure 6."""
    x, y = np.random.default_rng(3).uniform(-1, 1, (2, 1, 4))
    spec, found = kernel_of(name, 4), []
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


def kernel_claims(frequencies, errors, apart, largest, spread):
    steady = all(np.ptp(np.log(largest[k].mean(1) / largest[0].mean(1))) < np.log(2) for k in range(len(FIELDS)))
    root = np.sqrt((errors**2).mean(1))
    found = [("the error of f~ falls as F^(-1/2)", falls(root, frequencies), f"F^{slope(frequencies, root):.2f}, {root[0]:.3f} to {root[-1]:.3f}"),
             ("two realisations of f~ come together as F^(-1/2)", falls(apart, frequencies), f"F^{slope(frequencies, apart):.2f}"),
             ("the largest error falls as F^(-1/2) for each kernel", all(falls(e.mean(1), frequencies) for e in largest),
              ", ".join(f"{name} {e[0].mean():.3f} to {e[-1].mean():.3f}" for name, e in zip(FIELDS, largest))),
             ("the kernels' errors keep their ratios within a factor of 2", steady)]
    for name, values in spread.items():
        near = np.abs(values[:, 0] - values[:, 2]) < 4 * values[:, 1]
        found += [(f"{name}: F Var is the closed form, to four standard errors", bool(near.all()), f"{values[-1, 0]:.3f} ± {values[-1, 1]:.3f}, {values[-1, 2]:.4f}"),
                  (f"{name}: the closed form is below the corrected bound", bool((values[:, 2] <= values[:, 4] * (1 + 1e-12)).all()),
                   f"{values[0, 2]:.4f}, {values[0, 4]:.4f}, as printed {values[0, 3]:.4f}")]
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


def draw_kernels(path, frequencies, three, errors, largest, spread, seeds):
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


def print_kernels(frequencies, errors, largest, spread):
    print(f"{'F':>6} {'f~':>8} " + " ".join(f"{name:>16}" for name in FIELDS))
    for F, error, row in zip(frequencies, errors.mean(1), largest.mean(2).T):
        print(f"{F:>6} {error:>8.4f} " + " ".join(f"{e:>16.4f}" for e in row))
    for name, values in spread.items():
        print("{}: F Var {:.4f}, bound as printed {:.4f}, corrected {:.4f}; over maps ".format(name, *values[0, 2:])
              + ", ".join(f"{mean:.3f} ± {bar:.3f}" for mean, bar in values[:, :2]))


LAMBDAS = [1e-2, 1e-5, 1e-10, 0.0]
GRID = np.linspace(-1, 1, 401)[:, None].copy()


def sine(n):
    random = np.random.default_rng(0)
    X = random.uniform(-1, 1, (n, 1))
    return X, np.sin(np.pi * X) + 0.1 * random.normal(size=(n, 1))


def learn(library, spec, X, y, value):
    """theta, and its function on the grid."""
    theta = np.empty((spec["features"], 1))
    with library.learnt(spec, X, y, search=False, center=False, **{"lambda": value}) as model:
        library.model_weights(model, matrix(theta), matrix(None))
        return theta[:, 0], library.predict(model, GRID, 1)[:, 0]


def outside(Phi, theta):
    """The part of theta outside the span of the rows' features."""
    _, s, Vt = np.linalg.svd(Phi, full_matrices=False)
    V = Vt[s > 1e-13 * s[0]]
    return theta - V.T @ (V @ theta)


def compare(library, spec, X, y, value):
    """lambda, both functions on the grid, theta's part in the kernel and r over the norm of theta."""
    with library.made(spec) as made:
        Phi, at, n = library.explicit(made, X, 1), library.explicit(made, GRID, 1), len(X)
    u = np.linalg.solve(Phi @ Phi.T / n + value * np.eye(n), y / n)
    theta, f = learn(library, spec, X, y, value)
    by_rows, size = (Phi.T @ u)[:, 0], np.linalg.norm(theta)
    return value, f, at @ by_rows, outside(Phi, theta) / size, (by_rows - theta) / size


def apart(f, g):
    return np.abs(f - g).max() / np.abs(f).max()


def equivalence_claims(found):
    norm, positive, zero = np.linalg.norm, found[:-1], found[-1]
    beyond, away = [norm(line[3]) for line in found], [norm(line[4]) for line in positive]
    functions_apart = [apart(line[1], line[2]) for line in found]
    return [("theta has no part in the kernel of W, to 1e-4, for every lambda", max(beyond) < 1e-4, f"at most {max(beyond):.0e}"),
            ("for lambda > 0 r is 0, to 1e-5", max(away) < 1e-5, f"at most {max(away):.0e}"),
            ("for lambda > 0 both routes give one function, to 1e-5", max(functions_apart[:-1]) < 1e-5, f"at most {max(functions_apart[:-1]):.0e}"),
            ("at lambda = 0 no coefficient of r is below 1e-6", bool((np.abs(zero[4]) > 1e-6).all())),
            ("at lambda = 0 the functions differ by more than 1 %", functions_apart[-1] > 0.01, f"{functions_apart[-1]:.2g}")]


def draw_equivalence(path, X, y, found):
    chart, axes = figure.subplots(len(found), 3, width=4, height=2.3)
    for line, (value, f, g, beyond, r) in zip(axes, found):
        line[0].plot(X[:, 0], y[:, 0], ".", color="0.6", markersize=4)
        line[0].plot(GRID[:, 0], f, color="C0", label="features")
        line[0].plot(GRID[:, 0], g, color="C1", linestyle="--", label="kernel of the features")
        line[0].set(ylim=(-1.6, 1.6), title=f"lambda = {value:g}")
        line[0].legend(fontsize=6)
        for axis, values, title in zip(line[1:], (beyond, r), ("theta in the kernel of W", "r over the norm of theta")):
            axis.plot(np.abs(values) + 1e-20, ".", markersize=3)
            axis.set(yscale="log", ylim=(1e-20, 1e6), title=title, xlabel="coefficient")
    chart.tight_layout()
    figure.write(chart, path, 70)


KINDS = {"decomposable": (100, 100), "curl_free": (1000, 500), "divergence_free": (100, 100)}
COLUMNS = ("construction, s", "product, s", "memory, MB")
WAYS = ("operator", "matrix")
DECOMPOSABLE_INPUTS = 20


def resident(most):
    """MB now, or the most since it was last reset."""
    status = pathlib.Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:" if most else "VmRSS:")[1].split()[0]) / 1024


def reset():
    """Gives back what is free, so that a run gets its pages anew."""
    ctypes.CDLL(None).malloc_trim(0)
    pathlib.Path("/proc/self/clear_refs").write_text("5")
    return resident(False)


def map_of_kind(kind, p, random):
    d, (_, F) = DECOMPOSABLE_INPUTS if kind == "decomposable" else p, KINDS[kind]
    B = random.uniform(size=(p, p))
    chosen = decomposable(B @ B.T) if kind == "decomposable" else {"operator": kind}
    return d, {**chosen, "kernel": gaussian(1.0), "inputs": d, "features": 2 * F}


def timed(library, kind, p, way, random):
    """Seconds to construct, seconds of a product, MB, and the product."""
    d, spec = map_of_kind(kind, p, random)
    X = random.uniform(size=(KINDS[kind][0], d))
    before, start = reset(), time.perf_counter()
    with library.made(spec) as made:
        r = library.coefficients(made)
        if way == "matrix":
            Phi = library.explicit(made, X, p)
        built = time.perf_counter()
        theta = random.uniform(size=(r, 1))
        begun = time.perf_counter()
        out = (Phi @ theta).reshape(-1, p) if way == "matrix" else library.apply(made, X, theta, p)
        done = time.perf_counter()
        return (built - start, done - begun, max(resident(True) - before, 1 / 256)), out


def measure(library, kind, outputs, runs):
    """Medians by way, p and column, and the largest relative difference of the ways' products."""
    found, apart = np.empty((2, len(outputs), 3)), 0.0
    timed(library, kind, outputs[0], "operator", np.random.default_rng(0))  # threads and their buffers come once
    for place, p in enumerate(outputs):
        taken = np.empty((2, runs, 3))
        for index in range(runs):
            products = []
            for k, way in enumerate(WAYS):
                taken[k, index], out = timed(library, kind, p, way, np.random.default_rng(index))
                products.append(out)
            apart = max(apart, np.abs(products[0] - products[1]).max() / np.abs(products[1]).max())
        found[:, place] = np.median(taken, 1)
        found[:, place, 2] = taken[:, :, 2].max(1)
    return found, apart


def cost_claims(found):
    for kind, (_, values, apart) in found.items():
        operator, whole = values[:, -1]
        yield f"{kind}: both ways give the same, to 1e-10", apart < 1e-10, f"{apart:.0e}"
        yield f"{kind}: constructed in less than a tenth of the time", operator[0] < whole[0] / 10, f"1/{whole[0] / operator[0]:.0f}"
        yield f"{kind}: less than a tenth of the memory", operator[2] < whole[2] / 10, f"{operator[2]:.1f} against {whole[2]:.0f} MB"


def draw_cost(path, found):
    chart, axes = figure.subplots(len(found), 3, width=4, height=3)
    for line, (kind, (outputs, values, _)) in zip(axes, found.items()):
        for column, axis in enumerate(line):
            for k, way in enumerate(WAYS):
                look = {key: value for key, value in figure.look(k).items() if key not in ("capsize", "elinewidth")}
                axis.plot(outputs, values[k, :, column], label=way, **look)
            figure.widths_below(axis, outputs)
            axis.set_yscale("log")
            axis.grid(True, which="both", alpha=0.25)
            axis.set(xlabel="p", ylabel=COLUMNS[column], title=f"{kind}: {KINDS[kind][0]:,} rows, F = {KINDS[kind][1]}")
    figure.save(chart, axes[0][2], path, 70)


def kernels(library, options):
    """Figures 3, 5 and 6."""
    F = options.frequencies
    x, f, found = functions(library, F, 3 * options.seeds)
    errors = np.sqrt(((found - f) ** 2).sum((2, 3)) / (f**2).sum())
    apart_ = np.sqrt(2 * found.var(1, ddof=1).sum((1, 2)) / (f**2).sum())
    largest = largest_errors(library, F, options.seeds)
    spread = {name: variances(library, F[:4], name) for name in FIELDS[:2]}
    print_kernels(F, errors, largest, spread)
    if options.plot:
        draw_kernels(options.plot, F, (x, f, found), errors, largest, spread, options.seeds)
    return kernel_claims(np.array(F), errors, apart_, largest, spread)


def equivalence(library, options):
    """Figure 7."""
    X, y = sine(options.rows)
    spec = {"kernel": gaussian(0.3), "inputs": 1, "features": options.features, "seed": 1}
    found = [compare(library, spec, X, y, value) for value in LAMBDAS]
    print(f"{'lambda':>8} {'theta in kernel':>16} {'r':>9} {'functions apart':>16}")
    for line in found:
        print(f"{line[0]:>8g} {np.linalg.norm(line[3]):>16.1e} {np.linalg.norm(line[4]):>9.1e} {apart(line[1], line[2]):>16.1e}")
    if options.plot:
        draw_equivalence(options.plot, X, y, found)
    return equivalence_claims(found)


def cost(library, options):
    """Figures 8, 9 and 10."""
    found = {}
    print(f"{'kernel':<15} {'p':>3} " + " ".join(f"{way + ' ' + column:>25}" for column in COLUMNS for way in WAYS))
    for kind in KINDS:
        values, off = measure(library, kind, options.outputs, options.runs)
        found[kind] = options.outputs, values, off
        for place, p in enumerate(options.outputs):
            print(f"{kind:<15} {p:>3} " + " ".join(f"{v:>25.2e}" for v in values[:, place].T.ravel()), flush=True)
    if options.plot:
        draw_cost(options.plot, found)
    return list(cost_claims(found))


def main():
    parts = {"kernels": kernels, "equivalence": equivalence, "cost": cost}
    parser = options_of(__doc__)
    parser.add_argument("--figures", nargs="+", choices=list(parts), default=list(parts))
    parser.add_argument("--frequencies", type=int, nargs="+", default=[10, 31, 100, 316, 1000, 3162])
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--rows", type=int, default=50, help="of the sine")
    parser.add_argument("--features", type=int, default=100, help="of the sine")
    parser.add_argument("--outputs", type=int, nargs="+", default=[2, 4, 8, 16, 32])
    parser.add_argument("--runs", type=int, default=11)
    options = parsed(parser, several=("frequencies", "seeds"), frequencies=[10, 31, 100, 316], outputs=[2, 8, 16], runs=3)
    library, plot, claims = Operators(options.library), options.plot, []
    for name in options.figures:
        options.plot = plot and (plot if len(options.figures) == 1 else plot.with_stem(f"{plot.stem}_{name}"))
        claims += parts[name](library, options)
    return verdict(claims)


if __name__ == "__main__":
    sys.exit(main())
