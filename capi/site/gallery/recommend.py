# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""
Which map for these rows?
=========================

Asked for an error of 2 %, the library compares maps on rows like yours: how many columns each needs, and how long a row takes. The fastest is made.
"""
import matplotlib.pyplot as plt
import mercer
import numpy as np

X = np.random.default_rng(1).normal(size=(800, 8))
map, answer = mercer.Map.recommend({"kernel": {"kernel": "gaussian", "lengthscale": 4}, "error": 0.02, "count": 12}, X)
reached = [one for one in answer["maps"] if one["reached"]]
names = [" ".join(str(one["map"][key]) for key in ("map", "projection", "allocation", "form") if key in one["map"]) for one in reached]

fig, ax = plt.subplots(figsize=(6, 0.4 * len(names) + 1.2))
bars = ax.barh(names, [1e6 * one["seconds"] for one in reached])
ax.bar_label(bars, [f" {one['map']['features']} columns" for one in reached])
ax.margins(x=0.35)
ax.invert_yaxis()
ax.set_xlabel("microseconds a row")

# %%
# The kernel matrix of other rows is as near as was asked for.
X = np.random.default_rng(2).normal(size=(800, 8))
Z, K = map.transform(X), mercer.Kernel(answer["kernel"])(X)
error = np.linalg.norm(Z @ Z.T - K) / np.linalg.norm(K)
print(f"{names[0]}, {map.shape.features} columns: error {error:.3f}")
assert error < 0.03
