#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""Figures and tables (tN) of Wacker's thesis (2022) on polynomial sketches: drawn with its axes, and whether what it says of them holds.

Usage: polynomial_sketches.py LIBMERCER.so --data DIR [--figures 3.2 4.1 ...] [--seeds 10] [--plot FILE.png] [--quick]
For each figure its numbers and claims; the exit code is 1 if a claim does not hold. --quick: few rows, degrees and seeds.
Ratios of variances are of closed forms, of pairs of 1,000 rows of unit length. Sets that the thesis has and the data folder has not are
replaced: Mocap, CIFAR-10 and Gisette by spambase, FashionMNIST and optdigits, apartment prices by Californian ones, Naval and Protein by
abalone, cal_housing, bike and airfoil, Drive, Magic and Miniboo by spambase, pendigits and eeg_eye. Figures of Gaussian processes are in
sketched_processes.py: 1,000 training rows, images of 14 x 14, a quarter of the pixels, targets of classes Dirichlet's with alpha = 0.01, in chapter 5
and appendix D the alpha, or noise, with which Fourier features are likeliest, and the exact processes numpy's. Rows that are centred are standardised. Those of closed forms, of optical features and of attention are in thesis_kernels.py.
"""
import math
import sys

import numpy as np

import figure
import sketched_processes
import thesis_kernels
from experiment import IMAGES, median_distance, of, options_of, padded, parsed, shuffled, standardised, table, timed, unit, verdict
from figure import Panel
from library import Library
from operators import Operators
from sketches import (RADEMACHER, SRHT, TENSOR_SKETCH, UPSAMPLED, errors_of, features, fourier, gram, maclaurin, made, mean, polynomial,
                      sized)

DEGREES = [3, 7, 10, 20]
NON_NEGATIVE = ["letter", "spambase", "fashion_mnist", "mnist"]


def rows(asked, name, centred, most=1000):
    return unit(table(asked.data, name, 1, min(most, 240) if asked.quick else most)[0], centred)


def figure_3_2(asked):
    d, D, seeds, degrees = (50, 200, 30, [1, 3, 5]) if asked.quick else (1000, 5000, 20, range(1, 11))
    x, series = np.full((1, d), d**-0.5), {}
    kernel = {"kernel": "polynomial", "gamma": 1.0, "offset": 0.0}
    for field in ("real", "complex"):
        found = []
        for p in degrees:
            spec = sized(RADEMACHER | {"field": field}, kernel | {"degree": p}, d, D)
            found.append(mean(np.array([abs((np.abs(features(asked.library, spec | {"seed": s}, [x])[0][0]) ** 2).sum() - 1)
                                        for s in range(seeds)])))
        series[field] = degrees, *np.transpose(found)
        print(f"3.2 {field}: " + ", ".join(f"p = {p}: {e:.4f}" for p, (e, _) in zip(degrees, found)))
    ratio = np.array(series["real"][1]) / series["complex"][1]
    return [Panel(f"x = y, d = {d:,}, D = {D:,}", "degree p", "mean absolute error", series, "y")], [
        ("3.2: from degree 3 on complex Rademacher sketches err less than real ones",
         bool(np.all(ratio[2 if len(ratio) > 3 else 1:] > 1)), f"real over complex {ratio[2 if len(ratio) > 3 else 1]:.2f} to {ratio[-1]:.2f}"),
        ("3.2: the more so the higher the degree", ratio[-1] > ratio[1])]


def variances(asked, X, spec, pairs):
    handle = made(asked.library, spec)
    found = asked.library.variance(handle, np.ascontiguousarray(X[pairs[0]]), np.ascontiguousarray(X[pairs[1]]))
    asked.library.free(handle)
    return found


def ratios(asked, number, sets, low, high, factor, centred=False, offset=1.0, degrees=None):
    """Panels of the distribution of Var(low)/Var(high) over pairs, and the ratios by set and degree; features: factor times d."""
    panels, found = [], {}
    for name in sets:
        X, series = rows(asked, name, centred), {}
        random = np.random.default_rng(2)
        pairs = random.integers(0, len(X), (2, 300 if asked.quick else 5000))
        pairs = pairs[:, pairs[0] != pairs[1]]
        for p in degrees or ([3, 5] if asked.quick else [2, 3, 5, 7, 10]):
            kernel = {"kernel": "polynomial", "degree": p, "gamma": 1.0, "offset": offset}
            D = factor * padded(X.shape[1] + (offset > 0))
            above, below = (variances(asked, X, sized(spec, kernel, X.shape[1], D), pairs) for spec in (low, high))
            some = np.sort((above / below)[below > 0])
            found[name, p] = some
            series[f"p = {p}"] = some, np.arange(1, len(some) + 1) / len(some)
            print(f"{number} {name}, p = {p}: median ratio {np.median(some):.3f}, below 1 in {np.mean(some < 1):.1%} of pairs", flush=True)
        panels.append(Panel(f"{name}, d = {X.shape[1]}", "ratio of variances", "share of pairs", series, "x"))
    return panels, found


def falls(found):
    """Whether medians fall with the degree, for every set."""
    sets = {name for name, _ in found}
    medians = [[np.median(some) for (name, _), some in sorted(found.items(), key=lambda i: i[0][1]) if name == one] for one in sets]
    return all(np.all(np.diff(one) < 0) for one in medians)


def figure_3_3(asked):
    panels, found = ratios(asked, "3.3", asked.sets or ["eeg_eye", "fashion_mnist", "mnist", "optdigits"], SRHT | {"field": "complex"},
                           SRHT | {"field": "real"}, 1, offset=0.0)
    least = min(np.mean(some < 1) for some in found.values())
    return panels, [("3.3: complex TensorSRHT has less variance than real in 97 % of non-negative pairs or more",
                     least >= 0.97, f"least {least:.1%}"), ("3.3: the ratio falls with the degree", falls(found))]


CTR = UPSAMPLED | {"field": "complex_to_real"}
REAL = UPSAMPLED | {"field": "real"}


def figure_4_1(asked):
    panels, found = ratios(asked, "4.1", asked.sets or NON_NEGATIVE, CTR, REAL, 2)
    most = max(some[-1] for some in found.values())
    return panels, [("4.1: complex-to-real TensorSRHT has less variance than real of as many columns for all non-negative pairs",
                     most < 1, f"largest ratio {most:.3f}"), ("4.1: the more so the higher the degree", falls(found))]


def figure_4_2(asked):
    panels, found = ratios(asked, "4.2", asked.sets or NON_NEGATIVE, CTR, REAL, 2, centred=True)
    shares = [np.mean(some < 1) for some in found.values()]
    return panels, [("4.2: of centred rows about half of the ratios are below 1",
                     0.3 <= min(shares) and max(shares) <= 0.7, f"{min(shares):.0%} to {max(shares):.0%}")]


def figure_4_4(asked):
    panels, found = ratios(asked, "4.4", asked.sets or NON_NEGATIVE, CTR, TENSOR_SKETCH, 2)
    few = min(np.mean(some < 1) for (_, p), some in found.items() if p <= 5)
    return panels, [("4.4: up to degree 5 complex-to-real TensorSRHT has less variance than TensorSketch for more than half of the pairs",
                     few > 0.5, f"least {few:.0%}")]


def figure_4_5(asked):
    panels, found = ratios(asked, "4.5", asked.sets or NON_NEGATIVE, REAL, TENSOR_SKETCH, 2)
    better = ratios(asked, "4.4", asked.sets or NON_NEGATIVE, CTR, TENSOR_SKETCH, 2)[1]
    return panels, [("4.5: real TensorSRHT is worse against TensorSketch than complex-to-real, for every set and degree",
                     all(np.median(some) > np.median(better[key]) for key, some in found.items()))]


def figure_4_6(asked):
    X, kernel = rows(asked, (asked.sets or ["mnist"])[0], False), polynomial(6)
    d = padded(X.shape[1] + 1)
    widths = [factor * d for factor in ((1, 2) if asked.quick else (1, 2, 4, 7, 10))]
    K, times, errors = gram(kernel, X, X), {}, {}
    for label, spec in {"Rademacher": RADEMACHER | {"field": "real"}, "TensorSketch": TENSOR_SKETCH, "TensorSRHT": REAL, "CtR TensorSRHT": CTR}.items():
        seconds, found = [], []
        for D in widths:
            own = sized(spec, kernel, X.shape[1], D)
            seconds.append(min(features(asked.library, own, [X, X])[1] / 2 for _ in range(3)))
            found.append(errors_of(asked.library, own, X, K, max(2, asked.seeds // 2)))
        times[label] = widths, 1e3 * np.array(seconds)
        errors[label] = 1e3 * np.array(seconds), *np.transpose([mean(one) for one in found])
        print(f"4.6 {label}: " + ", ".join(f"D = {D:,}: {1e3 * t:.1f} ms, {e.mean():.4f}" for D, t, e in zip(widths, seconds, found)), flush=True)
    last = {label: (times[label][1][-1], errors[label][1][-1]) for label in times}
    panels = [Panel("(x'y + 1)^6", "columns D", "milliseconds", times, "xy"), Panel("(x'y + 1)^6", "milliseconds", "relative Frobenius error", errors, "xy")]
    return panels, [("4.6: at the largest D both TensorSRHT take less time than TensorSketch and Rademacher",
                     max(last["TensorSRHT"][0], last["CtR TensorSRHT"][0]) < min(last["TensorSketch"][0], last["Rademacher"][0])),
                    ("4.6: there CtR TensorSRHT has the least error, too", last["CtR TensorSRHT"][1] == min(e for _, e in last.values()))]


def figure_5_1(asked):
    X0, _ = table(asked.data, (asked.sets or ["fashion_mnist"])[0], 1, 60 if asked.quick else 2000)
    X0, m, panels, slopes = unit(X0, True), 40 if asked.quick else 500, [], {}
    for label, highest in (("Gaussian", 10), ("polynomial", 20)):
        spread, bias = [], []
        for seed in range(3 if asked.quick else 10):
            X = shuffled(X0, seed, m)
            i, j = np.triu_indices(m, 1)
            s = (X @ X.T)[i, j]
            if label == "Gaussian":
                l = median_distance(X)
                a, radial = np.cumprod([1.0, *(1 / (n * l**2) for n in range(1, highest + 1))]), np.exp(-1 / l**2)
                k = radial * np.exp(s / l**2)
            else:
                a, radial = np.array([math.comb(20, n) * 0.125**n * 0.875 ** (20 - n) for n in range(21)]), 1.0
                k = (s / 8 + 7 / 8) ** 20
            one = []
            for n in range(1, highest + 1):
                spec = sized({"map": "product_sketch", "kind": "gaussian", "field": "real"},
                             {"kernel": "polynomial", "degree": n, "gamma": 1.0, "offset": 0.0}, X.shape[1], 1)
                one.append(radial**2 * a[n] ** 2 * variances(asked, X, spec, (i[:2000], j[:2000])).mean())
            spread.append(one)
            bias.append([np.mean((k - radial * sum(a[q] * s**q for q in range(n + 1))) ** 2) for n in range(1, highest + 1)])
        n = np.arange(1, highest + 1)
        for what, found in (("variance", np.array(spread)), ("bias", np.array(bias))):
            slopes[label, what] = found.mean(0)
            panels.append(Panel(f"{label} kernel", "degree n", f"{what} term", {what: (n, found.mean(0), found.std(0))}, "y"))
            print(f"5.1 {label}, {what} by degree: " + " ".join(f"{one:.1e}" for one in found.mean(0)))
    low = slopes["polynomial", "variance"]
    return panels, [("5.1: variance and bias of the Gaussian fall with every degree",
                     all(np.all(np.diff(slopes["Gaussian", what][:8]) < 0) for what in ("variance", "bias"))),
                    ("5.1: of the polynomial the bias falls, and the variance from degree 3 on",
                     bool(np.all(np.diff(low[2:]) < 0) and np.all(np.diff(slopes["polynomial", "bias"][:12]) < 0)), f"of degrees 1 to 3 {low[:3].max() / low[:3].min():.1f} times apart")]


def contenders_5_3(p):
    drawn, best = (maclaurin(how, p, field="real") for how in ("random", "optimized"))
    return {"Rademacher": RADEMACHER | {"field": "real"}, "TensorSRHT": SRHT | {"field": "real"},
            "TensorSRHT complex": SRHT | {"field": "complex"}, "TensorSRHT complex, imaginary kept": SRHT | {"field": "complex"},
            "random Maclaurin": drawn, "optimised Maclaurin": best,
            "optimised Maclaurin complex": maclaurin("optimized", min(p, 10), field="complex"), "TensorSketch": TENSOR_SKETCH}


def figure_5_3(asked):
    panels, found = [], {}
    degrees = [3, 7] if asked.quick else DEGREES
    for centred in (False, True):
        X = rows(asked, (asked.sets or ["fashion_mnist"])[0], centred, 1500)
        sample, X = np.ascontiguousarray(X[:len(X) // 3]), np.ascontiguousarray(X[len(X) // 3:])
        d = padded(X.shape[1] + 1)
        for factor in (1, 2):
            series = {}
            for p in degrees:
                kernel = polynomial(p, 4)
                K = gram(kernel, X, X)
                for label, spec in contenders_5_3(p).items():
                    errors = errors_of(asked.library, sized(spec, kernel, X.shape[1], factor * d), X, K, max(2, asked.seeds // 2), sample,
                                       label.endswith("kept"))
                    found[centred, factor, p, label] = errors.mean()
                    series.setdefault(label, []).append((p, *mean(errors)))
            panels.append(Panel(f"{'' if centred else 'non-'}centred rows, D = {factor * d:,}", "degree p", "relative Frobenius error",
                                {label: np.transpose(one) for label, one in series.items()}, "y"))
            for label, one in series.items():
                print(f"5.3 {'' if centred else 'not '}centred, D = {factor}d, {label}: " + ", ".join(f"p = {p}: {e:.4f}" for p, e, _ in one), flush=True)
    cells = [(c, f, p) for c in (False, True) for f in (1, 2) for p in degrees]
    below = lambda low, high, some=cells: [found[*cell, low] < found[*cell, high] for cell in some]  # noqa: E731
    gain = {c: np.mean([np.log(found[c, f, p, "TensorSRHT"] / found[c, f, p, "TensorSRHT complex"]) for f in (1, 2) for p in degrees])
            for c in (False, True)}
    gains = [np.mean([np.log(found[*cell, name] / found[*cell, name + " complex"]) for cell in cells])
             for name in ("TensorSRHT", "optimised Maclaurin")]
    best = below("optimised Maclaurin", "random Maclaurin")
    return panels, [
        ("5.3: optimised Maclaurin errs less than random for almost all cases", sum(best) >= 0.9 * len(best), f"{sum(best)} of {len(best)}"),
        ("5.3: complex TensorSRHT errs less than real in all cases", all(below("TensorSRHT complex", "TensorSRHT"))),
        ("5.3: of non-negative rows complex TensorSRHT at D = d errs less than real at 2d",
         all(found[False, 1, p, "TensorSRHT complex"] < found[False, 2, p, "TensorSRHT"] for p in degrees)),
        ("5.3: complex columns gain more of rows not centred", gain[False] > gain[True], f"{np.exp(gain[False]):.2f} against {np.exp(gain[True]):.2f} times"),
        ("5.3: optimised Maclaurin gains by them, too, but less", 0 < gains[1] < gains[0], f"{np.exp(gains[1]):.2f} against {np.exp(gains[0]):.2f} times")]


def figure_5_6(asked):
    panels, found, kernel = [], [], polynomial(20, 4)
    for name in asked.sets or ["kin8nm", "letter", "concrete", "cod_rna", "abalone", "cal_housing", "bike", "airfoil", "power_plant"]:
        X = rows(asked, name, True, 1500)
        sample, X = np.ascontiguousarray(X[:len(X) // 3]), np.ascontiguousarray(X[len(X) // 3:])
        distances = np.sqrt(np.maximum(2 - 2 * (X @ X.T)[np.triu_indices(len(X), 1)], 0))
        D = 3 * padded(X.shape[1])
        errors = [errors_of(asked.library, sized(spec, kernel, X.shape[1], D), X, gram(kernel, X, X), asked.seeds, sample).mean()
                  for spec in (maclaurin("optimized", field="real"), fourier(kernel, "sorf"))]
        close = np.mean(distances < 0.5)
        found.append((close, errors[0] / errors[1]))
        counts, edges = np.histogram(distances, 40, (0, 2), density=True)
        panels.append(Panel(f"{name}: optimised Maclaurin {errors[0]:.3f}, SRF {errors[1]:.3f}", "distance", "density",
                            {"pairs": ((edges[1:] + edges[:-1]) / 2, counts)}))
        print(f"5.6 {name}: {close:.1%} of pairs closer than 0.5; D = {D}: optimised Maclaurin {errors[0]:.4f}, spherical features {errors[1]:.4f}", flush=True)
    far, near = ([ratio for close, ratio in found if (close < 0.1) == which] for which in (True, False))
    return panels, [
        ("5.6: where few pairs are close optimised Maclaurin errs less than spherical features",
         all(r < 1 for r in far), f"{sum(r < 1 for r in far)} of {len(far)} sets"),
        ("5.6: where pairs concentrate near 0, more", len(near) > 2 and all(r > 1 for r in near), f"{sum(r > 1 for r in near)} of {len(near)} sets")]


# Of optimised columns by TensorSRHT, measured by another program: set, real or complex, D.
REFERENCE = {("kin8nm", "", 8): 0.17, ("kin8nm", "", 16): 0.045, ("kin8nm", "", 40): 0.022, ("kin8nm", "complex ", 8): 0.11,
             ("kin8nm", "complex ", 16): 0.034, ("kin8nm", "complex ", 40): 0.017, ("letter", "", 16): 0.11, ("letter", "", 80): 0.020}


def power_series(asked):
    """Not a figure: power series of the Gaussian of standardised rows, columns of degrees drawn or optimised on 500 other rows, beside
    orthogonal Fourier features of as many columns; and REFERENCE, from which z counts our standard error and the rounding of its digits."""
    panels, found = [], {}
    sketches = {"TensorSRHT": SRHT | {"field": "real"}, "complex TensorSRHT": SRHT | {"field": "complex"}, "Rademacher": {"map": "product_sketch", "field": "real"}}
    specs = {f"{label} {allocation}": {"map": "maclaurin", "allocation": allocation, "sketch": sketch}
             for label, sketch in sketches.items() for allocation in ("random", "optimized")} | {"Fourier": {"map": "fourier", "projection": "orthogonal"}}
    for name in asked.sets or ["kin8nm", "letter"]:
        X = standardised(table(asked.data, name, 1, 1500)[0])
        sample, X, d = np.ascontiguousarray(X[1000:]), X[:1000], X.shape[1]
        kernel = {"kernel": "gaussian", "lengthscale": median_distance(X)}
        K, widths = gram(kernel, X, X), [padded(d) * factor for factor in (1, 2, 3, 5)]
        for D in widths:
            for label, spec in specs.items():
                own = sized(spec, kernel, d, D)
                handle, seconds = timed(lambda: made(asked.library, own, sample))
                columns = asked.library.spec(handle).get("columns", [])
                asked.library.free(handle)
                found[name, label, D] = error, bar = mean(errors_of(asked.library, own, X, K, asked.seeds, sample))
                print(f"degrees {name}, D = {D}, {label}: {error:.4f} ± {bar:.4f}, made in {1e3 * seconds:.1f} ms; columns {' '.join(f'{c:g}' for c in columns)}", flush=True)
        panels.append(Panel(f"{name}, d = {d}, l = {kernel['lengthscale']:.3g}", "columns D", "relative Frobenius error", {
            label: (widths, *np.transpose([found[name, label, D] for D in widths])) for label in specs}, "xy"))
    worst = max((error / found[name, label.replace("optimized", "random"), D][0], f"{name}, {label}, D = {D}")
                for (name, label, D), (error, _) in found.items() if "optimized" in label)
    claims = [("degrees: optimised columns err less than drawn ones everywhere", worst[0] < 1, f"most {worst[0]:.2f} times as much: {worst[1]}")]
    for (name, field, D), reference in REFERENCE.items():
        if (name, f"{field}TensorSRHT optimized", D) in found:
            error, bar = found[name, f"{field}TensorSRHT optimized", D]
            z = (error - reference) / np.hypot(bar, 10.0 ** np.floor(np.log10(reference) - 1) / 12**0.5)
            claims.append((f"degrees: {name}, {field}TensorSRHT, D = {D}: at most a sixth above {reference:g}", error < 7 / 6 * reference, f"{error:.4f}, z = {z:+.1f}"))
    return panels, claims


def spherical(asked):
    """Not a figure: Fourier features of fitted frequencies against sketches, of equal columns, by degree and range."""
    panels, found = [], {}
    D = 128 if asked.quick else 1024
    for name in asked.sets or ["letter", "mnist"]:
        X = table(asked.data, name, 1, 240 if asked.quick else 1000)[0]
        X = unit(X - X.mean(0) if name in IMAGES else standardised(X), False)
        for a in (2, 4):
            degrees, series = [3, 20] if asked.quick else DEGREES, {}
            for p in degrees:
                kernel = polynomial(p, a)
                K, bias = gram(kernel, X, X), 0
                specs = {f"spherical {projection}": fourier(kernel, projection) for projection in ("dense", "orthogonal", "sorf")}
                for label, spec in (specs | {"TensorSketch": TENSOR_SKETCH, "TensorSRHT": CTR}).items():
                    own = sized(spec, kernel, X.shape[1], D)
                    handle = made(asked.library, own)
                    bias = max(bias, asked.library.spec(handle).get("largest_bias", 0))
                    asked.library.free(handle)
                    found[name, a, p, label] = mean(errors_of(asked.library, own, X, K, asked.seeds))
                    series.setdefault(label, []).append(found[name, a, p, label])
                print(f"spherical {name}, a = {a}, p = {p}: " + ", ".join(f"{label} {found[name, a, p, label][0]:.4f}" for label in series) + f"; largest bias {bias:.1e}", flush=True)
            panels.append(Panel(f"{name}, a = {a}, D = {D:,}", "degree p", "relative Frobenius error", {label: (degrees, *np.transpose(one)) for label, one in series.items()}, "y"))
    least = [found[key[:3] + ("spherical orthogonal",)][0] < value[0] for key, value in found.items() if key[2:] == (20, "TensorSketch")]
    return panels, [("spherical: orthogonal fitted frequencies are below TensorSketch at degree 20", all(least), of(least))]


FIGURES = {"degrees": power_series, "spherical": spherical, "3.2": figure_3_2, "3.3": figure_3_3, "4.1": figure_4_1, "4.2": figure_4_2, "4.4": figure_4_4, "4.5": figure_4_5, "4.6": figure_4_6,
           "5.1": figure_5_1, "5.3": figure_5_3, "5.6": figure_5_6} | sketched_processes.FIGURES | thesis_kernels.FIGURES


def main():
    parser = options_of(__doc__, data=True)
    parser.add_argument("--figures", nargs="+", choices=list(FIGURES), default=list(FIGURES))
    parser.add_argument("--sets", nargs="+", help="in place of a figure's own")
    parser.add_argument("--seeds", type=int, default=10)
    asked = parsed(parser, seeds=4)
    asked.models, asked.library = Operators(asked.library), Library(asked.library)
    claims = []
    for number in sorted(asked.figures):
        panels, of_figure = FIGURES[number](asked)
        claims += of_figure
        if asked.plot:
            figure.draw(asked.plot if len(asked.figures) == 1 else asked.plot.with_stem(f"{asked.plot.stem}_{number}"), panels)
    print()
    return verdict(claims)


if __name__ == "__main__":
    sys.exit(main())
