# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""Rents of 1,200 made-up flats: the same file on every machine with this NumPy."""
import numpy as np

rng = np.random.default_rng(1)
size = rng.uniform(20, 140, 1200)
age = rng.integers(0, 100, 1200)
distance = rng.exponential(4, 1200)
floor = rng.integers(0, 9, 1200)
rent = 200 + 9 * size * np.exp(-distance / 8) + 3 * size + 0.04 * (age - 50) ** 2 + rng.normal(0, 60, 1200)
table = np.column_stack([size, age, distance, floor, rent])
for name, rows in ("flats.csv", table[:1000]), ("new.csv", table[1000:]):
    np.savetxt(name, rows, "%.2f", delimiter=",", header="size,age,distance,floor,rent", comments="")
