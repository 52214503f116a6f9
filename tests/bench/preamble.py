# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""What every test of bench/ begins with: skipped without NumPy and matplotlib, the scripts' folder among the modules.
Arguments: BENCH LIBMERCER.so SCRATCH"""
import pathlib
import sys

try:
    import matplotlib  # noqa: F401
    import numpy  # noqa: F401
except ImportError as missing:
    print(f"SKIPPED: {missing}")
    sys.exit(0)

bench, library, scratch = (pathlib.Path(text).resolve() for text in sys.argv[1:])
sys.path.insert(0, str(bench))
