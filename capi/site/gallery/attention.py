# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""
Attention without a square
==========================

Softmax attention of 1,024 tokens by features: the error falls with their number, and faster by the map that is optimised for these tokens.
"""
import matplotlib.pyplot as plt
import mercer
import numpy as np

rng = np.random.default_rng(1)
Q, K, V = rng.normal(size=(3, 1024, 32)) * np.array([0.4, 0.4, 1])[:, None, None]
weights = np.exp(Q @ K.T / 32**0.5)
exact = weights @ V / weights.sum(1, keepdims=True)
softmax = {"kernel": "exponential", "lengthscale": 32**0.25}
positive = {"map": "positive", "projection": "orthogonal", "form": "hyperbolic", "stabilize": True}
sketched = {"map": "maclaurin", "allocation": "optimized", "exact_linear": True, "sketch": {"map": "tensor_srht", "kind": "stacked"}}

sizes, errors = [64, 128, 256, 512, 1024], {}
for name, spec in ("positive", positive), ("maclaurin, optimised", sketched):
    errors[name] = []
    for features in sizes:
        learnt = spec["map"] == "maclaurin"  # from queries and keys; it has a constant column besides
        spec = {**spec, "kernel": softmax, "inputs": 32, "features": features + learnt}
        rows = np.vstack([Q, K]) if learnt else None
        answer = mercer.attend(mercer.Map(spec, rows), Q, K, V)
        errors[name].append(np.linalg.norm(answer - exact) / np.linalg.norm(exact))
    plt.loglog(sizes, errors[name], "o-", label=name)
plt.xlabel("features")
plt.ylabel("relative error of the answers")
plt.legend()

# %%
print({name: np.round(values, 3).tolist() for name, values in errors.items()})
assert all(values[-1] < 0.5 * values[0] for values in errors.values())
assert errors["maclaurin, optimised"][-1] < errors["positive"][-1]
