# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
import mercer
import numpy as np

rng = np.random.default_rng(1)
X = rng.uniform(0, 6, (1000, 2))
y = np.sin(2 * X[:, 0]) * np.cos(X[:, 1]) + 0.1 * rng.normal(size=1000)
model = mercer.Model({"effort": "quick"}, X, y)  # {} searches more, and takes longer
print("honest R^2 of new rows:", round(model.report["score"]["value"], 3))
print("f(1, 2) is about", model.predict([[1.0, 2.0]])[0, 0].round(2), "and was", round(np.sin(2) * np.cos(2), 2))
