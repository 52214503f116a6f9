# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""Kernels, maps and models: handles of the library with the methods that their C functions are."""
from __future__ import annotations

import contextlib
import ctypes
import json
import os
import reprlib
from typing import Any, Iterator, Sequence, TypeVar

import numpy as np
import numpy.typing as npt

from ._api import FileError, InvalidArgument, about_file, call, callbacks, chosen, encoded, filled, invalid, library, make, new, parsed, terminated, text, whole
from ._arrays import NUMBERS, Rows, column, dense, filled_rows, matrix, real, result
from ._context import Context, given_or_new, summing
from ._types import Array, Path, RowsLike, Spec, Sum

SHORT = reprlib.Repr()
SHORT.maxlevel, SHORT.maxdict, SHORT.maxlist, SHORT.maxstring = 4, 12, 4, 60
TOLD = ("model", "lambda", "map", "kernel", "inputs", "features", "projection", "seed")  # by repr
LONG = 1 << 22  # numbers of a result from which a call can be interrupted


def _plain(value: Any) -> Any:
    """What JSON has no word for in a spec: numbers and arrays of NumPy, kernels."""
    if isinstance(value, Kernel):
        return value.spec
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    raise invalid(f"{value!r} in a spec, expected numbers, texts, lists, dicts or a Kernel")


def _json(spec: Spec) -> bytes:
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
def _running(context: Context | None, work: int) -> Iterator[Any]:
    if context is None and work < LONG:
        yield None
        return
    with given_or_new(context).running() as handle:
        yield handle


def handle_of(name: str, held: Any, kind: Any) -> Any:
    """The handle of an argument that has to be of a class."""
    if not isinstance(held, kind):
        raise invalid(f"{name} = {SHORT.repr(held)}, expected a mercer.{kind.__name__}")
    return held.handle


def integers(name: str, given: Any, count: int) -> Array:
    """So many integers of 32 bits, as C reads them."""
    array = np.asarray(given)
    if array.shape != (count,) or array.dtype.kind not in "iu" or (array != array.astype(np.int32)).any():
        raise invalid(f"{name} = {SHORT.repr(given)}, expected {count} integers below 2^31")
    return np.ascontiguousarray(array, np.int32)


def specs(name: str = "") -> dict[str, Any]:
    """What kernels, maps, projections and models there are, with their fields, defaults and limits."""
    return parsed(text("specs", encoded("name", name)))


def bound(spec: Spec) -> dict[str, Any]:
    """How many frequencies an error takes, or learning does, as `mercer.spec.bounds` asks: a dict."""
    return parsed(text("bound", _json(spec)))


def _answered(function: str, context: Context | None, *arguments: Any, rows: int = 0, out: Any = ()) -> dict[str, Any]:
    """The answer of a call that is too long to ask first for its size; that lists four numbers of a row at most. Untouched pages of the
    buffer cost nothing."""
    with given_or_new(context).running() as running:
        needed, buffer = ctypes.c_int64(), np.empty((1 << 20) + 128 * rows, np.uint8)
        call(function, *arguments, running, *out, buffer.ctypes.data, len(buffer), ctypes.byref(needed))
    return parsed(buffer[:needed.value - 1].tobytes())


def rows_test(spec: Spec, X: RowsLike, Y: RowsLike | None = None, context: Context | None = None) -> dict[str, Any]:
    """A test whether X and Y have one distribution, or whether their rows depend on each other: its statistic, error and p-value, a dict.

    Parameters
    ----------
    spec : dict
        As `mercer.spec.tests` makes it: {"test": "mmd"}, "block_mmd", "kid" or "hsic".
    X, Y : array_like or sparse matrix
    context : Context, optional
    """
    x, y = Rows(X), Rows(Y, "Y")
    return _answered("rows_test", context, _json(spec), x.view, y.view, rows=max(x.view.n, y.view.n))


