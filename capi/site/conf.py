# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""The site, as CMakeLists.txt beside this file has Sphinx build it: MERCER_LIBRARY names libmercer, MERCER_SITE_WORK a folder of the build."""
import os
import pathlib
import shutil
import subprocess
import sys
import unittest.mock

import furo
from sphinx_gallery.sorting import FileNameSortKey

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
WORK = pathlib.Path(os.environ["MERCER_SITE_WORK"])
sys.path[:0] = [str(HERE), str(ROOT / "capi/clients/python")]
import figures  # noqa: E402  of this folder
import mercer._api  # noqa: E402

project, author, copyright = "mercer", "The mercer authors", "The mercer authors"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.mathjax", "breathe", "sphinx_gallery.gen_gallery",
              "documents", "shell", "figures"]
exclude_patterns = ["root", "programs"]
language = "en"
html_theme = "furo"
html_title = "mercer"
html_static_path = [str(HERE / "static"), str(WORK / "static")]
html_css_files = ["site.css"]
html_favicon = str(HERE / "static/mercer.svg")
html_copy_source = False
html_show_sphinx = False
pygments_style = "friendly"
nitpicky = False

myst_heading_anchors = 4
# The guide's tables and the references of functions are what they are; links are judged on the pages by check_pages.py.
suppress_warnings = ["myst.header", "config.cache"]

autodoc_member_order = "bysource"
autodoc_class_signature = "mixed"
autodoc_mock_imports = ["mpi4py"]  # and libmercer_mpi, which a build need not have
_opened = mercer._api.opened
mercer._api.opened = lambda stem: unittest.mock.MagicMock() if stem == "mercer_mpi" else _opened(stem)
napoleon_google_docstring = False

breathe_projects = {"mercer": str(WORK / "doxygen/xml")}
breathe_default_project = "mercer"
breathe_domain_by_extension = {"h": "c", "hpp": "cpp"}
breathe_show_include = False

# MathJax of Debian, which browsers load from the site itself.
mathjax_path = "mathjax/MathJax.js?config=TeX-AMS_CHTML"
mathjax2_config = {"messageStyle": "none", "showMathMenu": False}

sphinx_gallery_conf = {
    "examples_dirs": str(HERE / "gallery"), "gallery_dirs": "examples", "filename_pattern": r"\.py$",
    "within_subsection_order": FileNameSortKey, "download_all_examples": False, "show_memory": False, "show_signature": False,
    "min_reported_time": 0, "abort_on_example_error": True, "remove_config_comments": True, "reset_modules": ("matplotlib", figures.lay_out),
    "line_numbers": False,
}


def _make_mathjax():
    """What TeX and CommonHTML of MathJax need."""
    source, target = pathlib.Path("/usr/share/javascript/mathjax"), WORK / "static/mathjax"
    if target.exists():
        return
    for name in ("MathJax.js", "config/TeX-AMS_CHTML.js", "extensions", "jax/element", "jax/input/TeX", "jax/output/CommonHTML"):
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        (shutil.copytree if (source / name).is_dir() else shutil.copyfile)(source / name, target / name)
    fonts = source / "fonts/HTML-CSS/TeX/woff"
    shutil.copytree(fonts, target / "fonts/HTML-CSS/TeX/woff")


def _make_theme():
    """Debian's furo loads a style sheet from the server's root and a module by an ordinary script: the site has both in one file each."""
    theme, scripts = pathlib.Path(furo.__file__).parent / "theme/furo/static", pathlib.Path("/usr/share/javascript")
    for name, line, source in (("styles/furo.css", "@import url(/javascript/normalize.css/normalize.css);", scripts / "normalize.css/normalize.css"),
                               ("scripts/furo.js", 'import Gumshoe from "./gumshoe-patched.js";', theme / "scripts/gumshoe-patched.js")):
        target = WORK / "static" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text((theme / name).read_text().replace(line, source.read_text()))


def _make_headers():
    """The headers' comments as XML for breathe."""
    folder = WORK / "doxygen"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "Doxyfile").write_text(f'@INCLUDE = "{ROOT}/cmake/Doxyfile"\nOUTPUT_DIRECTORY = "{folder}"\nGENERATE_HTML = NO\n'
                                     "GENERATE_XML = YES\nXML_PROGRAMLISTING = NO\nINPUT += capi/mpi/mercer\nSTRIP_FROM_PATH += capi/mpi\n"
                                     f'INPUT_FILTER = "awk -f {HERE}/untyped.awk -f cmake/reference.awk"\n')
    subprocess.run(["doxygen", folder / "Doxyfile"], cwd=ROOT, check=True)


_make_mathjax()
_make_theme()
_make_headers()
