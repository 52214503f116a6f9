# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""Models, and the rows of a fit that are not in memory."""
from __future__ import annotations

import ctypes
import itertools
import json
from typing import Any, Iterator, NamedTuple, Sequence

import numpy as np
import numpy.typing as npt

from ._api import call, chosen, encoded, invalid, make, new, parsed, structs, text, warn, whole
from ._arrays import Rows, column, matrix, real, result
from ._context import Context, callback, given_or_new, put, summing
from ._objects import SHORT, Map, _json, _running, _Stored, handle_of
from ._types import Array, RowsLike, Source, Spec, Sum


class Outside(NamedTuple):
    """Of rows that were predicted: how many have an input outside the range of the training rows, how many such inputs there are, in how
    many rows each input is one, and how many predictions were limited to the range of the targets; -1 where a model has no ranges."""

    rows: int
    values: int
    inputs: Array
    predictions_limited: int


class Observations(NamedTuple):
    """Noisy values Y of a derivative of a function at rows X: partial, the order in each input, or None for the function itself; weight > 0,
    such as 1 / variance of the noise, and a number >= 0 for each row."""

    X: RowsLike
    Y: RowsLike
    partial: Sequence[int] | None = None
    weight: float = 1.0
    row_weights: npt.ArrayLike | None = None


def _numbers(name: str, given: Any, dtype: npt.DTypeLike, count: int, each: str) -> Array | None:
    """A contiguous array of so many numbers, or None."""
    if given is None:
        return None
    array: Array = np.ascontiguousarray(real(given, name), dtype)
    if array.shape != (count,):
        raise invalid(f"{name} of shape {array.shape}, expected {count} numbers, one for each {each}")
    return array


def _orders(name: str, given: Any) -> Array:
    """Orders of derivatives, which must be integers."""
    array = real(given, name)
    with np.errstate(invalid="ignore"):
        orders = np.ascontiguousarray(array, np.int32)
    if (orders != array).any():
        raise invalid(f"{name} = {SHORT.repr(given)}, expected integers below 2^31")
    return orders


def _groups(given: Any) -> Array | None:
    """Numbers 0, 1, ... of groups, whose names may be texts or integers that no double holds."""
    if given is None:
        return None
    names = np.asarray(given)
    if names.ndim != 1 and names.shape[1:] != (1,):
        raise invalid(f"groups of shape {names.shape}, expected a group for each row")
    if (names != names).any():
        raise invalid("groups with NaN, expected a group for each row")
    numbers: Array = np.unique(names, return_inverse=True)[1].reshape(-1).astype(np.float64)
    return numbers


def _place(array: Array | None) -> int | None:
    return array.ctypes.data if array is not None and len(array) else None


class _Sets:
    """The array of mercer_observations."""

    def __init__(self, sets: Any) -> None:
        sets = [sets] if isinstance(sets, Observations) else sets
        if not isinstance(sets, (list, tuple)) or not all(isinstance(one, Observations) for one in sets):
            raise invalid(f"sets = {SHORT.repr(sets)}, expected a list of mercer.Observations")
        kind: Any = structs["mercer_observations"]
        self.views, self.kept = (kind * len(sets))(), []
        for view, given in zip(self.views, sets):
            x, y = Rows(given.X), Rows(given.Y, "Y")
            orders = None if given.partial is None else _orders("partial", given.partial)
            partial = _numbers("partial", orders, np.int32, x.view.d, "input")
            weights = _numbers("row_weights", given.row_weights, np.float64, x.view.n, "row")
            view.struct_size, view.weight, view.X, view.Y = ctypes.sizeof(view), given.weight, x.view, y.view
            view.partial, view.row_weights = _place(partial), _place(weights)
            self.kept.append((x, y, partial, weights))


class _Source:
    """The mercer_row_source of a function that opens an iterable of blocks; the first one opened tells the columns."""

    def __init__(self, opened: Source, total: Sum | None, context: Context) -> None:
        if not callable(opened):
            raise invalid(f"source = {SHORT.repr(opened)}, expected a function that opens an iterable of blocks")
        self.opened, self.view = opened, make("row_source")
        self.kept: tuple[Any, ...] = ()
        blocks = self._open()
        first = next(blocks, None)
        if first is None:
            raise invalid("source() gives no block, expected blocks (X, Y) or (X, Y, weights): where there are no rows, one with arrays of no rows")
        self.first: Iterator[Any] | None = itertools.chain([first], blocks)
        self.blocks: Iterator[Any] = iter(())
        x, y, self.view.weighted = first
        self.view.d, self.view.m = x.view.d, y.view.d - self.view.weighted
        self.callbacks = {name: callback(context, "source_" + name, getattr(self, "_" + name)) for name in ("rewind", "next")}
        if total is not None:
            self.callbacks["sum"] = summing(context, total)
        for name, made in self.callbacks.items():
            put(self.view, name, "source_" + name, made)

    def _open(self) -> Iterator[Any]:
        blocks = self.opened()
        if not hasattr(blocks, "__iter__"):
            raise invalid(f"source() = {SHORT.repr(blocks)}, expected an iterable of blocks (X, Y) or (X, Y, weights)")
        return map(self._block, blocks)

    @staticmethod
    def _block(block: Any) -> tuple[Rows, Rows, int]:
        """Rows of X and of Y with a last column of weights if there are any; and whether."""
        if not isinstance(block, (tuple, list)) or len(block) not in (2, 3):
            said = f"{len(block)} parts" if isinstance(block, (tuple, list)) else f"type {type(block).__name__}"
            raise invalid(f"a block of source() of {said}, expected (X, Y) or (X, Y, weights)")
        X, Y, *weights = block
        if weights:
            Y = np.column_stack([*([] if Y is None else [column(Y, "Y")]), *weights])
        return Rows(X), Rows(Y, "Y"), len(weights)

    def _rewind(self) -> None:
        self.blocks, self.first = self.first or self._open(), None

    def _next(self, X: int, Y: int) -> None:
        self.kept = next((block for block in self.blocks if block[0].view.n or block[1].view.n), ())  # no rows would be the end
        for place, rows in zip((X, Y), self.kept[:2]):
            if rows.view.struct_size:
                ctypes.memmove(place, ctypes.byref(rows.view), ctypes.sizeof(rows.view))


