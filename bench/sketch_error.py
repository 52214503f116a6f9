#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""Kernel error of the polynomial sketches against their width D and against time: a table, plots, and whether the
orderings of Wacker, Ohana, Filippone 2023 (chapter 4 of Wacker's thesis) come out.

Usage: sketch_error.py LIBMERCER.so [--data DIR] [--plot sketch_error.png] [--seconds 270] [--features 512 1024 ...]
Kernel (x'y + 1)^p, p = 3 and 6, on 1,000 rows of unit length: of mnist in DIR, without --data generated ones, which are
non-negative too. Error: |ZZ' - K|/|K| (Frobenius), averaged over seeds. Predicted: the root mean square that the closed
form says, its mean over pairs of rows taken over the diagonal and a sample of the other pairs. Time: median of five
calls that map the rows in float32, all before any error is measured, since threads of BLAS wait busily after it.
Every case gets --seeds seeds; what is left of --seconds goes to comparisons whose means are closer than DECIDED standard
errors, cheapest first, until they are decided; so distances just above DECIDED are common. Errors whose predicted ratio
is within TIE of 1 would need some 10,000 seeds and are left to the closed form. Bars in the plot: two standard errors.
"""
import itertools
import statistics
import time

import numpy as np

import figure
from experiment import options_of, parsed, read_images, shuffled, timed
from library import Library

SRHT = {"map": "tensor_srht", "kind": "upsampled"}
KINDS = {"rademacher": {"map": "product_sketch", "kind": "rademacher"},
         "gaussian": {"map": "product_sketch", "kind": "gaussian"},
         "tensor_sketch": {"map": "tensor_sketch"},
         "upsampled": SRHT,
         "stacked": SRHT | {"kind": "stacked"},
         "hierarchical": {"map": "hierarchical_sketch", "base": SRHT},
         "craft": {"map": "craft", "base": SRHT}}
FIELDS = ["real", "complex_to_real"]
DEGREES = [3, 6]
DECIDED = 4.0
TIE = 0.01


def unit_rows(data, n):
    if data is None:
        random = np.random.default_rng(0)
        X = random.random((n, 784)) * (random.random((n, 784)) < 0.2)
    else:
        X = read_images(data / "mnist" / "t10k-images-idx3-ubyte.gz")
        X = shuffled(X, 1, n)
    return X / np.linalg.norm(X, axis=1)[:, None]


class Rows:
    """The rows, and the pairs of them over which closed forms are averaged."""

    def __init__(self, X, pairs=6000):
        self.X = np.ascontiguousarray(X, np.float32)
        self.exact = self.X.astype(np.float64)
        n = len(X)
        left = np.random.default_rng(2).integers(n, size=pairs)
        right = (left + np.random.default_rng(3).integers(1, n, size=pairs)) % n
        self.left, self.right = (np.concatenate([self.exact, self.exact[i]]) for i in (left, right))
        self.gram = {p: ((self.exact @ self.exact.T + 1) ** p).astype(np.float32) for p in DEGREES}
        self.norm = {p: float(np.linalg.norm(self.gram[p].astype(np.float64))) for p in DEGREES}

    def total(self, values):
        """Of all n^2 pairs, from the diagonal and the sample."""
        n = len(self.X)
        return values[:n].sum() + n * (n - 1) * values[n:].mean()


class Case:
    """One sketch of one width: its errors so far, one per seed."""
    count = 0

    def __init__(self, library, rows, kind, field, p, D):
        self.library, self.rows = library, rows
        self.kind, self.field, self.p, self.D = kind, field, p, D
        spec = dict(KINDS[kind])
        if "base" in spec:
            spec["base"] = spec["base"] | {"field": field}
        else:
            spec["field"] = field
        self.spec = spec | {"kernel": {"kernel": "polynomial", "degree": p, "gamma": 1, "offset": 1},
                            "inputs": rows.X.shape[1], "features": D}
        self.first_seed = 1000000 * Case.count
        Case.count += 1
        self.errors, self.seconds, self.cost = [], None, 0.0
        made = self.make(self.first_seed)
        self.predicted = np.sqrt(rows.total(library.variance(made, rows.left, rows.right))) / rows.norm[p]
        library.free(made)

    def make(self, seed):
        made, why = self.library.map(self.spec | {"seed": seed})
        if made is None:
            raise ValueError(why)
        return made

    def run(self, Z):
        """One more seed."""
        start = time.perf_counter()
        made = self.make(self.first_seed + len(self.errors))
        self.library.apply(made, self.rows.X, Z)
        self.library.free(made)
        self.errors.append(float(np.linalg.norm(Z @ Z.T - self.rows.gram[self.p])) / self.rows.norm[self.p])
        self.cost = time.perf_counter() - start

    def measure_time(self, Z):
        made = self.make(self.first_seed)
        self.library.apply(made, self.rows.X, Z)
        self.seconds = statistics.median(timed(lambda: self.library.apply(made, self.rows.X, Z))[1] for _ in range(5))
        self.library.free(made)

    def mean(self):
        return statistics.mean(self.errors)

    def squared_standard_error(self):
        return statistics.variance(self.errors) / len(self.errors)

    def line(self):
        rms = np.sqrt(np.mean(np.square(self.errors)))
        return (f"{self.p},{self.D},{self.kind},{self.field},{len(self.errors)},{statistics.median(self.errors):.5f},"
                f"{self.mean():.5f},{self.squared_standard_error() ** 0.5:.5f},{rms:.5f},{self.predicted:.5f},"
                f"{1e6 * self.seconds / len(self.rows.X):.3f}")


class Comparison:
    """Is the error of `low` below that of `high`?"""

    def __init__(self, claim, low, high):
        self.claim, self.low, self.high = claim, low, high

    def distance(self):
        """Of the means, in standard errors."""
        low, high = self.low, self.high
        return (high.mean() - low.mean()) / (low.squared_standard_error() + high.squared_standard_error()) ** 0.5

    def predicted_ratio(self):
        return self.low.predicted / self.high.predicted

    def verdict(self):
        if abs(self.predicted_ratio() - 1) < TIE:
            return "tie"
        return "holds" if self.distance() >= DECIDED else "fails" if self.distance() <= -DECIDED else "undecided"

    def seconds_to_decide(self):
        seeds = len(self.low.errors) * max((DECIDED / max(abs(self.distance()), 0.1)) ** 2 - 1, 0.2)
        return seeds * (self.low.cost + self.high.cost)

    def line(self):
        low, high = self.low, self.high
        return (f"{self.claim},{low.p},{low.D},{low.mean() / high.mean():.4f},{self.predicted_ratio():.4f},"
                f"{self.distance():.1f},{min(len(low.errors), len(high.errors))},{self.verdict()}")


def make_cases(library, rows, widths):
    cases, refused = {}, {}
    for p, D, kind, field in itertools.product(DEGREES, widths, KINDS, FIELDS):
        try:
            cases[p, D, kind, field] = Case(library, rows, kind, field, p, D)
        except ValueError as why:
            refused[kind, field] = why
    for (kind, field), why in refused.items():
        print(f"# {kind} {field}: {why}")
    return cases


def make_comparisons(cases):
    result = []
    for (p, D, kind, field), case in cases.items():
        if field == "complex_to_real" and (p, D, kind, "real") in cases:
            result.append(Comparison(f"{kind}: complex_to_real < real", case, cases[p, D, kind, "real"]))
        if (p, kind, field) == (3, "upsampled", "complex_to_real") and (p, D, "tensor_sketch", "real") in cases:
            result.append(Comparison("upsampled complex_to_real <= tensor_sketch real", case,
                                     cases[p, D, "tensor_sketch", "real"]))
    return sorted(result, key=lambda c: (c.claim, c.low.p, c.low.D))


def run(cases, comparisons, seeds, buffers, end):
    # The first one twice: threads and clocks start up.
    for case in [*cases.values()][:1] + [*cases.values()]:
        case.measure_time(buffers[case.D])
    for _ in range(seeds):
        for case in cases.values():
            case.run(buffers[case.D])
    while time.perf_counter() < end:
        open_ones = [c for c in comparisons if c.verdict() == "undecided"]
        if not open_ones:
            return
        one = min(open_ones, key=Comparison.seconds_to_decide)
        for _ in range(max(2, len(one.low.errors) // 4)):
            for case in (one.low, one.high):
                if time.perf_counter() < end:
                    case.run(buffers[case.D])


def report(cases, comparisons):
    print("p,D,kind,field,seeds,median_error,mean_error,standard_error,rms_error,predicted_rms,us_per_row")
    for case in cases.values():
        print(case.line())
    print("\nordering,p,D,measured_ratio,predicted_ratio,standard_errors,seeds,verdict")
    for one in comparisons:
        print(one.line())
    print()
    for claim in dict.fromkeys(c.claim for c in comparisons):
        verdicts = [c.verdict() for c in comparisons if c.claim == claim]
        counts = ", ".join(f"{v} {verdicts.count(v)}" for v in ("holds", "tie", "undecided", "fails"))
        distance = min(c.distance() for c in comparisons if c.claim == claim)
        ratio = max(c.predicted_ratio() for c in comparisons if c.claim == claim)
        print(f"{claim}: {counts} of {len(verdicts)}; distance {distance:.1f} standard errors or more, "
              f"predicted ratio {ratio:.4f} or less")


def draw(axes, some, k, count):
    """One sketch: its errors, and a thin line through what the closed form says, against D and time."""
    field = some[0].field
    look = figure.look(k) | {"linestyle": "-" if field == "complex_to_real" else "--",
                             "markerfacecolor": figure.look(k)["color"] if field == "complex_to_real" else "none"}
    D, milliseconds = [c.D for c in some], [1e3 * c.seconds for c in some]
    error, bars = [c.mean() for c in some], [2 * c.squared_standard_error() ** 0.5 for c in some]
    position = figure.beside(D, 2 * k + (field == "real"), count)
    axes[0].errorbar(position, error, bars, **look | {"linestyle": "none"})
    axes[0].plot(position, [c.predicted for c in some], linestyle=look["linestyle"], color=look["color"], linewidth=0.8)
    axes[1].errorbar(milliseconds, error, bars, label=f"{some[0].kind} {field}", **look)
    if field == "complex_to_real":
        figure.widths_at(axes[1], milliseconds, error, D, k)


def plot(path, cases, source):
    chart, axes = figure.subplots(len(DEGREES), 2, width=7, height=6)
    for row, p in zip(axes, DEGREES):
        of_degree = [c for c in cases.values() if c.p == p]
        for (k, kind), field in itertools.product(enumerate(KINDS), FIELDS):
            some = [c for c in of_degree if (c.kind, c.field) == (kind, field)]
            if some:
                draw(row, some, k, len(KINDS) * len(FIELDS))
        seeds = sorted({len(c.errors) for c in of_degree})
        title = (f"(x'y + 1)^{p}, {len(of_degree[0].rows.X):,} unit rows of {source}, d = {of_degree[0].rows.X.shape[1]}\n"
                 f"{' to '.join(str(n) for n in seeds[:1] + seeds[1:][-1:])} seeds, bars: ±2 standard errors")
        figure.widths_below(row[0], sorted({c.D for c in of_degree}))
        figure.error_against(row[0], "features D (lines: predicted)", title)
        figure.error_against(row[1], "milliseconds for all rows (D at the filled points)", title, is_time=True)
    figure.save(chart, axes[0, 1], path)


def main():
    parser = options_of(__doc__, data="optional")
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--features", nargs="*", type=int, default=[512, 1024, 2048, 4096, 8192])
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=270)
    options = parsed(parser, rows=200, features=[512, 1024], seconds=20)
    end = time.perf_counter() + options.seconds
    rows = Rows(unit_rows(options.data, options.rows))
    cases = make_cases(Library(options.library), rows, options.features)
    comparisons = make_comparisons(cases)
    buffers = {D: np.zeros((len(rows.X), D), np.float32) for D in options.features}
    run(cases, comparisons, max(2, options.seeds), buffers, end)
    report(cases, comparisons)
    if options.plot:
        plot(options.plot, cases, "generated data" if options.data is None else "mnist")


main()