def _brief(spec: dict[str, Any]) -> dict[str, Any]:
    """What tells a map or model from others; of a kernel all."""
    of_kernel = isinstance(spec.get("kernel"), str)
    return {key: _brief(value) if isinstance(value, dict) else value for key, value in spec.items() if key in TOLD or (of_kernel and key != "mercer")}


H = TypeVar("H", bound="_Handle")


class _Handle:
    """Freed with its last reference."""

    _noun = ""

    def __init__(self, handle: Any) -> None:
        self.handle = handle

    def __del__(self) -> None:
        if getattr(self, "handle", None) is not None:
            getattr(library, f"mercer_{self._noun}_free")(self.handle)

    @classmethod
    def _of(cls: type[H], handle: Any) -> H:
        made = cls.__new__(cls)
        made.handle = handle
        return made

    def __repr__(self) -> str:
        return f"{type(self).__name__}({SHORT.repr(_brief(self.spec)) if hasattr(self, 'spec') else ''})"


class _Stored(_Handle):
    """Pickled and copied through the bytes of its file."""

    def __getstate__(self) -> Any:
        return filled(f"{self._noun}_write", self.handle, None)

    def __setstate__(self, data: bytes) -> None:
        self.handle = new(f"{self._noun}_read", None, data, len(data))

    def save(self, path: Path) -> None:
        """Writes a file, in place of an earlier one only when it is complete."""
        try:
            call(f"{self._noun}_write", self.handle, terminated(os.fsencode(path)), None, 0, None)
        except FileError as error:
            raise about_file(error, path, os.path.dirname(os.path.abspath(os.fsdecode(path)))) from None

    @classmethod
    def load(cls: type[H], path: Path) -> H:
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

    def __init__(self, spec: Spec, m: int, n: int, X: RowsLike, Y: RowsLike, context: Context | None = None) -> None:
        x, y = Rows(X), Rows(Y, "Y")
        with given_or_new(context).running() as running:
            super().__init__(new("rows_sums_create", _json(spec), whole("m", m), whole("n", n), x.view, y.view, running))

    def __repr__(self) -> str:
        data = self.__getstate__()
        said = parsed(text("file_info", None, data, len(data)))
        shown = (f"{key}={said[key]!r}" for key in ("inputs", "x_rows", "y_rows", "x_added", "y_added"))
        del said["spec"]["mercer"]
        return f"RowsSums({SHORT.repr(said['spec'])}, {', '.join(shown)})"

    def add(self, side: int, first: int, X: RowsLike, context: Context | None = None) -> None:
        """Rows first, first + 1, ... of X (side 0) or Y (side 1)."""
        x = Rows(X)
        with given_or_new(context).running() as running:
            call("rows_sums_add", self.handle, whole("side", side, 0, 1), whole("first", first), x.view, running)

    def merge(self, other: Any, sign: int = 1) -> None:
        """Adds the rows of another, or takes them away (sign -1)."""
        call("rows_sums_merge", self.handle, whole("sign", sign, -1, 1), handle_of("other", other, RowsSums))

    def reduce(self, sum: Sum) -> None:
        """Those of all processes, in each, by sum(numbers), as that of a source of Model."""
        context = Context()
        added = summing(context, sum)
        with context.running():
            call("rows_sums_reduce", self.handle, ctypes.cast(added, callbacks["mercer_source_sum"]), None)

    def answer(self, context: Context | None = None) -> dict[str, Any]:
        """As of rows_test; all rows must have been added."""
        return _answered("rows_sums_answer", context, self.handle)


