# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""The figures of polynomial_sketches.py on kernels in closed form, on optical features, and on attention."""
import json
import math

import numpy as np

import figure
from experiment import frobenius, images, median_distance, table, unit
from figure import Panel
from library import MercerError
from operators import PLAIN
from sketches import RADEMACHER, SRHT, features, maclaurin, made, sized

GAUSSIAN = {"kernel": "gaussian"}


def figure_2_1(asked):
    """Variances of one frequency: of cosines (times 2, since they take two columns) and of complex exponentials."""
    draws, tau = 400 if asked.quick else 4000, np.linspace(0, 3, 25 if asked.quick else 61)
    X, k = tau[:, None].copy(), np.exp(-tau**2 / 2)
    spec = {"map": "fourier", "projection": "dense", "kernel": GAUSSIAN, "inputs": 1}
    handle = made(asked.library, spec | {"features": 2})
    closed = {"real, twice": 2 * asked.library.variance(handle, np.zeros_like(X), X), "complex": 1 - k**2}
    asked.library.free(handle)
    (Z,), _ = features(asked.library, spec | {"form": "complex", "features": draws}, [np.vstack([np.zeros((1, 1)), X])])
    found = draws * Z[1:] * Z[0].conj()
    squares = {"real, twice": 2 * (found.real - k[:, None]) ** 2, "complex": np.abs(found - k[:, None]) ** 2}
    apart = max(np.max(np.abs(squares[label].mean(1) - values)[1:] / figure.of_mean(squares[label])[1:]) for label, values in closed.items())
    real, complex_ = closed.values()
    print("2.1 tau, k, twice the real variance, the complex one: " + "; ".join(f"{tau[j]:.2g} {k[j]:.3f} {real[j]:.3f} {complex_[j]:.3f}" for j in range(0, len(tau), 6)))
    return [Panel(f"one frequency, {draws:,} draws", "|tau| / l", "variance", {"kernel": (tau, k), **{label: (tau, one) for label, one in closed.items()}, **{
        f"{label}, drawn": (tau, one.mean(1), figure.of_mean(one)) for label, one in squares.items()}})], [
        ("2.1: real features have less variance than complex ones of as many columns, at every distance", np.all(real[1:] < complex_[1:]),
         f"ratio {np.min(real[1:] / complex_[1:]):.3f} to {np.max(real[1:] / complex_[1:]):.4f}"),
        ("2.1: both variances grow with the distance", np.all(np.diff(real) > 0) and np.all(np.diff(complex_) > 0)),
        ("2.1: drawn frequencies have the variances of the closed forms, to 4.5 standard errors", apart < 4.5, f"at most {apart:.1f}")]


def basis(d, x):
    """Lambda_d: the mean of cos(x s_1) over the unit sphere, by its power series."""
    term = total = np.ones_like(x)
    for k in range(1, 200):
        term = -term * x**2 / (4 * k * (d / 2 + k - 1))
        total = total + term
    return total


def figure_2_2(asked):
    x, dimensions = np.linspace(0, 10, 201), (2, 4, 8, 16, 32, 64, 128, 256)
    series = {f"d = {d}": (x * math.sqrt(d) / 2, basis(d, x * math.sqrt(d) / 2)) for d in dimensions if d <= 32}
    gaps, least = [], []
    for d in dimensions:
        at = np.linspace(0, min(4 * math.sqrt(d), 30), 400)
        gaps.append(np.max(np.abs(basis(d, at) - np.exp(-at**2 / (2 * d)))))
        least.append(basis(d, at).min())
    # the mean of cos(x s_1) over drawn directions
    d, place = 8, np.linspace(0.5, 8, 6)
    random = np.random.default_rng(0).normal(size=(200000, d))
    cosines = np.cos(np.outer(place, random[:, 0] / np.linalg.norm(random, axis=1)))
    z = np.max(np.abs(cosines.mean(1) - basis(d, place)) / figure.of_mean(cosines))
    print("2.2 largest |Lambda_d(x) - exp(-x^2/2d)|: " + ", ".join(f"d = {d}: {gap:.4f} (least {low:.3f})" for d, gap, low in zip(dimensions, gaps, least)))
    return [Panel("Lambda_d", "x", "Lambda_d(x)", series), Panel("exp(-x^2/2d)", "x", "exp(-x^2/2d)", {
        label: (at, np.exp(-at**2 / (2 * int(label[4:])))) for label, (at, _) in series.items()})], [
        ("2.2: the basis function comes near exp(-x^2/2d) with every d", np.all(np.diff(gaps) < 0), f"apart {gaps[0]:.3f} at d = 2, {gaps[-2]:.4f} at 128"),
        ("2.2: its lower bound rises with d", np.all(np.diff(least) > 0), f"{least[0]:.2f} at d = 2, {least[3]:.3f} at 16"),
        ("2.2: it is the mean cosine over directions, to 4.5 standard errors", z < 4.5, f"{z:.1f}")]


