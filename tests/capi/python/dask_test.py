# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""mercer.dask: the model of blocks of dask arrays and data frames, by threads and by a client of workers. The package is on PYTHONPATH,
MERCER_LIBRARY the library. Usage: dask_test.py"""
import sys

from shared import GAUSSIAN, X, np, refused, y

try:
    import dask
    import dask.array as da
except ImportError:
    print("SKIPPED: python3-dask is not installed")
    sys.exit(0)

import mercer
import mercer.dask

SPEC = {"precision": "f64", "lambda": 1e-3}
MAP = mercer.Map({**GAUSSIAN, "features": 64})
SIZES = (150, 90, 160)
weights = np.arange(400) % 3.0


def blocks(*arrays):
    ends = np.cumsum(SIZES)
    return lambda: (tuple(array[end - size:end] for array in arrays) for size, end in zip(SIZES, ends))


def same(model, *arrays):
    return model.__getstate__() == mercer.Model(SPEC, map=MAP, source=blocks(*arrays)).__getstate__()


x, t, w = da.from_array(X, chunks=(SIZES, (2, 1))), da.from_array(y, chunks=70), da.from_array(weights, chunks=400)
assert same(mercer.dask.fit(x, t, SPEC, map=MAP), X, y)
assert same(mercer.dask.fit(x, t[:, None], SPEC, w, MAP), X, y, weights)
with dask.config.set(scheduler="synchronous"):
    assert same(mercer.dask.fit(x, t, SPEC, map=MAP), X, y)
components = mercer.dask.fit(x, spec={"model": "kernel_pca"}, map=MAP)
assert components.shape.rows == 400
assert mercer.dask.fit(x, t, {"map": {"features": 32}, "search": False}).shape.features == 32

# Rows of unknown number, as a filter leaves them: blocks go with blocks.
kept = x[:, 0] > 0
some = mercer.dask.fit(x.rechunk({1: -1})[kept], da.from_array(y, chunks=(SIZES,))[kept], SPEC, map=MAP)
keeps = X[:, 0] > 0
few = mercer.Model(SPEC, map=MAP, source=lambda: ((a[keep], b[keep]) for a, b, keep in blocks(X, y, keeps)()))
assert some.__getstate__() == few.__getstate__()

# Never more than a few blocks at a time.
alive, most = set(), 0


def block(i):
    global most
    alive.add(i)
    most = max(most, len(alive))
    return np.random.default_rng(i).normal(size=(100, 3))


def used(model_rows, block_info=None):
    alive.discard(block_info[0]["chunk-location"][0])
    return model_rows


made = da.concatenate([da.from_delayed(dask.delayed(block)(i), (100, 3), float) for i in range(40)])
model = mercer.dask.fit(made.map_blocks(used, dtype=float), made.sum(axis=1), SPEC, map=MAP)
assert model.shape.rows == 4000 and most <= 4, most

refused(ValueError, "y has 399 rows", lambda: mercer.dask.fit(x, t[:399], SPEC, map=MAP))
refused(ValueError, "X = ndarray", lambda: mercer.dask.fit(X, y, SPEC, map=MAP))
refused(ValueError, "unknown number", lambda: mercer.dask.fit(x.rechunk({1: -1})[kept], t, SPEC, map=MAP))
bad = X.copy()
bad[170, 2] = np.nan
refused(mercer.InvalidArgument, "X: row 20, column 2", lambda: mercer.dask.fit(da.from_array(bad, chunks=(SIZES, 3)), t, SPEC, map=MAP))


def fails(rows):
    raise ZeroDivisionError("of a block")


refused(ZeroDivisionError, "of a block", lambda: mercer.dask.fit(x.map_blocks(fails, dtype=float, meta=np.empty((0, 0))), t, SPEC, map=MAP))

try:
    import dask.dataframe as dd
    import pandas as pd
    frame = dd.from_pandas(pd.DataFrame(np.column_stack([X, y]), columns=list("abcy")), npartitions=3)
    assert mercer.dask.fit(frame[["a", "b", "c"]], frame["y"], SPEC, map=MAP).shape.rows == 400
except ImportError:
    print("without data frames: python3-pandas is not installed")
try:
    from distributed import Client
except ImportError:
    print("without workers: python3-distributed is not installed")
else:
    with Client(n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None) as client:
        assert same(mercer.dask.fit(client.persist(x), t, SPEC, map=MAP), X, y)
