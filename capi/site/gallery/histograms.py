# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""
Kernels of histograms
=====================

Estimates of histogram kernels against their exact values, by a map that draws nothing: its error falls with its order.
"""
import matplotlib.pyplot as plt
import mercer
import numpy as np

X = np.random.default_rng(1).dirichlet(np.full(32, 0.3), 120)  # 120 histograms of 32 bins
fig, axes = plt.subplots(1, 3, figsize=(9, 3.2), sharey=True)
errors = {}
for ax, name in zip(axes, ("additive_chi2", "jensen_shannon", "intersection")):
    exact = mercer.Kernel({"kernel": name})(X)
    for order in (0, 1, 3):
        map = mercer.Map({"map": "additive", "kernel": {"kernel": name}, "inputs": 32, "order": order, "features": 32 * (2 * order + 1)})
        Z = map.transform(X)
        errors[name, order] = np.linalg.norm(Z @ Z.T - exact) / np.linalg.norm(exact)
        ax.plot(exact.ravel(), (Z @ Z.T).ravel(), ".", ms=1, label=f"order {order}")
    ax.plot([0, 1], [0, 1], "k", lw=0.7)
    ax.set(title=name, xlabel="exact")
axes[0].set_ylabel("by features")
axes[0].legend(markerscale=8)

# %%
for (name, order), error in errors.items():
    print(f"{name:15} order {order}: {error:.3f}")
    assert order == 0 or error < errors[name, 0]
