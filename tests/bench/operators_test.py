# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""The scripts of bench/ on operator-valued features, on generated data in the files they read: a gradient is learnt
better by features of gradients; bars, ticks at what was measured, r as announced. And the papers' experiments in a small setting:
every shape that they check holds there, one that does not is told by the exit code. Gaussian processes likewise.
Usage: operators_test.py BENCH LIBMERCER.so SCRATCH"""
import contextlib
import io

from preamble import has_shape, printed_by, scratch, write, write_images
import figure
import numpy as np
from matplotlib.container import ErrorbarContainer

charts = []
written = figure.save


def keep(chart, axis, path, *dpi):
    written(chart, axis, path, *dpi)
    charts.append(chart)


def run(name, options, points):
    """The words of its table, a list for every line, once its plot is looked at."""
    printed = printed_by(name, *options, *points, "--splits", 2, "--plot", scratch / f"{name}.png")[1]
    axis = next(a for a in charts[-1].axes if a.containers)
    series = [c for c in axis.containers if isinstance(c, ErrorbarContainer)]
    assert len(series) >= 2 and all(c.has_yerr for c in series), "error bars"
    assert charts[-1].axes[-1].get_legend().get_texts(), "a legend"
    assert [t.get_text() for t in axis.get_xticklabels()] == [str(n) for n in points], "ticks at what was measured"
    return [line.split() for line in printed.splitlines() if "±" in line]


def gradient(random, n):
    """Of exp(-|x|^2) + sin(x1 + 2 x2)."""
    X = random.uniform(-1, 1, (n, 2))
    wave = np.cos(X[:, 0] + 2 * X[:, 1])
    return X, np.exp(-(X**2).sum(1))[:, None] * -2 * X + wave[:, None] * [1, 2]


figure.save = keep
random = np.random.default_rng(5)
for part, n in (("train", 400), ("test", 300)):
    write(f"magnetic/magnetic.{part}.csv", *gradient(random, n))
lines = run("fields", ["--data", str(scratch), "--sets", "magnetic", "--features", "60", "--points"], [20])
error, r = ({line[2]: float(line[k]) for line in lines} for k in (4, 3))
assert error["curl_free"] < 0.8 * error["independent"] < error["divergence_free"], error
assert list(r.values()) == [60, 60, 120, 120, 60], r

import experiment  # noqa: E402

with contextlib.redirect_stdout(io.StringIO()) as told:
    assert experiment.verdict([("a", True), ("b", False, "2 of 3")]) == 1 and experiment.verdict([("a", True)]) == 0
assert told.getvalue().splitlines()[1] == "DOES NOT HOLD: b [2 of 3]"

# Seconds are not a test's business, and few features are not near the exact kernel.
has_shape("operator_features", 8, "--figures", "kernels", "--frequencies", "10", "31", "100", "--seeds", "10")
has_shape("operator_features", 9, "--figures", "cost", "--outputs", "2", "8", "--runs", "1", but=["time"])
has_shape("operator_features", 5, "--figures", "equivalence", "--rows", "30", "--features", "60")
has_shape("joint_outputs", 6, "--rows", "60", "240", "--features", "30", "600", "--many", "2400",
          "--splits", "2", but=["seconds", "a tenth more"])
has_shape("field_features", 10, "--points", "60", "--rows", "40", "80", "--features", "40", "100", "200", "--splits", "2",
          but=["seconds", "the gap", "median distance"])

X = random.normal(size=(1600, 21))
y = np.sin(X[:, :2].sum(1)) + X[:, 2]
write("sarcos/sarcos.csv", X, *(y + 0.05 * random.normal(size=len(y)) for _ in range(7)))
has_shape("multitask", 4, "--data", str(scratch), "--points", "10", "100", "--splits", "2")

images, labels = random.integers(0, 256, (10, 784)) * (random.random((10, 784)) < 0.1), random.integers(0, 10, 2000)
for part in ("train", "t10k"):
    write_images(f"mnist/{part}", images[labels] * random.integers(0, 2, (2000, 784)), labels)
has_shape("simplex", 3, "--data", str(scratch), "--rows", "100", "400", "--features", "32", "64", "--splits", "2", but=["seconds", "exact kernel's"])

X = random.normal(size=(600, 2))
write("yacht/yacht.csv", X[:120], np.sin(2 * X[:120, 0]) + X[:120, 1] + 0.3 * random.normal(size=120))
write("spambase/spambase.csv", X, random.random(600) < 1 / (1 + np.exp(-4 * np.sin(X[:, 0]) * X[:, 1])))
# few rows of one set do not tell how often intervals hold
write("adult/adult.train.csv", X, X[:, 0] > 0)
has_shape("gaussian_process", 16, "--data", str(scratch), "--sets", "yacht", "--rows", "60", "--classes", "spambase", "--larger", "adult", "--curves",
          "yacht", "--sizes", "30", "60", "--splits", "2", "--draws", "8", but=["intervals", "over sets", "log loss", "of adult", "exact process's"])
has_shape("learnt_spectra", 7, "--data", str(scratch), "--sets", "yacht", "--rows", "60", "--splits", "2", but=["two errors", "against exact"])
