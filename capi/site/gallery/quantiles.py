# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""
Quantiles of skewed targets
===========================

The noise is one-sided and grows with the input. Three fits by the quantile loss follow the 10, 50 and 90 % points, which least squares cannot.
"""
import matplotlib.pyplot as plt
import mercer
import numpy as np

rng = np.random.default_rng(1)


def drawn(n):
    X = rng.uniform(0, 4, (n, 1))
    return X, np.sin(2 * X[:, 0]) + 0.3 * X[:, 0] * rng.exponential(size=n)


(X, y), (new, targets), t = drawn(1500), drawn(6000), np.linspace(0, 4, 200)[:, None]
below = {}
plt.plot(X, y, ".", color="lightgray", ms=3)
for tau in (0.1, 0.5, 0.9):
    spec = {"model": "logistic", "loss": "quantile", "tau": tau, "map": {"kernel": {"kernel": "gaussian"}, "features": 64}, "search": False}
    model = mercer.Model({**spec, "lengthscale": 0.5, "lambda": 1e-4}, X, y)
    below[tau] = np.mean(targets < model.predict(new)[:, 0])
    plt.plot(t, model.predict(t), label=f"{tau:.0%}")
plt.legend()

# %%
print({tau: round(share, 3) for tau, share in below.items()})
assert all(abs(share - tau) < 0.04 for tau, share in below.items())
