# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""The directive `which-map`, the table "Which map" of the README as a picture whose boxes are links; and how the gallery's figures are laid out."""
import io
import os
import re
import textwrap

import matplotlib
from docutils import nodes
from docutils.parsers.rst import Directive
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from sphinx.errors import ExtensionError

from documents import ROOT, sections

# By the first name of a row's map: its section of the guide, and an example of such rows.
MORE = {"fourier": ("choose.html#shift-invariant-kernels-fourier", "projections"), "grid": ("choose.html#shift-invariant-kernels-fourier", "grid"),
        "dense": ("choose.html#sparse-rows", None), "tensor_srht": ("choose.html#polynomial-and-bilinear-kernels-sketches", "sketches"),
        "additive": ("choose.html#histograms-and-other-rows-without-negative-entries-additive-laplace-weighted-minhash", "histograms"),
        "nystroem": ("choose.html#any-kernel-of-numbers-nystroem", "own_kernel"), "decomposable": ("derivatives.html#several-outputs-vector-fields", "flow")}


def rows():
    """(rows, map, why) of the README's table."""
    table = re.findall(r"^\| (.+?) \| (.+?) \| (.+?) \|$", sections("README.md")["Which map"], re.M)
    if len(table) < 5:
        raise ExtensionError("README.md: no table in the section Which map")
    return [[cell.replace("`", "") for cell in row] for row in table if row[0] != "rows" and not row[0].startswith("---")]


def _box(figure, ax, x, y, width, words, link, color):
    text = ax.text(x + width / 2, y, "\n".join(textwrap.wrap(words, 24)), ha="center", va="center", fontsize=9.5, url=link,
                   bbox={"boxstyle": "round,pad=0.45", "fc": color, "ec": "#456", "url": link})
    if link:
        text.get_bbox_patch().set_url(link)


def picture():
    drawn = rows()
    style = {"svg.fonttype": "none", "svg.hashsalt": "mercer", "font.family": "sans-serif", "figure.constrained_layout.use": False}
    with matplotlib.rc_context(style):
        figure = Figure(figsize=(4.6, 0.92 * len(drawn) + 0.3))
        FigureCanvasSVG(figure)
        ax = figure.add_axes([0, 0, 1, 1])
        ax.set(xlim=(0, 1), ylim=(len(drawn) - 0.45, -0.7))
        ax.axis("off")
        ax.text(0.22, -0.55, "your rows", ha="center", fontsize=10, weight="bold")
        ax.text(0.75, -0.55, "map", ha="center", fontsize=10, weight="bold")
        for y, (words, map, _) in enumerate(drawn):
            key = next((key for key in ("grid", "dense", *MORE) if key in map), None)
            if key is None:
                raise ExtensionError(f"which_map.py: no section for the map {map!r} of README.md")
            section, example = MORE[key]
            ax.annotate("", (0.56, y), (0.4, y), arrowprops={"arrowstyle": "-|>", "color": "#456"})
            _box(figure, ax, 0.02, y, 0.4, words, example and f"examples/{example}.html", "#eef3f8" if example else "white")
            _box(figure, ax, 0.55, y, 0.4, map, "guide/" + section, "#fff4dd")
        text = io.StringIO()
        figure.savefig(text, format="svg", metadata={"Date": None})
    svg = text.getvalue()[text.getvalue().index("<svg"):]
    return re.sub(r'<svg [^>]*viewBox="([^"]+)"[^>]*>', r'<svg class="which-map" role="img" xmlns="http://www.w3.org/2000/svg" '
                  r'xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="\1">', svg, 1)


def lay_out(gallery, program):
    """Before each program of the gallery: labels stay on the picture."""
    matplotlib.rcParams["figure.constrained_layout.use"] = True


class WhichMap(Directive):
    def run(self):
        self.state.document.settings.env.note_dependency(os.fspath(ROOT / "README.md"))
        return [nodes.raw("", picture(), format="html")]


def setup(app):
    app.add_directive("which-map", WhichMap)
    return {"parallel_read_safe": False}
