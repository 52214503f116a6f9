#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""What `mercer fit` without options is worth, and what it takes, beside what a careful person would fit instead (baselines.py).

Usage: fit_quality.py MERCER --data DIR [--sets GROUP|NAME ...] [--splits 5] [--methods NAME ...] [--kept FILE.json] [--before FILE.json] [--plot FILE.png]
Groups, of which known and new are the default:
known: 15 real sets, most cut to a few hundred rows, that the search was built looking at;
new: 16 sets of R packages, made by sets.R (Debian: r-cran-mlbench, r-cran-modeldata, r-cran-ggplot2, r-cran-kernlab), named here before
anybody looked at them;
small: 10 sets of 16 to 50 rows of R itself, three quarters of which are trained on, in five times as many splits; their R^2 is by the
variance of all rows, since that of the few others differs from split to split;
large: 4,000 to 60,000 rows;
time: generated rows (friedman: ten inputs, five of them relevant) and images of 300 to 40,000 rows, and the processor seconds asked for;
growth: friedman of 10,000 to 1,000,000 rows: the exponent of processor time.
Names choose sets within the groups that are named, or within all. Training rows are drawn by a seed for each split; the other rows, at
most 4,000, are the test. Scores are R^2, or accuracy, of the predictions that the command writes; its own score is the one that it
prints. Seconds are of the processor, of one BLAS thread (OPENBLAS_NUM_THREADS=1, set here), reading the file and the honest score
included; those of the baselines without either. What was measured is kept in FILE.json and not measured again; --before: one of another
build, to which the scores are compared.
"""
import argparse
import csv
import json
import os
import pathlib
import re
import resource
import subprocess
import tempfile
from collections import namedtuple

os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"
import numpy as np  # noqa: E402

import baselines  # noqa: E402
import figure  # noqa: E402
from experiment import images  # noqa: E402

Set = namedtuple("Set", "n classes asked", defaults=(None,))
GROUPS = {
    "known": {"cpu_act": Set(200, 0), "cal_housing": Set(200, 0), "kin8nm": Set(1500, 0), "elevators": Set(300, 0), "abalone": Set(200, 0),
              "spambase": Set(200, 2), "eeg_eye": Set(300, 2), "concrete": Set(824, 0), "power_plant": Set(300, 0), "airfoil": Set(1203, 0),
              "bike": Set(300, 0), "energy": Set(500, 0), "yacht": Set(200, 0), "pol": Set(500, 0), "wine_cultivars": Set(100, 3)},
    "new": {"BostonHousing": Set(405, 0), "Servo": Set(134, 0), "ames": Set(2344, 0), "car_prices": Set(643, 0), "Chicago": Set(4558, 0),
            "Sacramento": Set(746, 0), "meats": Set(172, 0), "diamonds": Set(5000, 0), "Satellite": Set(2000, 6), "Vehicle": Set(677, 4),
            "Vowel": Set(792, 11), "Sonar": Set(166, 2), "Ionosphere": Set(281, 2), "Glass": Set(171, 6), "DNA": Set(1000, 3), "musk": Set(381, 2)},
    "small": {"swiss": Set(35, 0), "trees": Set(23, 0), "rock": Set(36, 0), "stackloss": Set(15, 0), "attitude": Set(22, 0), "longley": Set(12, 0),
              "mtcars": Set(24, 0), "LifeCycleSavings": Set(37, 0), "cars": Set(37, 0), "freeny": Set(29, 0)},
    "large": {"pumadyn32nm": Set(6553, 0), "cal_housing": Set(16512, 0), "elevators": Set(13279, 0), "pol": Set(12000, 0), "bike": Set(13903, 0),
              "kin40k": Set(36000, 0), "letter": Set(16000, 26), "mnist": Set(60000, 10)},
    "time": {"friedman_300": Set(300, 0, 0.5), "friedman_1000": Set(1000, 0, 2), "friedman_3000": Set(3000, 0, 3),
             "friedman_10000": Set(10000, 0, 5), "friedman_40000": Set(40000, 0, 12), "mnist": Set(1000, 10, 4), "letter": Set(16000, 26, 6)},
    "growth": {f"friedman_{n}": Set(n, 0) for n in (10000, 100000, 1000000)},
}
CAN_SHARE_A_UNIT = {"mnist"}
MOST_TESTS = 4000
METHODS = ["mercer", *baselines.METHODS]


def read_table(path):
    """Columns of numbers and, by their place, the texts of those that are none, which have the numbers of their levels."""
    with open(path, newline="") as file:
        columns = list(zip(*list(csv.reader(file))[1:]))
    texts, numbers = {}, []
    for j, column in enumerate(columns):
        try:
            numbers.append(np.array(column, float))
        except ValueError:
            texts[j] = np.array(column)
            numbers.append(np.unique(texts[j], return_inverse=True)[1].astype(float))
    return np.column_stack(numbers), texts


def friedman(n, seed):
    draws = np.random.default_rng(seed)
    X = draws.random((n + MOST_TESTS, 10))
    y = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3] + 5 * X[:, 4]
    return np.column_stack([X, y + draws.normal(size=len(X))]), {}


def table_of(data, name, seed):
    if name.startswith("friedman"):
        return friedman(int(name.split("_")[1]), seed)
    if name == "mnist":
        return np.vstack([np.column_stack(images(data, name, part)) for part in (0, 1)]), {}
    return read_table(data / name / f"{name}.csv")


def split_of(name, one, count, seed):
    """Training and test rows. The 60,000 images that come first are those of training where all are taken."""
    whole = name == "mnist" and one.n == 60000
    order = np.arange(count) if whole else np.random.RandomState(seed).permutation(count)
    return order[:one.n], order[one.n:] if whole else order[one.n:one.n + MOST_TESTS]


def write_csv(path, table, texts, rows):
    columns = [texts[j][rows] if j in texts else table[rows, j] for j in range(table.shape[1])]
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([f"x{j + 1}" for j in range(len(columns) - 1)] + ["y"])
        writer.writerows(zip(*(c if c.dtype.kind == "U" else [repr(float(v)) for v in c] for c in columns)))


def run(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(" ".join(map(str, command)) + ": " + done.stderr)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return done.stdout, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def own_score(text):
    """The score that the command calls honest and its standard error, NaN where it prints none."""
    found = re.findall(r"^honest score: .*?(?:R\^2|accuracy) (-?[0-9.]+)(?: \+- ([0-9.]+))?", text, re.MULTILINE)
    return [float(value or "nan") for value in found[-1]] if found else [float("nan")] * 2


def measure_command(options, rows, parts, scratch, seed):
    """Score, processor seconds, own score, its error."""
    train, test, model, predictions = (scratch / name for name in ("train.csv", "test.csv", "model.mercer", "predictions.csv"))
    for path, part in ((train, parts.train), (test, parts.test)):
        write_csv(path, parts.table, parts.texts, part)
    task = "classification" if rows.classes else "regression"
    printed, seconds = run([options.mercer, "fit", train, "-o", model, "--task", task, "--seed", seed])
    run([options.mercer, "predict", model, test, "-o", predictions, "--quiet"])
    return [rows.score(np.loadtxt(predictions, delimiter=",", skiprows=1, ndmin=2)[:, 0]), seconds, *own_score(printed)]


Parts = namedtuple("Parts", "table texts train test")


def measure(options, kept, group, name, method, seed, scratch):
    one = GROUPS[group][name]
    key = f"{name},{one.n},{seed},{method}"
    if key not in kept:
        table, texts = table_of(options.data if (options.data / name).exists() else options.scratch_sets, name, seed)
        parts = Parts(table, texts, *split_of(name, one, len(table), seed))
        train, test = ((table[rows, :-1], table[rows, -1]) for rows in (parts.train, parts.test))
        variance = table[:, -1].var() if group == "small" else None
        rows = baselines.Rows(train, test, one.classes, name in CAN_SHARE_A_UNIT, texts, variance)
        kept[key] = measure_command(options, rows, parts, scratch, seed) if method == "mercer" else baselines.measured(method, rows)
        if options.kept:
            options.kept.write_text(json.dumps(kept))
    return kept[key]


def error(values):
    """The standard error of their mean."""
    return float(figure.of_mean(np.asarray(values))) if len(values) > 1 else float("nan")


def splits_of(options, group, one):
    if group == "small":
        return 5 * options.splits
    return 1 if group == "growth" else min(options.splits, 2) if one.n > 5000 else options.splits


def methods_of(options, group):
    return [m for m in options.methods if m == "mercer" or (group != "growth" and (m == "trees" or group != "time"))]


def told(options, kept, before, group, name, scratch):
    """Prints a set's line; its results by method, splits x (score, seconds, ...)."""
    one, methods = GROUPS[group][name], methods_of(options, group)
    seeds = range(splits_of(options, group, one))
    found = {method: np.array([measure(options, kept, group, name, method, seed, scratch) for seed in seeds]) for method in methods}
    cells = [f"{found[m][:, 0].mean():.4f} +- {error(found[m][:, 0]):.4f} ({found[m][:, 1].mean():.2f} s)" for m in methods]
    earlier = [before.get(f"{name},{one.n},{seed},mercer") for seed in seeds]
    gain = found["mercer"][:, 0] - np.array([value[0] for value in earlier]) if before and all(earlier) else np.array([np.nan])
    print(f"{name},{one.n},{','.join(cells)},{found['mercer'][:, 2].mean():.4f},{gain.mean():+.4f}", flush=True)
    return {**found, "gain": gain}


