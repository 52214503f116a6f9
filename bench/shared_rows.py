# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""Seconds of a ridge fit on rows that processes share, and the bytes that come to each. MERCER_LIBRARY is the library.
Usage: OPENBLAS_NUM_THREADS=1 mpirun -n P python3 shared_rows.py [ROWS INPUTS FEATURES]"""
import sys
import time

import numpy as np
from mpi4py import MPI

import mercer.mpi

rows, inputs, features = map(int, sys.argv[1:]) if len(sys.argv) > 1 else (10**6, 20, 1024)
comm = MPI.COMM_WORLD
own = rows * (comm.rank + 1) // comm.size - rows * comm.rank // comm.size
X = np.random.default_rng(comm.rank).normal(size=(own, inputs)).astype(np.float32)
y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2]
spec = {"map": {"kernel": {"kernel": "gaussian", "lengthscale": 4}, "features": features}, "search": False, "lambda": 1e-4}

total = mercer.mpi.Sum(comm)
source = lambda: ((X[i:i + 4096], y[i:i + 4096]) for i in range(0, own, 4096))
comm.Barrier()
clock, processor = time.time(), time.process_time()
model = mercer.Model(spec, source=source, sum=total, context=mercer.Context(threads=1))
used = comm.allreduce(time.process_time() - processor, MPI.MAX)
comm.Barrier()
if comm.rank == 0:
    print(f"{comm.size} processes: {time.time() - clock:.1f} s, {used:.1f} s of a processor in each, {total.bytes:,} bytes to each")
