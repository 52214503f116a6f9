# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""The figures of polynomial_sketches.py on Gaussian processes: of classes by features, and in few dimensions by local fits."""
from collections import namedtuple

import numpy as np
from scipy.linalg import cho_solve, cholesky, solve_triangular

import figure
from experiment import density, divergence, frobenius, median_distance, of, padded, squared_distances, standardised, table, timed, unit
from figure import Panel
from operators import PLAIN
from sketches import RADEMACHER, SRHT, TENSOR_SKETCH, UPSAMPLED, features, fourier, gram, maclaurin, polynomial, sized

ALPHA = 0.01  # of Dirichlet's targets
DRAWS = 200   # of the probabilities of classes


# y and its noise, of each output; scored: the error and the negative log likelihood of means and variances.
Problem = namedtuple("Problem", "X X_test y noise scored kernel")
FEW, MANY = 360, 1500  # rows of both parts


def problem_of(X, y, n, kernel, level, classes):
    """The first n rows train. Classes: targets of each and their noise (Milios et al. 2018), level Dirichlet's alpha; else level is the noise's variance."""
    if classes:
        hot = np.eye(y.max() + 1)[y[:n]] + level
        noise = np.log(1 / hot + 1)
        targets = np.log(hot) - noise / 2
        scale = targets.std()  # the kernel's variance is that of the targets
        return Problem(X[:n], X[n:], (targets - targets.mean()) / scale, noise / scale**2, lambda found: of_classes(found, y[n:]), kernel)
    y = (y - y[:n].mean()) / y[:n].std()

    def scored(found):
        said = found[0][:, 0], found[1][:, 0] + level
        return np.sqrt(np.mean((said[0] - y[n:]) ** 2)), density(said, y[n:])
    return Problem(X[:n], X[n:], y[:n, None], np.full((n, 1), level), scored, kernel)


def chosen(asked, X, y, kernel, classes, spec):
    """The level with which 5 d columns of a spec are likeliest on the last tenth of rows: alpha or noise of the thesis's range."""
    n, levels = len(X) * 9 // 10, 10.0 ** np.arange(-5, 1) if classes else 2.0 ** np.arange(-15, 16)
    Z, _ = features(asked.library, sized(spec, kernel, X.shape[1], 5 * padded(X.shape[1])), [X[:n], X[n:]])

    def loss(level):
        one = problem_of(X, y, n, kernel, level, classes)
        return one.scored(by_features(*Z, one.y, one.noise))[1]
    return float(min(levels, key=loss))


def splits(asked, name, centred, kernel_of, normalised=True, baseline=None):
    """A problem by seed. baseline: the projection of the Fourier features that choose the level, of the first seed's rows, for all; None: alpha = ALPHA."""
    classes, level = name not in VALUE_SETS, []

    def of(seed):
        X, y = table(asked.data, name, seed + 1, FEW if asked.quick else MANY, pool=2)
        y = np.unique(y, return_inverse=True)[1] if classes else y
        X, n = unit(X, centred) if normalised else standardised(X), len(X) * 2 // 3
        kernel = kernel_of(X[:n])
        if not level:
            level.append(chosen(asked, X[:n], y[:n], kernel, classes, fourier(kernel, baseline)) if baseline else ALPHA)
            print(f"{name}, {'' if centred else 'not '}centred: {'alpha' if classes else 'noise'} {level[0]:.2g}", flush=True)
        return problem_of(X, y, n, kernel, level[0], classes)
    return of


def exactly(K, across, variance, y, noise):
    """Means and variances of f at the test rows, of each output."""
    found = []
    for k in range(y.shape[1]):
        factor = cholesky(K + np.diag(noise[:, k]), lower=True, overwrite_a=True, check_finite=False)
        rest = solve_triangular(factor, across.T, lower=True, check_finite=False)
        found.append((across @ cho_solve((factor, True), y[:, k], check_finite=False), variance - (rest**2).sum(0)))
    return [np.transpose(one) for one in zip(*found)]


def by_features(Z, Z_test, y, noise):
    """The same of f = z'w, w normal, by Cholesky's factor of Z'N^-1 Z + I. Rows with the most noise have one share in it for all outputs."""
    most, found = noise.max(), []
    shared = Z.conj().T @ Z / most + np.eye(Z.shape[1])
    for k in range(y.shape[1]):
        rows = noise[:, k] < most
        own = Z[rows]
        factor = cholesky(shared + own.conj().T * (1 / noise[rows, k] - 1 / most) @ own, lower=True, overwrite_a=True, check_finite=False)
        weights = cho_solve((factor, True), Z.conj().T @ (y[:, k] / noise[:, k]), check_finite=False)
        rest = solve_triangular(factor, Z_test.conj().T, lower=True, check_finite=False)
        found.append(((Z_test @ weights).real, (np.abs(rest) ** 2).sum(0)))
    return [np.transpose(one) for one in zip(*found)]


