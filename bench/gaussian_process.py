#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""Are the model gp's intervals and the probabilities of dirichlet and svgp to be believed, and how far is a process on random
features from the exact one.

Usage: gaussian_process.py LIBMERCER.so --data DIR [--splits 3] [--many] [--plot gaussian_process.png]
Bands: targets drawn from a process of lengthscale 0.2 with noise 0.1, 80 rows on [-6, -2] and [2, 6]; the exact process and gp
with D features are told kernel, lengthscale, noise and amplitude. Held: new targets more than 0.6 from all rows.
Calibration: default fits of n rows, or four fifths of a smaller set, tested on at most 2,000 others; lambda and lengthscales by
leave-one-out, and by evidence. Held: the share of targets within the central interval. Of classes the probability of the most
probable one, against how often it is right, by tenths, beside that of the fit that is made without naming a model.
Learning curves and hyper-parameters: inputs and targets standardised by the training rows, the Gaussian kernel, one lengthscale
for all inputs, D = 2,048; the exact process is numpy's at its largest marginal likelihood, climbed to by L-BFGS from three starts.
--many: seconds of 1,000,000 rows of two inputs, D = 1,024 Sobol' features, in place of all others.
nll is the mean negative log density of held-out standardised targets, in nats. Needs SciPy.
"""
import os
import pathlib
import platform
import re
import sys
import time
from collections import namedtuple
from statistics import NormalDist

import numpy as np
from scipy.linalg import cholesky, lapack
from scipy.optimize import minimize

import figure
from experiment import density, options_of, parsed, read_csv, shuffled, squared_distances, verdict
from operators import PLAIN, Operators

# Of each row: the mean, and the variance of a new target. Of all: the variance of the noise, the lengthscale, the fit's warnings.
Process = namedtuple("Process", "value variance noise lengthscale warnings")
CPU = pathlib.Path("/proc/cpuinfo")
SETS = ["concrete", "energy", "yacht", "airfoil", "abalone", "kin8nm", "cpu_act", "power_plant", "elevators", "bike"]
CLASSES = {"spambase": 2, "eeg_eye": 2, "pendigits": 10, "optdigits": 10}
LARGER = {"adult": 2, "cod_rna": 2, "letter": 26}
WAYS = {"leave-one-out": {}, "evidence": {"select": {"by": "evidence"}}}
LEVELS = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98])
EDGES = np.array([0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.97])
COMMON = {"ard": "off", "prepare": PLAIN["prepare"], "map": {"kernel": {"kernel": "gaussian"}, "features": 2048}}


def drawn(X, lengthscale, random):
    """A function of variance 1 at the rows of X."""
    K = np.exp(-squared_distances(X, X) / (2 * lengthscale ** 2)) + 1e-8 * np.eye(len(X))
    return cholesky(K, lower=True) @ random.normal(size=len(X))


class Exact:
    """y = b + f + noise: f of variance a, noise of a ratio, b of a flat prior. a is the most likely one; value is the negative log
    marginal likelihood of the n - 1 contrasts, but for a constant (Rasmussen and Williams 2006, section 5.4)."""

    def __init__(self, X, y, lengthscale, ratio):
        self.X, self.y, self.lengthscale, self.ratio = X, y, lengthscale, ratio
        n, self.distances = len(y), squared_distances(X, X)
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
        a, k = amplitude or self.amplitude, np.exp(-squared_distances(X_test, self.X) / (2 * self.lengthscale ** 2))
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
    median = np.log(np.median(np.sqrt(squared_distances(X[:few], X[:few]))))
    best = min((climbed(few, [median + step, -3]) for step in (0, -1.4, 1.4)), key=lambda found: found.fun)
    return Exact(X, y, *np.exp(climbed(len(y), best.x).x))


def process(library, spec, X, y, X_test):
    """What a gp says of the test rows; without a lengthscale where it has one for each input."""
    model = library.fit_model({"model": "gp", **({} if "search" in spec else {"assess": False}), **spec}, X, y[:, None])
    value, variance, predictive = (library.predict(model, X_test, 1, what)[:, 0]
                                   for what in ("value", "latent_variance", "predictive_variance"))
    found = Process(value, predictive, np.mean(predictive - variance), library.said(model, b"spec")["map"]["kernel"].get("lengthscale"),
                    library.said(model, b"report").get("warnings", []))
    library.model_free(model)
    return found


def read(data, name, n, seed, standardized=False, tests=2000):
    table = np.column_stack(read_csv(data, name))
    table = shuffled(table, seed)
    n = min(n, len(table) * 4 // 5)
    if standardized:
        deviation = table[:n].std(0)
        table = (table - table[:n].mean(0)) / np.where(deviation > 0, deviation, 1)
    X, y = np.ascontiguousarray(table[:, :-1]), np.ascontiguousarray(table[:, -1])
    return X[:n], y[:n], X[n:n + tests], y[n:n + tests]


def held(said, y, levels, where=slice(None)):
    """The share of y inside the central intervals."""
    apart = (np.abs(y - said.value) / np.sqrt(said.variance))[where]
    return np.array([np.mean(apart <= NormalDist().inv_cdf((1 + level) / 2)) for level in levels])


def written(values, digits=3):
    return f"{np.mean(values):.{digits}f} ± {figure.of_mean(np.asarray(values, float)):.{digits}f}"


def bands(library, widths, draws):
    """How often bands of 90 % hold between and beyond the rows, over draws; and the bands of the first."""
    grid, first, shares = np.linspace(-8, 8, 400)[:, None], None, {}
    away = (np.abs(grid[:, 0]) < 1.4) | (np.abs(grid[:, 0]) > 6.6)
    for seed in range(draws):
        random = np.random.default_rng(seed)
        X = np.sort(random.uniform(2, 6, (80, 1)) * np.where(np.arange(80) % 2, 1, -1)[:, None], 0)
        y = drawn(np.vstack([X, grid]), 0.2, random)
        y += 0.1 * random.normal(size=len(y))
        said = {"exact": Exact(X, y[:80], 0.2, 0.01).at(grid, 1.0)}
        for D in widths:
            spec = {"search": False, "lengthscale": 0.2, "noise": 0.01, "lambda": 0.01 / 80, "seed": seed, **PLAIN,
                    "map": {"kernel": {"kernel": "gaussian"}, "features": D}}
            said[f"D = {D:,}"] = process(library, spec, X, y[:80], grid)
        for name, one in said.items():
            shares.setdefault(name, []).append((held(one, y[80:], [0.9], away)[0], np.sqrt(one.variance[away]).mean()))
        first = first or (X, y[:80], grid, said)
    print(f"bands of 90 %, {draws} draws\n{'':>12} {'held away from rows':>20} {'deviation there':>16}")
    for name, found in shares.items():
        print(f"{name:>12} " + " ".join(f"{written(column):>{width}}" for column, width in zip(zip(*found), (20, 16))), flush=True)
    widest = f"D = {widths[-1]:,}"
    apart = np.mean(shares[widest], 0)[0] - np.mean(shares["exact"], 0)[0]
    return first, [(f"away from all rows bands of {widest} hold within 5 % of what the exact ones do ({apart:+.3f})", abs(apart) < 0.05)]


def calibration(library, asked):
    """Held shares by rows and way, sets x splits x levels; claims."""
    found, claims = {}, []
    print(f"\nheld by intervals of 90 %\n{'':>12}" + "".join(f"{f'{n} {way}':>24}" for n in asked.rows for way in WAYS))
    for name in asked.sets:
        line = f"{name:>12}"
        for n in asked.rows:
            for way, keys in WAYS.items():
                splits = [read(asked.data, name, n, seed) for seed in range(asked.splits)]
                shares = np.array([held(process(library, keys, X, y, T), t, LEVELS) for X, y, T, t in splits])
                found.setdefault((n, way), []).append(shares)
                line += f"{written(shares[:, list(LEVELS).index(0.9)]):>24}"
        print(line, flush=True)
    print(f"{'mean over sets: level':>24} " + " ".join(f"{level:6.2f}" for level in LEVELS))
    for (n, way), shares in found.items():
        found[n, way] = shares = np.array(shares)
        mean, of90 = shares.mean((0, 1)), shares[:, :, list(LEVELS).index(0.9)].mean(1)
        print(f"{f'{n} {way}':>24} " + " ".join(f"{share:6.3f}" for share in mean))
        inside = int(np.sum(np.abs(of90 - 0.9) <= 0.02))
        claims += [(f"{n} rows, {way}: intervals of 90 % hold 88 to 92 % on {inside} of {len(of90)} sets", inside == len(of90)),
                   (f"{n} rows, {way}: the mean over sets is at most {np.abs(mean - LEVELS).max():.3f} from every level, asked 0.02",
                    np.abs(mean - LEVELS).max() <= 0.02)]
    return found, claims


def classified(library, asked, name, classes, n, seed, keys):
    """How probable the most probable class is, whether it is right, and the log loss, of each test row."""
    X, y, T, t = read(asked.data, name, n, seed, tests=5000)
    model = library.fit_model({"assess": False, "task": "classification", "classes": classes, **keys}, X, y[:, None])
    p = library.predict(model, T, classes, "probability")
    library.model_free(model)
    return p.max(1), p.argmax(1) == t, -np.log(p[np.arange(len(t)), t.astype(int)])


def binned(top, right):
    """Rows, their confidence and how many are right, by confidence."""
    return np.array([np.bincount(np.searchsorted(EDGES, top), w, len(EDGES) + 1) for w in (np.ones(len(top)), top, right)])


def reliability(library, asked):
    """By model: confidence and right, splits x tenths; claims on both."""
    specs, sums, totals = {"dirichlet": {"model": "dirichlet"}, "svgp": {"model": "svgp"}, "default": {}}, {}, {}
    print(f"\n400 rows of classes{'':>5} {'accuracy':>15} {'log loss':>15} {'confident by':>16}")
    for name in asked.classes:
        for model, keys in specs.items():
            marks = []
            for seed in range(asked.splits):
                top, right, loss = classified(library, asked, name, CLASSES[name], 400, seed, keys)
                sums.setdefault(model, np.zeros((3, asked.splits, len(EDGES) + 1)))[:, seed] += binned(top, right)
                marks.append((right.mean(), loss.mean(), (top - right).mean()))
            totals.setdefault(model, []).append(marks)
            print(f"{name:>12} {model:>11} " + " ".join(f"{written(column):>15}" for column in zip(*marks)), flush=True)
    over, loss = ({model: np.array(marks)[:, :, k].mean(0) for model, marks in totals.items()} for k in (2, 1))
    claims = [(f"{model}: confidence less accuracy is {written(over[model])} over sets, asked 0.02", abs(over[model].mean()) <= 0.02)
              for model in specs]
    for model in ("dirichlet", "svgp"):
        apart = loss[model] - loss["default"]
        z = apart.mean() / figure.of_mean(apart)
        claims.append((f"log loss of {model} less default's: {written(apart)} (z = {z:+.1f}): at most two", z <= 2))
    return sums, claims


def calibration_error(library, asked):
    """Of dirichlet on larger sets: the mean over rows of |confidence - accuracy| of their bins."""
    print(f"\n4,000 rows of classes{'':>3} {'accuracy':>15} {'log loss':>15} {'calibration':>16}")
    claims = []
    for name in asked.larger:
        marks = []
        for seed in range(asked.splits):
            top, right, loss = classified(library, asked, name, LARGER[name], 4000, seed, {"model": "dirichlet"})
            _, confidence, hits = binned(top, right)
            marks.append((right.mean(), loss.mean(), np.abs(confidence - hits).sum() / len(top)))
        print(f"{name:>12} {'dirichlet':>11} " + " ".join(f"{written(column):>15}" for column in zip(*marks)), flush=True)
        errors = [mark[2] for mark in marks]
        claims.append((f"dirichlet: calibration error of {name} is {written(errors)}, asked 0.02", np.mean(errors) <= 0.02))
    return claims


def learning(library, asked):
    """nll and R^2 by set and way, sizes x splits; claims that features are as good as the exact process."""
    found, claims = {}, []
    print(f"\nlearning curves{'':>12} {'n':>6} {'nll':>16} {'R^2':>16}")
    for name in asked.curves:
        for k, n in enumerate(asked.sizes):
            splits = [read(asked.data, name, n, seed, True) for seed in range(asked.splits)]
            for way in (*WAYS, "exact") if len(splits[0][1]) == n else ():
                marks = found.setdefault((name, way), np.full((2, len(asked.sizes), asked.splits), np.nan))[:, k]
                for seed, (X, y, T, t) in enumerate(splits):
                    said = process(library, {**COMMON, **WAYS[way]}, X, y, T) if way in WAYS else most_likely(X, y).at(T)
                    marks[:, seed] = density(said, t), 1 - np.mean((t - said.value) ** 2) / t.var()
                print(f"{name:>12} {way:>14} {n:6,} " + " ".join(f"{written(m):>16}" for m in marks), flush=True)
        for way in WAYS:
            apart = found[name, way] - found[name, "exact"]
            for m, label in enumerate(("nll", "R^2")):
                worst = np.nanmax(apart[m].mean(1) * (1, -1)[m])
                claims.append((f"{name}, {way}: {label} at most {worst:.3f} worse than the exact process's at any n, asked 0.02", worst <= 0.02))
    return found, claims


def hyper_parameters(library, asked, n=240):
    """By evidence over the exact process's: within a tenth, or warned."""
    print(f"\nby evidence over exact, {n} rows {'lengthscale':>16} {'noise deviation':>16} {'off':>4} {'warned':>7} {'off, not warned':>16}")
    silent, off_all = 0, 0
    for name in asked.sets:
        splits = [read(asked.data, name, n, seed, True) for seed in range(asked.splits)]
        ours = [process(library, {**COMMON, **WAYS["evidence"]}, *split[:3]) for split in splits]
        exact = [most_likely(*split[:2]).at(split[2]) for split in splits]
        ratios = np.array([(o.lengthscale / e.lengthscale, np.sqrt(o.noise / e.noise)) for o, e in zip(ours, exact)])
        warned = np.array([any("effective degrees of freedom" in text for text in o.warnings) for o in ours])
        off = (np.abs(np.log(ratios)) > np.log(1.1)).any(1)
        silent, off_all = silent + int(np.sum(off & ~warned)), off_all + int(off.sum())
        print(f"{name:>30} {written(ratios[:, 0]):>16} {written(ratios[:, 1]):>16} {off.sum():4} {warned.sum():7} {np.sum(off & ~warned):16}",
              flush=True)
    return [(f"of {len(asked.sets) * asked.splits} fits by evidence {off_all} have a noise or lengthscale more than 10 % from the exact "
             f"process's, {off_all - silent} of them warn", silent == 0)]


