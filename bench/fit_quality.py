#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""What `mercer fit` without options is worth on real rows: against linear ridge and exact kernel ridge, few rows included.

Usage: fit_quality.py MERCER --data DIR [--sets few|other|many|NAME ...] [--splits 5] [--baselines FILE.json] [--plot fit_quality.png]
few: ten data sets cut to 200 to 1,203 training rows, D = 1,024, the other rows (at most 4,000) are the test; other: the same for sets
that nobody looked at while the defaults were built; many: whole data sets, 80/20 or their own split, D as the command chooses.
Scores are R^2, or the accuracy, of the predictions that the command writes; its own score is the one that it prints when it fits. linear: ridge on standardised inputs, lambda by leave-one-out, inputs clipped to
the training range. exact: Gaussian kernel ridge, lengthscale and lambda by 5-fold cross-validation. Both are kept in FILE.json.
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
MANY = {"pumadyn32nm": 0.95, "concrete": 0.90, "airfoil": 0.93, "elevators": 0.87, "cal_housing": 0.80, "a9a": 0.851,
        "spambase": 0.93, "kin40k": None, "letter": None, "mnist": None}
CLASSES = {"a9a": 2, "spambase": 2, "letter": 26, "mnist": 10}
SETS = {**FEW, **OTHER}
Result = namedtuple("Result", "score own seconds")
NUMBER = r"(?:R\^2|accuracy) (-?[0-9.]+)"


def read_rows(data, name):
    table = np.loadtxt(data / name / f"{name}.csv", delimiter=",", skiprows=1)
    return table[:, :-1], table[:, -1]


def own_split(data, name):
    """Training file, test file and the labels of that, of a set that comes in two parts; None for others."""
    if name == "mnist":
        train, test = (data / name / f"{part}-images-idx3-ubyte.gz" for part in ("train", "t10k"))
        labels = gzip.decompress((data / name / "t10k-labels-idx1-ubyte.gz").read_bytes())
        return train, test, np.frombuffer(labels, np.uint8)[8:].astype(float)
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


def few_rows(options, name, one, kept, scratch):
    """Scores of mercer, linear and exact for every split: lists of the same length."""
    X, y = read_rows(options.data, name)
    found = {"mercer": [], "own": [], "seconds": [], "linear": [], "exact": []}
    for seed in range(options.splits):
        train, test = split(X, y, one.n, one.tests, seed)
        result = fit(options.mercer, train, test, one.classes, ["--features", 1024, "--seed", seed], scratch)
        key = f"{name},{one.n},{seed}"
        if key not in kept:
            kept[key] = baselines.scores(train, test, one.classes)
        for label, value in zip(found, (result.score, result.own, result.seconds, *kept[key])):
            found[label].append(value)
    return found


def few_table(options, names, kept, scratch):
    print("set,n,mercer,least,most,own_score,linear,exact,over_exact,least_over_linear,cpu_seconds")
    all_found = {}
    for name in names:
        found = few_rows(options, name, SETS[name], kept, scratch)
        mercer, linear, exact = (np.array(found[key]) for key in ("mercer", "linear", "exact"))
        print(f"{name},{SETS[name].n},{mercer.mean():.3f},{mercer.min():.3f},{mercer.max():.3f},{np.mean(found['own']):.3f},"
              f"{linear.mean():.3f},{exact.mean():.3f},{(mercer - exact).mean():+.3f},{(mercer - linear).min():+.3f},"
              f"{np.mean(found['seconds']):.2f}", flush=True)
        all_found[name] = found
        if options.baselines:
            options.baselines.write_text(json.dumps(kept))
    means = {key: np.mean([np.mean(found[key]) for found in all_found.values()]) for key in ("mercer", "linear", "exact")}
    print("mean," + ",".join(f"{key} {value:.4f}" for key, value in means.items()))
    return all_found


def many_rows(options, name, scratch):
    parts = own_split(options.data, name)
    if parts is not None:
        train, test, y = parts
        return fit_files(options.mercer, train, test, [], lambda p: score_of(p, y, CLASSES[name]), scratch)
    X, y = read_rows(options.data, name)
    n = int(0.8 * len(y))
    return fit(options.mercer, *split(X, y, n, len(y), 0), CLASSES.get(name, 0), [], scratch)


def many_table(options, names, scratch):
    print("set,score,own_score,asked,cpu_seconds")
    for name in names:
        result = many_rows(options, name, scratch)
        print(f"{name},{result.score:.4f},{result.own:.4f},{MANY[name] or '-'},{result.seconds:.1f}", flush=True)


def plot(path, all_found, splits):
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
    axis.set_xticks(range(len(names)), [f"{name}\nn = {SETS[name].n:,}" for name in names], fontsize=7)
    axis.set_ylim(bottom=min(-0.05, *(min(found["mercer"]) for found in all_found.values())), top=1.02)
    axis.grid(True, axis="y", alpha=0.25)
    axis.set(ylabel="R² or accuracy on other rows",
             title=f"mercer fit by default, D = 1,024: {splits} random splits, bars: their mean")
    figure.save(chart, axis, path)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mercer", type=pathlib.Path)
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--sets", nargs="*", default=["few"])
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--baselines", type=pathlib.Path)
    parser.add_argument("--plot", type=pathlib.Path)
    options = parser.parse_args()
    kept = json.loads(options.baselines.read_text()) if options.baselines and options.baselines.exists() else {}
    whole = "many" in options.sets
    known = MANY if whole else OTHER if "other" in options.sets else FEW
    names = [name for name in options.sets if name not in ("few", "other", "many")] or list(known)
    with tempfile.TemporaryDirectory() as scratch:
        if whole:
            many_table(options, names, pathlib.Path(scratch))
        else:
            all_found = few_table(options, names, kept, pathlib.Path(scratch))
            if options.plot:
                plot(options.plot, all_found, options.splits)


main()