def of_classes(found, labels):
    """The share of errors, and the mean negative log likelihood by draws of the latent posteriors."""
    draws = found[0] + np.sqrt(np.maximum(found[1], 0)) * np.random.default_rng(0).normal(size=(DRAWS, *found[0].shape))
    draws = np.exp(draws - draws.max(-1, keepdims=True))
    p = (draws / draws.sum(-1, keepdims=True)).mean(0)
    return np.mean(p.argmax(1) != labels), -np.mean(np.log(p[np.arange(len(labels)), labels]))


def compared(asked, of, specs_of, widths, seeds):
    """By name and D: relative Frobenius error, divergence, error of predictions, negative log likelihood and seconds, over seeds, each with rows of its own."""
    found = {}
    for seed in range(seeds):
        X, X_test, y, noise, scored, kernel = of(seed)
        K, across, inner = gram(kernel, X, X), gram(kernel, X_test, X), gram(kernel, X_test, X_test)
        exact = exactly(K, across, inner.diagonal(), y, noise)
        for label, spec in specs_of(kernel).items():
            for D in widths(label, X.shape[1]):
                (Z, Z_test), seconds = features(asked.library, sized(spec, kernel, X.shape[1], D, seed), [X, X_test], X[:500])
                one, more = timed(lambda: by_features(Z, Z_test, y, noise))
                error = frobenius((Z_test @ Z_test.conj().T).real, inner)
                found.setdefault((label, D), []).append((error, divergence(one, exact), *scored(one), seconds + more))
    return {key: np.array(one) for key, one in found.items()}


def against_time(found, column):
    """By name: seconds, then a column's means and standard errors."""
    series = {}
    for label in dict.fromkeys(label for label, _ in found):
        some = [one for (name, _), one in sorted(found.items(), key=lambda i: i[0][1]) if name == label]
        series[label] = [np.median(one[:, 4]) for one in some], [one[:, column].mean() for one in some], [figure.of_mean(one[:, column]) for one in some]
    return series


def beats(low, high):
    """Of the points of either curve within the other's times, at how many `low` lies at most 5 % and two standard errors above `high`, in logarithms; and how many there are."""
    least = np.maximum(np.subtract(low[1], np.multiply(2, low[2])), 1e-12)

    def at(times, values, t):
        return np.exp(np.interp(np.log(t), np.log(times), np.log(values)))
    pairs = [(e, at(*high[:2], t)) for t, e in zip(low[0], least) if high[0][0] <= t <= high[0][-1]]
    pairs += [(at(low[0], least, t), h) for t, h in zip(*high[:2]) if low[0][0] <= t <= low[0][-1]]
    return sum(e <= 1.05 * h for e, h in pairs), len(pairs)


def apart(low, high):
    """The mean of `low` less `high` over seeds, whose rows both share, and its standard error."""
    return (low - high).mean(), figure.of_mean(low - high)


def figure_3_4(asked):
    specs = {f"{name} {field}": spec | {"field": field} for name, spec in {"Rademacher": RADEMACHER, "TensorSRHT": SRHT}.items()
             for field in ("real", "complex")}
    panels, cells, gains = [], [], {}
    for centred in (False, True):
        for p in [3, 10] if asked.quick else [3, 7, 10, 20]:
            of = splits(asked, (asked.sets or ["fashion_mnist"])[0], centred, lambda X: polynomial(p, 4))  # noqa: B023
            series = against_time(compared(asked, of, lambda kernel: specs, lambda label, d: [
                padded(d + 1) * k for k in ((1, 2) if "complex" in label else (1, 2, 4))], 2 if asked.quick else 3), 1)
            panels.append(Panel(f"{'' if centred else 'not '}centred, p = {p}", "seconds", "KL divergence", series, "xy"))
            for name in ("Rademacher", "TensorSRHT"):
                low, high = series[f"{name} complex"], series[f"{name} real"]
                cells.append(beats(low, high))
                gains.setdefault(centred, []).append(np.log(high[1][0] / low[1][0]))
                print(f"3.4 {panels[-1].title}, {name}: real {shown(high)}; complex {shown(low)}", flush=True)
    won, points = np.sum(cells, 0)
    return panels, [
        ("3.4: in the same time complex columns diverge as little as real ones or less", won == points, f"{won} of {points} points"),
        ("3.4: at D = d they gain more of rows not centred",
         np.mean(gains[False]) > np.mean(gains[True]), f"{np.exp(np.mean(gains[False])):.2f} against {np.exp(np.mean(gains[True])):.2f} times"),
        ("3.4: and more at the highest degree than at the lowest", sum(gains[False][-2:]) > sum(gains[False][:2]))]


