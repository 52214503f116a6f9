#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""What learnt frequencies gain over the kernel's own, and over the exact process.

Usage: learnt_spectra.py LIBMERCER.so --data DIR [--splits 5] [--plot learnt_spectra.png]
Model gp by the evidence, lengthscales per input allowed, the Gaussian kernel: "drawn" with the default number of features, "learnt" where
that is what a learnt spectrum has to beat; "drawn, few" and "learnt, few" are asked for half as many features as rows, at most 512, the
default number of a learnt spectrum. "exact" is the process of the Gaussian kernel with a lengthscale for
each input at its largest marginal likelihood, by numpy and SciPy. At most --rows rows, standardised, 2,000 others are predicted. rmse
is of standardised targets, nll the mean negative log density in nats.
"""
import sys

import numpy as np
from scipy.optimize import minimize

import figure
from experiment import density, options_of, parsed, timed, verdict
from gaussian_process import Exact, most_likely, process, read, written
from operators import PLAIN, Operators

EVIDENCE = {"select": {"by": "evidence"}, "prepare": PLAIN["prepare"]}
WAYS = ["drawn, few", "learnt, few", "drawn", "learnt", "exact"]
GAUSSIAN = {"kernel": {"kernel": "gaussian"}}


class Each(Exact):
    """With a lengthscale for each input."""

    def __init__(self, X, y, lengthscales, ratio):
        super().__init__(X / lengthscales, y, 1.0, ratio)
        self.lengthscales = lengthscales

    def slopes(self):
        """Of the value in the logarithms of lengthscales and ratio."""
        change = self.inverse - np.outer(self.ones, self.ones) / self.ones.sum() - np.outer(self.residuals, self.residuals) / self.amplitude
        weighed = change * self.K
        by_lengthscale = (self.X ** 2).T @ weighed.sum(1) - np.einsum("ik,ij,jk->k", self.X, weighed, self.X, optimize=True)
        return np.append(by_lengthscale, 0.5 * self.ratio * np.trace(change))

    def at(self, X_test, amplitude=None):
        return super().at(X_test / self.lengthscales, amplitude)


def exact_of_each(X, y):
    """From the most likely common lengthscale."""
    common = most_likely(X, y)

    def value(theta):
        at = Each(X, y, *np.split(np.exp(theta), [-1]))
        return at.value, at.slopes()
    start = np.log(np.append(np.full(X.shape[1], common.lengthscale), common.ratio))
    found = minimize(value, start, jac=True, method="L-BFGS-B", bounds=[(-7, 10)] * X.shape[1] + [(-14, 5)], options={"ftol": 1e-7, "maxiter": 80})
    return Each(X, y, *np.split(np.exp(found.x), [-1]))


def ways(library, n):
    few = min(512, n // 4 * 2)
    few, learnt = {"map": {**GAUSSIAN, "features": few}}, {"spectrum": "learnt"}
    specs = {"drawn, few": few, "learnt, few": {**few, **learnt}, "drawn": {"map": GAUSSIAN}, "learnt": {"map": GAUSSIAN, **learnt}}
    found = {way: lambda X, y, T, spec=spec: process(library, {**EVIDENCE, **spec}, X, y, T) for way, spec in specs.items()}
    return {**found, "exact": lambda X, y, T: exact_of_each(X, y).at(T)}


def measured(library, asked):
    """Marks by set and way: rmse, nll and seconds x splits; and in how many splits the learnt spectrum was kept."""
    found, kept = {}, {}
    print(f"{'':>10} {'':>14} {'rmse':>16} {'nll':>16} {'seconds':>8}")
    for name in asked.sets:
        splits = [read(asked.data, name, asked.rows, seed, True) for seed in range(asked.splits)]
        for way, fit in ways(library, len(splits[0][1])).items():
            if way not in asked.ways:
                continue
            marks = []
            for X, y, T, t in splits:
                said, seconds = timed(lambda: fit(X, y, T))
                marks.append((np.sqrt(np.mean((t - said.value) ** 2)), density(said, t), seconds))
                kept.setdefault((name, way), []).append(not any("which are kept" in text for text in said.warnings))
            found[name, way] = np.array(marks).T
            more = f" kept in {sum(kept[name, way])}" if way.startswith("learnt") else ""
            print(f"{name:>10} {way:>14} " + " ".join(f"{written(m):>16}" for m in found[name, way][:2])
                  + f" {found[name, way][2].mean():8.1f}{more}", flush=True)
    return found


def claims(found, asked):
    for name in asked.sets:
        if (name, "drawn") in found and (name, "exact") in found:
            (rmse, nll), (exact, other) = found[name, "drawn"][:2].mean(1), found[name, "exact"][:2].mean(1)
            yield f"{name}: drawn against exact: rmse {rmse / exact:.3f}, at most 1.05; nll {nll - other:+.3f}, at most 0.05", \
                rmse <= 1.05 * exact and nll <= other + 0.05
        for one, other in (("learnt, few", "drawn, few"), ("learnt", "drawn"), ("learnt", "exact")):
            for m, label in enumerate(("rmse", "nll")):
                if (name, one) in found and (name, other) in found:
                    apart = found[name, one][m] - found[name, other][m]
                    yield f"{name}: {label} of {one} less that of {other} is {written(apart)}: at most two errors", \
                        apart.mean() <= 2 * figure.of_mean(apart)


def plot(path, found, asked):
    chart, axes = figure.subplots(1, 2, width=5)
    names = list(dict.fromkeys(way for _, way in found))
    for m, (axis, label) in enumerate(zip(axes[0], ("rmse of standardised targets", "mean negative log density, nats"))):
        for k, way in enumerate(names):
            marks = np.array([found[name, way][m] for name in asked.sets])
            axis.errorbar(np.arange(len(asked.sets)) + 0.08 * (k - 2), marks.mean(1), figure.of_mean(marks), label=way,
                          **{**figure.look(k), "linestyle": "none"})
        axis.set_xticks(range(len(asked.sets)), asked.sets)
        axis.set(ylabel=label)
        axis.grid(True, alpha=0.25)
    axes[0, 1].legend(fontsize=7)
    figure.save(chart, axes[0, 1], path, 100)


def main():
    parser = options_of(__doc__, data=True)
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--sets", nargs="+", default=["airfoil", "concrete", "kin8nm"])
    parser.add_argument("--ways", nargs="+", default=WAYS)
    asked = parsed(parser, rows=300, splits=2, sets=["airfoil"])
    found = measured(Operators(asked.library), asked)
    if asked.plot:
        plot(asked.plot, found, asked)
    return verdict(list(claims(found, asked)))


if __name__ == "__main__":
    sys.exit(main())
