# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""
A period that drifts
====================

A periodic kernel goes on with the pattern beyond the rows, where a Gaussian kernel falls back to the mean.
"""
import matplotlib.pyplot as plt
import mercer
import numpy as np

rng = np.random.default_rng(1)


def signal(t):
    return np.sin(2 * np.pi * t / 7) + 0.5 * np.cos(4 * np.pi * t / 7) ** 3


t = np.arange(0, 70.0, 0.5)
y = signal(t) + 0.1 * rng.normal(size=len(t))
later = np.arange(70, 91, 0.25)
periodic = {"kernel": "product", "parts": [{"kernel": "gaussian", "lengthscale": 200}, {"kernel": "periodic", "period": 7}]}
spec = {"model": "gp", "search": False, "prepare": {"standardize": False, "extrapolation": "free"}}
errors = {}
plt.plot(t[-80:], y[-80:], ".k", ms=4)
plt.plot(later, signal(later), "k:", label="what comes")
for name, kernel in ("periodic", periodic), ("gaussian", {"kernel": "gaussian", "lengthscale": 1.5}):
    model = mercer.Model({**spec, "map": {"map": "exact", "kernel": kernel}}, t[:, None], y)
    found = model.predict(later[:, None])[:, 0]
    errors[name] = np.sqrt(np.mean((found - signal(later)) ** 2))
    plt.plot(later, found, label=name)
plt.legend()

# %%
print({name: round(error, 2) for name, error in errors.items()})
assert errors["periodic"] < 0.1 and errors["gaussian"] > 0.4
