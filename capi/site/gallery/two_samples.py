# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""
Have the rows changed?
======================

A tenth of the new rows lies where no old row is. The p-value says that the samples differ, the witnesses show where.
"""
import matplotlib.pyplot as plt
import mercer
import numpy as np

rng = np.random.default_rng(1)
old, new = rng.normal(size=(1500, 2)), rng.normal(size=(500, 2))
new[450:] = [2.5, 2.5] + 0.3 * rng.normal(size=(50, 2))
answer = mercer.rows_test({"test": "mmd", "witnesses": 25}, new, old)
witnesses = new[answer["x_rows"]]

plt.plot(*old.T, ".", color="lightgray", label="old rows")
plt.plot(*new.T, ".", ms=4, label="new rows")
plt.plot(*witnesses.T, "o", mfc="none", color="C3", label="rows that are least like the old ones")
plt.title(f"p = {answer['p_value']:.3f}")
plt.legend()

# %%
# Halves of the old rows do not differ; the witnesses are rows of the tenth that does.
same = mercer.rows_test({"test": "mmd"}, old[:750], old[750:])
print(f"p = {answer['p_value']:.3f} of old and new, {same['p_value']:.3f} of two halves of the old")
assert answer["p_value"] < 0.01 < 0.05 < same["p_value"]
assert np.mean(np.linalg.norm(witnesses - 2.5, axis=1) < 1.2) > 0.8
