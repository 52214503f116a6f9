# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""Models, and the rows of a fit that are not in memory."""
import collections
import ctypes
import itertools
import json

import numpy as np

from ._api import call, chosen, encoded, invalid, make, new, structs, text, whole
from ._arrays import Rows, column, matrix, real, result
from ._context import callback, given_or_new, put, summing
from ._objects import SHORT, Map, _json, _running, _Stored, handle_of

Outside = collections.namedtuple("Outside", "rows values inputs predictions_limited")
Outside.__doc__ = """Of rows that were predicted: how many have an input outside the range of the training rows, how many such inputs there are, in how
many rows each input is one, and how many predictions were limited to the range of the targets; -1 where a model has no ranges."""


Observations = collections.namedtuple("Observations", "X Y partial weight row_weights", defaults=(None, 1.0, None))
Observations.__doc__ = """Noisy values Y of a derivative of a function at rows X: partial, the order in each input, or None for the function itself; weight > 0,
such as 1 / variance of the noise, and a number >= 0 for each row."""


def _numbers(name, given, dtype, count, each):
    """A contiguous array of so many numbers, or None."""
    if given is None:
        return None
    array = np.ascontiguousarray(real(given), dtype)
    if array.shape != (count,):
        raise invalid(f"{name} of shape {array.shape}, expected {count} numbers, one for each {each}")
    return array


def _orders(name, given):
    """Orders of derivatives, which must be integers."""
    array = real(given)
    with np.errstate(invalid="ignore"):
        orders = np.ascontiguousarray(array, np.int32)
    if (orders != array).any():
        raise invalid(f"{name} = {SHORT.repr(given)}, expected integers below 2^31")
    return orders


def _groups(given):
    """Numbers 0, 1, ... of groups, whose names may be texts or integers that no double holds."""
    if given is None:
        return None
    names = np.asarray(given)
    if names.ndim != 1 and names.shape[1:] != (1,):
        raise invalid(f"groups of shape {names.shape}, expected a group for each row")
    if (names != names).any():
        raise invalid("groups with NaN, expected a group for each row")
    return np.unique(names, return_inverse=True)[1].reshape(-1).astype(np.float64)


def _place(array):
    return array.ctypes.data if array is not None and len(array) else None


class _Sets:
    """The array of mercer_observations."""

    def __init__(self, sets):
        sets = [sets] if isinstance(sets, Observations) else sets
        if not isinstance(sets, (list, tuple)) or not all(isinstance(one, Observations) for one in sets):
            raise invalid(f"sets = {SHORT.repr(sets)}, expected a list of mercer.Observations")
        self.views, self.kept = (structs["mercer_observations"] * len(sets))(), []
        for view, given in zip(self.views, sets):
            x, y = Rows(given.X), Rows(given.Y)
            orders = None if given.partial is None else _orders("partial", given.partial)
            partial = _numbers("partial", orders, np.int32, x.view.d, "input")
            weights = _numbers("row_weights", given.row_weights, np.float64, x.view.n, "row")
            view.struct_size, view.weight, view.X, view.Y = ctypes.sizeof(view), given.weight, x.view, y.view
            view.partial, view.row_weights = _place(partial), _place(weights)
            self.kept.append((x, y, partial, weights))


