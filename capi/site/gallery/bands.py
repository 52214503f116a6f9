# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""
Bands of a Gaussian process
===========================

The band should hold 90 % of new targets: it is narrow where rows are many, and opens where there are none.
"""
import matplotlib.pyplot as plt
import mercer
import numpy as np

rng = np.random.default_rng(1)


def drawn(n):
    x = np.concatenate([rng.uniform(-3, -0.5, n // 2), rng.uniform(1.5, 3, n // 2)])
    return x[:, None], np.sin(2 * x) + 0.2 * rng.normal(size=n)


X, y = drawn(120)
model = mercer.Model({"model": "gp", "select": {"by": "evidence"}, "assess": False}, X, y)
t = np.linspace(-3, 3, 300)[:, None]
low, high = model.predict(t, "quantile", quantiles=[0.05, 0.95]).T
draws = model.predict(t, "sample", samples=3)

plt.fill_between(t[:, 0], low, high, alpha=0.25, label="90 % of new targets")
plt.plot(t, model.predict(t), label="mean")
plt.plot(t, draws, color="gray", lw=0.7)
plt.plot(X, y, ".k", ms=4)
plt.legend()

# %%
# Of 4,000 new targets as many as promised are inside, and the band is at its widest far from rows.
new, targets = drawn(4000)
low_new, high_new = model.predict(new, "quantile", quantiles=[0.05, 0.95]).T
inside = np.mean((low_new < targets) & (targets < high_new))
print(f"{inside:.1%} inside")
assert 0.86 < inside < 0.94
assert -0.5 < t[np.argmax(high - low), 0] < 1.5
