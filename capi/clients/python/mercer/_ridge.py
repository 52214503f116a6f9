# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""Sums over rows of features and targets, and ridge regression from them."""
from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from ._api import call, make, new, whole
from ._arrays import Rows, filled_rows, matrix
from ._context import Context, given_or_new
from ._objects import _Handle, _Stored, handle_of
from ._types import Array, RowsLike


class Statistics(_Stored):
    """Z'Z, Z'Y and sums over rows of features Z and targets Y, which blocks add up and processes merge.

    Parameters
    ----------
    features, outputs : int
    """

    _noun = "statistics"

    def __init__(self, features: int, outputs: int) -> None:
        super().__init__(new("statistics_create", whole("features", features), whole("outputs", outputs)))

    def add(self, Z: RowsLike, Y: RowsLike | None = None, sign: int = 1, context: Context | None = None) -> None:
        """Adds the rows of a block, or takes them away (sign -1)."""
        z, y = Rows(Z, "Z"), Rows(Y, "Y")
        with given_or_new(context).running() as running:
            call("statistics_add", self.handle, whole("sign", sign, -1, 1), z.view, y.view, running)

    def merge(self, other: Any, sign: int = 1) -> None:
        """Adds the rows of another, or takes them away (sign -1)."""
        call("statistics_merge", self.handle, whole("sign", sign, -1, 1), handle_of("other", other, Statistics))

    @property
    def shape(self) -> Any:
        """rows, columns (features) and outputs."""
        return _shape("statistics_shape", self.handle)

    @property
    def sums(self) -> dict[str, Array]:
        """gram (D x D), cross (D x m), sum_z, sum_y and sum_y2, about zero: a dict."""
        shape = self.shape
        D, m = shape.columns, shape.outputs
        made = {name: np.empty(size) for name, size in (("gram", (D, D)), ("cross", (D, m)), ("sum_z", (1, D)), ("sum_y", (1, m)), ("sum_y2", (1, m)))}
        call("statistics_get", self.handle, *map(matrix, made.values()))
        return made

    def replace(self, rows: int, gram: Any, cross: Any, sum_z: Any, sum_y: Any, sum_y2: Any) -> None:
        """Sums over so many rows that were made elsewhere, such as `sums` of others added up, in place of these."""
        parts = [Rows(gram, "gram"), Rows(cross, "cross"), *(Rows(np.reshape(part, (1, -1))) for part in (sum_z, sum_y, sum_y2))]
        call("statistics_set", self.handle, whole("rows", rows), *(part.view for part in parts))


def _shape(function: str, handle: Any) -> Any:
    shape = make("shape")
    call(function, handle, ctypes.byref(shape))
    return shape


class Ridge(_Handle):
    """Ridge regression for every penalty lambda, (Z'Z + n lambda I)^-1 Z'Y, from one eigendecomposition of Statistics.

    Parameters
    ----------
    statistics : Statistics
    center : bool
        Whether features and outputs are centred and an intercept is fitted.
    context : Context, optional
    """

    _noun = "ridge"

    def __init__(self, statistics: Statistics, center: bool = True, context: Context | None = None) -> None:
        with given_or_new(context).running() as running:
            super().__init__(new("ridge_create", handle_of("statistics", statistics, Statistics), int(center), running))

    @property
    def shape(self) -> Any:
        """rows, columns (features) and outputs."""
        return _shape("ridge_shape", self.handle)

    def solve(self, penalty: float) -> tuple[Array, Array]:
        """w (D x m) and intercept (1 x m) of a penalty."""
        shape = self.shape
        w, intercept = np.empty((shape.columns, shape.outputs)), np.empty((1, shape.outputs))
        call("ridge_solve", self.handle, penalty, matrix(w), matrix(intercept))
        return w, intercept

    def error(self, penalty: float, held_out: Statistics | None = None) -> tuple[Array, float]:
        """The mean squared error of each output on held-out Statistics, or by generalised cross-validation; and the degrees of freedom."""
        error, dimension = np.empty((1, self.shape.outputs)), ctypes.c_double()
        held = None if held_out is None else handle_of("held_out", held_out, Statistics)
        call("ridge_error", self.handle, penalty, held, matrix(error), ctypes.byref(dimension))
        return np.asarray(error[0]), dimension.value

    def leverage(self, penalty: float) -> Array:
        """The ridge leverage score of each feature."""
        return filled_rows("ridge_leverage", 1, self.shape.columns, np.float64, self.handle, penalty).reshape(-1)

    def leave_one_out(self, penalty: float, Z: RowsLike, Y: RowsLike, context: Context | None = None) -> Array:
        """The residual of each training row by the fit without it."""
        z, y = Rows(Z, "Z"), Rows(Y, "Y")
        with given_or_new(context).running() as running:
            return filled_rows("ridge_leave_one_out", y.view.n, y.view.d, np.float64, self.handle, penalty, z.view, y.view, running)


def ridge_weights(penalty: float, statistics: Statistics | None = None, Z: RowsLike | None = None, Y: RowsLike | None = None, center: bool = True,
                  context: Context | None = None) -> tuple[Array, Array]:
    """w and intercept of one penalty without a decomposition: of Statistics, or of rows Z and Y that are fewer than features."""
    z, y = Rows(Z, "Z"), Rows(Y, "Y")
    given = None if statistics is None else handle_of("statistics", statistics, Statistics)
    shape = None if statistics is None else statistics.shape
    D, m = (z.view.d, y.view.d) if shape is None else (shape.columns, shape.outputs)
    w, intercept = np.empty((D, m)), np.empty((1, m))
    with given_or_new(context).running() as running:
        call("ridge_weights", given, z.view, y.view, int(center), penalty, running, matrix(w), matrix(intercept))
    return w, intercept
