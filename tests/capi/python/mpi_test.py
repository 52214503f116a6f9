# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""mercer.mpi under mpirun: the model of all rows, the same bits again, sums of tests, and what all processes raise where one fails. The package
is on PYTHONPATH, MERCER_LIBRARY the library. Usage: mpirun -n 3 python3 mpi_test.py"""
import sys

from shared import GAUSSIAN, X, np, refused, y

try:
    from mpi4py import MPI
except ImportError:
    print("SKIPPED: python3-mpi4py is not installed")
    sys.exit(0)

import mercer
import mercer.mpi

comm = MPI.COMM_WORLD
rank, ranks = comm.rank, comm.size
own = slice(0, 0) if rank == 0 and ranks > 1 else slice(400 * (rank - 1) // (ranks - 1), 400 * rank // (ranks - 1)) if ranks > 1 else slice(0, 400)
SPEC = {"precision": "f64", "lambda": 1e-3}
MAP = mercer.Map({**GAUSSIAN, "features": 64})
weights = np.arange(400) % 3.0


def same_bytes(model):
    return len(set(comm.allgather(model.__getstate__()))) == 1


def near(a, b):
    return np.abs(a - b).max() <= 1e-12 * np.abs(b).max()


def blocks(X, Y=None, weights=None):
    return lambda: ((X[i:i + 50], Y[i:i + 50]) if weights is None else (X[i:i + 50], Y[i:i + 50], weights[i:i + 50]) for i in range(0, max(len(X), 1), 50))


def check_models():
    for w in (None, weights):
        mine = None if w is None else w[own]
        shared, again = (mercer.mpi.fit(X[own], y[own], SPEC, mine, MAP) for _ in range(2))
        pulled = mercer.mpi.fit(spec=SPEC, map=MAP, source=blocks(X[own], y[own], mine), comm=comm)
        whole = mercer.Model(SPEC, map=MAP, source=blocks(X, y, w))
        assert same_bytes(shared) and shared.__getstate__() == again.__getstate__()
        assert near(shared.predict(X), whole.predict(X)) and near(pulled.predict(X), whole.predict(X))
    single = mercer.mpi.fit(X, y, SPEC, map=MAP, comm=MPI.COMM_SELF)
    assert near(single.predict(X), mercer.Model(SPEC, map=MAP, source=blocks(X, y)).predict(X))
    components = mercer.mpi.fit(X[own], spec={"model": "kernel_pca", "precision": "f64"}, map=MAP)
    assert same_bytes(components) and components.shape.rows == 400
    assert mercer.mpi.fit(X[own], y[own], {"map": {"features": 32}, "search": False}).shape.features == 32


def check_sums():
    total, numbers = mercer.mpi.Sum(comm), np.full(5, rank + 1.0)
    total(numbers)
    assert (numbers == ranks * (ranks + 1) / 2).all() and (total.sums, total.numbers) == (1, 5) and total.bytes > 0
    refused(ValueError, "expected doubles", lambda: total(np.zeros(3, np.float32)))
    refused(ValueError, "comm = 3", lambda: mercer.mpi.Sum(3))
    spec = {"test": "mmd", "permutations": 50, "bandwidths": [1]}
    sums = mercer.RowsSums(spec, 200, 200, X[:200], X[200:])
    part = slice(200 * rank // ranks, 200 * (rank + 1) // ranks)
    sums.add(0, part.start, X[:200][part])
    sums.add(1, part.start, X[200:][part])
    sums.reduce(total)
    whole = mercer.rows_test(spec, X[:200], X[200:])
    answer = sums.answer()
    assert abs(answer["mmd2"] - whole["mmd2"]) < 1e-14 and answer["p_value"] == whole["p_value"]


def check_failures():
    """In the process that fails what it raised, in others its rank and text."""
    last = ranks - 1

    class Broken(Exception):
        pass

    def breaks(at):
        def opened():
            opened.passes += 1
            if rank == last and opened.passes > at:
                raise Broken("no part-7.csv")
            return blocks(X[own], y[own])()
        opened.passes = 0
        return opened

    for at in (0, 1):
        if rank == last:
            refused(Broken, "no part-7.csv", lambda: mercer.mpi.fit(spec=SPEC, map=MAP, source=breaks(at)))
        else:
            error = refused(mercer.FileError, f"rank {last}: Broken: no part-7.csv", lambda: mercer.mpi.fit(spec=SPEC, map=MAP, source=breaks(at)))
            assert error.status == "MERCER_IO"
    bad = X[own].copy()
    if rank == last:
        bad[5, 1] = np.nan
    refused(mercer.InvalidArgument, "X: row 5, column 1", lambda: mercer.mpi.fit(bad, y[own], SPEC, map=MAP))
    context = mercer.Context()
    if rank == last:
        context.cancel()
    refused(mercer.MercerError, "", lambda: mercer.mpi.fit(X[own], y[own], SPEC, map=MAP, context=context))
    refused(ValueError, "differs from Y", lambda: mercer.mpi.fit(X[own], y[:7] if rank == last else y[own], SPEC, map=MAP))
    if ranks > 1:
        refused(mercer.InvalidArgument, "differ between", lambda: mercer.mpi.fit(X[own], y[own], {**SPEC, "seed": int(rank == last)}, map=MAP))
        said = "rank 0: ValueError: no such file"
        refused(ValueError if rank == 0 else mercer.FileError, said[len("rank 0: ValueError: "):] if rank == 0 else said,
                lambda: mercer.mpi.Sum().agree(ValueError("no such file") if rank == 0 else None))
    assert mercer.mpi.fit(X[own], y[own], SPEC, map=MAP).shape.rows == 400  # nothing is left behind


try:
    check_models()
    check_sums()
    check_failures()
except BaseException:
    import traceback
    traceback.print_exc()
    comm.Abort(1)
