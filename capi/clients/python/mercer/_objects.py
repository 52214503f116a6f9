# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""Kernels, maps and models: handles of the library with the methods that their C functions are."""
import contextlib
import ctypes
import json
import os

import numpy as np

from ._api import InvalidArgument, call, filled, invalid, library, make, new, terminated, text
from ._arrays import Rows, matrix, result
from ._context import Context

LONG = 1 << 22  # numbers of a result from which a call can be interrupted


def _plain(value):
    """What JSON has no word for in a spec: numbers and arrays of NumPy, kernels."""
    if isinstance(value, Kernel):
        return value.spec
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    raise invalid(f"{value!r} in a spec, expected numbers, texts, lists, dicts or a Kernel")


def _json(spec):
    if isinstance(spec, str):
        return terminated(spec.encode())
    try:
        return json.dumps(spec, default=_plain, allow_nan=False).encode()
    except ValueError as error:
        raise error if isinstance(error, InvalidArgument) else invalid(f"spec = {spec}: {error}, expected finite numbers") from None


@contextlib.contextmanager
def _running(context, work):
    if context is None and work < LONG:
        yield None
        return
    with (context or Context()).running() as handle:
        yield handle


def specs(name=""):
    """What kernels, maps, projections and models there are, with their fields, defaults and limits."""
    return json.loads(text("specs", terminated(name.encode())))


def _answered(function, context, *arguments, numbers=0):
    """The answer, of so many numbers at most, of a call that is too long to ask first for its size."""
    with (context or Context()).running() as running:
        needed, buffer = ctypes.c_int64(), ctypes.create_string_buffer((1 << 20) + 32 * numbers)
        call(function, *arguments, running, buffer, len(buffer), ctypes.byref(needed))
    return json.loads(buffer.value)


def rows_test(spec, X, Y=None, context=None):
    """A two-sample or independence test of rows ("mmd", "block_mmd", "kid", "hsic"): its statistic, error and p-value."""
    X, Y = Rows(X), Rows(Y)
    return _answered("rows_test", context, _json(spec), X.view, Y.view, numbers=4 * min(int(spec.get("witnesses", 0)), max(X.view.n, Y.view.n)))


def attend(map, Q, K, V, causal=False, context=None):
    """Linear attention by the features of a map: Q (..., queries, d), K (..., keys, d), V (..., keys, d_v), equal leading axes, such
    as batch and heads. Row i: sum_j phi(q_i)'phi(k_j) v_j / sum_j phi(q_i)'phi(k_j), causal: over j <= i."""
    lead, tokens = Q.shape[:-2], make("tokens")
    if not lead == K.shape[:-2] == V.shape[:-2]:
        raise ValueError(f"leading axes {lead}, {K.shape[:-2]} and {V.shape[:-2]} of Q, K and V, expected the same")
    parts = [Rows(part.reshape(-1, part.shape[-1])) for part in (Q, K, V)]
    tokens.causal, tokens.batch, tokens.heads = int(causal), int(np.prod(lead, dtype=int)), 1
    tokens.Q, tokens.K, tokens.V = (part.view for part in parts)
    out = result(None, tokens.Q.n, V.shape[-1], parts[0].dtype)
    with _running(context, LONG) as running:
        call("attend", map.handle, ctypes.byref(tokens), running, matrix(out))
    return out.reshape(*lead, Q.shape[-2], V.shape[-1])


class _Handle:
    """Freed with its last reference."""

    _noun = ""

    def __init__(self, handle):
        self.handle = handle

    def __del__(self):
        if getattr(self, "handle", None) is not None:
            getattr(library, f"mercer_{self._noun}_free")(self.handle)


class _Stored(_Handle):
    """Pickled and copied through the bytes of its file."""

    def __getstate__(self):
        return filled(f"{self._noun}_write", self.handle, None)

    def __setstate__(self, data):
        self.handle = new(f"{self._noun}_read", None, data, len(data))

    def save(self, path):
        call(f"{self._noun}_write", self.handle, terminated(os.fsencode(path)), None, 0, None)

    @classmethod
    def load(cls, path):
        made = cls.__new__(cls)
        made.handle = new(f"{cls._noun}_read", terminated(os.fsencode(path)), None, 0)
        return made