def shown(series):
    return ", ".join(f"{value:.3g} in {seconds:.2f} s" for seconds, value, *_ in zip(*series))


def figure_4_3(asked):
    specs = {field: UPSAMPLED | {"field": field} for field in ("real", "complex", "complex_to_real")}
    found = compared(asked, splits(asked, (asked.sets or ["mnist"])[0], False, lambda X: polynomial(6)), lambda kernel: specs,
                     lambda label, d: [padded(d + 1) * k for k in ((1, 2) if label == "complex" else (1, 2, 4))], 2 if asked.quick else 5)
    series = [against_time(found, column) for column in (1, 2)]
    panels = [Panel("(x'y + 1)^6", "seconds", what, one, "xy" if k == 0 else "x") for k, (what, one) in
              enumerate(zip(("KL divergence", "test error"), series))]
    for label in specs:
        print(f"4.3 {label}: KL {shown(series[0][label])}; error {shown(series[1][label])}", flush=True)
    of = [beats(series[0]["complex_to_real"], series[0][other]) for other in ("real", "complex")]
    more = [apart(found["complex_to_real", D][:, 2], one[:, 2]) for (label, D), one in found.items() if label == "real"]
    return panels, [("4.3: complex-to-real diverges least in the same time",
                     all(won == points for won, points in of), f"against real {of[0][0]} of {of[0][1]} points, complex {of[1][0]} of {of[1][1]}"),
                    ("4.3: it errs no more than real at every D, to half a per cent and two standard errors over seeds",
                     all(one - 2 * error <= 0.005 for one, error in more), ", ".join(f"{one:+.1%} ± {error:.1%}" for one, error in more))]


def figure_4_7(asked):
    """The bound learns gamma and nu of (gamma x'y + nu)^6, then epochs of batches the posterior of weights of variance 1; seconds are of both."""
    X, labels = table(asked.data, (asked.sets or ["mnist"])[0], 1, 900 if asked.quick else 3000, pool=4)
    X, n = unit(X, False), len(X) * 2 // 3
    d, labels = padded(X.shape[1] + 1), labels[:, None]
    D, seeds, epochs = (2 * d, 1, [1, 4]) if asked.quick else (4 * d, 3, [1, 2, 4, 8])

    def fitted(spec, passes, **keys):
        model, seconds = timed(lambda: asked.models.fit_model({
            "model": "svgp", "task": "classification", "search": False, "lambda": 1 / n, "batch": 250, "epochs": passes, **PLAIN, "map": spec, **keys}, X[:n], labels[:n]))
        error, kernel = np.mean(asked.models.predict(model, X[n:], 1, "class") != labels[n:]), asked.models.said(model, b"spec")["map"]["kernel"]
        asked.models.model_free(model)
        return seconds, error, kernel
    series, kernels = {}, {}
    for label, spec in {"TensorSketch": TENSOR_SKETCH, "TensorSRHT": UPSAMPLED | {"field": "real"}, "CtR TensorSRHT": UPSAMPLED | {"field": "complex_to_real"}}.items():
        found = []
        for seed in range(seeds):
            own = sized(spec, polynomial(6), X.shape[1], D, seed)
            learning, error, kernels[label] = fitted(own, 1, hyperparameters="learnt")
            later = [fitted(own | {"kernel": kernels[label]}, passes)[:2] for passes in epochs[1:]]
            found.append([(learning, error)] + [(learning + seconds, error) for seconds, error in later])
        seconds, errors = np.transpose(found, (2, 1, 0))
        series[label] = np.median(seconds, 1), errors.mean(1), [figure.of_mean(one) if seeds > 1 else 0 for one in errors]
        print(f"4.7 {label}, D = {D}: {shown(series[label])}; gamma {kernels[label]['gamma']:.2f}, nu {kernels[label]['offset']:.2f}", flush=True)
    last = {label: (one[0][-1], one[1][-1]) for label, one in series.items()}
    slow = max(last["TensorSRHT"][0], last["CtR TensorSRHT"][0])
    return [Panel(f"(gamma x'y + nu)^6, D = {D}", "seconds of training", "test error", series, "x")], [
        ("4.7: as many epochs take both TensorSRHT less time than TensorSketch", slow < last["TensorSketch"][0],
         ", ".join(f"{label} {seconds:.1f} s" for label, (seconds, _) in last.items())),
        ("4.7: complex-to-real TensorSRHT errs less than real", last["CtR TensorSRHT"][1] < last["TensorSRHT"][1],
         f"{last['CtR TensorSRHT'][1]:.1%} against {last['TensorSRHT'][1]:.1%}; TensorSketch {last['TensorSketch'][1]:.1%}")]


