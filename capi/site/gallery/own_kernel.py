# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""
A kernel of your own
====================

Words are compared by the pairs of letters that they share, in a function of a few lines; kernel PCA by that kernel puts words of one kind together.
"""
import matplotlib.pyplot as plt
import mercer
import numpy as np

words = "walking talking running jumping reading writing nation station relation vacation creation location kindness darkness illness fitness".split()
kinds = np.repeat([0, 1, 2], [6, 6, 4])
pairs = [{word[i:i + 2] for i in range(len(word) - 1)} for word in words]


def shared(X, Y):
    return np.array([[len(pairs[i] & pairs[j]) for j in Y[:, 0].astype(int)] for i in X[:, 0].astype(int)], float)


own = mercer.Custom("letters", shared, inputs=1)
number = np.arange(len(words), dtype=float)[:, None]  # rows number the words
model = mercer.Model({"model": "kernel_pca", "components": 2, "map": {"map": "exact", "kernel": own.kernel}}, number)
T = model.predict(number)
plt.scatter(*T.T, c=kinds, cmap="brg")
for word, place in zip(words, T):
    plt.annotate(word, place, textcoords="offset points", xytext=(3, 3), fontsize=8)

# %%
# The word nearest to each is one of its kind.
distances = np.linalg.norm(T[:, None] - T[None], axis=2) + 1e9 * np.eye(len(words))
right = np.mean(kinds[distances.argmin(1)] == kinds)
print(f"{right:.0%} have a neighbour of their kind")
assert right > 0.9