class RowsSums(_Stored):
    """What rows_test needs of rows that are not in memory: m of X and n of Y, which add gives in blocks. The pilot's rows, X and Y
    here, are not added; their median distance is the bandwidth where the spec has no kernels."""

    _noun = "rows_sums"

    def __init__(self, spec, m, n, X, Y, context=None):
        x, y = Rows(X), Rows(Y)
        with (context or Context()).running() as running:
            super().__init__(new("rows_sums_create", _json(spec), m, n, x.view, y.view, running))

    def add(self, side, first, X, context=None):
        """Rows first, first + 1, ... of X (side 0) or Y (side 1)."""
        x = Rows(X)
        with (context or Context()).running() as running:
            call("rows_sums_add", self.handle, side, first, x.view, running)

    def merge(self, other, sign=1):
        """Adds the rows of another, or takes them away (sign -1)."""
        call("rows_sums_merge", self.handle, sign, other.handle)

    def answer(self, context=None):
        return _answered("rows_sums_answer", context, self.handle)


class Kernel(_Handle):
    """An exact kernel, from its spec, such as {"kernel": "matern", "lengthscale": 2}."""

    _noun = "kernel"

    def __init__(self, spec):
        super().__init__(new("kernel_from_spec", _json(spec)))

    @property
    def spec(self):
        return json.loads(text("kernel_spec", self.handle))

    def __getstate__(self):
        return self.spec

    def __setstate__(self, spec):
        self.__init__(spec)

    def __call__(self, X, Y=None, context=None):
        """The matrix K(X, Y) of a kernel of one output, in double."""
        x, y = Rows(X), Rows(X if Y is None else Y)
        K = result(None, x.view.n, y.view.n, np.float64)
        with _running(context, K.size) as running:
            call("kernel_gram", self.handle, x.view, y.view, Rows(None).view, running, matrix(K))
        return K


class Map(_Stored):
    """A feature map, from its spec, such as {"kernel": {"kernel": "gaussian"}, "inputs": 3, "features": 512}; X and Y where it is
    learnt from rows."""

    _noun = "map"

    def __init__(self, spec, X=None, Y=None, context=None):
        if X is None:
            super().__init__(new("map_from_spec", _json(spec)))
            return
        data, x, y = make("map_data"), Rows(X), Rows(Y)
        data.X, data.Y = x.view, y.view
        with (context or Context()).running() as running:
            super().__init__(new("map_fit", _json(spec), ctypes.byref(data), running))

    @classmethod
    def with_frequencies(cls, spec, frequencies, weights=None):
        """Fourier features of given frequencies (F x d), with weights >= 0 or 1/F each."""
        data, omega, w = make("map_data"), Rows(frequencies), Rows(weights)
        data.frequencies, data.weights = omega.view, w.view
        made = cls.__new__(cls)
        made.handle = new("map_fit", _json(spec), ctypes.byref(data), None)
        return made

    @property
    def spec(self):
        return json.loads(text("map_spec", self.handle))

    @property
    def shape(self):
        """What it reads and writes: inputs, outputs, features, is_complex, frequencies, ..."""
        info = make("map_info")
        call("map_shape", self.handle, ctypes.byref(info))
        return info

    def transform(self, X, out=None, context=None):
        """The features of rows, dense or CSR, in their precision; into `out` where it is given."""
        x, shape = Rows(X), self.shape
        kind = np.result_type(x.dtype, np.complex64) if shape.is_complex else x.dtype
        Z = result(out, x.view.n * shape.outputs, shape.features, kind)
        with _running(context, Z.size) as running:
            call("map_transform", self.handle, x.view, None, running, matrix(Z))
        return Z

    __call__ = transform

    def transform_csr(self, X, context=None):
        """The features of rows as a scipy.sparse.csr_matrix, of a map whose rows have few non-zeros: random_binning."""
        from scipy.sparse import csr_matrix
        x, needed = Rows(X), ctypes.c_int64()
        call("map_transform_csr", self.handle, x.view, None, None, None, None, 0, ctypes.byref(needed))
        offsets, indices = np.zeros(x.view.n + 1, np.int64), np.empty(needed.value, np.int64)
        values = np.empty(needed.value)
        with _running(context, values.size) as running:
            call("map_transform_csr", self.handle, x.view, running, offsets.ctypes.data, indices.ctypes.data, values.ctypes.data,
                 values.size, None)
        return csr_matrix((values, indices, offsets), (x.view.n, self.shape.features))


