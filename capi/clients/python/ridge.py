# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""Gaussian ridge regression on random Fourier features, in Python by ctypes and numpy alone: map, statistics by blocks
of rows, ridge, prediction; a model with its file; what an error says. Usage: ridge.py LIBMERCER.SO [FILE]"""
import ctypes
import sys
from ctypes import POINTER, byref, c_char_p, c_double, c_int32, c_int64, c_uint32, c_uint64, c_void_p

try:
    import numpy as np
except ImportError:
    print("SKIPPED: python3-numpy is not installed")
    sys.exit(0)


class FourierOptions(ctypes.Structure):
    _fields_ = [("struct_size", c_uint32), ("form", c_int32), ("projection", c_int32),
                ("radius", c_int32), ("seed", c_uint64),
                ("scramble", c_int32), ("whole_blocks", c_int32)]


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
        matrix = [c_int64, c_void_p, c_int64]  # rows, data, leading dimension
        data, handle, out = [c_void_p, c_int64], c_void_p, POINTER(c_void_p)
        self.declare("fourier_options_init", POINTER(FourierOptions))
        self.declare("kernel_gaussian", POINTER(c_double), c_int64, out)
        self.declare("kernel_gram_f64", handle, c_int64, *matrix, *matrix, *data)
        self.declare("fourier_create", handle, c_int64, c_int64, POINTER(FourierOptions), out)
        self.declare("map_from_spec", c_char_p, out)
        self.declare("map_apply_f64", handle, *matrix, *data)
        self.declare("statistics_create", c_int64, c_int64, out)
        self.declare("statistics_add_f64", handle, *matrix, *data, handle)
        self.declare("ridge_create", handle, c_int32, handle, out)
        self.declare("ridge_solve_f64", handle, c_double, *data, c_void_p)
        self.declare("model_fit_f64", handle, c_void_p, *matrix, *matrix, handle, out)
        self.declare("model_save", handle, c_char_p)
        self.declare("model_load", c_char_p, out)
        self.declare("model_predict_f64", handle, *matrix, handle, *data)
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

    def make(self, name, *arguments):
        handle = c_void_p()
        getattr(self, name)(*arguments, byref(handle))
        return handle


def rows_of(array):
    return array.shape[0], array.ctypes.data, array.shape[1]


def data_of(array):
    return array.ctypes.data, array.shape[1]


def apply(mercer, handle, X, D):
    Z = np.empty((len(X), D))
    mercer.map_apply_f64(handle, *rows_of(X), *data_of(Z))
    return Z


def fit(mercer, handle, X, y, D, block=256):
    statistics = mercer.make("statistics_create", D, 1)
    for i in range(0, len(X), block):
        Z = apply(mercer, handle, X[i:i + block], D)
        mercer.statistics_add_f64(statistics, *rows_of(Z), *data_of(y[i:i + block]), None)
    ridge = mercer.make("ridge_create", statistics, 1, None)
    w, intercept = np.empty((D, 1)), np.empty(1)
    mercer.ridge_solve_f64(ridge, 1e-6, *data_of(w), intercept.ctypes.data)
    mercer.ridge_free(ridge)
    mercer.statistics_free(statistics)
    return w, intercept


def main():
    mercer = Mercer(sys.argv[1])
    path = (sys.argv[2] if len(sys.argv) > 2 else "ridge_python.mercer").encode()
    n, d, D, probes = 2000, 3, 512, 50
    X = np.random.default_rng(1).uniform(-1, 1, (n, d))
    y = (np.sin(3 * X[:, 0]) + X[:, 1] * X[:, 2])[:, None].copy()

    options = FourierOptions(struct_size=ctypes.sizeof(FourierOptions))
    mercer.fourier_options_init(byref(options))
    options.seed = 42
    kernel = mercer.make("kernel_gaussian", byref(c_double(0.7)), 1)
    handle = mercer.make("fourier_create", kernel, d, D, byref(options))

    w, intercept = fit(mercer, handle, X, y, D)
    Z = apply(mercer, handle, X, D)
    by_hand = np.linalg.norm(y - Z @ w - intercept) / np.linalg.norm(y)
    K = np.empty((probes, probes))
    mercer.kernel_gram_f64(kernel, d, *rows_of(X[:probes]), *rows_of(X[:probes]), *data_of(K))
    error = np.abs(Z[:probes] @ Z[:probes].T - K).max()
    print(f"relative error {by_hand:.2e}, largest kernel error {error:.3f}")

    model = mercer.make("model_fit_f64", handle, None, *rows_of(X), y.shape[1], *data_of(y), None)
    mercer.model_save(model, path)
    loaded = mercer.make("model_load", path)
    scores = np.empty((n, 1))
    mercer.model_predict_f64(loaded, *rows_of(X), None, *data_of(scores))
    by_model = np.linalg.norm(y - scores) / np.linalg.norm(y)
    print(f"a saved model: relative error {by_model:.2e}")

    try:
        mercer.make("map_from_spec", b'{"map":"fourier","inputs":-3,"features":8}')
        return 1
    except MercerError as refused:
        print("an error says:", refused)
    for free, owned in ((mercer.model_free, loaded), (mercer.model_free, model), (mercer.map_free, handle),
                        (mercer.kernel_free, kernel)):
        free(owned)
    # Six standard deviations of the pair form, which is at most sqrt(1.5/D): 2500 pairs stay below.
    return 0 if by_hand < 0.01 and by_model < 0.01 and error < 6 * np.sqrt(1.5 / D) else 1


if __name__ == "__main__":
    sys.exit(main())
