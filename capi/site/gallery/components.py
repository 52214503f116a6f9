# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""
Kernel PCA unfolds circles
==========================

Two circles, one inside the other, which no line separates. Their first components do: a threshold on one of them tells the circles apart.
"""
import matplotlib.pyplot as plt
import mercer
import numpy as np
from sklearn.datasets import make_circles

X, circle = make_circles(600, factor=0.3, noise=0.05, random_state=1)
kernel = {"kernel": "gaussian", "lengthscale": 0.6}
model = mercer.Model({"model": "kernel_pca", "components": 3, "map": {"kernel": kernel, "features": 1024}}, X)
T = model.predict(X)

fig, (left, right) = plt.subplots(1, 2, figsize=(9, 4))
left.scatter(*X.T, c=circle, cmap="coolwarm", s=8)
left.set(title="rows", aspect="equal")
right.scatter(T[:, 0], T[:, 2], c=circle, cmap="coolwarm", s=8)
right.set(title="components 1 and 3")

# %%
# Components have the mean 0 and are uncorrelated.
cuts = np.linspace(T.min(0), T.max(0), 50)
shares = np.mean((T[None] > cuts[:, None]) == circle[:, None], axis=1)  # of rows that a threshold puts on the side of their circle
best = max(shares.max(), 1 - shares.min())
correlations = np.corrcoef(T.T) - np.eye(3)
print(f"one component and a threshold: {best:.1%} right; largest correlation {np.abs(correlations).max():.0e}")
assert best > 0.98 and np.abs(correlations).max() < 1e-6
