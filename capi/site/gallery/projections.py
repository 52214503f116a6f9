# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""
Frequencies that keep apart
===========================

The Gaussian kernel of eight inputs by frequencies that are drawn independently, in orthogonal blocks and from Sobol' points: the last cover the
space best.
"""
import matplotlib.pyplot as plt
import mercer
import numpy as np

X = np.random.default_rng(1).normal(size=(250, 8))
kernel = {"kernel": "gaussian", "lengthscale": mercer.lengthscale_median(X)}
K, sizes, errors = mercer.Kernel(kernel)(X), [128, 512, 2048, 8192], {}
for name in ("dense", "orthogonal", "sorf", "sobol"):
    spec = {"map": "fourier", "projection": name, "kernel": kernel, "inputs": 8}
    Z = [[mercer.Map({**spec, "features": D, "seed": seed}).transform(X) for seed in range(4)] for D in sizes]
    errors[name] = [np.mean([np.linalg.norm(z @ z.T - K) for z in one]) / np.linalg.norm(K) for one in Z]
    plt.loglog(sizes, errors[name], "o-", label=name)
plt.xlabel("features")
plt.ylabel("relative kernel error")
plt.legend()

# %%
last = {name: values[-1] for name, values in errors.items()}
print({name: round(value, 4) for name, value in last.items()})
assert last["sobol"] < last["orthogonal"] < last["dense"]
