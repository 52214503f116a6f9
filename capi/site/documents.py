# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""Pages cut out of the documents of the sources, which stay the one place where things are said. A page has the line

    <!-- capi/GUIDE.md: Fits; Probabilities -->

where these sections are to stand, or without a list the whole document. Every section of the guide stands on exactly one page. Links
between documents lead to the pages, names of sections in quotes are links, and indented formulas are set by MathJax."""
import os
import pathlib
import re

from sphinx.errors import ExtensionError

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
MARKER = re.compile(r"^<!-- (\S+\.md)(?:: (.+?))? -->$", re.M)
FENCE = re.compile(r"(^```.*?^```$)", re.M | re.S)
HIGH = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺ᵀᴴ", [*"0123456789-+", r"\top ", "H"]))
LOW = dict(zip("₀₁₂₃₄₅₆₇₈₉ᵢⱼₖₗₙₐₛ", "0123456789ijklnas"))
SIGNS = {"λ": r"\lambda ", "θ": r"\theta ", "φ": r"\phi ", "τ": r"\tau ", "Σ": r"\sum", "∂": r"\partial", "√": r"\surd ", "−": "-", "½": r"\tfrac12 ",
         "…": r"\dots ", "‖": r"\|", "{": r"\{", "}": r"\}", "≤": r"\le ", "≥": r"\ge "}


def slug(heading):
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def sections(document):
    """The text of each section of a document, by its heading."""
    text = (ROOT / document).read_text()
    blanked = FENCE.sub(lambda fence: " " * len(fence[0]), text)  # where # begins no heading
    starts = list(re.finditer(r"^## (.+)$", blanked, re.M))
    ends = [match.start() for match in starts[1:]] + [len(text)]
    return {match[1]: text[match.start():end] for match, end in zip(starts, ends)}


def placed():
    """Where headings and whole documents stand: {document: {slug or "": page}}."""
    places = {}
    for page in sorted(HERE.rglob("*.md")):
        name = "/" + page.relative_to(HERE).as_posix()
        for document, listed in MARKER.findall(page.read_text()):
            there = places.setdefault(document, {})
            if not listed:
                there[""] = name
            parts = sections(document)
            for heading in listed.split("; ") if listed else parts:
                if heading not in parts:
                    raise ExtensionError(f"{page}: {document} has no section {heading!r}, expected one of {list(parts)}")
                if slug(heading) in there and document == "capi/GUIDE.md":
                    raise ExtensionError(f"{page}: section {heading!r} stands on {there[slug(heading)]}, too")
                text = FENCE.sub("", parts[heading])
                there.update((slug(one), name) for one in re.findall(r"^##+ (.+)$", text, re.M))
    missing = [heading for heading in sections("capi/GUIDE.md") if slug(heading) not in places["capi/GUIDE.md"]]
    if missing:
        raise ExtensionError(f"capi/GUIDE.md: {missing} stand on no page of capi/site/guide")
    places["capi/GUIDE.md"][""] = "/guide/index.md"
    return places


def formula(line):
    """A line of mathematics as TeX: words stand for themselves, Unicode's indices for indices."""
    line = "".join(SIGNS.get(sign, sign) for sign in line)
    line = re.sub(f"[{''.join(HIGH)}]+", lambda run: "^{" + "".join(HIGH[sign] for sign in run[0]) + "}", line)
    line = re.sub(f"[{''.join(LOW)}]+", lambda run: "_{" + "".join(LOW[sign] for sign in run[0]) + "}", line)
    line = re.sub("(.)\u0304", r"\\bar \1", line).replace("log ", r"\\log ".replace("\\\\", "\\")).replace("Var ", r"\operatorname{Var} ")
    return re.sub(r"(?<![\\{A-Za-z])[a-z]{2,}(?: [a-z]{2,})*", lambda words: rf"\text{{ {words[0]} }}", line)


def _formulas(block):
    lines = [formula(line.strip()) for line in block[0].strip("\n").split("\n")]
    return "\n".join(["\n```{math}", r"\begin{gathered}", "\\\\\n".join(lines), r"\end{gathered}", "```\n"])


def _rewritten(document, text, places, docname):
    """Text outside code, with its links led to the pages."""
    folder, headings = (ROOT / document).parent, sections("capi/GUIDE.md")

    def address(page, anchor):
        return os.path.relpath(page, os.path.dirname("/" + docname)) + anchor

    def link(match):
        words, path, anchor = match.groups()
        target = (folder / path).resolve().relative_to(ROOT).as_posix() if path else document
        page = places.get(target, {}).get(anchor[1:] or "")
        if page is None and anchor and path == "":
            raise ExtensionError(f"{document}: links to {anchor}, no heading on a page")
        return words if page is None else f"[{words}]({address(page, anchor)})"

    def quoted(match):
        page = places["capi/GUIDE.md"].get(slug(match[1]))
        return match[0] if page is None or match[1] not in headings else f'["{match[1]}"]({address(page, "#" + slug(match[1]))})'

    text = re.sub(r"\[([^]\[]+)\]\((?!https?:)([^)#\s]*)(#[^)\s]*|)\)", link, text)
    text = re.sub(r'(?<![`{\[:])"([A-Z][^"\n`]+)"', quoted, text)
    return re.sub(r"(?<=\n)\n(?:    .+\n)+(?=\n)", _formulas, text) if document == "capi/GUIDE.md" else text


def _filled(app, docname, source):
    def part(match):
        document, listed = match.groups()
        parts = sections(document)
        text = (ROOT / document).read_text() if listed is None else "\n".join(parts[heading] for heading in listed.split("; "))
        app.env.note_dependency(str(ROOT / document))
        pieces = FENCE.split(text)
        return "".join(piece if i % 2 else _rewritten(document, piece, app.places, docname) for i, piece in enumerate(pieces))

    source[0] = MARKER.sub(part, source[0])


def setup(app):
    app.places = placed()
    app.connect("source-read", _filled)
    return {"parallel_read_safe": False}