class Kernel(_Handle):
    """An exact kernel, from its spec, such as {"kernel": "matern", "lengthscale": 2}."""

    _noun = "kernel"

    def __init__(self, spec: Spec) -> None:
        super().__init__(new("kernel_from_spec", _json(spec)))

    @property
    def spec(self) -> dict[str, Any]:
        """With every default, as a dict."""
        return parsed(text("kernel_spec", self.handle))

    def __getstate__(self) -> Any:
        return self.spec

    def __setstate__(self, spec: dict[str, Any]) -> None:
        self.handle = new("kernel_from_spec", _json(spec))

    @classmethod
    def decomposable(cls, scalar: Kernel, gamma: RowsLike, cutoff: float = 0.0) -> Kernel:
        """k Gamma of a Kernel k and a p x p matrix, dense or sparse, that is too large for a spec.

        Parameters
        ----------
        scalar : Kernel
        gamma : array_like or sparse matrix
            Symmetric, positive semi-definite.
        cutoff : float
            Pivots of its root up to this share of the largest are left out of features.
        """
        g = Rows(gamma, "gamma")
        return cls._of(new("kernel_decomposable", handle_of("scalar", scalar, Kernel), g.view, cutoff))

    def times(self, X: RowsLike, Y: RowsLike, U: RowsLike, context: Context | None = None) -> Array:
        """The products of K(X, Y) with the columns of U, of p outputs with s vectors of p numbers in each row, without the matrix.

        Parameters
        ----------
        X, Y : array_like or sparse matrix
        U : array_like
            A row for each row of Y.
        context : Context, optional
        """
        x, y, u = Rows(X), Rows(Y, "Y"), Rows(U, "U")
        with given_or_new(context).running() as running:
            return filled_rows("kernel_gram", x.view.n, u.view.d, np.float64, self.handle, x.view, y.view, u.view, running)

    def derivative(self, X: RowsLike, Y: RowsLike, p: Sequence[int] | None = None, q: Sequence[int] | None = None,
                   context: Context | None = None) -> Array:
        """Exact derivatives of k(X_i, Y_j).

        Parameters
        ----------
        X, Y : array_like or sparse matrix
        p, q : sequence of int, optional
            The order in each entry of x and of y; None: 0 in all.
        context : Context, optional
        """
        x, y = Rows(X), Rows(Y, "Y")
        orders = [None if given is None else integers(name, given, x.view.d) for name, given in (("p", p), ("q", q))]
        places = [None if given is None else given.ctypes.data for given in orders]
        with given_or_new(context).running() as running:
            return filled_rows("kernel_derivative", x.view.n, y.view.n, np.float64, self.handle, x.view, y.view, *places, running)

    def of_distances(self, distances: npt.ArrayLike, bits: int) -> Array:
        """The values of the kernel that Hamming distances of `Map.codes` estimate.

        Parameters
        ----------
        distances : array_like
            As `hamming` gives them.
        bits : int
            Of each code: the features of the map.
        """
        distances = np.ascontiguousarray(distances, np.int32)
        values = np.empty(distances.shape)
        call("codes_kernel", self.handle, whole("bits", bits), distances.size, distances.ctypes.data, values.ctypes.data)
        return values

    def __call__(self, X: RowsLike, Y: RowsLike | None = None, context: Context | None = None) -> Array:
        """The matrix K(X, Y) of a kernel of one output, in double."""
        x, y = Rows(X), Rows(X if Y is None else Y, "Y")
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

    def __init__(self, spec: Spec, X: RowsLike | None = None, Y: RowsLike | None = None, context: Context | None = None) -> None:
        if X is None:
            super().__init__(new("map_from_spec", _json(spec)))
            return
        data, x, y = make("map_data"), Rows(X), Rows(Y, "Y")
        data.X, data.Y = x.view, y.view
        with given_or_new(context).running() as running:
            super().__init__(new("map_fit", _json(spec), ctypes.byref(data), running))

    @classmethod
    def recommend(cls, spec: Spec, X: RowsLike, context: Context | None = None) -> tuple[Map, dict[str, Any]]:
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

    def certify(self, X: RowsLike, spec: Spec | None = None, context: Context | None = None) -> dict[str, Any]:
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
    def with_frequencies(cls, spec: Spec, frequencies: npt.ArrayLike, weights: npt.ArrayLike | None = None) -> Map:
        """Fourier features of given frequencies (F x d), with weights >= 0 or 1/F each."""
        data, omega, w = make("map_data"), Rows(frequencies, "frequencies"), Rows(weights, "weights")
        data.frequencies, data.weights = omega.view, w.view
        return cls._of(new("map_fit", _json(spec), ctypes.byref(data), None))

    @property
    def spec(self) -> dict[str, Any]:
        """In canonical form, as a dict; of a map that learnt from rows it says "needs": "data"."""
        return parsed(text("map_spec", self.handle))

    @property
    def shape(self) -> Any:
        """What it reads and writes: inputs, outputs, features, is_complex, frequencies, ..."""
        info = make("map_info")
        call("map_shape", self.handle, ctypes.byref(info))
        return info

    @property
    def kernel(self) -> Kernel:
        """The Kernel that the features estimate, with the map's lengthscale and variance."""
        return Kernel._of(new("map_kernel", self.handle))

    @property
    def frequencies(self) -> Array:
        """Of Fourier features, F x d in the order of their columns."""
        shape = self.shape
        omega = np.empty((shape.frequencies, shape.inputs))
        call("map_frequencies", self.handle, None, matrix(omega))
        return omega

    def transform(self, X: RowsLike, out: Array | None = None, context: Context | None = None) -> Array:
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

    def prepare(self, dtype: npt.DTypeLike = np.float64, context: Context | None = None) -> None:
        """Draws and packs what transforms of this precision need, ahead of the first."""
        with given_or_new(context).running() as running:
            call("map_prepare", self.handle, NUMBERS[np.dtype(dtype)], running)

    def derivative(self, X: RowsLike, kind: str = "gradient", *, partials: Sequence[Sequence[int]] = (), vectors: npt.ArrayLike | None = None,
                   context: Context | None = None) -> Array:
        """Derivatives of features in the inputs or lengthscales, with what was drawn held fixed.

        Parameters
        ----------
        X : array_like or sparse matrix
            n rows.
        kind : str
            "gradient", "hessian_diagonal" (n x d x D), "partials" (n x count x D), "laplacian" (n x D), "jvp" (n x D), "vjp" (n x d) or
            "log_lengthscale" (a number for each lengthscale), as mercer_derivative_kind in mercer/derivative.h; maps of p outputs have p
            rows for each of X but for the last two.
        partials : sequence of sequences of int
            Of "partials": for each the order in each input.
        vectors : array_like, optional
            Of "jvp" directions, n x d; of the last two dL/dZ, n x D, of a complex map n x 2 D numbers.
        context : Context, optional
        """
        x, v, shape, what = Rows(X), Rows(vectors, "vectors"), self.shape, make("derivative")
        what.kind, what.vectors = chosen("derivative_kind", "kind", kind), v.view
        orders = np.array([integers("partials", one, shape.inputs) for one in partials], np.int32).reshape(-1, shape.inputs)
        what.count, what.partials = len(orders), orders.ctypes.data if len(orders) else None
        blocks = {"gradient": shape.inputs, "hessian_diagonal": shape.inputs, "partials": len(orders)}.get(kind)
        rows, columns, dtype = x.view.n * shape.outputs, (blocks or 1) * shape.features, x.dtype
        if kind == "vjp":
            rows, columns = x.view.n, shape.inputs
        elif kind == "log_lengthscale":
            rows, columns = 1, np.size(self.kernel.spec.get("lengthscale", (0, 0)))
        elif shape.is_complex:
            dtype = np.result_type(dtype, np.complex64)
        with _running(context, rows * columns) as running:
            out = filled_rows("map_derivative", rows, columns, dtype, self.handle, x.view, ctypes.byref(what), running)
        return out.reshape(rows, blocks, -1) if blocks else out

    def jvp(self, X: RowsLike, V: npt.ArrayLike, context: Context | None = None) -> Array:
        """The tangents of Z for tangents V of X: `derivative` of kind "jvp"."""
        return self.derivative(X, "jvp", vectors=V, context=context)

    def vjp(self, X: RowsLike, G: npt.ArrayLike, context: Context | None = None) -> Array:
        """dL/dX for G = dL/dZ: `derivative` of kind "vjp"."""
        return self.derivative(X, "vjp", vectors=G, context=context)

    def variance(self, X: RowsLike, Y: RowsLike, which: str = "estimate", context: Context | None = None) -> Array:
        """The variance of the estimates of k(x_i, y_i), of p outputs p x p numbers each.

        Parameters
        ----------
        X, Y : array_like or sparse matrix
            As many rows.
        which : str
            "estimate", "pseudo" or "bound", as mercer_variance in mercer/map_error.h.
        context : Context, optional
        """
        x, y, p = Rows(X), Rows(Y, "Y"), self.shape.outputs
        variances = np.empty((x.view.n, p, p))
        with given_or_new(context).running() as running:
            call("map_variance", self.handle, x.view, y.view, chosen("variance", "which", which), running, variances.ctypes.data)
        return variances[:, 0, 0] if p == 1 else variances

    def kernel_error(self, X: RowsLike, which: str = "measured", context: Context | None = None) -> float:
        """||Re ZZ^H - K||_F / ||K||_F on the rows, or ("predicted") its root mean square over seeds."""
        x, error = Rows(X), ctypes.c_double()
        with given_or_new(context).running() as running:
            call("map_kernel_error", self.handle, x.view, chosen("kernel_error", "which", which), running, ctypes.byref(error))
        return error.value

    def multiply(self, X: RowsLike, theta: npt.ArrayLike, kind: str = "value", context: Context | None = None) -> Array:
        """Values of the functions f(x) = Phi(x)'theta_k, or of their derivatives as fields, without Z.

        Parameters
        ----------
        X : array_like or sparse matrix
            n rows.
        theta : array_like
            D x m coefficients.
        kind : str
            "value" (p numbers for each of the m), "jacobian" (p d), "divergence", "potential", "stream" (1) or "curl" (d (d - 1)/2).
        context : Context, optional
        """
        x, t, shape = Rows(X), Rows(theta, "theta"), self.shape
        d, p = shape.inputs, shape.outputs
        numbers = {"value": p, "jacobian": p * d, "curl": d * (d - 1) // 2}.get(kind, 1)
        with given_or_new(context).running() as running:
            return filled_rows("map_multiply", x.view.n, t.view.d * numbers, x.dtype, self.handle, x.view, t.view,
                               chosen("field", "kind", kind), running)

    def adjoint(self, X: RowsLike, Y: RowsLike, context: Context | None = None) -> Array:
        """The transpose: sum_i Phi(X_i) Y_i, D x m, of Y n x (p m)."""
        x, shape = Rows(X), self.shape
        y = Rows(np.asarray(column(Y, "Y"), x.dtype))
        with given_or_new(context).running() as running:
            return filled_rows("map_adjoint", shape.features, y.view.d // shape.outputs, np.float64, self.handle, x.view, y.view, running)

    def codes(self, X: RowsLike, context: Context | None = None) -> Array:
        """Binary codes of rows, a bit for each feature of a Fourier map of form phase: n x ceil(D / 64) words."""
        x = Rows(X)
        codes = np.empty((x.view.n, -(-self.shape.features // 64)), np.uint64)
        with given_or_new(context).running() as running:
            call("map_codes", self.handle, x.view, codes.shape[1], running, codes.ctypes.data)
        return codes

    def transform_csr(self, X: RowsLike, context: Context | None = None) -> Any:
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


def hamming(A: npt.ArrayLike, B: npt.ArrayLike | None = None, context: Context | None = None) -> Array:
    """In how many bits codes of A and of B (A if None) differ: n x m.

    Parameters
    ----------
    A, B : ndarray of uint64
        As `Map.codes` gives them.
    context : Context, optional
    """
    A, B = (np.ascontiguousarray(codes, np.uint64) for codes in (A, A if B is None else B))
    if A.ndim != 2 or A.shape[1:] != B.shape[1:]:
        raise invalid(f"codes of shapes {A.shape} and {B.shape}, expected rows of as many words")
    distances = np.empty((len(A), len(B)), np.int32)
    with given_or_new(context).running() as running:
        call("codes_hamming", A.shape[1], len(A), A.ctypes.data, len(B), B.ctypes.data, running, distances.ctypes.data)
    return distances


def simplex_code(classes: int) -> Array:
    """A vector for each class, (classes - 1) x classes: of norm 1, with inner products -1/(classes - 1)."""
    return filled_rows("simplex_code", whole("classes", classes, 2) - 1, classes, np.float64)


def fwht(X: RowsLike, context: Context | None = None) -> Array:
    """The Walsh-Hadamard transform of every row, unnormalised, of a power of two numbers."""
    out = np.array(dense(X), order="C")
    with given_or_new(context).running() as running:
        call("fwht", matrix(out), running)
    return out


def score(predictions: RowsLike, Y: RowsLike, classes: int = 0, metric: str = "default", *, bins: int = 0, tau: float = 0.0,
          weights: npt.ArrayLike | None = None, context: Context | None = None) -> Any:
    """How well predictions fit targets: R^2 or, of classes, the accuracy, or another metric.

    Parameters
    ----------
    predictions : array_like
        Values, or of classes scores or probabilities, a column each.
    Y : array_like
        Targets, or numbers of classes.
    classes : int
        0: a regression.
    metric : str
        "r2", "rmse", "mae", "pinball", "accuracy", "confusion" (classes x classes), "auc", "log_loss", "calibration_error", ... as
        mercer_metric in mercer/score.h.
    bins, tau
        Of "calibration_error" and of "pinball".
    weights : array_like, optional
        A number >= 0 for each row.
    context : Context, optional
    """
    f, y, options = Rows(predictions, "predictions"), Rows(Y, "Y"), make("score_options")
    options.metric, options.bins, options.tau = chosen("metric", "metric", metric), whole("bins", bins), tau
    if weights is not None:
        weights = np.ascontiguousarray(real(weights, "weights"), np.float64)
        if weights.shape != (f.view.n,):
            raise invalid(f"weights of shape {weights.shape}, expected {f.view.n} numbers, one for each row")
        options.weights = weights.ctypes.data
    found = np.empty((classes, classes) if metric == "confusion" else ())
    with given_or_new(context).running() as running:
        call("prediction_score", f.view, y.view, whole("classes", classes), ctypes.byref(options), running, found.ctypes.data)
    return found if metric == "confusion" else float(found)


def self_test(context: Context | None = None) -> dict[str, Any]:
    """Whether this machine computes what every other does, and how fast: a dict."""
    return _answered("self_test", context)


def file_info(path: Path) -> dict[str, Any]:
    """What a file of the library holds, a dict: "kind", "version" and more."""
    try:
        return parsed(text("file_info", terminated(os.fsencode(path)), None, 0))
    except FileError as error:
        raise about_file(error, path, path) from None


def lengthscale_median(X: RowsLike, max_pairs: int = 10**6, seed: int = 0, context: Context | None = None) -> float:
    """The median of the distances between rows, of at most so many drawn pairs."""
    x, value = Rows(X), ctypes.c_double()
    with given_or_new(context).running() as running:
        call("lengthscale_median", x.view, whole("max_pairs", max_pairs), whole("seed", seed, 0, 2**64 - 1), running, ctypes.byref(value))
    return value.value
