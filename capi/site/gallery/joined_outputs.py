# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""
Outputs that help each other
============================

Two outputs that rise and fall together; the second is known for few rows. Fitted jointly, it is learnt from the first where its own targets
are missing.
"""
import matplotlib.pyplot as plt
import mercer
import numpy as np

rng = np.random.default_rng(1)
X = np.sort(rng.uniform(0, 6, (150, 1)), 0)
truth = np.column_stack([np.sin(2 * X[:, 0]), 0.8 * np.sin(2 * X[:, 0]) + 0.1 * X[:, 0]])
Y = truth + 0.1 * rng.normal(size=truth.shape)
Y[40:, 1] = np.nan  # of the second output the first 40 rows are known
Y[-5:, 1] = truth[-5:, 1]

spec, errors = {"map": {"kernel": {"kernel": "gaussian"}, "features": 128}, "lengthscale": 0.4, "lambda": 1e-3, "search": False}, {}
plt.plot(X, truth[:, 1], "k:", label="second output")
plt.plot(X, Y[:, 1], "ok", ms=4)
for name, outputs in ("alone", None), ("joined", {"structure": "given", "matrix": [[1, 0.8], [0.8, 0.7]]}):
    model = mercer.Model({**spec, **({"outputs": outputs} if outputs else {})}, X, Y)
    found = model.predict(X)[:, 1]
    errors[name] = np.sqrt(np.mean((found - truth[:, 1]) ** 2))
    plt.plot(X, found, label=name)
plt.legend()

# %%
print({name: round(error, 2) for name, error in errors.items()})
assert errors["joined"] < 0.5 * errors["alone"]
