# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""
A flow without sources
======================

Winds at 80 places, with noise. The kernel's every function is free of divergence, and so is the field that is learnt, between the places and beyond.
"""
import matplotlib.pyplot as plt
import mercer
import numpy as np

rng = np.random.default_rng(1)


def wind(X):
    return np.column_stack([-X[:, 1], X[:, 0]]) * np.exp(-(X**2).sum(1))[:, None]


X = rng.uniform(-2, 2, (80, 2))
y = wind(X) + 0.03 * rng.normal(size=X.shape)
field = {"kernel": "divergence_free", "scalar": {"kernel": "gaussian", "lengthscale": 1}}
prepare = {"standardize": False, "extrapolation": "free"}
model = mercer.Model({"map": {"kernel": field, "features": 400}, "search": False, "prepare": prepare}, X, y)

grid = np.stack(np.meshgrid(*2 * [np.linspace(-2, 2, 21)]), -1).reshape(-1, 2)
found, curl = model.predict(grid), model.predict(grid, "curl")
fig, ax = plt.subplots(figsize=(6, 5))
shown = ax.contourf(*grid.T.reshape(2, 21, 21), curl.reshape(21, 21), 12, cmap="Blues")
ax.quiver(*grid.T, *found.T)
ax.quiver(*X.T, *y.T, color="C1", width=0.004)
fig.colorbar(shown, label="curl")

# %%
# The divergence is 0 to rounding; the error is a small part of the wind.
divergence = np.abs(model.predict(grid, "divergence")).max()
error = np.linalg.norm(found - wind(grid)) / np.linalg.norm(wind(grid))
print(f"divergence {divergence:.1e}, relative error {error:.2f}")
assert divergence < 1e-8 and error < 0.25
