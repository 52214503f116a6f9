# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""What the plots of this folder share: series told apart where they coincide, D at the points, the legend beside."""
from collections import namedtuple

import numpy as np

# series: by name x, y and, where there are seeds, standard errors; log: which axes are logarithmic.
Panel = namedtuple("Panel", "title xlabel ylabel series log", defaults=("",))
COLORS = ["C0", "C1", "C2", "C3", "C4", "C5", "C6", "C7", "C8", "C9"]
MARKERS = ["o", "s", "^", "v", "D", "P", "X", "<", ">", "*"]
LINES = ["-", (0, (6, 2)), (0, (1, 1)), (0, (6, 2, 1, 2)), (0, (3, 1)), (0, (8, 2, 1, 2, 1, 2)), (0, (2, 3))]


def subplots(rows, columns, width=5.2, height=4.4):
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    return plt.subplots(rows, columns, figsize=(width * columns + 2, height * rows), squeeze=False)


def look(k):
    """Colour, marker and line of series k: three ways to tell it from another."""
    return {"color": COLORS[k % len(COLORS)], "marker": MARKERS[k % len(MARKERS)], "linestyle": LINES[k % len(LINES)],
            "markersize": 5, "linewidth": 1.2, "capsize": 2.5, "elinewidth": 0.9}


def of_mean(values):
    """The standard error of the mean over the last axis."""
    return values.std(-1, ddof=1) / np.sqrt(values.shape[-1])


def beside(D, k, count):
    """The widths D moved a little to the left or right for series k of count, so that equal points stand side by side."""
    return np.asarray(D, float) * 1.025 ** (k - (count - 1) / 2)


def widths_below(axis, widths):
    """Ticks at the widths that were measured, and nowhere else."""
    axis.set_xscale("log")
    axis.set_xticks(widths, [f"{D:,}" for D in widths])
    axis.minorticks_off()


def widths_at(axis, x, y, widths, k):
    """Writes D at the points of series k, whose places do not tell it."""
    for point in zip(x, y, widths):
        axis.annotate(f"{point[2]:,}", point[:2], xytext=(3, 3), textcoords="offset points", fontsize=6,
                      color=COLORS[k % len(COLORS)])


def plain(axis):
    """A logarithmic axis with numbers as one writes them: 0.05, 0.1, 0.2, 0.5."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter
    axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_locator(LogLocator(subs=range(1, 10)))
    axis.set_minor_formatter(NullFormatter())


def curves(axis, x, series, xlabel, ylabel, title, linear=False):
    """Series by name, sizes x splits: means and standard errors. What was not measured is NaN."""
    for k, (label, values) in enumerate(series.items()):
        shown = ~np.isnan(values).any(1)
        axis.errorbar(beside(x, k, len(series))[shown], values[shown].mean(1), of_mean(values[shown]), label=label, **look(k))
    widths_below(axis, x)
    if not linear:
        axis.set_yscale("log")
        plain(axis.yaxis)
    axis.grid(True, which="both", alpha=0.25)
    axis.set(xlabel=xlabel, ylabel=ylabel, title=title)


def error_against(axis, xlabel, title, is_time=False):
    axis.set_yscale("log")
    plain(axis.yaxis)
    if is_time:
        axis.set_xscale("log")
        plain(axis.xaxis)
    axis.grid(True, which="both", alpha=0.25)
    axis.set(xlabel=xlabel, ylabel="relative Frobenius error", title=title)


def save(figure, axis, path, dpi=120):
    """With the legend of one axis beside all of them."""
    axis.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1.02, 1), borderaxespad=0)
    figure.tight_layout()
    write(figure, path, dpi)


def write(figure, path, dpi):
    """Of a PNG 64 colours are left, in a quarter of the bytes."""
    figure.savefig(path, dpi=dpi, bbox_inches="tight")
    if str(path).endswith(".png"):
        from PIL import Image
        with Image.open(path) as drawn:
            few = drawn.convert("RGB").quantize(64, dither=Image.Dither.NONE)
        few.save(path, optimize=True)
    print(f"wrote {path}")


def draw(path, panels, dpi=60):
    """A legend beside the last panel, and in those with other series."""
    columns = min(len(panels), 4)
    chart, axes = subplots(-(-len(panels) // columns), columns, 4.6, 4)
    for axis in axes.flat[len(panels):]:
        axis.set_axis_off()
    for axis, panel in zip(axes.flat, panels):
        for k, (label, (x, y, *bars)) in enumerate(panel.series.items()):
            axis.errorbar(x, y, 2 * np.asarray(bars[0]) if bars else None, label=label, **look(k) | ({"marker": ""} if len(x) > 30 else {}))
        if list(panel.series) != list(panels[-1].series):
            axis.legend(fontsize=7)
        for which in panel.log:
            getattr(axis, f"set_{which}scale")("log")
        sizes = {tuple(x) for x, *_ in panel.series.values()}
        if "x" in panel.log and len(sizes) == 1 and len(min(sizes)) < 8:
            widths_below(axis, list(min(sizes)))
        low, high = axis.get_ylim()
        if "y" in panel.log and 0 < low and high < 100 * low:
            plain(axis.yaxis)
        axis.grid(True, which="both", alpha=0.25)
        axis.set(title=panel.title, xlabel=panel.xlabel, ylabel=panel.ylabel)
    save(chart, axes.flat[len(panels) - 1], path, dpi)