MEASURES = ("relative Frobenius error", "KL divergence", "error of predictions", "negative log likelihood")


def of_sets(asked, number, problems, specs_of, widths_of):
    """The four measures over D of splits by name: panels; means by set, measure, name, and D; errors of predictions by set, name and D over seeds."""
    panels, found, errors = [], {}, {}
    for name, of in problems:
        one = compared(asked, of, specs_of, lambda _, d: widths_of(d), 2 if asked.quick else 5)
        widths, specs = (list(dict.fromkeys(key[place] for key in one)) for place in (1, 0))
        errors |= {(name, label, D): values[:, 2] for (label, D), values in one.items()}
        for column, what in enumerate(MEASURES):
            series = {label: (widths, [one[label, D][:, column].mean() for D in widths], [figure.of_mean(one[label, D][:, column]) for D in widths])
                      for label in specs}
            panels.append(Panel(name, "columns D", what, series, "xy" if column < 2 else "x"))
            for label, (_, values, _) in series.items():
                found[name, column, label] = np.array(values)
                print(f"{number} {name}, {what}, {label}: " + ", ".join(f"{value:.4f}" for value in values), flush=True)
    return panels, found, errors


def less(found, column, low, high):
    """Of each set and D, whether `low` has less of a measure than `high`."""
    return np.concatenate([values < found[name, column, high] for (name, which, label), values in found.items()
                           if which == column and label == low])


def against_fourier(asked, number, problems, fourier_name):
    """Optimised power series against Fourier features and drawn degrees: kernels of high degree, and the Gaussian."""
    def specs_of(kernel):
        gaussian = kernel["kernel"] == "gaussian"
        return {fourier_name: fourier(kernel, "dense"), f"{fourier_name} orthogonal": fourier(kernel, "sorf"),
                f"{fourier_name} orthogonal complex": fourier(kernel, "sorf", "complex"),
                "random Maclaurin": maclaurin("random", 10 if gaussian else 20, field="real"), "optimised Maclaurin": maclaurin("optimized", field="real"),
                "optimised Maclaurin complex": maclaurin("optimized", field="complex")}
    panels, found, errors = of_sets(asked, number, problems, specs_of, lambda d: [padded(d) * k for k in ((1, 3) if asked.quick else (1, 3, 5))])
    pairs = [("optimised Maclaurin" + field, f"{fourier_name} orthogonal" + field) for field in ("", " complex")]
    claims = []
    for column, what in ((0, "kernel error"), (1, "divergence")):
        hits = np.concatenate([less(found, column, *pair) for pair in pairs])
        claims.append((f"{number}: optimised Maclaurin by TensorSRHT has less {what} than orthogonal {fourier_name} for most cases", hits.mean() > 0.5, of(hits)))
    drawn = less(found, 0, "optimised Maclaurin", "random Maclaurin")
    last = [apart(errors[name, low, D], errors[name, high, D]) for low, high in pairs
            for name, D in {name: D for name, _, D in errors}.items()]  # the largest D comes last
    worst = max(last, key=lambda one: one[0] - 2 * one[1])
    return panels, claims + [
        (f"{number}: its kernel error is below that of random Maclaurin for almost all cases", drawn.mean() >= 0.9, of(drawn)),
        (f"{number}: at the largest D it predicts as well or better, to 0.01 and two standard errors over seeds", worst[0] - 2 * worst[1] <= 0.01,
         f"worst {worst[0]:+.3f} ± {worst[1]:.3f}")]