def fit_of(p, a, d):
    """The nearest non-negative mixture of Lambda_d(w tau) to (1 - tau^2/a^2)^p on [0, 2], by non-negative least squares: its values."""
    tau, w = np.linspace(0, 2, 81), np.linspace(0, 14 if d == 2 else 40, 57)
    A, b = np.stack([basis(d, one * tau) for one in w], 1), (1 - tau**2 / a**2) ** p
    # accelerated projected gradient
    c = momentum = np.full(len(w), 1 / len(w))
    step, t = 1 / np.linalg.norm(A, 2) ** 2, 1.0
    for _ in range(4000):
        new, after = np.maximum(momentum - step * A.T @ (A @ momentum - b), 0), (1 + math.sqrt(1 + 4 * t * t)) / 2
        momentum, c, t = new + (t - 1) / after * (new - c), new, after
    return tau, b, A @ c


def figure_2_3(asked):
    """a = 2 by the library's fitted frequencies; it refuses a < 2, where the nearest mixture of basis functions stands in."""
    panels, biases, homogeneous, D = [], {}, {}, 4096 if asked.quick else 65536
    for d in (2, 128):
        for p in (3, 20):
            tau = np.linspace(0, 2, 21)
            X = np.zeros((len(tau) + 1, d))
            X[0, 0], X[1:, 0], X[1:, 1] = 1, 1 - tau**2 / 2, tau * np.sqrt(1 - tau**2 / 4)
            spec = {"map": "fourier", "projection": "orthogonal", "kernel": {"kernel": "sphere_polynomial", "degree": p, "a": 2.0}, "inputs": d, "features": D}
            handle = made(asked.library, spec)
            biases[d, p] = asked.library.spec(handle)["largest_bias"]
            asked.library.free(handle)
            (Z,), _ = features(asked.library, spec, [X])
            panels.append(Panel(f"d = {d}, p = {p}, a = 2", "tau", "k", {"k": (tau, (1 - tau**2 / 4) ** p), "fitted": (tau, Z[1:] @ Z[0])}))
            print(f"2.3 d = {d}, p = {p}, a = 2: largest bias {biases[d, p]:.2g}")
        tau, b, near = fit_of(3, math.sqrt(2), d)
        homogeneous[d] = np.max(np.abs(near - b))
        panels.append(Panel(f"d = {d}, p = 3, a = sqrt 2", "tau", "k", {"k": (tau, b), "fitted": (tau, near)}))
        print(f"2.3 d = {d}, p = 3, a = sqrt 2: largest error of the nearest mixture {homogeneous[d]:.2g}")
    try:
        asked.library.make("map_from_spec", json.dumps(spec | {"kernel": spec["kernel"] | {"a": 2**0.5}}).encode())
        refused = False
    except MercerError:
        refused = True
    return panels, [
        ("2.3: degree 20 is fitted with less bias than degree 3", all(biases[d, 20] < biases[d, 3] for d in (2, 128)),
         ", ".join(f"d = {d}: {biases[d, 3]:.2g}, {biases[d, 20]:.2g}" for d in (2, 128))),
        ("2.3: homogeneous kernels cannot be matched", all(value > 0.3 for value in homogeneous.values()),
         ", ".join(f"d = {d}: off by {value:.2f}" for d, value in homogeneous.items())),
        ("2.3: the library refuses to fit them", refused)]