def plot(path, asked, first, shares, sums, curves):
    chart, axes = figure.subplots(2, 2, width=7)
    axis, (X, y, grid, said) = axes[0, 0], first
    for k, (name, one) in enumerate(said.items()):
        for sign, label in ((-1.645, name), (1.645, None)):
            axis.plot(grid, one.value + sign * np.sqrt(one.variance), color=figure.COLORS[k], linestyle=figure.LINES[k], label=label)
    axis.plot(X, y, "k.", markersize=3)
    axis.set(title="bands of 90 % about 80 rows (points), all told the same hyper-parameters", xlabel="x", ylabel="y")
    axis = axes[0, 1]
    for k, ((n, way), share) in enumerate(shares.items()):
        axis.errorbar(LEVELS, share.mean((0, 1)) - LEVELS, figure.of_mean(share.mean(0).T), label=f"intervals, {n} rows, {way}", **figure.look(k))
    for k, (model, (count, confident, right)) in enumerate(sums.items()):
        many = count.min(0) >= 30
        c, r = ((v[:, many] / count[:, many]).T for v in (confident, right))
        axis.errorbar(c.mean(1), (r - c).mean(1), figure.of_mean(r - c), label=f"classes, 400 rows, {model}", **figure.look(k + len(shares)))
    axis.axhline(0, color="k", linewidth=0.8)
    axis.set(title="calibration", xlabel="nominal level, or probability of the most probable class", ylabel="held, or right, less that")
    for m, label in enumerate(("mean negative log density, nats", "R²")):
        # A density that noise taken for none has ruined is in the table alone.
        series = {", ".join(key): np.where(marks[m].mean(1, keepdims=True) > 2, np.nan, marks[m]) for key, marks in curves.items()}
        figure.curves(axes[1, m], asked.sizes, series, "training rows", label, f"learning curves: {label}", linear=True)
    for axis in axes.flat:
        axis.grid(True, alpha=0.25)
        axis.legend(fontsize=7)
    figure.save(chart, axes[1, 1], path, 100)


