# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""
Frequencies by leverage scores
==============================

Rows on a line in eight dimensions: many frequencies say the same there. Kept by leverage scores, as many of them err less on what a ridge needs.
"""
import matplotlib.pyplot as plt
import mercer
import numpy as np

rng = np.random.default_rng(1)
direction = np.linspace(1, 0.3, 8) / np.linalg.norm(np.linspace(1, 0.3, 8))
X = rng.uniform(-3, 3, (400, 1)) * direction
kernel = {"kernel": "gaussian", "lengthscale": 1}
K = mercer.Kernel(kernel)(X)
values, vectors = np.linalg.eigh(K)
root = vectors / np.sqrt(np.maximum(values, 0) + 400 * 1e-3)  # of the inverse of K + n lambda


def error(features, seed, **weights):
    spec = {"map": "fourier", "kernel": kernel, "inputs": 8, "features": features, "seed": seed, **weights}
    Z = mercer.Map(spec, X if weights else None).transform(X)
    return np.linalg.norm(root.T @ (Z @ Z.T - K) @ root, 2)


sizes = [16, 32, 64]
plain = [np.median([error(D, seed) for seed in range(15)]) for D in sizes]
scored = [np.median([error(D, seed, weights="leverage", pool=16) for seed in range(15)]) for D in sizes]
plt.loglog(sizes, plain, "o-", label="drawn from the kernel's distribution")
plt.loglog(sizes, scored, "o-", label="kept by leverage scores")
plt.xlabel("features")
plt.ylabel(r"norm of the error weighed by $(K + n\lambda I)^{-1/2}$")
plt.legend()

# %%
print(np.round(plain, 2), np.round(scored, 2))
assert all(one < other for one, other in zip(scored, plain))
