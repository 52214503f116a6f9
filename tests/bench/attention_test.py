# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""The bench of attention: its three ways of linear attention agree, the exact one is what they estimate, and a quick run
writes its plot.
Usage: attention_test.py BENCH LIBMERCER.so SCRATCH"""
import shutil
import sys

from preamble import library, scratch
import numpy as np

if shutil.which("cc") is None:
    print("SKIPPED: no cc")
    sys.exit(0)
import attention
from library import Library

scratch.mkdir(parents=True, exist_ok=True)
loop = attention.loop_in_c(scratch)
setting = attention.Setting(Library(str(library)), 100, 4096, np.random.default_rng(1), spread=0.3, heads=2)
exact = setting.exact(1)
size = np.linalg.norm(exact)
plain = setting.linear_in_numpy(1)
assert np.linalg.norm(setting.loop(loop) - plain) < 1e-4 * size, "the loop in C is what NumPy computes"
found = np.linalg.norm(setting.attend(1) - exact) / size
assert abs(found / setting.error(1, 0) - 1) < 1e-3, "the library measures what NumPy does"
assert 0.5 < found / setting.error(1, 1) < 2 and 0.5 < np.linalg.norm(plain - exact) / size / found < 2, "of the predicted size"
full = np.linalg.norm(setting.attend(0) - setting.exact(0)) / np.linalg.norm(setting.exact(0))
assert abs(full / setting.error(0, 0) - 1) < 1e-3

sys.argv = ["attention.py", str(library), "--quick", "--plot", str(scratch / "attention.png")]
attention.main()
assert (scratch / "attention.png").stat().st_size > 10000
