# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""Arrays of NumPy and matrices of SciPy as views that C reads and writes, without copies where their layout allows it."""
from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ._api import call, constants, invalid, make
from ._types import Array

NUMBERS = {np.dtype(name): constants["MERCER_NUMBER_" + number] for name, number in
           {"float32": "F32", "float64": "F64", "complex64": "C32", "complex128": "C64", "int32": "I32"}.items()}
INDICES = {np.dtype(np.int32): constants["MERCER_INDEX_I32"], np.dtype(np.int64): constants["MERCER_INDEX_I64"]}


def is_sparse(X: Any) -> bool:
    return hasattr(X, "tocsr") and hasattr(X, "nnz")


def real(X: Any, name: str = "X") -> Array:
    """An array of real numbers, none of which is masked. name: of the argument, for errors."""
    if np.ma.is_masked(X):  # type: ignore[no-untyped-call]
        raise invalid(f"{name} is an array with values that are masked, expected numbers: fill them, or leave their rows out")
    array = np.asarray(X)
    if array.dtype.kind == "O" and hasattr(X, "iloc") and array.ndim == 2:  # of pandas: types with missing values, or texts
        texts = [str(label) for label, kind in zip(X.columns, X.dtypes) if kind.kind not in "biuf"]
        if texts:
            raise invalid(f"{name} with columns that are no numbers, {', '.join(texts)}, expected numbers: pandas.get_dummies makes indicators of levels")
        array = X.to_numpy(np.float64, na_value=np.nan)
    if array.dtype.kind not in "biuf":
        raise invalid(f"{name} is an array of {array.dtype}, expected real numbers")
    return array


def column(X: Any, name: str = "X") -> Array:
    """An array whose vectors are columns."""
    array = real(X, name)
    return array[:, None] if array.ndim == 1 else array


def dense(X: Any, name: str = "X") -> Array:
    """X itself where its rows are contiguous numbers that the library reads, else a copy."""
    array = column(X, name)
    if array.ndim != 2:
        raise invalid(f"{name} is an array of {array.ndim} dimensions, expected rows of numbers")
    if array.dtype not in (np.float32, np.float64):
        array = array.astype(np.float64)
    return array if apart(array) else np.array(array, order="C")


def apart(X: Array) -> bool:
    """Whether C can walk the array: numbers of a row side by side, each row after the one before, aligned."""
    n, d = X.shape
    fits = d <= 1 or X.strides[1] == X.itemsize
    return X.flags.aligned and fits and (n <= 1 or (X.strides[0] >= d * X.itemsize and X.strides[0] % X.itemsize == 0))


def filled_rows(function: str, rows: int, columns: int, dtype: npt.DTypeLike, *arguments: Any) -> Array:
    """The array that mercer_FUNCTION(arguments..., matrix) fills."""
    out = np.empty((rows, columns), dtype)
    call(function, *arguments, matrix(out))
    return out


def step(X: Array) -> int:
    return max(X.strides[0] // X.itemsize, X.shape[1]) if len(X) > 1 else X.shape[1]


class Rows:
    """A view of rows; keeps what it points to."""

    def __init__(self, X: Any, name: str = "X") -> None:
        self.view = make("rows")
        if X is None:
            self.view.struct_size, self.values = 0, np.empty(0)
            return
        self.array = array = X.tocsr() if is_sparse(X) else dense(X, name)
        values = real(array.data, name) if is_sparse(X) else array
        if values.dtype not in (np.float32, np.float64):
            values = values.astype(np.float64)
        self.values = values
        self.view.n, self.view.d = array.shape
        self.view.number = NUMBERS[values.dtype]
        if not is_sparse(X):
            self.view.ld, self.view.values = step(array), values.ctypes.data
            return
        index = np.dtype(np.int64) if np.int64 in (array.indptr.dtype, array.indices.dtype) else np.dtype(np.int32)
        values, self.offsets, self.indices = (np.ascontiguousarray(a, kind) for a, kind in
                                              ((values, values.dtype), (array.indptr, index), (array.indices, index)))
        if len(self.indices) != len(values) or len(self.offsets) != array.shape[0] + 1:
            raise invalid(f"sparse rows of {len(values)} numbers, {len(self.indices)} indices and {len(self.offsets)} offsets, "
                          f"expected as many indices as numbers and {array.shape[0] + 1} offsets")
        self.values = values
        self.view.index, self.view.nnz = INDICES[index], len(values)
        self.view.values, self.view.offsets, self.view.indices = (a.ctypes.data for a in (values, self.offsets, self.indices))

    @property
    def dtype(self) -> Any:
        return self.values.dtype


def matrix(Z: Array | None) -> Any:
    """A view that C writes to; None: an absent one."""
    view = make("matrix")
    if Z is None:
        view.struct_size = 0
        return view
    view.number, view.data = NUMBERS[Z.dtype], Z.ctypes.data
    view.rows, view.cols = Z.shape
    view.ld = step(Z)
    return view


def result(out: Array | None, rows: int, columns: int, dtype: npt.DTypeLike) -> Array:
    """`out` where it is given and fits, else a new array, whose page faults can cost more than the features of few inputs."""
    if out is None:
        return np.empty((rows, columns), dtype)
    if not isinstance(out, np.ndarray):
        raise invalid(f"out is a {type(out).__name__}, expected an array of NumPy")
    if out.shape != (rows, columns) or out.dtype != dtype:
        raise invalid(f"out is a {out.dtype} array of shape {out.shape}, expected rows of {np.dtype(dtype)}, {rows} x {columns}")
    if not out.flags.writeable:
        raise invalid("out is read-only, expected an array that may be written")
    if not apart(out):
        raise invalid(f"out has strides {out.strides}, expected aligned rows of contiguous numbers that ascend and do not overlap")
    return out
