# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""Models of dask arrays and data frames, which need not fit into memory.

    model = mercer.dask.fit(X, y, {"map": {"features": 1024}})
"""
import concurrent.futures

import dask
import numpy as np

from ._api import invalid
from ._model import Model


def _array(name, given):
    """A dask array whose blocks hold whole rows, or None."""
    if given is None:
        return None
    made = given.to_dask_array() if hasattr(given, "to_dask_array") else given
    if not hasattr(made, "blocks") or made.ndim not in (1, 2):
        raise invalid(f"{name} = {type(given).__name__}, expected a dask array or data frame of rows")
    return made if made.ndim == 1 else made.rechunk({1: -1})


def _aligned(name, array, X):
    """In blocks of the same rows as X."""
    if array is None or array.chunks[0] == X.chunks[0]:
        return array
    if np.isnan([*array.chunks[0], *X.chunks[0]]).any():  # of a data frame, say: blocks are all that is known
        if array.numblocks[0] != X.numblocks[0]:
            raise invalid(f"{name} has {array.numblocks[0]} blocks of rows of unknown number, expected {X.numblocks[0]} as X")
        return array
    if array.shape[0] != X.shape[0]:
        raise invalid(f"{name} has {array.shape[0]} rows, expected {X.shape[0]} as X")
    return array.rechunk({0: X.chunks[0]})


def _blocks(arrays):
    """Blocks (X, y) or (X, y, weights) in order; the next is computed while one is used."""
    def part(i):
        return dask.compute(*(None if array is None else array.blocks[i] for array in arrays))

    count = arrays[0].numblocks[0]
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        coming = pool.submit(part, 0)
        for i in range(count):
            block = coming.result()
            if i + 1 < count:
                coming = pool.submit(part, i + 1)
            yield block


def fit(X, y=None, spec=None, weights=None, map=None, context=None):
    """The Model of rows X and targets y, dask arrays or data frames, by dask's current scheduler or client. Two blocks of rows are in memory
    at a time, here, where the model is fitted; a fit passes over the rows a few times, so that X.persist() pays where they are dear."""
    X = _array("X", X)
    arrays = [X, _aligned("y", _array("y", y), X)]
    if weights is not None:
        arrays.append(_aligned("weights", _array("weights", weights), X))
    return Model({} if spec is None else spec, map=map, context=context, source=lambda: _blocks(arrays))
