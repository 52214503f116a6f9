# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""Gaussian ridge regression on random Fourier features, in Python by ctypes and numpy alone: map, statistics by blocks
of rows, ridge, prediction; a model with its file; what an autodiff framework asks of a map; a vector field; what an error says. Usage: ridge.py LIBMERCER.SO [FILE]"""
import ctypes
import json
import sys
from ctypes import POINTER, byref, c_char_p, c_double, c_int32, c_int64, c_uint32, c_uint64, c_void_p

try:
    import numpy as np
except ImportError:
    print("SKIPPED: python3-numpy is not installed")
    sys.exit(0)


class Rows(ctypes.Structure):
    """mercer_rows: dense rows, or CSR."""
    _fields_ = [("struct_size", c_uint32), ("number", c_int32), ("index", c_int32), ("reserved", c_int32),
                ("n", c_int64), ("d", c_int64), ("ld", c_int64), ("nnz", c_int64),
                ("values", c_void_p), ("offsets", c_void_p), ("indices", c_void_p)]


class Matrix(ctypes.Structure):
    """mercer_matrix: where results go."""
    _fields_ = [("struct_size", c_uint32), ("number", c_int32), ("rows", c_int64), ("cols", c_int64),
                ("ld", c_int64), ("data", c_void_p)]


class Data(ctypes.Structure):
    """mercer_data: what a fit is given."""
    _fields_ = [("struct_size", c_uint32), ("reserved", c_int32), ("X", Rows), ("Y", Rows), ("weights", c_void_p),
                ("source", c_void_p), ("sets", c_void_p), ("set_count", c_int64), ("map", c_void_p), ("groups", Rows)]


class Derivative(ctypes.Structure):
    """mercer_derivative: which derivatives of a map are asked for."""
    _fields_ = [("struct_size", c_uint32), ("kind", c_int32), ("count", c_int64), ("partials", c_void_p),
                ("vectors", Rows)]


class MapInfo(ctypes.Structure):
    """mercer_map_info: what a map reads and writes."""
    _fields_ = [("struct_size", c_uint32), ("is_complex", c_int32), ("inputs", c_int64), ("outputs", c_int64),
                ("features", c_int64), ("frequencies", c_int64), ("right_inputs", c_int64),
                ("incomplete_block", c_int64), ("dropped", c_double)]


JVP, VJP = 4, 5
VALUE, DIVERGENCE = 0, 2
NUMBERS = {np.dtype(name): number for number, name in enumerate(("float32", "float64", "complex64", "complex128"))}
INDICES = {np.dtype(np.int32): 1, np.dtype(np.int64): 2}


def rows(X):
    """A view of the rows of an array, which must outlive it."""
    return Rows(ctypes.sizeof(Rows), NUMBERS[X.dtype], 0, 0, *X.shape, X.strides[0] // X.itemsize, 0, X.ctypes.data)


def csr(values, indices, offsets, d):
    """The same of sparse rows, by the three arrays of scipy.sparse.csr_matrix: data, indices, indptr."""
    return Rows(ctypes.sizeof(Rows), NUMBERS[values.dtype], INDICES[indices.dtype], 0, len(offsets) - 1, d, 0,
                len(values), values.ctypes.data, offsets.ctypes.data, indices.ctypes.data)


def matrix(Z):
    return Matrix(ctypes.sizeof(Matrix), NUMBERS[Z.dtype], *Z.shape, Z.strides[0] // Z.itemsize, Z.ctypes.data)


class MercerError(Exception):
    """A failed call: its status, and a text that names function, argument, value and expectation."""

    def __init__(self, status, text):
        super().__init__(text)
        self.status = status


class Mercer:
    """The functions of libmercer with their argument types; a failing one raises MercerError."""

    def __init__(self, path):
        self.library = ctypes.CDLL(path)
        self.library.mercer_last_error.restype = c_char_p
        handle, out, view, result = c_void_p, POINTER(c_void_p), Rows, Matrix
        self.declare("kernel_gram", handle, view, view, view, handle, result)
        self.declare("map_from_spec", c_char_p, out)
        self.declare("map_kernel", handle, out)
        self.declare("map_transform", handle, view, c_void_p, handle, result)
        self.declare("map_derivative", handle, view, POINTER(Derivative), handle, result)
        self.declare("kernel_from_spec", c_char_p, out)
        self.declare("map_shape", handle, POINTER(MapInfo))
        self.declare("map_multiply", handle, view, view, c_int32, handle, result)
        self.declare("map_adjoint", handle, view, view, handle, result)
        self.declare("statistics_create", c_int64, c_int64, out)
        self.declare("statistics_add", handle, c_int32, view, view, handle)
        self.declare("ridge_create", handle, c_int32, handle, out)
        self.declare("ridge_solve", handle, c_double, result, result)
        self.declare("model_fit", c_char_p, POINTER(Data), handle, out)
        self.declare("model_write", handle, c_char_p, c_void_p, c_int64, POINTER(c_int64))
        self.declare("model_read", c_char_p, c_void_p, c_int64, out)
        self.declare("model_predict", handle, view, c_char_p, handle, handle, result)
        for noun in ("kernel", "map", "statistics", "ridge", "model"):
            free = getattr(self.library, f"mercer_{noun}_free")
            free.restype, free.argtypes = None, [c_void_p]
            setattr(self, f"{noun}_free", free)

    def declare(self, name, *types):
        function = getattr(self.library, "mercer_" + name)
        function.restype, function.argtypes = c_int32, list(types)

        def call(*arguments):
            status = function(*arguments)
            if status != 0:
                raise MercerError(status, self.library.mercer_last_error().decode())

        setattr(self, name, call)

    def fit_model(self, spec, X, y, map=None, weights=None, groups=None):
        """The model of a spec, with features of a map or of the spec's own. groups: n x 1 numbers, whose rows splits
        keep together."""
        data = Data(struct_size=ctypes.sizeof(Data), X=rows(X), Y=rows(y), map=map)
        if weights is not None:
            data.weights = weights.ctypes.data
        if groups is not None:
            data.groups = rows(groups)
        return self.make("model_fit", json.dumps(spec).encode(), byref(data), None)

    def make(self, name, *arguments):
        handle = c_void_p()
        getattr(self, name)(*arguments, byref(handle))
        return handle


def apply(mercer, handle, X, D):
    """The features of rows, as a view of them says they are stored."""
    Z = np.empty((X.n, D))
    mercer.map_transform(handle, X, None, None, matrix(Z))
    return Z


def fit(mercer, handle, X, y, D, block=256):
    statistics = mercer.make("statistics_create", D, 1)
    for i in range(0, len(X), block):
        Z = apply(mercer, handle, rows(X[i:i + block]), D)
        mercer.statistics_add(statistics, 1, rows(Z), rows(y[i:i + block]), None)
    ridge = mercer.make("ridge_create", statistics, 1, None)
    w, intercept = np.empty((D, 1)), np.empty((1, 1))
    mercer.ridge_solve(ridge, 1e-6, matrix(w), matrix(intercept))
    mercer.ridge_free(ridge)
    mercer.statistics_free(statistics)
    return w, intercept


def sparse_error(mercer, handle, D):
    """Largest difference between the features of sparse rows and of the same rows stored dense."""
    dense = np.array([[0, 0, 0.5], [0, 0, 0], [-0.25, 0, 1]])
    values, indices = np.array([0.5, -0.25, 1]), np.array([2, 0, 2], np.int32)
    offsets = np.array([0, 1, 1, 3], np.int32)
    sparse = apply(mercer, handle, csr(values, indices, offsets, d=3), D)
    return np.abs(sparse - apply(mercer, handle, rows(dense), D)).max()


def weighted_error(mercer, handle, X, y):
    """Largest difference of predictions between rows of weight 2 and the same rows given twice."""
    weights = np.where(np.arange(len(X)) % 2 == 0, 2.0, 1.0)
    weighed = mercer.fit_model({"lambda": 1e-4}, X, y, handle, weights)
    twice = mercer.fit_model({"lambda": 1e-4}, np.concatenate([X, X[::2]]), np.concatenate([y, y[::2]]), handle)
    scores = np.empty((2, len(X), 1))
    for model, to in ((weighed, scores[0]), (twice, scores[1])):
        mercer.model_predict(model, rows(X), b"value", None, None, matrix(to))
        mercer.model_free(model)
    return np.abs(scores[0] - scores[1]).max()


def along(mercer, handle, kind, X, V, columns):
    """JVP: what Z does as the rows of X move along V. VJP: what dL/dZ = V is in the rows of X."""
    out = np.empty((len(X), columns))
    what = Derivative(ctypes.sizeof(Derivative), kind, 0, None, rows(V))
    mercer.map_derivative(handle, rows(X), byref(what), None, matrix(out))
    return out


def derivative_error(mercer, handle, X, D):
    """The two products against a difference quotient, and against each other: <G, JVP V> = <VJP G, V>."""
    V, G = np.cos(X), np.sin(np.arange(len(X) * D, dtype=float)).reshape(-1, D)
    forward, back = along(mercer, handle, JVP, X, V, D), along(mercer, handle, VJP, X, G, X.shape[1])
    above, below = X + 1e-6 * V, X - 1e-6 * V
    quotient = (apply(mercer, handle, rows(above), D) - apply(mercer, handle, rows(below), D)) / 2e-6
    return max(np.abs(forward - quotient).max(), abs((G * forward).sum() - (back * V).sum()))


def field_error(mercer, X):
    """A random field without sources: its divergence, and <f, f> = <theta, Phi f> of the transpose."""
    handle = mercer.make("map_from_spec",
                         b'{"kernel":{"kernel":"divergence_free"},"inputs":3,"features":600,"projection":"orthogonal"}')
    info = MapInfo(struct_size=ctypes.sizeof(MapInfo))
    mercer.map_shape(handle, byref(info))
    theta = np.cos(np.arange(info.features, dtype=float))[:, None].copy()
    f, divergence, back = np.empty((len(X), 3)), np.empty((len(X), 1)), np.empty_like(theta)
    mercer.map_multiply(handle, rows(X), rows(theta), VALUE, None, matrix(f))
    mercer.map_multiply(handle, rows(X), rows(theta), DIVERGENCE, None, matrix(divergence))
    mercer.map_adjoint(handle, rows(X), rows(f), None, matrix(back))
    adjoint = abs((back * theta).sum() / (f * f).sum() - 1)

    # Learnt from its values where two of three are missing in every second row. theta itself costs lambda |theta|^2, which
    # bounds the squared errors per row.
    targets = f.copy()
    targets[::2, 1:] = np.nan
    model = mercer.fit_model({"lambda": 1e-6, "model": "gp"}, X, targets, handle)
    learnt, sources, covariances = np.empty_like(f), np.empty_like(divergence), np.empty((len(X), 9))
    for what, out in ((b"value", learnt), (b"divergence", sources), (b"covariance", covariances)):
        mercer.model_predict(model, rows(X), what, None, None, matrix(out))
    mercer.model_free(model)
    mercer.map_free(handle)
    if not np.nansum((learnt - targets) ** 2) / len(X) <= 1e-6 * (theta**2).sum():
        return np.inf
    if np.linalg.eigvalsh(covariances.reshape(-1, 3, 3)).min() <= 0:
        return np.inf
    return max(np.abs(divergence).max(), np.abs(sources).max(), adjoint)


def main():
    if len(sys.argv) < 2:
        print("usage: ridge.py LIBMERCER.SO [FILE]", file=sys.stderr)
        return 2
    mercer = Mercer(sys.argv[1])
    path = (sys.argv[2] if len(sys.argv) > 2 else "ridge_python.mercer").encode()
    n, d, D, probes = 2000, 3, 512, 50
    X = np.random.default_rng(1).uniform(-1, 1, (n, d))
    y = (np.sin(3 * X[:, 0]) + X[:, 1] * X[:, 2])[:, None].copy()

    spec = {"map": "fourier", "kernel": {"kernel": "gaussian", "lengthscale": 0.7}, "inputs": d, "features": D, "seed": 42}
    handle = mercer.make("map_from_spec", json.dumps(spec).encode())
    kernel = mercer.make("map_kernel", handle)

    w, intercept = fit(mercer, handle, X, y, D)
    Z = apply(mercer, handle, rows(X), D)
    by_hand = np.linalg.norm(y - Z @ w - intercept) / np.linalg.norm(y)
    K = np.empty((probes, probes))
    mercer.kernel_gram(kernel, rows(X[:probes]), rows(X[:probes]), Rows(), None, matrix(K))
    error = np.abs(Z[:probes] @ Z[:probes].T - K).max()
    print(f"relative error {by_hand:.2e}, largest kernel error {error:.3f}")

    model = mercer.fit_model({}, X, y, handle)
    mercer.model_write(model, path, None, 0, None)
    loaded = mercer.make("model_read", path, None, 0)
    scores = np.empty((n, 1))
    mercer.model_predict(loaded, rows(X), b"value", None, None, matrix(scores))
    by_model = np.linalg.norm(y - scores) / np.linalg.norm(y)
    from_sparse = sparse_error(mercer, handle, D)
    print(f"a saved model: relative error {by_model:.2e}; sparse rows differ by {from_sparse:.1e}")
    of_derivatives = derivative_error(mercer, handle, X[:probes], D)
    print(f"derivatives: off by {of_derivatives:.1e}")

    of_fields = field_error(mercer, X[:probes])
    print(f"a field without sources: off by {of_fields:.1e}")
    by_weights = weighted_error(mercer, handle, X, y)
    print(f"rows of weight 2 and rows given twice differ by {by_weights:.1e}")

    try:
        mercer.make("map_from_spec", b'{"map":"fourier","inputs":-3,"features":8}')
        return 1
    except MercerError as refused:
        print("an error says:", refused)
    for free, owned in ((mercer.model_free, loaded), (mercer.model_free, model), (mercer.map_free, handle),
                        (mercer.kernel_free, kernel)):
        free(owned)
    # Six standard deviations of the pair form, which is at most sqrt(1.5/D): 2500 pairs stay below.
    # Angles of two or three products below 10, whose order differs: far below 1e-12.
    accurate = by_hand < 0.01 and by_model < 0.01 and error < 6 * np.sqrt(1.5 / D)
    # Features are single; sums over the rows round differently. Difference quotients of step 1e-6:
    # rounding of 1e-10, and h^2/6 of third derivatives.
    return 0 if accurate and from_sparse < 1e-12 and by_weights < 1e-6 and of_derivatives < 1e-7 and of_fields < 1e-11 else 1


if __name__ == "__main__":
    sys.exit(main())
