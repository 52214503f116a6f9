# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""fit_quality.py: scores and seconds of two sets that are made here, kept and compared with those of another build.
Usage: fit_quality_test.py BENCH MERCER SCRATCH"""
import json
import re

from preamble import np, printed_by, scratch, write

draws = np.random.default_rng(1)
X = draws.normal(size=(308, 6))
write("sets/yacht/yacht.csv", X, np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * draws.normal(size=308))
labels = draws.integers(0, 3, 178)
write("sets/wine_cultivars/wine_cultivars.csv", draws.normal(size=(178, 13)) + 2 * labels[:, None], labels)

kept = scratch / "kept.json"
kept.unlink(missing_ok=True)
options = ["--data", scratch / "sets", "--sets", "known", "yacht", "wine_cultivars", "--splits", 2, "--methods", "linear", "--kept", kept]
code, text = printed_by("fit_quality", *options, "--plot", scratch / "fit_quality.png")
assert code == 0 and (scratch / "fit_quality.png").stat().st_size > 0, text
assert "known,rows,mercer,linear,own_score,over_before" in text, text
scores = {name: [float(score) for score in re.findall(r"([0-9.-]+) \+- [0-9.]+ \(", line)]
          for name, line in ((line.split(",")[0], line) for line in text.splitlines()) if name in ("yacht", "wine_cultivars")}
assert scores["yacht"][0] > 0.8 > 0.5 > scores["yacht"][1] and scores["wine_cultivars"][0] > 0.9, text
assert "at least as good as linear on all of 2 sets" in text and "within two" in text, text

results = json.loads(kept.read_text())
assert len(results) == 8 and all(len(values) == (4 if key.endswith("mercer") else 2) for key, values in results.items()), results
for key in results:
    results[key][0] -= 0.25
(scratch / "before.json").write_text(json.dumps(results))
code, again = printed_by("fit_quality", *options, "--before", scratch / "before.json")
assert code == 0 and again.count("+0.2500") == 3, again  # of each set, and their mean
