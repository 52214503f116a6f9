# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""simulated_processes.py: to each of four processes come the bytes of the formula, in the mean; sums take time.
Usage: simulated_processes_test.py BENCH LIBMERCER.so SCRATCH"""
from preamble import printed_by

code, said = printed_by("simulated_processes", "--quick")
if said.startswith("SKIPPED"):
    print(said)
else:
    row = [cell.strip() for cell in next(line for line in said.splitlines() if line.startswith("| 4 | 64 ")).split("|")]
    mean, _ = row[4].split(", ")
    assert code == 0 and mean == row[5] and 0 < float(row[6]) < 0.1, said
    assert "1,000 nodes" in said, said
