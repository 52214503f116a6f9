# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""bench/papers: every figure and table of the five papers has one line, every entry's script is there and knows its options, the kept
results are of entries and PAPERS.md is made of them; small runs are kept, or fail, as they should.
Usage: papers_test.py BENCH LIBMERCER.so SCRATCH"""
import contextlib
import importlib.util
import io
import json
import shutil
import subprocess
import sys
from importlib.machinery import SourceFileLoader

from preamble import bench, library, scratch

COUNTS = {"000": 18, "001": 0, "002": 47, "003": 10, "004": 2}
loader = SourceFileLoader("papers", str(bench / "papers"))
papers = importlib.util.module_from_spec(importlib.util.spec_from_loader("papers", loader))
loader.exec_module(papers)
entries = papers.ENTRIES
for paper, count in COUNTS.items():
    numbers = [number for number, *_ in papers.lines_of(paper)]
    assert len(numbers) == len(set(numbers)) == count, (paper, numbers)
    assert all(bool(entry) != bool(reason) for _, entry, reason in papers.lines_of(paper)), paper
for numbers, prefix in ((range(1, 15), ""), (range(1, 5), "t")):
    assert {f"{prefix}{k}" for k in numbers} <= {number for number, *_ in papers.lines_of("000")}
assert set(papers.TITLES) == set(COUNTS) and all(entry.minutes > 0 and entry.claims and entry.shows for entry in entries)
firsts = [entry.figures.split(", ")[0] for entry in entries]

helps = {}
for entry in entries:
    script, *options = entry.command.split()
    if script not in helps:
        shown = subprocess.run([sys.executable, "-B", bench / script, "--help"], capture_output=True, text=True)
        assert shown.returncode == 0, shown.stderr
        helps[script] = shown.stdout
    text = helps[script]
    assert all(option in text for option in ("--quick", "--plot", *(one for one in options if one.startswith("--")))), (entry.command, text)
    assert bool(entry.sets) <= ("--data" in text), entry.command
    if "--figures" in options:
        assert options[1] in text[text.index("--figures"):], entry.command

# What is kept is what is told.
kept = json.loads((bench / "papers.json").read_text())
assert set(kept) <= set(firsts), set(kept) - set(firsts)
for results in kept.values():
    for size, result in results.items():
        assert result["size"] == size and result["claims"] and result["minutes"] >= 0, result
shown = "\n".join(papers.written(kept, bench / "plots")).rstrip("\n") + "\n"
assert shown == (bench / "PAPERS.md").read_text(), "papers --write makes another PAPERS.md"


def papers_by(*options):
    made = subprocess.run([sys.executable, "-B", bench / "papers", *map(str, options)], capture_output=True, text=True)
    return made.returncode, made.stdout + made.stderr


code, text = papers_by("--list")
assert code == 0 and text.count("\n  figure ") + text.count("\n  table ") == sum(COUNTS.values()), text
assert papers_by("002", "9.9")[0] == 2 and "illustration" in papers_by("002", "1.1")[1]

folder = scratch / "papers"
shutil.rmtree(folder, ignore_errors=True)
folder.mkdir(parents=True)
here = ["--library", library, "--plots", folder / "plots", "--json", folder / "papers.json"]
code, text = papers_by("002", "5.4", *here)
assert code == 2 and "SKIPPED: 002 5.4: --data has no cod_rna" in text, text
code, text = papers_by("002", "2.1", "--quick", "--keep", *here)
assert code == 0 and text.count("holds: 2.1") == 3, text
result = json.loads((folder / "papers.json").read_text())["002 2.1"]["quick"]
assert len(result["claims"]) == 3 and all(claim["holds"] for claim in result["claims"]) and "ratio 0" in result["claims"][0]["numbers"], result
assert (folder / "plots/002_2.1.png").stat().st_size > 5000 and "ratio 0" in (folder / "PAPERS.md").read_text()

# A claim that does not hold is told by the exit code, and a script without claims fails.
for body, expected in (("print('DOES NOT HOLD: a [1.5 against 1]\\nholds: b'); sys.exit(1)", 1), ("print('holds: a'); sys.exit(1)", 2), ("", 2)):
    (folder / "one.py").write_text(f"import sys\n{body}\n")
    papers.HERE = folder
    asked = papers.argparse.Namespace(data=None, plots=folder / "plots", library=library, quick=True)
    with contextlib.redirect_stdout(io.StringIO()):
        found = papers.run(papers.Entry("002 2.1", "x", (), "one.py", "y", 1), asked)
    assert (found is None) == (expected == 2), (body, found)
    assert found is None or found["claims"] == [{"claim": "a", "holds": False, "numbers": "1.5 against 1"}, {"claim": "b", "holds": True}], found
