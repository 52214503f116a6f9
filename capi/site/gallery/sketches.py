# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""
Sketches of a polynomial kernel
===============================

Three sketches of :math:`(x^\\top y + 1)^3`, none of which forms the 23,426 monomials: errors fall as one over the root of the columns.
"""
import matplotlib.pyplot as plt
import mercer
import numpy as np

rng = np.random.default_rng(1)
X = rng.normal(size=(150, 50)) / 50**0.5
kernel = {"kernel": "polynomial", "degree": 3, "offset": 1}
K, sizes = mercer.Kernel(kernel)(X), np.array([128, 256, 512, 1024, 2048])
errors = {}
for name in ("product_sketch", "tensor_sketch", "tensor_srht"):
    spec = {"map": name, "kernel": kernel, "inputs": 50}
    Z = [[mercer.Map({**spec, "features": int(size), "seed": seed}).transform(X) for seed in range(8)] for size in sizes]
    errors[name] = [np.mean([np.linalg.norm(z @ z.T - K) for z in of_size]) / np.linalg.norm(K) for of_size in Z]
    plt.loglog(sizes, errors[name], "o-", label=name)
plt.loglog(sizes, errors["product_sketch"][0] * (sizes[0] / sizes) ** 0.5, "k:", label="one over the root")
plt.xlabel("columns")
plt.ylabel("relative kernel error")
plt.legend()

# %%
for name, values in errors.items():
    slope = np.polyfit(np.log(sizes), np.log(values), 1)[0]
    print(f"{name:15} error {values[-1]:.3f} at {sizes[-1]} columns, slope {slope:.2f}")
    assert -0.65 < slope < -0.4
