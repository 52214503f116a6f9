#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""What `mercer fit` without options is worth on real rows: against linear ridge and exact kernel ridge, few rows included.

Usage: fit_quality.py MERCER --data DIR [--sets GROUP|NAME ...] [--splits 5] [--baselines FILE.json] [--plot fit_quality.png]
Groups, of which few and whole are the default:
few: ten data sets cut to 200 to 1,203 training rows, D = 1,024, the other rows (at most 4,000) are the test;
other: the same for sets that nobody looked at while the defaults were built;
default: D as the command chooses, many inputs against rows among them; asked is that no mean lies below linear or exact by
more than the standard error of the paired differences over the splits;
whole: whole data sets, 80/20 or their own split, D as the command chooses; five splits below 5,000 rows, one above;
large: kin40k, letter and mnist with the features and rows of bench/README.md.
Names choose sets within the groups that are named, few if none is. The defaults take some ten minutes on two cores.
Scores are R^2, or the accuracy, of the predictions that the command writes; its own score is the one that it prints when it fits. linear: ridge on standardised inputs, lambda by leave-one-out, inputs clipped to
the training range. exact: Gaussian kernel ridge, lengthscale and lambda by 5-fold cross-validation. Both are kept in FILE.json.
What is asked of the scores stands beside them, and whether they reach it.
"""
import argparse
import gzip
import json
import pathlib
import re
import resource
import subprocess
import tempfile
from collections import namedtuple

import numpy as np

import baselines
import figure

Set = namedtuple("Set", "n classes tests", defaults=(4000,))
FEW = {"cpu_act": Set(200, 0), "cal_housing": Set(200, 0), "kin8nm": Set(200, 0), "elevators": Set(300, 0), "abalone": Set(200, 0),
       "spambase": Set(200, 2), "eeg_eye": Set(300, 2), "concrete": Set(824, 0), "power_plant": Set(300, 0), "airfoil": Set(1203, 0)}
OTHER = {"bike": Set(300, 0), "energy": Set(500, 0), "yacht": Set(200, 0), "pol": Set(500, 0), "wine_cultivars": Set(100, 3),
         "pendigits": Set(300, 10), "optdigits": Set(300, 10), "usps": Set(500, 10)}
# wide: 2,000 normal inputs, a linear function of all of them and noise, which 400 rows explain a twentieth of.
DEFAULT = {"fashion_mnist": Set(2000, 10, 976), "wide": Set(400, 0, 2000), "usps": Set(1500, 10, 507), "optdigits": Set(500, 10),
           "abalone": Set(2000, 0), "yacht": Set(246, 0, 62), "energy": Set(614, 0, 154), "concrete": Set(824, 0, 206),
           "wine_cultivars": Set(100, 3, 78), "spambase": Set(400, 2), "airfoil": Set(1203, 0, 300)}
IMAGES = {"fashion_mnist": ("train2k", "test976")}  # pixels of 0 to 1, which share a unit: not standardised
WHOLE = {"pumadyn32nm": 0.95, "concrete": 0.90, "airfoil": 0.93, "elevators": 0.87, "cal_housing": 0.80, "a9a": 0.851,
         "spambase": 0.93}
LARGE = {"kin40k": 0.977, "letter": 0.968, "mnist": 0.976}  # bench/README.md's, less what another split or seed moves
FEATURES = {"kin40k": 4096, "letter": 4096, "mnist": 8192}
FITTED = {"kin40k": 0.9}  # the share of the rows; else 0.8
MANY_ROWS = 5000  # from here on one split says enough
CLASSES = {"a9a": 2, "spambase": 2, "letter": 26, "mnist": 10}
GROUPS = {"few": FEW, "other": OTHER, "default": DEFAULT, "whole": WHOLE, "large": LARGE}
Result = namedtuple("Result", "score own seconds")
NUMBER = r"(?:R\^2|accuracy) (-?[0-9.]+)"


def read_idx(path):
    bytes_ = np.frombuffer(gzip.decompress(path.read_bytes()), np.uint8)
    dimensions = bytes_[4:4 + 4 * bytes_[3]].view(">i4")
    return bytes_[4 + 4 * bytes_[3]:].reshape(dimensions[0], -1).astype(float)


def wide_rows(seed):
    draws = np.random.RandomState(1000 + seed)
    X, w = draws.randn(2400, 2000), draws.randn(2000) / np.sqrt(2000)
    return X, X @ w + 0.8 * draws.randn(2400)


def read_rows(data, name, seed=0):
    if name == "wide":
        return wide_rows(seed)
    if name in IMAGES:
        X, y = (np.vstack([read_idx(data / name / f"{part}-{kind}-ubyte.gz") for part in IMAGES[name]])
                for kind in ("images-idx3", "labels-idx1"))
        return X / 255, y[:, 0]
    table = np.loadtxt(data / name / f"{name}.csv", delimiter=",", skiprows=1)
    return table[:, :-1], table[:, -1]


def own_split(data, name, scratch):
    """Training file, test file and the labels of that, of a set that comes in two parts; None for others."""
    if name == "mnist":
        files = [scratch / f"{part}.npy" for part in ("train", "t10k")]
        for path in files:  # the target is the last column
            X, y = (read_idx(data / name / f"{path.stem}-{kind}-ubyte.gz") for kind in ("images-idx3", "labels-idx1"))
            np.save(path, np.hstack([X, y]).astype(np.uint8))
        return *files, y[:, 0]
    if name == "a9a":
        train, test = (data / name / f"a9a.{part}.svm.gz" for part in ("train", "test"))
        with gzip.open(test, "rt") as rows:
            return train, test, np.array([float(line.split(maxsplit=1)[0]) for line in rows])
    return None


def split(X, y, n, tests, seed):
    order = np.random.RandomState(seed).permutation(len(y))
    return (X[order[:n]], y[order[:n]]), (X[order[n:n + tests]], y[order[n:n + tests]])


def write_csv(path, X, y):
    header = ",".join([f"x{j + 1}" for j in range(X.shape[1])] + ["y"])
    np.savetxt(path, np.column_stack([X, y]), delimiter=",", header=header, comments="", fmt="%.17g")


def run(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(" ".join(map(str, command)) + ": " + done.stderr)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return done.stdout, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def own_score(text):
    """The score that the command calls honest, NaN where it prints none."""
    found = re.findall(r"^honest score: .*?" + NUMBER, text, re.MULTILINE)
    return float(found[-1]) if found else float("nan")


def score_of(predicted, y, classes):
    if classes:
        return float(np.mean(predicted == y))
    return float(1 - np.sum((predicted - y) ** 2) / np.sum((y - y.mean()) ** 2))


def fit_files(mercer, train, test, options, read, scratch):
    """The command on two files."""
    model, predictions = scratch / "model.mercer", scratch / "predictions.csv"
    printed, seconds = run([mercer, "fit", train, "-o", model, *options])
    run([mercer, "predict", model, test, "-o", predictions, "--quiet"])
    columns = np.loadtxt(predictions, delimiter=",", skiprows=1, ndmin=2)
    return Result(read(columns[:, 0]), own_score(printed), seconds)


def fit(mercer, train, test, classes, options, scratch):
    """The command on rows."""
    files = [scratch / "train.csv", scratch / "test.csv"]
    for path, rows in zip(files, (train, test)):
        write_csv(path, *rows)
    options = [*options, "--task", "classification" if classes else "regression"]
    return fit_files(mercer, *files, options, lambda p: score_of(p, test[1], classes), scratch)


def few_rows(options, name, one, chosen, kept, scratch):
    """Scores of mercer, linear and exact for every split: lists of the same length. chosen: options of the command."""
    found = {"mercer": [], "own": [], "seconds": [], "linear": [], "exact": []}
    for seed in range(options.splits):
        train, test = split(*read_rows(options.data, name, seed), one.n, one.tests, seed)
        own = ["--no-standardize"] if name in IMAGES else []
        result = fit(options.mercer, train, test, one.classes, [*chosen, *own, "--seed", seed], scratch)
        key = f"{name},{one.n},{seed}"
        if key not in kept:
            kept[key] = baselines.scores(train, test, one.classes, name in IMAGES)
        for label, value in zip(found, (result.score, result.own, result.seconds, *kept[key])):
            found[label].append(value)
    return found


def error(values):
    """The standard error of their mean."""
    return float(np.std(values, ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("nan")


def few_table(options, sets, names, chosen, kept, scratch):
    print("set,n,mercer,least,most,own_score,linear,exact,over_linear,error,over_exact,error,least_over_linear,cpu_seconds")
    all_found = {}
    for name in names:
        found = few_rows(options, name, sets[name], chosen, kept, scratch)
        mercer, linear, exact = (np.array(found[key]) for key in ("mercer", "linear", "exact"))
        print(f"{name},{sets[name].n},{mercer.mean():.3f},{mercer.min():.3f},{mercer.max():.3f},{np.mean(found['own']):.3f},"
              f"{linear.mean():.3f},{exact.mean():.3f},{(mercer - linear).mean():+.4f},{error(mercer - linear):.4f},"
              f"{(mercer - exact).mean():+.4f},{error(mercer - exact):.4f},{(mercer - linear).min():+.3f},"
              f"{np.mean(found['seconds']):.2f}", flush=True)
        all_found[name] = found
        if options.baselines:
            options.baselines.write_text(json.dumps(kept))
    return all_found


def default_verdicts(all_found):
    for label in ("linear", "exact"):
        over = {name: np.subtract(found["mercer"], found[label]) for name, found in all_found.items()}
        below = [f"{name} {over[name].mean():+.4f}" for name in over if over[name].mean() < -error(over[name])]
        verdict(f"no mean below {label} by more than a standard error of the differences ({', '.join(below) or 'none is'})", not below)


def verdict(words, met):
    print(f"asked: {words}: {'met' if met else 'NOT MET'}")


def few_verdicts(all_found):
    mercer, linear, exact = ({name: np.array(found[key]) for name, found in all_found.items()} for key in ("mercer", "linear", "exact"))
    means = [float(np.mean([np.mean(scores[name]) for name in all_found])) for scores in (mercer, linear, exact)]
    print("mean,mercer {:.4f},linear {:.4f},exact {:.4f}".format(*means))
    verdict("the mean over sets at least that of exact", means[0] >= means[2])
    gap = {name: float(np.mean(mercer[name]) - np.mean(exact[name])) for name in all_found}
    worst = min(gap, key=gap.get)
    verdict(f"no set more than 0.04 below exact (least: {worst} {gap[worst]:+.3f})", gap[worst] >= -0.04)
    gap = {name: float(np.min(mercer[name] - linear[name])) for name in all_found}
    worst = min(gap, key=gap.get)
    verdict(f"no split more than 0.05 below linear (least: {worst} {gap[worst]:+.3f})", gap[worst] >= -0.05)


def whole_rows(options, name, scratch):
    """A result for every split."""
    parts = own_split(options.data, name, scratch)
    chosen = ["--features", FEATURES[name]] if name in FEATURES else []
    if parts is not None:
        train, test, y = parts
        return [fit_files(options.mercer, train, test, chosen, lambda p: score_of(p, y, CLASSES[name]), scratch)]
    X, y = read_rows(options.data, name)
    n = int(FITTED.get(name, 0.8) * len(y))
    return [fit(options.mercer, *split(X, y, n, len(y), seed), CLASSES.get(name, 0), chosen, scratch)
            for seed in range(options.splits if len(y) < MANY_ROWS else 1)]


def whole_table(options, asked, names, scratch):
    print("set,splits,score,least,most,own_score,asked,met,cpu_seconds")
    for name in names:
        results = whole_rows(options, name, scratch)
        scores = [result.score for result in results]
        print(f"{name},{len(results)},{np.mean(scores):.4f},{min(scores):.4f},{max(scores):.4f},"
              f"{np.mean([result.own for result in results]):.4f},{asked[name]},"
              f"{'met' if np.mean(scores) >= asked[name] else 'NOT MET'},"
              f"{np.mean([result.seconds for result in results]):.1f}", flush=True)


def plot(path, sets, all_found, splits):
    chart, axes = figure.subplots(1, 1, width=8.0)
    axis = axes[0, 0]
    names = list(all_found)
    for k, label in enumerate(("linear", "exact", "mercer")):
        for place, name in enumerate(names):
            scores = all_found[name][label]
            axis.plot([place + 0.2 * (k - 1)] * len(scores), scores, linestyle="none", marker=figure.MARKERS[k], alpha=0.5,
                      color=figure.COLORS[k], markersize=5)
            axis.plot([place + 0.2 * (k - 1) - 0.07, place + 0.2 * (k - 1) + 0.07], [np.mean(scores)] * 2, linewidth=2.5,
                      color=figure.COLORS[k], label=label if place == 0 else None)
    axis.set_xticks(range(len(names)), [f"{name}\nn = {sets[name].n:,}" for name in names], fontsize=7)
    axis.set_ylim(bottom=min(-0.05, *(min(found["mercer"]) for found in all_found.values())), top=1.02)
    axis.grid(True, axis="y", alpha=0.25)
    axis.set(ylabel="R² or accuracy on other rows",
             title=f"mercer fit by default, D = 1,024: {splits} random splits, bars: their mean")
    figure.save(chart, axis, path)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mercer", type=pathlib.Path)
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--sets", nargs="*", default=["few", "whole"])
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--baselines", type=pathlib.Path)
    parser.add_argument("--plot", type=pathlib.Path, default=pathlib.Path("fit_quality.png"))
    options = parser.parse_args()
    kept = json.loads(options.baselines.read_text()) if options.baselines and options.baselines.exists() else {}
    groups = [group for group in GROUPS if group in options.sets] or ["few"]
    named = [name for name in options.sets if name not in GROUPS]
    unknown = [name for name in named if not any(name in GROUPS[group] for group in groups)]
    if unknown:
        parser.error(f"--sets: {', '.join(unknown)}: expected {', '.join(GROUPS)}, or sets of {', '.join(groups)}")
    all_sets, all_found = {**FEW, **OTHER}, {}
    with tempfile.TemporaryDirectory() as scratch:
        for group in groups:
            names = [name for name in named if name in GROUPS[group]] or list(GROUPS[group])
            if group in ("few", "other"):
                found = few_table(options, GROUPS[group], names, ["--features", 1024], kept, pathlib.Path(scratch))
                few_verdicts(found)
                all_found.update(found)
            elif group == "default":
                default_verdicts(few_table(options, DEFAULT, names, [], kept, pathlib.Path(scratch)))
            else:
                whole_table(options, GROUPS[group], names, pathlib.Path(scratch))
    if all_found:
        plot(options.plot, all_sets, all_found, options.splits)


main()