def verdict(words, met):
    print(f"asked: {words}: {'met' if met else 'NOT MET'}")


def score_verdicts(results, groups, methods):
    """Over the sets of some groups."""
    names = {name: found for group in groups for name, found in results.get(group, {}).items()}
    if not names:
        return
    for method in methods[1:]:
        over = {name: found["mercer"][:, 0] - found[method][:, 0] for name, found in names.items() if not np.isnan(found[method]).any()}
        below = [f"{name} {values.mean():+.4f} +- {error(values):.4f}" for name, values in over.items() if values.mean() < -error(values)]
        mean = [values.mean() for values in over.values()]
        print(f"over {method}: {np.mean(mean):+.4f} +- {error(mean):.4f} over {len(over)} sets")
        verdict(f"at least as good as {method} on all of {len(over)} sets but three ({', '.join(below) or 'none is worse'})", len(below) <= 3)
    gains = [found["gain"].mean() for found in names.values() if not np.isnan(found["gain"]).any()]
    if gains:
        verdict(f"mean difference to before at least 0: {np.mean(gains):+.4f} over {len(gains)} sets", np.mean(gains) >= 0)
    own = np.concatenate([(f["mercer"][:, 2] - f["mercer"][:, 0]) / f["mercer"][:, 3] for f in names.values()])
    own = own[np.isfinite(own)]
    print(f"own score less score on other rows, in its errors: mean {own.mean():+.2f}, within two {np.mean(np.abs(own) < 2):.0%} of {len(own)}")