SETS = ["cod_rna", "letter", "fashion_mnist", "mnist"]
OTHER_SETS = ["covtype", "spambase", "pendigits", "eeg_eye"]
VALUE_SETS = ["concrete", "energy", "kin8nm", "power_plant", "yacht"]


def high_degree(X):
    return polynomial(20, 4)


def gaussian_of(X):
    return {"kernel": "gaussian", "lengthscale": median_distance(X[:500])}


def figure_5_4(asked, number="5.4", sets=SETS):
    return against_fourier(asked, number, [(name, splits(asked, name, True, high_degree, baseline="dense")) for name in asked.sets or sets], "SRF")


def figure_5_5(asked, number="5.5", sets=SETS):
    return against_fourier(asked, number, [(name, splits(asked, name, True, gaussian_of, False, "dense")) for name in asked.sets or sets], "RFF")


def figure_d_2(asked):
    return figure_5_4(asked, "D.2", VALUE_SETS)


def figure_d_3(asked):
    return figure_5_5(asked, "D.3", VALUE_SETS)


def figure_d_4(asked):
    return figure_5_4(asked, "D.4", OTHER_SETS)


def figure_d_5(asked):
    return figure_5_5(asked, "D.5", OTHER_SETS)


def table_d_1(asked):
    """D = 5d, rows as they are and centred."""
    names = asked.sets or [*VALUE_SETS, "cod_rna", "covtype", "fashion_mnist", "mnist"]
    specs_of = lambda kernel: {"SRF": fourier(kernel, "dense"), "Maclaurin": maclaurin("optimized") | {"sketch": RADEMACHER | {"field": "real"}}}  # noqa: E731
    found, panels = {}, []
    for centred in (False, True):
        problems = [(name, splits(asked, name, centred, high_degree, baseline="dense")) for name in names]
        found[centred] = of_sets(asked, f"D.1 {'' if centred else 'not '}centred", problems, specs_of, lambda d: [5 * padded(d)])[1]
    for column in (0, 3):
        panels.append(Panel("centred over not centred", "sets in order", MEASURES[column], {
            f"{label}{' centred' if centred else ''}": (np.arange(len(names)), [found[centred][name, column, label][0] for name in names])
            for label in ("SRF", "Maclaurin") for centred in (False, True)}, "y" if column == 0 else ""))
    raw, centred = (less(found[which], 0, "SRF", "Maclaurin") for which in (False, True))
    likelier = less(found[True], 3, "Maclaurin", "SRF")
    helped = [found[True][name, 3, "Maclaurin"][0] < found[False][name, 3, "Maclaurin"][0] for name in names]
    return panels, [
        ("D.1: of rows that are not centred spherical features have less kernel error on all sets but kin8nm",
         all(hit == (name != "kin8nm") for name, hit in zip(names, raw)), of(raw)),
        ("D.1: of centred rows the power series wins on more sets than before", centred.sum() < raw.sum(), f"spherical features {of(centred)}"),
        ("D.1: of centred rows the power series is likelier on most sets", likelier.mean() > 0.5, of(likelier)),
        ("D.1: centring makes its predictions likelier on most sets", np.mean(helped) > 0.5, of(helped))]


def of_sketches(asked, number, p, centred):
    """Complex-to-real sketches against their real ones and TensorSketch, D = 2d and 4d."""
    names = {"Rademacher": RADEMACHER | {"field": "real"}, "CtR Rademacher": RADEMACHER | {"field": "complex_to_real"},
             "TensorSRHT": UPSAMPLED | {"field": "real"}, "CtR TensorSRHT": UPSAMPLED | {"field": "complex_to_real"}, "TensorSketch": TENSOR_SKETCH}
    problems = [(name, splits(asked, name, centred, lambda X: polynomial(p))) for name in asked.sets or ["letter", "spambase", "fashion_mnist", "mnist"]]
    panels, found, scored = of_sets(asked, number, problems, lambda kernel: names, lambda d: [padded(d + 1) * k for k in (2, 4)])
    ratio = {(column, low, high): np.exp(np.mean([np.log(values / found[name, column, high]) for (name, which, label), values in found.items()
                                                  if which == column and label == low])) for column in (0, 1) for low, high in
             (("CtR Rademacher", "Rademacher"), ("CtR TensorSRHT", "TensorSRHT"), ("CtR TensorSRHT", "TensorSketch"))}
    gains = [less(found, column, f"CtR {name}", name) for column in (0, 1) for name in ("Rademacher", "TensorSRHT")]
    off = [apart(one, scored[name, "TensorSketch", D]) for (name, label, D), one in scored.items() if label == "CtR TensorSRHT"]
    worst = max(off, key=lambda one: abs(one[0]) - 2 * one[1])
    least = np.concatenate([np.all([found[name, 0, "CtR TensorSRHT"] <= found[name, 0, label] for label in names], 0) for name, _ in problems])
    told = ", ".join(f"{what} {ratio[column, 'CtR TensorSRHT', 'TensorSRHT']:.2f}" for column, what in ((0, "kernel error"), (1, "divergence")))
    claims = [(f"{number}: complex-to-real sketches err no more than real ones (kernel error and divergence, both kinds)",
               all(value < 1.02 for (_, low, high), value in ratio.items() if high in low), f"TensorSRHT: {told}; cases won {of(np.concatenate(gains))}"),
              (f"{number}: complex-to-real TensorSRHT predicts as well as TensorSketch, to 2 % and two standard errors over seeds",
               abs(worst[0]) - 2 * worst[1] <= 0.02, f"farthest {worst[0]:+.3f} ± {worst[1]:.3f}, in the mean {np.mean([one for one, _ in off]):+.3f}")]
    if p == 3:
        claims.append((f"{number}: complex-to-real TensorSRHT has the least kernel error of all", least.all(), of(least)))
    return panels, claims


