# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""two_sample.py: its trials of streamed rows reject at about the level, and its quadratic statistic, like the library, sees a shift.
Usage: two_sample_test.py BENCH LIBMERCER.so SCRATCH"""
import contextlib
import io
import re

from preamble import library
import numpy as np

import two_sample

test = two_sample.tester(str(library))
rng = np.random.default_rng(1)
X, Y = rng.normal(size=(100, 4)), rng.normal(size=(90, 4)) + 1.5
assert two_sample.median_mmd(X, Y, 99, rng) == 0.01 and test(X, Y, test="mmd", permutations=99)["p_value"] == 0.01

said = io.StringIO()
with contextlib.redirect_stdout(said):
    two_sample.pilot(20)
shares = [float(share) for share in re.findall(r": (\d\.\d{4})", said.getvalue())]
# 14 of 20 trials at 5 %: a probability below 1e-13.
assert len(shares) == 8 and max(shares) < 0.7 and all(round(20 * share, 6) % 1 == 0 for share in shares), said.getvalue()