class Model(_Stored):
    """A model of a spec, fitted to rows and targets; ``{}`` searches all that it leaves open, and is scored on rows that no choice has seen.

    Parameters
    ----------
    spec : dict or str
        As `mercer.spec.models` makes it, or its JSON.
    X, Y : array_like or sparse matrix
        Rows of inputs and their targets; models without targets take no Y.
    weights : array_like, optional
        A number >= 0 for each row.
    groups : array_like, optional
        For each row a group, a number or text; splits keep groups together.
    map : Map, optional
        In place of the spec's.
    context : Context, optional
        Limits, progress and cancellation of the call.
    source : callable, optional
        Rows that are not in memory, in place of X and Y: ``source()`` opens an iterable of blocks (X, Y) or (X, Y, weights) of some thousand
        rows, as often as the fit reads them; a uniform sample of them is searched.
    sum : callable, optional
        Where several processes share the rows of their sources: ``sum(numbers)`` replaces an array by its sum over all, or returns that, as
        `mercer.mpi.Sum` does. `mercer.mpi.fit` and `mercer.dask.fit` give both.
    sets : list of Observations, optional
        Values and derivatives, in place of X and Y, with map or the spec's.
    """

    _noun = "model"

    def __init__(self, spec: Spec, X: RowsLike | None = None, Y: RowsLike | None = None, weights: npt.ArrayLike | None = None,
                 groups: npt.ArrayLike | None = None, map: Map | None = None, context: Context | None = None, *, source: Source | None = None,
                 sum: Sum | None = None, sets: Sequence[Observations] | Observations | None = None) -> None:
        data, x, y, g, context = make("data"), Rows(X), Rows(Y, "Y"), Rows(_groups(groups), "groups"), given_or_new(context)
        data.X, data.Y, data.groups = x.view, y.view, g.view
        if source is not None and weights is not None:
            raise invalid("weights with source, expected them in its blocks: (X, Y, weights)")
        weights = _numbers("weights", weights, np.float64, x.view.n, "row")
        data.weights = _place(weights)
        if map is not None:
            data.map = handle_of("map", map, Map)
        if source is not None:
            blocks = _Source(source, sum, context)
            data.source = ctypes.addressof(blocks.view)
        elif sum is not None:
            raise invalid("sum without source, expected both: it adds up what processes found in rows of their own")
        if sets is not None:
            observed = _Sets(sets)
            data.sets, data.set_count = ctypes.addressof(observed.views), len(observed.views)
        with context.running() as running:
            super().__init__(new("model_fit", _json(spec), ctypes.byref(data), running))
        for said in self.report.get("warnings", ()):
            warn(said)

    def update(self, X: RowsLike, Y: RowsLike | None, weights: npt.ArrayLike | None = None, *, decay: float = 1.0, remove: bool = False,
               context: Context | None = None) -> Model:
        """A new model, of the rows of this one, whose spec says {"keep": "sums"}, and of these. See mercer_model_update in mercer/model.h.

        Parameters
        ----------
        X, Y, weights
            As of Model.
        decay : float
            In (0, 1], a factor of the weights of the rows before.
        remove : bool
            Take these rows away instead.
        context : Context, optional
        """
        data, x, y, context = make("data"), Rows(X), Rows(Y, "Y"), given_or_new(context)
        data.X, data.Y = x.view, y.view
        weights = _numbers("weights", weights, np.float64, x.view.n, "row")
        data.weights = _place(weights)
        with context.running() as running:
            return Model._of(new("model_update", self.handle, _json({"decay": decay, "remove": remove}), ctypes.byref(data), running))

    @property
    def spec(self) -> dict[str, Any]:
        """In canonical form, as a dict, with what a search chose."""
        return parsed(text("model_text", self.handle, b"spec"))

    @property
    def report(self) -> dict[str, Any]:
        """What a search did, and how far the model can be trusted."""
        return parsed(text("model_text", self.handle, b"report"))

    @property
    def norms(self) -> Array:
        """Of each output in the kernel's space, of a linear model: an array."""
        return np.array(json.loads(text("model_text", self.handle, b"norms"))["norms"])

    @property
    def preparation(self) -> dict[str, Any]:
        """What inputs and scores go through: ranges, curves, scales, limits, as "Reports" of the guide says."""
        return parsed(text("model_text", self.handle, b"preparation"))

    @property
    def numbers(self) -> dict[str, Array]:
        """What the map keeps beside its spec, such as "landmarks": a dict of arrays."""
        kept = json.loads(text("model_text", self.handle, b"numbers"))
        return {name: np.array(one["values"]).reshape(np.array(one["shape"], int)) for name, one in kept.items()}

    @property
    def metadata(self) -> str:
        """A text that is kept with the model and its file, such as names of columns and classes."""
        return text("model_text", self.handle, b"metadata")

    @metadata.setter
    def metadata(self, words: str) -> None:
        call("model_set_metadata", self.handle, encoded("metadata", words))

    @property
    def shape(self) -> Any:
        """rows, inputs, outputs, features, penalty, has_probabilities, ..."""
        info = make("model_info")
        call("model_shape", self.handle, ctypes.byref(info))
        return info

    @property
    def map(self) -> Map:
        """The model's features, a Map: it reads prepared rows, which predict(X, "prepared") gives."""
        return Map._of(new("model_map", self.handle))

    @property
    def weights(self) -> tuple[Array, Array]:
        """w and intercept of a linear model, from features of prepared inputs to transformed targets: D x m, of a complex map 2 D x m,
        Re w and -Im w in turn, and 1 x m. Of a map of several outputs: mercer_model_weights in mercer/model.h."""
        info = self.shape
        w, intercept = np.empty((info.weight_rows, info.outputs)), np.empty((1, info.outputs))
        call("model_weights", self.handle, matrix(w), matrix(intercept))
        return w, intercept

    def predict(self, X: RowsLike, what: str = "value", quantiles: Sequence[float] = (), partials: Sequence[Sequence[int]] = (), samples: int = 0,
                seed: int = 0, context: Context | None = None, *, extrapolation: str = "default",
                return_outside: bool = False) -> Any:
        """Predictions, a row for each row of X.

        Parameters
        ----------
        X : array_like or sparse matrix
        what : str
            "value", "class", "probability", "latent_mean", "latent_variance", "predictive_variance", "quantile", "sample", "gradient",
            "partials", ... as in mercer/model.h.
        quantiles : sequence of float
            Levels between 0 and 1 of "quantile".
        partials : sequence of sequences of int
            Of "partials": for each the order in each input.
        samples, seed : int
            How many draws "sample" makes, and of which seed.
        context : Context, optional
        extrapolation : str
            What is done with inputs outside the range of the training rows: "default" (as the model was fitted), "clip", "free" or "refuse".
        return_outside : bool
            Return a pair, whose second is an Outside that counts these.
        """
        x, shape, options = Rows(X), self.shape, make("predict_options")
        levels, orders = np.ascontiguousarray(real(quantiles, "quantiles"), np.float64).ravel(), _orders("partials", partials)
        if orders.size and orders.shape[-1] != shape.inputs:
            raise invalid(f"partials of shape {orders.shape}, expected lists of {shape.inputs} orders, one for each input")
        orders = orders.reshape(-1, shape.inputs)
        options.extrapolation, options.sample_count, options.seed = \
            chosen("extrapolation", "extrapolation", extrapolation), whole("samples", samples), whole("seed", seed, 0, 2**64 - 1)
        options.quantile_count, options.quantiles = len(levels), _place(levels)
        options.partial_count, options.partials = len(orders), _place(orders)
        met, inputs = np.zeros(3, np.int64), np.zeros(shape.inputs, np.int64)
        options.rows_outside, options.values_outside, options.predictions_limited = (met[i:].ctypes.data for i in range(3))
        options.inputs_outside = inputs.ctypes.data
        for asked, name, value, given in (("quantile", "quantiles", quantiles, levels.size), ("sample", "samples", samples, samples),
                                          ("partials", "partials", partials, orders.size)):
            if (what == asked) != (given > 0):
                raise invalid(f'what = "{what}" with {name} = {SHORT.repr(value)}, expected {name} with what = "{asked}" alone')
        columns, word = ctypes.c_int64(), encoded("what", what)
        options.columns = ctypes.addressof(columns)
        call("model_predict", self.handle, x.view, word, ctypes.byref(options), None, matrix(None))  # asks for the columns alone
        out = result(None, x.view.n, columns.value, np.float64)
        with _running(context, x.view.n * shape.features) as running:
            call("model_predict", self.handle, x.view, word, ctypes.byref(options), running, matrix(out))
        return (out, Outside(int(met[0]), int(met[1]), inputs, int(met[2]))) if return_outside else out