def figure_4_8(asked):
    return of_sketches(asked, "4.8", 3, False)


def figure_4_9(asked):
    return of_sketches(asked, "4.9", 6, False)


def figure_4_10(asked):
    return of_sketches(asked, "4.10", 6, True)


def evidence(K, y):
    """Negative log marginal likelihood but for a constant, amplitude and noise, at the best of some ratios of both."""
    values, vectors = np.linalg.eigh(K)
    found = []
    for ratio in 10.0 ** np.arange(-5, 1.1, 0.5):
        of_values = np.maximum(values, 0) + ratio
        amplitude = np.mean((vectors.T @ y) ** 2 / of_values)
        found.append((0.5 * (len(y) * np.log(amplitude) + np.log(of_values).sum()), amplitude, ratio * amplitude))
    return min(found)


def likeliest(X, y):
    """Lengthscale, amplitude and noise of the largest marginal likelihood, on a grid, amplitude in closed form."""
    median = median_distance(X)
    found = min((*evidence(gram({"kernel": "gaussian", "lengthscale": l}, X, X), y), l) for l in median * np.geomspace(1 / 32, 2, 19))
    return found[3], found[1], found[2]


class Reference:
    """The exact process of rows, of amplitude 1, and what features of its kernel say instead; predictive variances."""

    def __init__(self, asked, X, y, X_test, known=None):
        lengthscale, amplitude, noise = known or likeliest(X[:500], y[:500])
        self.asked, self.X, self.X_test, self.noise = asked, X, X_test, noise / amplitude
        self.y, self.kernel = y / amplitude**0.5, {"kernel": "gaussian", "lengthscale": float(lengthscale)}
        mean, variance = exactly(gram(self.kernel, X, X), gram(self.kernel, X_test, X), np.ones(len(X_test)), self.y[:, None],
                                 np.full((len(X), 1), self.noise))
        self.exact = mean, variance + self.noise

    def by(self, spec, D, seed=0, **local):
        """Means and predictive variances of a library's gp."""
        asked = {"model": "gp", "search": False, "center": False, "noise": self.noise, "lambda": self.noise / len(self.X), "seed": seed, **local,
                 **PLAIN, "map": {"kernel": self.kernel, **spec, "features": D, "seed": seed}}
        model = self.asked.models.fit_model(asked, self.X, self.y[:, None])
        found = [self.asked.models.predict(model, self.X_test, 1, what) for what in ("value", "predictive_variance")]
        self.asked.models.model_free(model)
        return found

    def centers(self, theta):
        """How many farthest-point clusters theta lengthscales make."""
        far = np.linalg.norm(self.X - self.X.mean(0), axis=1)
        count = 1
        while far.max() > theta * self.kernel["lengthscale"]:
            far, count = np.minimum(far, np.linalg.norm(self.X - self.X[far.argmax()], axis=1)), count + 1
        return count


LINE = maclaurin("optimized", 9) | {"sketch": RADEMACHER | {"field": "real"}}  # in one dimension exact, degree by degree
PLANE = maclaurin("optimized", field="real")
FOURIER = {"map": "fourier", "projection": "dense"}