def figure_5_7(asked):
    """k_3 against k of the Gaussian by norms and angle; by the map's features too, whose degrees are sketched."""
    norms, panels, far, errors, off = np.linspace(0, 4, 33), [], [], {}, []
    for theta in (0, math.pi / 4, math.pi / 2, math.pi):
        inner = norms**2 * math.cos(theta)
        k = np.exp(inner - norms**2)
        cut = np.exp(-norms**2) * sum(inner**n / math.factorial(n) for n in range(4))
        X = np.zeros((2, len(norms), 2))
        X[0, :, 0], X[1, :, 0], X[1, :, 1] = norms, norms * math.cos(theta), norms * math.sin(theta)
        spec = {"map": "maclaurin", "kernel": GAUSSIAN, "allocation": "given", "columns": [4096] * 3, "inputs": 2, "features": 12289,
                "sketch": RADEMACHER | {"field": "real"}}
        (x, y), _ = features(asked.library, spec, X)
        handle, found = made(asked.library, spec), np.sum(x * y, 1)
        deviation = np.sqrt(asked.library.variance(handle, X[0], X[1]))
        asked.library.free(handle)
        off.append(np.max(np.abs(found - cut) / (deviation + 1e-9)))
        panels.append(Panel(f"angle {theta / math.pi:.2g} pi", "|x| = |y|", "k", {"k": (norms, k), "k_3": (norms, cut), "features": (norms, found)}))
        far.append(np.abs(cut[-1]))
        errors[theta] = np.max(np.abs(k - cut))
    print("5.7 largest |k - k_3| by angle: " + ", ".join(f"{t / math.pi:.2g} pi: {e:.3f}" for t, e in errors.items()))
    return panels, [("5.7: k_3 approaches 0 with the norms, at every angle", max(far) < 1e-3, f"at norms of 4 at most {max(far):.1e}"),
                    ("5.7: its error is largest at angle 0, and none where rows are orthogonal", max(errors, key=errors.get) == 0 and errors[math.pi / 2] < 1e-12,
                     ", ".join(f"{e:.2f}" for e in errors.values())),
                    ("5.7: the map's features estimate k_3, to 4.5 of their deviations", max(off) < 4.5, f"at most {max(off):.1f}")]


def surrogate(V, C, D, d):
    """Variance of TensorSRHT with its steps smoothed (the thesis, D.4 and D.5)."""
    return (V - C) / D + C if C <= 0 and D <= d else (V + (d - 1) * C) / D


def figure_d_1(asked):
    x, d, widths, panels = np.full((1, 2), 0.5**0.5), 2, np.arange(1, 11), []
    equal, convex, below, zero = True, True, True, []
    for n in (1, 2):
        kernel, series = {"kernel": "polynomial", "degree": n, "gamma": 1.0, "offset": 0.0}, {}
        for field in ("real", "complex"):
            found = {}
            for name, spec in (("TensorSRHT", SRHT), ("Rademacher", RADEMACHER)):
                found[name] = []
                for D in widths:
                    handle = made(asked.library, sized(spec | {"field": field}, kernel, d, int(D)))
                    found[name].append(float(asked.library.variance(handle, x, x)[0]))
                    asked.library.free(handle)
            V = np.array(found["TensorSRHT"])
            own, between = V[0], 2 * V[1] - V[0]
            smooth = np.array([surrogate(own, between, D, d) for D in widths])
            at = (widths <= d) | (widths % d == 0)
            equal &= bool(np.allclose(V[at], smooth[at], atol=1e-12))
            convex &= bool(np.all(np.diff(smooth, 2) > -1e-12))
            below &= bool(np.all(V[widths >= d] <= np.array(found["Rademacher"])[widths >= d] + 1e-12)) if between <= 0 else True
            if n == 1:
                zero.append(float(np.max(V[widths % d == 0])))
            series |= {f"TensorSRHT {field}": (widths, V), f"surrogate {field}": (widths, smooth), f"Rademacher {field}": (widths, found["Rademacher"])}
            print(f"D.1 degree {n}, {field}: covariance {between:+.3g}; variances " + " ".join(f"{v:.3f}" for v in V) + "; surrogate " + " ".join(f"{v:.3f}" for v in smooth))
        panels.append(Panel(f"degree {n}, d = 2, x = y", "D", "variance", series))
    sample = unit(table(asked.data, "kin8nm", 1, 400)[0], True) if (asked.data / "kin8nm").exists() else np.random.default_rng(0).normal(size=(400, 8))
    handle = made(asked.library, sized(maclaurin("optimized", field="real"), GAUSSIAN, 8, 80), sample)
    columns = asked.library.spec(handle)["columns"]
    asked.library.free(handle)
    return panels, [("D.1: the surrogate is the variance at D up to d and at multiples of d", equal), ("D.1: it is convex", convex),
                    ("D.1: from D = d on TensorSRHT has no more variance than Rademacher sketches where the covariance is not above 0", below),
                    ("D.1: of degree 1 the variance is 0 at multiples of d", max(zero) < 1e-12),
                    ("D.1: so that degree 1 gets at most d columns", columns[0] <= 8, f"columns by degree of D = 80, d = 8: {columns}")]


