# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""Kernels, maps and models: handles of the library with the methods that their C functions are."""
import contextlib
import ctypes
import json
import os
import reprlib

import numpy as np

from ._api import FileError, InvalidArgument, about_file, call, callbacks, encoded, filled, invalid, library, make, new, terminated, text, whole
from ._arrays import Rows, matrix, real, result
from ._context import Context, given_or_new, summing

SHORT = reprlib.Repr()
SHORT.maxlevel, SHORT.maxdict, SHORT.maxlist, SHORT.maxstring = 4, 12, 4, 60
TOLD = ("model", "lambda", "map", "kernel", "inputs", "features", "projection", "seed")  # by repr
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
    except (TypeError, ValueError) as error:
        if isinstance(error, InvalidArgument):
            raise
        said = "NaN or an infinite number, expected finite numbers" if "Out of range" in str(error) else f"{error}, expected what JSON holds"
        raise invalid(f"spec = {SHORT.repr(spec)}: {said}") from None


@contextlib.contextmanager
def _running(context, work):
    if context is None and work < LONG:
        yield None
        return
    with given_or_new(context).running() as handle:
        yield handle


def handle_of(name, held, kind):
    """The handle of an argument that has to be of a class."""
    if not isinstance(held, kind):
        raise invalid(f"{name} = {SHORT.repr(held)}, expected a mercer.{kind.__name__}")
    return held.handle


def specs(name=""):
    """What kernels, maps, projections and models there are, with their fields, defaults and limits."""
    return json.loads(text("specs", encoded("name", name)))


def bound(spec):
    """How many frequencies an error takes, or learning does, as `mercer.spec.bounds` asks: a dict."""
    return json.loads(text("bound", _json(spec)))


def _answered(function, context, *arguments, rows=0, out=()):
    """The answer of a call that is too long to ask first for its size; that lists four numbers of a row at most. Untouched pages of the
    buffer cost nothing."""
    with given_or_new(context).running() as running:
        needed, buffer = ctypes.c_int64(), np.empty((1 << 20) + 128 * rows, np.uint8)
        call(function, *arguments, running, *out, buffer.ctypes.data, len(buffer), ctypes.byref(needed))
    return json.loads(buffer[:needed.value - 1].tobytes())


def rows_test(spec, X, Y=None, context=None):
    """A test whether X and Y have one distribution, or whether their rows depend on each other: its statistic, error and p-value, a dict.

    Parameters
    ----------
    spec : dict
        As `mercer.spec.tests` makes it: {"test": "mmd"}, "block_mmd", "kid" or "hsic".
    X, Y : array_like or sparse matrix
    context : Context, optional
    """
    X, Y = Rows(X), Rows(Y)
    return _answered("rows_test", context, _json(spec), X.view, Y.view, rows=max(X.view.n, Y.view.n))


def attend(map, Q, K, V, causal=False, context=None, *, key_weights=None):
    """Linear attention by the features of a map: row i is sum_j phi(q_i)'phi(k_j) v_j / sum_j phi(q_i)'phi(k_j).

    Parameters
    ----------
    map : Map
    Q, K, V : array_like
        (..., queries, d), (..., keys, d) and (..., keys, d_v) with equal leading axes, such as batch and heads.
    causal : bool
        Whether sums are over j <= i.
    context : Context, optional
    key_weights : array_like, optional
        (..., keys), repeated along missing axes: numbers >= 0 that the terms are multiplied by, 0 for masked keys.
    """
    Q, K, V = (real(part) for part in (Q, K, V))
    lead, tokens = Q.shape[:-2], make("tokens")
    if not lead == K.shape[:-2] == V.shape[:-2]:
        raise invalid(f"leading axes {lead}, {K.shape[:-2]} and {V.shape[:-2]} of Q, K and V, expected the same")
    parts = [Rows(part.reshape(-1, part.shape[-1])) for part in (Q, K, V)]
    tokens.causal, tokens.batch, tokens.heads = int(causal), int(np.prod(lead, dtype=int)), 1
    tokens.Q, tokens.K, tokens.V = (part.view for part in parts)
    if key_weights is not None:
        weights = np.empty((*K.shape[:-1], 1))
        weights[..., 0] = key_weights
        parts.append(Rows(weights.reshape(-1, 1)))
        tokens.weights = parts[-1].view
    out = result(None, tokens.Q.n, V.shape[-1], parts[0].dtype)
    with _running(context, LONG) as running:
        call("attend", handle_of("map", map, Map), ctypes.byref(tokens), running, matrix(out))
    return out.reshape(*lead, Q.shape[-2], V.shape[-1])


