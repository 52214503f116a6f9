# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""The scripts of bench/ on operator-valued features, on generated data in the files they read: a gradient is learnt
better by features of gradients; bars, ticks at what was measured, r as announced.
Usage: operators_test.py BENCH LIBMERCER.so SCRATCH"""
import contextlib
import io
import pathlib
import runpy
import sys

try:
    import numpy as np
    from matplotlib.container import ErrorbarContainer
except ImportError as missing:
    print(f"SKIPPED: {missing}")
    sys.exit(0)

bench, library, scratch = (pathlib.Path(text).resolve() for text in sys.argv[1:])
sys.path.insert(0, str(bench))
import figure  # noqa: E402

charts = []
written = figure.save


def keep(chart, axis, path):
    written(chart, axis, path)
    charts.append(chart)


def write(name, *columns):
    path = scratch / name
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savetxt(path, np.column_stack(columns), delimiter=",", header="header", comments="")


def run(name, options, points):
    """The words of its table, a list for every line, once its plot is looked at."""
    sys.argv = [name, str(library), *options, *map(str, points), "--splits", "2", "--plot", str(scratch / f"{name}.png")]
    with contextlib.redirect_stdout(io.StringIO()) as printed, contextlib.suppress(SystemExit):
        runpy.run_path(str(bench / f"{name}.py"), run_name="__main__")
    axis = next(a for a in charts[-1].axes if a.containers)
    series = [c for c in axis.containers if isinstance(c, ErrorbarContainer)]
    assert len(series) >= 2 and all(c.has_yerr for c in series), "error bars"
    assert charts[-1].axes[-1].get_legend().get_texts(), "a legend"
    assert [t.get_text() for t in axis.get_xticklabels()] == [str(n) for n in points], "ticks at what was measured"
    return [line.split() for line in printed.getvalue().splitlines() if "±" in line]


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
assert error["curl_free"] < 0.7 * error["independent"] < error["divergence_free"], error
assert list(r.values()) == [60, 60, 120, 120, 60], r
