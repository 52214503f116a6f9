# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""
Rows that go on coming
======================

A model that keeps its sums takes block after block, without the rows before. The error falls, and the last model is the one of all rows at once.
"""
import matplotlib.pyplot as plt
import mercer
import numpy as np

rng = np.random.default_rng(1)


def drawn(n):
    X = rng.uniform(-1, 1, (n, 4))
    return X, np.sin(2 * X[:, 0]) * X[:, 1] + X[:, 2] ** 2 + 0.1 * rng.normal(size=n)


blocks, (X_test, y_test) = [drawn(200) for _ in range(15)], drawn(2000)
spec = {"keep": "sums", "lambda": 1e-6, "lengthscale": 1.5, "search": False, "map": {"kernel": {"kernel": "gaussian"}, "features": 512},
        "prepare": {"standardize": False}}
model, errors = mercer.Model(spec, *blocks[0]), []
for block in blocks[1:] + [None]:
    errors.append(np.mean((model.predict(X_test)[:, 0] - y_test) ** 2))
    model = model.update(*block) if block else model
plt.semilogy(200 * np.arange(1, 16), errors, "o-")
plt.axhline(0.01, color="gray", ls=":", label="noise")
plt.xlabel("rows so far")
plt.ylabel("squared error of new rows")
plt.legend()

# %%
at_once = mercer.Model(spec, *(np.concatenate(parts) for parts in zip(*blocks)))
difference = np.abs(at_once.predict(X_test, extrapolation="free") - model.predict(X_test, extrapolation="free")).max()
print(f"from {errors[0]:.3f} to {errors[-1]:.4f}; from the model of all rows at once {difference:.0e}")
assert errors[-1] - 0.01 < 0.3 * (errors[0] - 0.01) and difference < 1e-7
