# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""The plots of bench/ on a small generated problem: bars and one tick per width, D written where the axis does not
tell it, data and seeds in the titles, no two series alike, the legend beside the axes.
Usage: plots_test.py BENCH LIBMERCER.so SCRATCH"""
import runpy
import sys

from preamble import bench, library, scratch
import figure
from matplotlib.container import ErrorbarContainer

WIDTHS = [32, 64]
charts = []
written = figure.save


def keep(chart, axis, path):
    written(chart, axis, path)
    charts.append((chart, axis))


def run(name, *options):
    sys.argv = [name, str(library), "--features", *map(str, WIDTHS), "--seeds", "2",
                "--plot", str(scratch / f"{name}.png"), *options]
    runpy.run_path(str(bench / f"{name}.py"), run_name="__main__")
    return charts[-1]


def series(axis):
    return [c for c in axis.containers if isinstance(c, ErrorbarContainer)]


def appearance(container):
    line = container.lines[0]
    return line.get_color(), line.get_marker(), line.get_linestyle(), line.get_markerfacecolor()


def check(chart, legend_axis, over_width, over_time, words):
    for axis in (*over_width, *over_time):
        assert series(axis) and all(c.has_yerr for c in series(axis)), "error bars"
        assert all(word in axis.get_title() for word in words), axis.get_title()
    for axis in over_width:
        assert [t.get_text() for t in axis.get_xticklabels()] == [str(D) for D in WIDTHS], "ticks at the widths"
        places = [tuple(c.lines[0].get_xdata()) for c in series(axis)]
        assert len(set(places)) == len(places), "equal points stand side by side"
    for axis in over_time:
        assert {t.get_text() for t in axis.texts} == {str(D) for D in WIDTHS}, "D at the points"
        looks = [appearance(c) for c in series(axis)]
        assert len(set(looks)) == len(looks), "no two series look alike"
    right = max(a.get_window_extent().x1 for a in chart.axes)
    assert legend_axis.get_legend().get_window_extent().x0 >= right, "legend beside"


scratch.mkdir(parents=True, exist_ok=True)
figure.save = keep
chart, axis = run("kernel_error", "--sets", "kin8nm")
check(chart, axis, chart.axes[:1], chart.axes[1:], ["normal rows", "d = 8", "ℓ = ", "2 seeds"])
chart, axis = run("sketch_error", "--rows", "40", "--seconds", "0")
check(chart, axis, chart.axes[::2], chart.axes[1::2], ["(x'y + 1)^", "40 unit rows", "2 seeds"])
