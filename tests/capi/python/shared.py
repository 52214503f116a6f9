# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""Rows, a map's spec and a check of exceptions for the tests of the Python package."""
import sys

try:
    import numpy as np
except ImportError:
    print("SKIPPED: python3-numpy is not installed")
    sys.exit(0)

rng = np.random.default_rng(1)
X = rng.normal(size=(400, 3))
y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.normal(size=400)
GAUSSIAN = {"kernel": {"kernel": "gaussian", "lengthscale": 1.5}, "inputs": 3, "features": 512, "seed": 3}


def refused(kind, word, what):
    try:
        what()
    except kind as error:
        assert word in str(error), error
        return error
    raise AssertionError(f"{kind.__name__} was not raised")