def _brief(spec):
    """What tells a map or model from others; of a kernel all."""
    of_kernel = isinstance(spec.get("kernel"), str)
    return {key: _brief(value) if isinstance(value, dict) else value for key, value in spec.items() if key in TOLD or (of_kernel and key != "mercer")}


class _Handle:
    """Freed with its last reference."""

    _noun = ""

    def __init__(self, handle):
        self.handle = handle

    def __del__(self):
        if getattr(self, "handle", None) is not None:
            getattr(library, f"mercer_{self._noun}_free")(self.handle)

    @classmethod
    def _of(cls, handle):
        made = cls.__new__(cls)
        made.handle = handle
        return made

    def __repr__(self):
        return f"{type(self).__name__}({SHORT.repr(_brief(self.spec)) if hasattr(self, 'spec') else ''})"


class _Stored(_Handle):
    """Pickled and copied through the bytes of its file."""

    def __getstate__(self):
        return filled(f"{self._noun}_write", self.handle, None)

    def __setstate__(self, data):
        self.handle = new(f"{self._noun}_read", None, data, len(data))

    def save(self, path):
        """Writes a file, in place of an earlier one only when it is complete."""
        try:
            call(f"{self._noun}_write", self.handle, terminated(os.fsencode(path)), None, 0, None)
        except FileError as error:
            raise about_file(error, path, os.path.dirname(os.path.abspath(path))) from None

    @classmethod
    def load(cls, path):
        """What a file holds that save or another program of the library wrote."""
        try:
            return cls._of(new(f"{cls._noun}_read", terminated(os.fsencode(path)), None, 0))
        except FileError as error:
            raise about_file(error, path, path) from None


class RowsSums(_Stored):
    """What rows_test needs of rows that are not in memory, which `add` gives in blocks.

    Parameters
    ----------
    spec : dict
        As of rows_test.
    m, n : int
        How many rows of X and of Y there will be.
    X, Y : array_like
        The pilot's rows, which are not added; their median distance is the bandwidth where the spec has no kernels.
    context : Context, optional
    """

    _noun = "rows_sums"

    def __init__(self, spec, m, n, X, Y, context=None):
        x, y = Rows(X), Rows(Y)
        with given_or_new(context).running() as running:
            super().__init__(new("rows_sums_create", _json(spec), whole("m", m), whole("n", n), x.view, y.view, running))

    def __repr__(self):
        data = self.__getstate__()
        said = json.loads(text("file_info", None, data, len(data)))
        shown = (f"{key}={said[key]!r}" for key in ("inputs", "x_rows", "y_rows", "x_added", "y_added"))
        del said["spec"]["mercer"]
        return f"RowsSums({SHORT.repr(said['spec'])}, {', '.join(shown)})"

    def add(self, side, first, X, context=None):
        """Rows first, first + 1, ... of X (side 0) or Y (side 1)."""
        x = Rows(X)
        with given_or_new(context).running() as running:
            call("rows_sums_add", self.handle, whole("side", side, 0, 1), whole("first", first), x.view, running)

    def merge(self, other, sign=1):
        """Adds the rows of another, or takes them away (sign -1)."""
        call("rows_sums_merge", self.handle, whole("sign", sign, -1, 1), handle_of("other", other, RowsSums))

    def reduce(self, sum):
        """Those of all processes, in each, by sum(numbers), as that of a source of Model."""
        context = Context()
        added = summing(context, sum)
        with context.running():
            call("rows_sums_reduce", self.handle, ctypes.cast(added, callbacks["mercer_source_sum"]), None)

    def answer(self, context=None):
        """As of rows_test; all rows must have been added."""
        return _answered("rows_sums_answer", context, self.handle)