def many_rows(library, n=10**6, tests=10**5):
    """Seconds of a process on a million rows of two inputs: lambda by the evidence, then predictions with variances."""
    rng = np.random.default_rng(0)
    X = rng.random((n + tests, 2))
    f = np.sin(12 * X[:, 0]) * np.cos(9 * X[:, 1])
    y = (f + 0.1 * rng.standard_normal(n + tests))[:n, None]
    for features, projection in ((840, "grid"), (1024, "sobol")):
        spec = {"search": False, "select": {"by": "evidence"}, "map": {"map": "fourier", "features": features, "projection": projection,
                                                                      "kernel": {"kernel": "gaussian", "lengthscale": 0.5}}}
        start = time.perf_counter(), time.process_time()
        model = library.fit_model({"model": "gp", **spec}, X[:n], y)
        fitted = time.perf_counter(), time.process_time()
        value, variance = (library.predict(model, X[n:], 1, what) for what in ("value", "predictive_variance"))
        said = time.perf_counter(), time.process_time()
        library.model_free(model)
        print(f"{projection}, {n:,} rows, D = {features}: fit {fitted[0] - start[0]:.1f} s ({fitted[1] - start[1]:.1f} of processors), {tests:,} "
              f"predictions with variance {said[0] - fitted[0]:.1f} s ({said[1] - fitted[1]:.1f}); rms error "
              f"{np.sqrt(np.mean((value[:, 0] - f[n:]) ** 2)):.4f}, deviation said {np.sqrt(variance.mean()):.4f} of 0.1; load {os.getloadavg()[0]:.1f}")