class Model(_Stored):
    """A model of its spec, fitted to rows X and targets Y; {} searches whatever it leaves open, and is scored on rows that no
    choice has seen. weights: a number >= 0 a row; groups: rows that splits keep together; map: in place of the spec's."""

    _noun = "model"

    def __init__(self, spec, X, Y=None, weights=None, groups=None, map=None, context=None):
        data, x, y, g = make("data"), Rows(X), Rows(Y), Rows(groups)
        data.X, data.Y, data.groups = x.view, y.view, g.view
        if weights is not None:
            weights = np.ascontiguousarray(weights, np.float64)
            if weights.shape != (x.view.n,):
                raise ValueError(f"weights of shape {weights.shape}, expected {x.view.n} numbers, one for each row")
            data.weights = weights.ctypes.data
        if map is not None:
            data.map = map.handle
        with (context or Context()).running() as running:
            super().__init__(new("model_fit", _json(spec), ctypes.byref(data), running))

    @property
    def spec(self):
        return json.loads(text("model_text", self.handle, b"spec"))

    @property
    def report(self):
        """What a search did, and how far the model can be trusted."""
        return json.loads(text("model_text", self.handle, b"report"))

    @property
    def shape(self):
        """rows, inputs, outputs, features, penalty, has_probabilities, ..."""
        info = make("model_info")
        call("model_shape", self.handle, ctypes.byref(info))
        return info

    @property
    def map(self):
        """Of rows as predict(X, "prepared") gives them."""
        made = Map.__new__(Map)
        made.handle = new("model_map", self.handle)
        return made

    def predict(self, X, what="value", quantiles=(), partials=(), samples=0, seed=0, context=None):
        """One row for each row of X: "value", "class", "probability", "latent_variance", "predictive_variance", "quantile" (of
        `quantiles`), "sample" (`samples` draws), "gradient", "partials" (orders of each input), ... as in mercer/model.h."""
        x, shape, options = Rows(X), self.shape, make("predict_options")
        levels = np.ascontiguousarray(quantiles, np.float64)
        options.quantile_count, options.quantiles = len(levels), levels.ctypes.data if len(levels) else None
        options.sample_count, options.seed = samples, seed
        m, d = shape.outputs, shape.inputs
        orders = np.ascontiguousarray(partials, np.int32).reshape(-1, d)
        options.partial_count, options.partials = len(orders), orders.ctypes.data if len(orders) else None
        columns = {"class": 1, "divergence": 1, "potential": 1, "stream": 1, "curl": 1 if d == 2 else d, "preimage": d, "covariance": m * m,
                   "joint_covariance": x.view.n * m * m, "quantile": m * len(levels), "sample": m * samples, "partials": m * len(orders),
                   **dict.fromkeys(("gradient", "gradient_variance", "hessian_diagonal"), m * d)}.get(what, m)
        columns = self.map.shape.inputs if what == "prepared" else columns
        out = result(None, x.view.n, columns, np.float64)
        with _running(context, x.view.n * shape.features) as running:
            call("model_predict", self.handle, x.view, terminated(what.encode()), ctypes.byref(options), running, matrix(out))
        return out


def lengthscale_median(X, max_pairs=10**6, seed=0, context=None):
    """The median of the distances between rows, of at most so many drawn pairs."""
    x, value = Rows(X), ctypes.c_double()
    with (context or Context()).running() as running:
        call("lengthscale_median", x.view, max_pairs, seed, running, ctypes.byref(value))
    return value.value
