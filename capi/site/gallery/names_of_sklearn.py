# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""
scikit-learn's names
====================

Another import is all that changes: the same class, the same parameters, an estimate of the same kernel with less error.
"""
import matplotlib.pyplot as plt
import numpy as np
from mercer.kernel_approximation import RBFSampler as Ours
from sklearn.kernel_approximation import RBFSampler as Theirs
from sklearn.metrics.pairwise import rbf_kernel

X = np.random.default_rng(1).normal(size=(300, 10))
K, sizes = rbf_kernel(X, gamma=0.05), [64, 256, 1024]
errors = {}
for name, sampler in ("sklearn.kernel_approximation", Theirs), ("mercer.kernel_approximation", Ours):
    Z = [[sampler(gamma=0.05, n_components=D, random_state=seed).fit_transform(X) for seed in range(20)] for D in sizes]
    errors[name] = [np.mean([np.linalg.norm(z @ z.T - K) for z in one]) / np.linalg.norm(K) for one in Z]
    plt.loglog(sizes, errors[name], "o-", label=name)
plt.xlabel("n_components")
plt.ylabel("relative kernel error of RBFSampler")
plt.legend()

# %%
print({name: np.round(values, 3).tolist() for name, values in errors.items()})
assert all(ours < theirs for theirs, ours in zip(*errors.values()))