class Kernel(_Handle):
    """An exact kernel, from its spec, such as {"kernel": "matern", "lengthscale": 2}."""

    _noun = "kernel"

    def __init__(self, spec):
        super().__init__(new("kernel_from_spec", _json(spec)))

    @property
    def spec(self):
        """With every default, as a dict."""
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
    """A feature map: products of rows of ``map.transform(X)`` estimate the kernel.

    Parameters
    ----------
    spec : dict or str
        As `mercer.spec.maps` makes it, such as {"kernel": {"kernel": "gaussian"}, "inputs": 3, "features": 512}.
    X, Y : array_like, optional
        Rows, and their targets, of a map that learns from them.
    context : Context, optional
    """

    _noun = "map"

    def __init__(self, spec, X=None, Y=None, context=None):
        if X is None:
            super().__init__(new("map_from_spec", _json(spec)))
            return
        data, x, y = make("map_data"), Rows(X), Rows(Y)
        data.X, data.Y = x.view, y.view
        with given_or_new(context).running() as running:
            super().__init__(new("map_fit", _json(spec), ctypes.byref(data), running))

    @classmethod
    def recommend(cls, spec, X, context=None):
        """The map of a kernel that suits rows like X best, and what was compared, a dict.

        Parameters
        ----------
        spec : dict
            As `mercer.spec.others.recommend` makes it, such as {"kernel": {"kernel": "gaussian"}, "error": 0.1}.
        X : array_like or sparse matrix
        context : Context, optional
        """
        made = cls._of(ctypes.c_void_p())
        x = Rows(X)
        return made, _answered("map_recommend", context, _json(spec), x.view, out=[ctypes.byref(made.handle)])

    def certify(self, X, spec=None, context=None):
        """Intervals of the kernel error on many rows, a dict.

        Parameters
        ----------
        X : array_like or sparse matrix
        spec : dict, optional
            As `mercer.spec.others.certify` makes it.
        context : Context, optional
        """
        x = Rows(X)
        return _answered("map_certify", context, self.handle, x.view, _json(spec or {}))

    @classmethod
    def with_frequencies(cls, spec, frequencies, weights=None):
        """Fourier features of given frequencies (F x d), with weights >= 0 or 1/F each."""
        data, omega, w = make("map_data"), Rows(frequencies), Rows(weights)
        data.frequencies, data.weights = omega.view, w.view
        return cls._of(new("map_fit", _json(spec), ctypes.byref(data), None))

    @property
    def spec(self):
        """In canonical form, as a dict; of a map that learnt from rows it says "needs": "data"."""
        return json.loads(text("map_spec", self.handle))

    @property
    def shape(self):
        """What it reads and writes: inputs, outputs, features, is_complex, frequencies, ..."""
        info = make("map_info")
        call("map_shape", self.handle, ctypes.byref(info))
        return info

    @property
    def frequencies(self):
        """Of Fourier features, F x d in the order of their columns."""
        shape = self.shape
        omega = np.empty((shape.frequencies, shape.inputs))
        call("map_frequencies", self.handle, None, matrix(omega))
        return omega

    def transform(self, X, out=None, context=None):
        """The features of rows, in their precision.

        Parameters
        ----------
        X : array_like or sparse matrix
        out : ndarray, optional
            Where they are written.
        context : Context, optional
        """
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


def lengthscale_median(X, max_pairs=10**6, seed=0, context=None):
    """The median of the distances between rows, of at most so many drawn pairs."""
    x, value = Rows(X), ctypes.c_double()
    with given_or_new(context).running() as running:
        call("lengthscale_median", x.view, whole("max_pairs", max_pairs), whole("seed", seed, 0, 2**64 - 1), running, ctypes.byref(value))
    return value.value
