# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""
A density by score matching
===========================

Rows on a bent curve. A normal density cannot bend; the density whose gradient fits the rows does, and needs no integral to be found.
"""
import matplotlib.pyplot as plt
import mercer
import numpy as np

rng = np.random.default_rng(1)


def drawn(n):
    x = rng.normal(size=n)
    return np.column_stack([x, x**2 - 1 + 0.4 * rng.normal(size=n)])


X = drawn(1500)
spec = {"model": "density", "normaliser": 20000, "map": {"kernel": {"kernel": "gaussian"}, "features": 256}}
model = mercer.Model(spec, X)
grid = np.stack(np.meshgrid(np.linspace(-3, 3, 80), np.linspace(-3, 6, 80)), -1)
p = np.exp(model.predict(grid.reshape(-1, 2))).reshape(80, 80)
plt.contourf(grid[..., 0], grid[..., 1], p, np.linspace(0.005, p.max(), 12), cmap="Blues")
plt.plot(*X[:400].T, ".k", ms=2)

# %%
# New rows are likelier by it than by the normal density of the same mean and covariance, in nats for each row.
new = drawn(4000)
centred, covariance = new - X.mean(0), np.cov(X.T)
normal = -0.5 * np.sum(centred @ np.linalg.inv(covariance) * centred, 1) - 0.5 * np.log(np.linalg.det(2 * np.pi * covariance))
gain = np.mean(model.predict(new)[:, 0] - normal)
print(f"{gain:.2f} nats")
assert gain > 0.2