def by_ridge(asked, spec, train, X):
    """One-hot ridge regression, lambda by leave-one-out: what it says of rows."""
    model = asked.models.fit_model({"map": spec, "search": False, "assess": False, "seed": 1, "select": {"by": "leave_one_out"}, **PLAIN},
                                   train[0], np.eye(10)[train[1].astype(int)])
    out = asked.models.predict(model, X, 10)
    asked.models.model_free(model)
    return out


def wrong(asked, spec, train, test):
    """The share of errors on the test rows."""
    return float(np.mean(by_ridge(asked, spec, train, test[0]).argmax(1) != test[1]))


def likely(asked, train, choices):
    """Of kernels, each with how it sees rows, the one of least squares on a quarter of the training rows, which is held out."""
    (X, y), n = train, len(train[0]) * 3 // 4

    def squares(choice):
        kernel, seen = choice
        return ((by_ridge(asked, {"map": "exact", "kernel": kernel}, (seen(X[:n]), y[:n]), seen(X[n:])) - np.eye(10)[y[n:].astype(int)]) ** 2).sum()
    return min(choices, key=squares)


def biased(bias, threshold):
    """What an optical unit is shown: numbers above a threshold as ones, and a column of the same number."""
    return lambda X: np.column_stack([X > threshold, np.full(len(X), float(bias))])


def optical(exponent, biases, thresholds):
    return [({"kernel": "optical", "exponent": exponent}, biased(bias, threshold)) for bias in biases for threshold in thresholds]


def by_distance(lengthscales, thresholds):
    return [({"kernel": "gaussian", "lengthscale": float(length)}, biased(0, threshold)) for length in lengthscales for threshold in thresholds]