def sinc(asked, a):
    random, grid = np.random.default_rng(4), np.linspace(-8, 8, 161)[:, None]
    X = random.uniform(-6, 6, (60 if asked.quick else 200, 1))
    y = a * np.sinc(a * X[:, 0] / np.pi) + 0.1 * random.normal(size=len(X))
    return Reference(asked, X, y, grid)


def bands(title, reference, said):
    x, series = reference.X_test[:, 0], {}
    for label, (mean, variance) in {"exact": reference.exact, **said}.items():
        for sign in (-2, 0, 2):
            series[f"{label}{'' if sign == 0 else f' {sign:+d} deviations'}"] = x, (mean + sign * np.sqrt(variance))[:, 0]
    return Panel(title, "x", "f", series)


def figure_5_2(asked):
    panels, near, reach = [], [], []
    for a in (5, 2, 0.5):
        reference = sinc(asked, a)
        series, drawn = reference.by(LINE, 10), reference.by(FOURIER, 10, seed=1)
        x, l = reference.X_test[:, 0], reference.kernel["lengthscale"]
        off = np.abs(series[0] - reference.exact[0])[:, 0]
        reach.append(np.abs(x[off > 0.1]).min(initial=8))
        near.append((off[np.abs(x) < l].max(), np.abs(drawn[0] - reference.exact[0])[np.abs(x) < l].max()))
        panels += [bands(f"a = {a}, l = {l:.2f}: {name}", reference, {"approximate": one}) for name, one in
                   (("Fourier", drawn), ("Maclaurin", series))]
        print(f"5.2 a = {a}: l = {l:.2f}; largest error of the mean within a lengthscale of 0: Maclaurin {near[-1][0]:.3f}, Fourier {near[-1][1]:.3f}; "
              f"Maclaurin within 0.1 up to |x| = {reach[-1]:.1f}; deviation at the ends {np.sqrt(series[1][0, 0] - reference.noise):.3f}", flush=True)
        collapsed = series[1][0, 0] - reference.noise if a == 5 else collapsed
    return panels, [("5.2: near 0 ten columns of the series are nearer the exact mean than ten of Fourier", all(m < f for m, f in near)),
                    ("5.2: the farther from 0 the lower the frequency", reach[0] < reach[1] <= reach[2]),
                    ("5.2: at high frequency the posterior collapses far from 0", collapsed < 0.01, f"variance there {collapsed:.1e} of the prior's")]


def figure_5_8(asked):
    reference = sinc(asked, 5)
    said = {"Fourier": reference.by(FOURIER, 10, seed=1), "Maclaurin": reference.by(LINE, 10),
            "Maclaurin about each point": reference.by(LINE, 10, local="test_point")}
    kl = {label: divergence(one, reference.exact) for label, one in said.items()}
    print("5.8 KL divergence: " + ", ".join(f"{label} {value:.3g}" for label, value in kl.items()))
    prior = said["Maclaurin about each point"][1][0, 0] - reference.noise
    return [bands(label, reference, {label: one}) for label, one in said.items()], [
        ("5.8: about each point the series is nearest the exact process", min(kl, key=kl.get) == "Maclaurin about each point"),
        ("5.8: and far from the rows it is the prior", abs(prior - 1) < 0.05, f"variance {prior:.3f}")]


