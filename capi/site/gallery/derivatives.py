# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""
Slopes and how sure they are
============================

The derivative of a learnt function, with its own band; and the same function learnt from slopes alone, but for one value.
"""
import matplotlib.pyplot as plt
import mercer
import numpy as np

rng = np.random.default_rng(1)
X = np.sort(rng.uniform(-3, 3, (80, 1)), 0)
y = np.sin(2 * X[:, 0]) + 0.05 * rng.normal(size=80)
t = np.linspace(-2.8, 2.8, 200)[:, None]
model = mercer.Model({"model": "gp", "map": {"kernel": {"kernel": "gaussian"}, "features": 128}, "select": {"by": "evidence"}, "assess": False}, X, y)
slope, deviation = model.predict(t, "gradient")[:, 0], np.sqrt(model.predict(t, "gradient_variance")[:, 0])

map = mercer.Map({"map": "fourier", "kernel": {"kernel": "gaussian", "lengthscale": 1}, "inputs": 1, "features": 128})
slopes = mercer.Observations(X, 2 * np.cos(2 * X[:, 0]) + 0.05 * rng.normal(size=80), partial=[1])
value = mercer.Observations(np.zeros((1, 1)), np.zeros(1), weight=100)
integral = mercer.Model({"lambda": 1e-5, "center": False}, map=map, sets=[value, slopes])

fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.5))
left.fill_between(t[:, 0], slope - 2 * deviation, slope + 2 * deviation, alpha=0.3)
left.plot(t, slope, label="slope learnt from values")
left.plot(t, 2 * np.cos(2 * t), "k:", label="true slope")
right.plot(t, integral.predict(t), label="function learnt from slopes")
right.plot(t, np.sin(2 * t), "k:", label="true function")
for ax in (left, right):
    ax.legend()

# %%
inside = np.mean(np.abs(slope - 2 * np.cos(2 * t[:, 0])) < 3 * deviation)
off = np.abs(integral.predict(t)[:, 0] - np.sin(2 * t[:, 0])).max()
print(f"{inside:.0%} of true slopes within three deviations; the function is off by at most {off:.2f}")
assert inside > 0.9 and off < 0.15