def time_verdicts(results):
    for name, found in results.get("time", {}).items():
        seconds, asked = found["mercer"][:, 1].mean(), GROUPS["time"][name].asked
        verdict(f"{name} at most {asked} s of processor time: {seconds:.2f}", seconds <= asked)
    if len(results.get("growth", {})) > 1:
        n = [GROUPS["growth"][name].n for name in results["growth"]]
        slope = np.polyfit(np.log(n), np.log([found["mercer"][0, 1] for found in results["growth"].values()]), 1)[0]
        print(f"processor seconds grow as n^{slope:.2f} from {n[0]:,} to {n[-1]:,} rows")


def plot(path, results, methods, splits):
    chart, axes = figure.subplots(1, 2, width=5.5, height=8)
    names = [(group, name) for group in ("known", "new") for name in results.get(group, {})]
    for k, method in enumerate(methods):
        values = np.array([results[group][name][method][:, :2].mean(0) for group, name in names])
        for axis, column in zip(axes[0], values.T):
            axis.plot(column, np.arange(len(names)), linestyle="none", marker=figure.MARKERS[k], color=figure.COLORS[k], markersize=5, alpha=0.8,
                      label=method)
    for axis, label in zip(axes[0], ("R² or accuracy on other rows", "processor seconds")):
        axis.set_yticks(range(len(names)), [f"{name} {GROUPS[group][name].n:,}" for group, name in names], fontsize=7)
        axis.invert_yaxis()
        axis.grid(True, alpha=0.25)
        axis.set(xlabel=label)
    axes[0, 0].set_xlim(left=max(0, axes[0, 0].get_xlim()[0]), right=1.02)
    axes[0, 1].set_xscale("log")
    chart.suptitle(f"Fits without options: means over {splits} random splits")
    figure.save(chart, axes[0, 1], path)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mercer", type=pathlib.Path)
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--sets", nargs="*", default=["known", "new"])
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--methods", nargs="*", default=METHODS, choices=METHODS)
    parser.add_argument("--kept", type=pathlib.Path)
    parser.add_argument("--before", type=pathlib.Path)
    parser.add_argument("--plot", type=pathlib.Path)
    options = parser.parse_args()
    options.methods = ["mercer", *(method for method in options.methods if method != "mercer")]
    kept, before = (json.loads(path.read_text()) if path and path.exists() else {} for path in (options.kept, options.before))
    groups = [group for group in GROUPS if group in options.sets] or list(GROUPS)
    named = [name for name in options.sets if name not in GROUPS]
    unknown = [name for name in named if not any(name in GROUPS[group] for group in groups)]
    if unknown:
        parser.error(f"--sets: {', '.join(unknown)}: expected {', '.join(GROUPS)}, or sets of {', '.join(groups)}")
    results = {}
    with tempfile.TemporaryDirectory() as scratch:
        scratch = options.scratch_sets = pathlib.Path(scratch)
        chosen = {group: [name for name in GROUPS[group] if not named or name in named] for group in groups}
        if any(not (options.data / name).exists() for group in ("new", "small") for name in chosen.get(group, [])):
            subprocess.run(["Rscript", pathlib.Path(__file__).parent / "sets.R", scratch], check=True)
        for group, names in chosen.items():
            print(f"{group},rows,{','.join(methods_of(options, group))},own_score,over_before" if names else "", flush=True)
            results[group] = {name: told(options, kept, before, group, name, scratch) for name in names}
    score_verdicts(results, ("known", "new"), options.methods)
    score_verdicts(results, ("small",), options.methods)
    time_verdicts(results)
    if options.plot:
        plot(options.plot, results, options.methods, options.splits)


if __name__ == "__main__":
    main()