def regression(asked, name, n, seed=1):
    X, y = table(asked.data, name, seed, 400 if asked.quick else n + 1000)
    X = X[:, :2] if name == "cal_housing" else standardised(X)
    y = np.log(y) if name == "cal_housing" else y
    n = min(n, len(X) * 4 // 5)
    X, y = np.ascontiguousarray(X - X[:n].mean(0)), (y - y[:n].mean()) / y[:n].std()
    return X[:n], y[:n], np.ascontiguousarray(X[n:]), y[n:]


def figure_5_9(asked):
    X, y, _, _ = regression(asked, "cal_housing", 2000)
    side = 6 if asked.quick else 16
    axes = np.meshgrid(*(np.linspace(X[:, k].min(), X[:, k].max(), side) for k in range(2)))
    reference = Reference(asked, X, y, np.column_stack([axis.ravel() for axis in axes]))
    D = 40 if asked.quick else 100
    said = {"Fourier": reference.by(FOURIER, D), "Maclaurin": reference.by(PLANE, D + 1), "Maclaurin about each point": reference.by(PLANE, D + 1, local="test_point")}
    kl = {label: divergence(one, reference.exact) for label, one in said.items()}
    print(f"5.9 l = {reference.kernel['lengthscale']:.2f} degrees, D = {D}, KL divergence: " + ", ".join(f"{label} {value:.3g}" for label, value in kl.items()))
    from_rows, from_centre = (np.sqrt(squared_distances(reference.X_test, one)).min(1) for one in (X, X.mean(0, keepdims=True)))
    far = np.minimum(from_rows, from_centre) > 5 * reference.kernel["lengthscale"]
    lost, prior = (said[label][1][far, 0] - reference.noise for label in ("Maclaurin", "Maclaurin about each point"))
    series = {label: (reference.exact[0][:, 0], one[0][:, 0]) for label, one in said.items()}
    return [Panel("places of a grid", "exact mean", "approximate mean", {label: one for label, one in series.items()})], [
        ("5.9: about each point the series is nearest the exact process", min(kl, key=kl.get) == "Maclaurin about each point"),
        ("5.9: about one centre its kernel vanishes: five lengthscales from all rows and from the centre no variance is left",
         far.any() and lost.max() < 0.01, f"at most {lost.max(initial=0):.1e} of the prior's at {far.sum()} places"),
        ("5.9: about each point it is the prior there", far.any() and np.abs(prior - 1).max() < 0.05, f"variances at most {np.abs(prior - 1).max(initial=0):.1e} off")]


def figure_5_10(asked):
    panels, claims = [], []
    for name, n, several in (("cal_housing", 2000, True), ("yacht", 250, True), ("kin8nm", 2000, False)):
        if asked.sets and name not in asked.sets:
            continue
        X, y, X_test, y_test = regression(asked, name, n)
        reference = Reference(asked, X, y, X_test)
        l, D = reference.kernel["lengthscale"], 64
        thetas = [t for t in (np.inf, 4, 3, 2, 1.5) if t == np.inf or 1 < reference.centers(t) <= (30 if asked.quick else 100)]
        counts = [reference.centers(t) for t in thetas]
        spec = PLANE if X.shape[1] > 1 else LINE
        local = [{} if t == np.inf else {"local": "clusters", "theta": t} for t in thetas]
        kl = [divergence(reference.by(spec, D + 1, **one), reference.exact) for one in local]
        panels.append(Panel(f"{name}, l = {l:.2f}, D = {D}", "clusters", "KL divergence", {"Maclaurin": (counts, kl)}, "xy"))
        at, widths, series = local[-1] if several else {}, [16, 64] if asked.quick else [16, 32, 64, 128, 256], {}
        for label, own, how in (("Fourier", FOURIER, {}), ("Fourier orthogonal", FOURIER | {"projection": "orthogonal"}, {}), ("Maclaurin", spec, at)):
            rmse = [np.sqrt(np.mean((reference.by(own, D + (own is spec), **how)[0][:, 0] * (y.std() / reference.y.std()) - y_test) ** 2)) for D in widths]
            series[label] = widths, rmse
        panels.append(Panel(f"{name}, {counts[-1] if several else 1} clusters", "columns D", "RMSE", series, "xy"))
        print(f"5.10 {name}: l = {l:.2f}, median distance {median_distance(X[:500]):.2f}; KL by clusters " + ", ".join(
            f"{c}: {value:.3g}" for c, value in zip(counts, kl)) + "; RMSE by D " + ", ".join(
            f"{label} " + " ".join(f"{value:.3f}" for value in one[1]) for label, one in series.items()), flush=True)
        claims.append((f"5.10: on {name} more clusters {'lower' if several else 'raise'} the divergence",
                       len(kl) > 1 and (kl[-1] < kl[0]) == several, f"{kl[0]:.3g}, {kl[-1]:.3g}"))
        claims.append((f"5.10: on {name} the series errs less than Fourier features of 16 and {widths[1]} columns",
                       all(series["Maclaurin"][1][k] < min(series[o][1][k] for o in ("Fourier", "Fourier orthogonal")) for k in (0, 1))))
    return panels, claims


FIGURES = {"3.4": figure_3_4, "4.3": figure_4_3, "4.7": figure_4_7, "4.8": figure_4_8, "4.9": figure_4_9, "4.10": figure_4_10, "5.2": figure_5_2, "5.4": figure_5_4, "5.5": figure_5_5, "5.8": figure_5_8, "5.9": figure_5_9,
           "5.10": figure_5_10, "D.2": figure_d_2, "D.3": figure_d_3, "D.4": figure_d_4, "D.5": figure_d_5, "tD.1": table_d_1}
