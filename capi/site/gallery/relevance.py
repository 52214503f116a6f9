# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""
Inputs that matter
==================

A lengthscale for each of eight inputs is learnt. Those of the inputs without influence become long, and their relevance small.
"""
import matplotlib.pyplot as plt
import mercer
import numpy as np
from sklearn.datasets import make_friedman1

X, y = make_friedman1(600, n_features=8, noise=0.5, random_state=1)
model = mercer.Model({"ard": "on", "map": {"features": 256}, "assess": False}, X, y)
relevance = np.array(model.report["relevance"])
plt.bar(range(8), relevance, color=["C0"] * 5 + ["gray"] * 3)
plt.xlabel("input; the last three are noise")
plt.ylabel("shortest lengthscale over its own")

# %%
print(np.round(relevance, 3))
assert relevance[5:].max() < relevance[:5].min()