def main():
    parser = options_of(__doc__, data=True)
    parser.add_argument("--many", action="store_true", help="a million rows alone")
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--draws", type=int, default=40)
    parser.add_argument("--features", type=int, nargs="+", default=[64, 512, 2048], help="of the bands")
    parser.add_argument("--sets", nargs="+", default=SETS)
    parser.add_argument("--rows", type=int, nargs="+", default=[240, 900], help="of the calibration")
    parser.add_argument("--classes", nargs="+", default=list(CLASSES), choices=list(CLASSES))
    parser.add_argument("--larger", nargs="+", default=list(LARGER), choices=list(LARGER), help="of the calibration error")
    parser.add_argument("--curves", nargs="+", default=["kin8nm", "airfoil"])
    parser.add_argument("--sizes", type=int, nargs="+", default=[120, 240, 480, 960, 1920], help="of the learning curves")
    asked = parsed(parser, sets=["yacht", "energy"], rows=[120], splits=2, draws=8, curves=["airfoil"], sizes=[60, 120], larger=[], classes=["spambase"])
    machine = re.findall(r"model name\s*: (.*)", CPU.read_text()) if CPU.exists() else [platform.machine()]
    print(f"{machine[0]}, {os.cpu_count()} cores; means over {asked.splits} splits ± standard errors\n")
    library = Operators(asked.library)
    if asked.many:
        return many_rows(library)
    if asked.data is None:
        parser.error("--data DIR is missing")
    first, claims = bands(library, asked.features, asked.draws)
    shares, of_intervals = calibration(library, asked)
    sums, of_classes = reliability(library, asked)
    claims += calibration_error(library, asked)
    curves, of_curves = learning(library, asked)
    claims += of_intervals + of_classes + of_curves + hyper_parameters(library, asked)
    if asked.plot:
        plot(asked.plot, asked, first, shares, sums, curves)
    print()
    return verdict(claims)


if __name__ == "__main__":
    sys.exit(main())