def figure_6_2(asked):
    """Binary images; the exact kernels by map exact. Biases are of the thesis's grids."""
    train, test = (images(asked.data, "fashion_mnist", part) for part in (0, 1))
    few = 500 if asked.quick else len(train[1])
    train = train[0][:few], train[1][:few]
    kernels = {"optical, m = 2": ("optical", optical(2, (0, 1, 2, 4, 8, 16), (0.2,))), "optical, m = 4": ("optical", optical(4, (0, 1, 4, 16, 64, 256), (0.2,))),
               "Fourier": ("fourier", by_distance((5, 7, 9, 11, 14), (0.2,)))}
    widths = [100, 400, 1600] if asked.quick else [100, 300, 1000, 3000, 10000]
    every = [np.concatenate(both) for both in zip(train, test)]
    order = np.array_split(np.random.default_rng(0).permutation(len(every[1])), 3)
    found, limits, folds = {}, {}, {}
    for label, (name, choices) in kernels.items():
        kernel, seen = likely(asked, train, choices)
        shown = [(seen(X), y) for X, y in (train, test)]
        found[label] = [wrong(asked, {"map": name, "kernel": kernel, "features": D, "seed": 1}, *shown) for D in widths]
        limits[label] = wrong(asked, {"map": "exact", "kernel": kernel}, *shown)
        folds[label] = np.array([wrong(asked, {"map": "exact", "kernel": kernel}, *((seen(every[0][some]), every[1][some]) for some in (
            np.concatenate([one for one in order if one is not out]), out))) for out in order])
        print(f"6.2 {label}, {f'bias {seen(train[0][:1])[0, -1]:g}' if name == 'optical' else kernel}: " + ", ".join(
            f"D = {D:,}: {100 * e:.1f} %" for D, e in zip(widths, found[label])) + f"; the kernel {100 * limits[label]:.1f} %, of three folds {100 * folds[label].mean():.2f} %", flush=True)
    gaps = {label: values[-1] - limits[label] for label, values in found.items()}
    slow = {label: found[label][0] - limits[label] for label in kernels}
    more = folds["optical, m = 4"] - folds["optical, m = 2"]
    return [Panel(f"fashion_mnist, {few:,} images", "columns D", "test error", {**{label: (widths, values) for label, values in found.items()}, **{
        f"{label}, kernel": (widths, [limits[label]] * len(widths)) for label in kernels}}, "x")], [
        ("6.2: errors fall with D", all(values[-1] < values[0] for values in found.values())),
        ("6.2: with m = 2 and with Fourier features they reach the kernel's, to 1 % of the images", max(gaps["optical, m = 2"], gaps["Fourier"]) < 0.01,
         ", ".join(f"{label} {100 * gap:+.1f} %" for label, gap in gaps.items())),
        ("6.2: m = 4 comes to its kernel more slowly than m = 2", slow["optical, m = 4"] > slow["optical, m = 2"],
         f"at D = {widths[0]} {100 * slow['optical, m = 4']:+.1f} against {100 * slow['optical, m = 2']:+.1f} %"),
        ("6.2: and its kernel is better", more.mean() < 0, f"of three folds {100 * folds['optical, m = 4'].mean():.2f} against {100 * folds['optical, m = 2'].mean():.2f} %, "
         f"{100 * more.mean():+.2f} ± {100 * figure.of_mean(more):.2f}")]


def convolved(X, filters):
    """ReLU of valid convolutions of images n x h x h x c with filters k x k x c x m."""
    k = filters.shape[0]
    windows = np.lib.stride_tricks.sliding_window_view(X, (k, k), (1, 2))  # n, places, c, k, k
    return np.maximum(np.einsum("nabcij,ijcm->nabm", windows, filters, optimize=True), 0)


