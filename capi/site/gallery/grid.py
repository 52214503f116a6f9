# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""
Frequencies on a grid
=====================

Of one to three inputs no frequency need be drawn: a grid of them, weighted by the spectral density, has errors that drawn ones never reach,
below a bound that the map knows.
"""
import matplotlib.pyplot as plt
import mercer
import numpy as np

X = np.random.default_rng(1).uniform(size=(300, 2))
kernel = {"kernel": "gaussian", "lengthscale": 0.2}
K, tolerances, points = mercer.Kernel(kernel)(X), [1e-1, 1e-2, 1e-4, 1e-6, 1e-8], []
for tolerance in tolerances:
    spec = {"map": "fourier", "projection": "grid", "kernel": kernel, "inputs": 2, "features": 4096, "diameter": 2**0.5}
    map = mercer.Map({**spec, "tolerance": tolerance})
    Z = map.transform(X)
    points.append((map.shape.features, np.abs(Z @ Z.T - K).max(), map.spec["error_bound"]))
sizes, errors, bounds = zip(*points)
drawn = []
for D in sizes:
    Z = mercer.Map({"map": "fourier", "projection": "dense", "kernel": kernel, "inputs": 2, "features": D}).transform(X)
    drawn.append(np.abs(Z @ Z.T - K).max())
plt.semilogy(sizes, drawn, "o-", label="drawn")
plt.semilogy(sizes, errors, "o-", label="grid")
plt.semilogy(sizes, bounds, "k:", label="bound of the grid")
plt.xlabel("features")
plt.ylabel("largest error of the kernel")
plt.legend()

# %%
print(points)
assert all(error <= bound for _, error, bound in points) and errors[-1] < 1e-6 * drawn[-1]
