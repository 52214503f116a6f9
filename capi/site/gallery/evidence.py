# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""
Evidence and lengthscales
=========================

The log marginal likelihood of a Gaussian process over its lengthscale, with amplitude and noise as they were drawn. It is largest near the
lengthscale of the function that made the rows.
"""
import matplotlib.pyplot as plt
import mercer
import numpy as np

rng = np.random.default_rng(4)
X, true, noise = rng.uniform(0, 10, (200, 1)), 0.8, 0.1
K = mercer.Kernel({"kernel": "gaussian", "lengthscale": true})(X)
y = np.linalg.cholesky(K + 1e-10 * np.eye(200)) @ rng.normal(size=200) + noise * rng.normal(size=200)

spec = {"model": "gp", "search": False, "noise": noise**2, "lambda": noise**2 / 200, "prepare": {"standardize": False}}
scales = np.geomspace(0.1, 6, 40)
evidence = [mercer.Model({**spec, "map": {"map": "exact", "kernel": {"kernel": "gaussian", "lengthscale": scale}}}, X, y).report["log_evidence"]
            for scale in scales]
best = scales[np.argmax(evidence)]
plt.semilogx(scales, evidence)
plt.axvline(true, color="k", ls=":", label="lengthscale of the function")
plt.plot(best, max(evidence), "o", label="largest evidence")
plt.ylim(max(evidence) - 300, max(evidence) + 30)
plt.xlabel("lengthscale")
plt.ylabel("log evidence, nats")
plt.legend()

# %%
print(f"largest at {best:.2f}, the function's is {true}")
assert abs(np.log(best / true)) < np.log(1.4)