def pooled(X, size):
    n, h, _, m = X.shape
    return X[:, :h - h % size, :h - h % size].reshape(n, h // size, size, h // size, size, m).max((2, 4))


def table_6_1(asked):
    """Fixed random convolutions in place of pretrained networks: two layers, and the first pooled more coarsely; binary, as an optical unit is shown them."""
    random, few, D = np.random.default_rng(0), 500 if asked.quick else 2000, 2000 if asked.quick else 10000
    first, second = random.normal(size=(5, 5, 1, 8)) / 5, random.normal(size=(3, 3, 8, 16)) / 72**0.5
    parts, labels = zip(*((X[:few], y[:few]) for X, y in (images(asked.data, "fashion_mnist", part) for part in (0, 1))))
    layers = {"first, pooled by 2": [], "first, pooled by 4": [], "second": []}
    for X in parts:
        seen = convolved(X.reshape(-1, 28, 28, 1), first)
        for label, one in zip(layers, (pooled(seen, 2), pooled(seen, 4), pooled(convolved(pooled(seen, 2), second), 2))):
            layers[label].append(one.reshape(len(X), -1))
    found = {}
    for label, (X, X_test) in layers.items():
        thresholds = np.quantile(X[:500], (0.5, 0.7, 0.9))
        median = median_distance((X[:500] > thresholds[1]).astype(float))
        ways = {"optical": optical(2, (0, 4, 16), thresholds), "fourier": by_distance(median * np.array([0.5, 1, 2]), thresholds),
                "exact": [({"kernel": "polynomial", "degree": 1}, biased(0, threshold)) for threshold in thresholds]}
        found[label] = []
        for name, choices in ways.items():
            kernel, seen = likely(asked, (X, labels[0]), choices)
            found[label].append(wrong(asked, {"map": name, "kernel": kernel, **({} if name == "exact" else {"features": D, "seed": 1})}, (seen(X), labels[0]), (seen(X_test), labels[1])))
        found[label] = np.array(found[label])
        print(f"6.1 {label}, d = {X.shape[1]:,}: optical {{:.1f}} %, Fourier {{:.1f}} %, none {{:.1f}} %".format(*100 * found[label]), flush=True)
    values = np.array(list(found.values())).T
    numbers = "; ".join(" ".join(f"{100 * e:.1f}" for e in one) for one in values.T)
    return [Panel(f"fashion_mnist, {few:,} images, D = {D:,}", "layer", "test error", {
        name: (np.arange(len(found)), one) for name, one in zip(("optical", "Fourier", "none"), values)})], [
        ("6.1: random features err less than ridge on the layer itself, at every layer", bool(np.all(values[:2] < values[2])), f"optical, Fourier, none in %: {numbers}"),
        ("6.1: optical ones are as good as Fourier features, to 2 % of the images", bool(np.max(values[0] - values[1]) < 0.02), f"at most {100 * np.max(values[0] - values[1]):+.1f} %")]


def figure_7_1(asked):
    """exp(QK') of normal tokens of 64 numbers, as they are and of unit length, in place of those of a language model."""
    n, d, D = 128, 64, 256
    kernel, found, panels = {"kernel": "exponential"}, {}, []
    ways = {"trigonometric": {"map": "positive", "form": "trigonometric", "projection": "orthogonal"}, "FAVOR+": {"map": "positive", "projection": "orthogonal"},
            "optimised Maclaurin": maclaurin("optimized", field="real")}
    deviations = (0.15, 0.25, 0.35, 0.5)
    for spread in (*deviations, "unit"):
        random = np.random.default_rng(5)
        Q, K = random.normal(size=(2, n, d)) * (1 if spread == "unit" else spread)
        if spread == "unit":
            Q, K = unit(Q, False), unit(K, False)
        exact, sample = np.exp(Q @ K.T), np.ascontiguousarray(np.vstack([Q, K]))
        for label, spec in ways.items():
            errors = []
            for seed in range(asked.seeds):
                (a, b), _ = features(asked.library, sized(spec, kernel, d, D, seed), [Q, K], sample)
                errors.append(frobenius(a @ b.T, exact))
            found[spread, label] = np.mean(errors), figure.of_mean(np.array(errors))
        print(f"7.1 {f'deviation {spread}' if spread != 'unit' else 'unit length'}: largest q'k {np.log(exact).max():.1f}; " + ", ".join(f"{label} {found[spread, label][0]:.3g}" for label in ways))
    panels.append(Panel(f"{n} tokens of {d} numbers, D = {D}", "deviation of a token's numbers", "relative Frobenius error", {
        label: (deviations, *np.transpose([found[spread, label] for spread in deviations])) for label in ways}, "y"))
    return panels, [
        ("7.1: with unit tokens every map errs less than with tokens of deviation 0.5", all(found["unit", label][0] < found[0.5, label][0] for label in ways),
         ", ".join(f"{label} {found['unit', label][0]:.3f}, {found[0.5, label][0]:.2g}" for label in ways)),
        ("7.1: with unit tokens optimised Maclaurin errs least", min(ways, key=lambda label: found["unit", label][0]) == "optimised Maclaurin"),
        ("7.1: with tokens of deviation 0.5 none is of use: errors above 0.3", min(found[0.5, label][0] for label in ways) > 0.3)]


FIGURES = {"2.1": figure_2_1, "2.2": figure_2_2, "2.3": figure_2_3, "5.7": figure_5_7, "D.1": figure_d_1, "6.2": figure_6_2, "t6.1": table_6_1, "7.1": figure_7_1}