class _Source:
    """The mercer_row_source of a function that opens an iterable of blocks; the first one opened tells the columns."""

    def __init__(self, opened, total, context):
        if not callable(opened):
            raise invalid(f"source = {SHORT.repr(opened)}, expected a function that opens an iterable of blocks")
        self.opened, self.kept, self.view = opened, None, make("row_source")
        blocks = self._open()
        first = next(blocks, None)
        if first is None:
            raise invalid("source() gives no block, expected blocks (X, Y) or (X, Y, weights): where there are no rows, one with arrays of no rows")
        self.first, self.blocks = itertools.chain([first], blocks), None
        x, y, self.view.weighted = first
        self.view.d, self.view.m = x.view.d, y.view.d - self.view.weighted
        self.callbacks = {name: callback(context, "source_" + name, getattr(self, "_" + name)) for name in ("rewind", "next")}
        if total is not None:
            self.callbacks["sum"] = summing(context, total)
        for name, made in self.callbacks.items():
            put(self.view, name, "source_" + name, made)

    def _open(self):
        blocks = self.opened()
        if not hasattr(blocks, "__iter__"):
            raise invalid(f"source() = {SHORT.repr(blocks)}, expected an iterable of blocks (X, Y) or (X, Y, weights)")
        return map(self._block, blocks)

    @staticmethod
    def _block(block):
        """Rows of X and of Y with a last column of weights if there are any; and whether."""
        if not isinstance(block, (tuple, list)) or len(block) not in (2, 3):
            said = f"{len(block)} parts" if isinstance(block, (tuple, list)) else f"type {type(block).__name__}"
            raise invalid(f"a block of source() of {said}, expected (X, Y) or (X, Y, weights)")
        X, Y, *weights = block
        if weights:
            Y = np.column_stack([*([] if Y is None else [column(Y)]), *weights])
        return Rows(X), Rows(Y), len(weights)

    def _rewind(self):
        self.blocks, self.first = self.first or self._open(), None

    def _next(self, X, Y):
        self.kept = next((block for block in self.blocks if block[0].view.n or block[1].view.n), None)  # no rows would be the end
        for place, rows in zip((X, Y), self.kept or ()):
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
        Values and derivatives, in place of X and Y, with map.
    """

    _noun = "model"

    def __init__(self, spec, X=None, Y=None, weights=None, groups=None, map=None, context=None, *, source=None, sum=None, sets=None):
        data, x, y, g, context = make("data"), Rows(X), Rows(Y), Rows(_groups(groups)), given_or_new(context)
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

    def update(self, X, Y, weights=None, *, decay=1.0, remove=False, context=None):
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
        data, x, y, context = make("data"), Rows(X), Rows(Y), given_or_new(context)
        data.X, data.Y = x.view, y.view
        weights = _numbers("weights", weights, np.float64, x.view.n, "row")
        data.weights = _place(weights)
        with context.running() as running:
            return Model._of(new("model_update", self.handle, _json({"decay": decay, "remove": remove}), ctypes.byref(data), running))

    @property
    def spec(self):
        """In canonical form, as a dict, with what a search chose."""
        return json.loads(text("model_text", self.handle, b"spec"))

    @property
    def report(self):
        """What a search did, and how far the model can be trusted."""
        return json.loads(text("model_text", self.handle, b"report"))

    @property
    def norms(self):
        """Of each output in the kernel's space, of a linear model: an array."""
        return np.array(json.loads(text("model_text", self.handle, b"norms"))["norms"])

    @property
    def preparation(self):
        """What inputs and scores go through: ranges, curves, scales, limits, as "Reports" of the guide says."""
        return json.loads(text("model_text", self.handle, b"preparation"))

    @property
    def numbers(self):
        """What the map keeps beside its spec, such as "landmarks": a dict of arrays."""
        kept = json.loads(text("model_text", self.handle, b"numbers"))
        return {name: np.array(one["values"]).reshape(np.array(one["shape"], int)) for name, one in kept.items()}

    @property
    def metadata(self):
        """A text that is kept with the model and its file, such as names of columns and classes."""
        return text("model_text", self.handle, b"metadata")

    @metadata.setter
    def metadata(self, words):
        call("model_set_metadata", self.handle, encoded("metadata", words))

    @property
    def shape(self):
        """rows, inputs, outputs, features, penalty, has_probabilities, ..."""
        info = make("model_info")
        call("model_shape", self.handle, ctypes.byref(info))
        return info

    @property
    def map(self):
        """The model's features, a Map: it reads prepared rows, which predict(X, "prepared") gives."""
        return Map._of(new("model_map", self.handle))

    @property
    def weights(self):
        """w and intercept of a linear model, from features of prepared inputs to transformed targets: D x m, of a complex map 2 D x m,
        Re w and -Im w in turn, and 1 x m. Of a map of several outputs: mercer_model_weights in mercer/model.h."""
        info = self.shape
        w, intercept = np.empty((info.weight_rows, info.outputs)), np.empty((1, info.outputs))
        call("model_weights", self.handle, matrix(w), matrix(intercept))
        return w, intercept

    def predict(self, X, what="value", quantiles=(), partials=(), samples=0, seed=0, context=None, *, extrapolation="default",
                return_outside=False):
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
        levels, orders = np.ascontiguousarray(real(quantiles), np.float64).ravel(), _orders("partials", partials)
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
        columns, word = ctypes.c_int64(), encoded("what", what)
        options.columns = ctypes.addressof(columns)
        call("model_predict", self.handle, x.view, word, ctypes.byref(options), None, matrix(None))  # asks for the columns alone
        out = result(None, x.view.n, columns.value, np.float64)
        with _running(context, x.view.n * shape.features) as running:
            call("model_predict", self.handle, x.view, word, ctypes.byref(options), running, matrix(out))
        return (out, Outside(*met[:2].tolist(), inputs, int(met[2]))) if return_outside else out
