# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""
Probabilities that can be believed
==================================

Two classes that overlap. Of the rows that are given a probability of about 0.3 about three in ten are of the class.
"""
import matplotlib.pyplot as plt
import numpy as np
from mercer.sklearn import Classifier
from sklearn.calibration import calibration_curve
from sklearn.datasets import make_moons

X, y = make_moons(600, noise=0.4, random_state=1)
model = Classifier({"effort": "quick", "assess": False, "map": {"features": 256}}).fit(X, y)
new, labels = make_moons(6000, noise=0.4, random_state=2)
p = model.predict_proba(new)[:, 1]
shares, given = calibration_curve(labels, p, n_bins=10)

fig, (left, right) = plt.subplots(1, 2, figsize=(9, 4))
grid = np.stack(np.meshgrid(np.linspace(-2, 3, 100), np.linspace(-1.7, 2.2, 100)), -1)
shown = left.contourf(grid[..., 0], grid[..., 1], model.predict_proba(grid.reshape(-1, 2))[:, 1].reshape(100, 100), 10, cmap="RdBu_r", alpha=0.6)
left.scatter(*X.T, c=y, cmap="RdBu_r", s=8)
fig.colorbar(shown, ax=left, label="probability of class 1")
right.plot([0, 1], [0, 1], "k:")
right.plot(given, shares, "o-")
right.set(xlabel="probability given to new rows", ylabel="share of them that is of class 1")

# %%
off = np.average(np.abs(shares - given), weights=np.histogram(p, np.linspace(0, 1, 11))[0])
print(f"accuracy {np.mean((p > 0.5) == labels):.3f}, probabilities are off by {off:.3f} in the mean")
assert off < 0.06 and np.mean((p > 0.5) == labels) > 0.8
