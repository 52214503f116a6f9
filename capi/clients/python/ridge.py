# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""A kernel approximated by random features, a model, its file, what an error says. Usage: ridge.py [FILE], with the package
`mercer` installed or on PYTHONPATH."""
import sys

try:
    import numpy as np
except ImportError:
    print("SKIPPED: python3-numpy is not installed")
    sys.exit(0)

import mercer

# Multiples of 1/512 in [-1, 1), so that targets have the same bits in every language.
state, numbers = 1, []
for _ in range(6000):
    state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
    numbers.append((state >> 54) / 512 - 1)
X = np.reshape(numbers, (2000, 3))
y = X[:, 0] * X[:, 0] + X[:, 1] * X[:, 2]

features = {"kernel": mercer.spec.kernels.gaussian(lengthscale=0.7), "features": 512}
map = mercer.Map(mercer.spec.maps.auto(inputs=3, seed=42, **features))
Z = map.transform(X[:50])
error = np.abs(Z @ Z.T - mercer.Kernel(map.spec["kernel"])(X[:50])).max()

path = sys.argv[1] if len(sys.argv) > 1 else "ridge_python.mercer"
# {} would search map, kernel, lengthscales and lambda.
fit = mercer.spec.models.ridge(map=features, search=False, lambda_=1e-6)
mercer.Model(fit, X, y).save(path)
f = mercer.Model.load(path).predict(X)[:, 0]
hash = 14695981039346656037  # FNV-1a of the bytes of predictions; clients in other languages print the same
for byte in f.tobytes():
    hash = (hash ^ byte) * 1099511628211 % 2**64
print(f"predictions {hash:016x}")
relative = np.linalg.norm(y - f) / np.linalg.norm(y)
print(f"relative error {relative:.2e}, largest kernel error {error:.3f}")
try:
    mercer.Map({"kernel": {"kernel": "gaussian"}, "inputs": -3, "features": 8})
except mercer.InvalidArgument as refused:
    print("an error says:", refused)
# Six standard deviations of the pair form, which is at most sqrt(1.5/D): 2500 pairs stay below.
sys.exit(0 if relative < 0.02 and error < 6 * np.sqrt(1.5 / 512) else 1)
