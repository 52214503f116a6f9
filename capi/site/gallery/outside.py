# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""
Outside the training rows
=========================

Where no row was, no model can be relied on: predictions are clipped to the range of the rows, and counted. Left free, they go wherever the
features go.
"""
import matplotlib.pyplot as plt
import mercer
import numpy as np

rng = np.random.default_rng(1)
X = rng.uniform(-1, 1, (300, 1))
y = X[:, 0] ** 2 + 0.05 * rng.normal(size=300)
spec = {"map": {"kernel": {"kernel": "gaussian"}, "features": 128}, "lengthscale": 0.8, "lambda": 1e-5, "search": False}
model = mercer.Model(spec, X, y)
t = np.linspace(-3, 3, 241)[:, None]
clipped, outside = model.predict(t, return_outside=True)
free = model.predict(t, extrapolation="free")

plt.axvspan(-1, 1, color="lightgray", alpha=0.5, label="training rows")
plt.plot(t, clipped, label="clipped, the default")
plt.plot(t, free, label="free")
plt.plot(t, t**2, "k:", label="truth")
plt.ylim(-2, 4)
plt.legend()

# %%
print(f"{outside.rows} of {len(t)} rows lie outside the range")
assert outside.rows == np.sum((t < X.min()) | (t > X.max()))
assert np.ptp(clipped[t[:, 0] > X.max()]) == 0 and np.abs(free - t**2).max() > 1
