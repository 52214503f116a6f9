# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""Operator-valued kernels and features for the scripts beside this one, by the Python client of capi/clients/python; and what
their experiments share: a shape stated in words and checked."""
import argparse
import contextlib
import ctypes
import json
import pathlib
import sys
from ctypes import POINTER, c_double, c_int32, c_int64, c_void_p

import numpy as np

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "capi/clients/python"))
from ridge import MapInfo, Matrix, Mercer, OperatorFit, OperatorKernelFit, Rows, matrix, rows  # noqa: E402

VALUE = 0
STEIN, CONJUGATE_GRADIENT, LSQR, LBFGS = 1, 2, 3, 4
LAPLACIAN, SIMILARITY, SIMPLEX = 1, 2, 3


def gaussian(lengthscale):
    return {"kernel": "gaussian", "lengthscale": lengthscale}


def decomposable(Gamma):
    return {"operator": "decomposable", "gamma": np.ravel(Gamma).tolist()}


def root_columns(kernel, inputs, root):
    """q, columns of the root of a kernel of several outputs."""
    if "gamma" in kernel:
        p = round(np.size(kernel["gamma"]) ** 0.5)
        return int(np.linalg.matrix_rank(np.reshape(kernel["gamma"], (p, p)), tol=1e-12 * np.max(kernel["gamma"])))
    divergence = inputs - 1 if root == "orthonormal" else inputs
    return {"curl_free": 1, "divergence_free": divergence, "helmholtz": 1 + divergence}[kernel["kernel"]]


def map_spec(choices):
    """The spec of what the experiments choose, in one dictionary: "operator" names the kernel, "kernel" is its scalar one,
    "features" counts columns of that one's map."""
    own = {key: choices[key] for key in ("alpha", "gamma", "cutoff") if key in choices}
    rest = {key: value for key, value in choices.items() if key not in ("operator", "kernel", *own)}
    spec = {"kernel": {"kernel": choices["operator"], "scalar": choices.get("kernel", {"kernel": "gaussian"}), **own}, **rest}
    if "features" in rest:
        spec["features"] *= root_columns(spec["kernel"], spec["inputs"], spec.get("root"))
    return spec


class Operators(Mercer):
    def __init__(self, path):
        super().__init__(path)
        handle, view, result = c_void_p, POINTER(Rows), POINTER(Matrix)
        self.declare("map_variance", handle, view, view, c_int32, handle, c_void_p)
        self.declare("map_variance_bound", handle, view, view, c_int32, handle, result)
        self.declare("output_structure", c_int32, view, c_double, handle, result)
        self.declare("operator_model_parts", handle, POINTER(c_void_p), result)
        self.declare("operator_model_equivalence", handle, view, view, handle, POINTER(c_double), POINTER(c_double))

    def structure(self, kind, p, data=None, scale=0):
        """Gamma of p outputs; of SIMPLEX the vectors of p classes, one a column."""
        out = np.empty((p - 1 if kind == SIMPLEX else p, p))
        self.output_structure(kind, None if data is None else rows(data), scale, None, matrix(out))
        return out

    @contextlib.contextmanager
    def kernel(self, spec):
        """The exact kernel of a map's choices for the time of a with."""
        handle = self.make("kernel_from_spec", json.dumps(map_spec(spec)["kernel"]).encode())
        yield handle
        self.kernel_free(handle)

    def gram(self, spec, X, Y, p):
        """The exact kernel's blocks, n p x m p."""
        out = np.empty((len(X) * p, len(Y) * p))
        with self.kernel(spec) as kernel:
            self.kernel_gram(kernel, rows(X), rows(Y), None, None, matrix(out))
        return out

    def exact(self, kernel, X, Y, value, X_test):
        """Predictions of exact ridge regression with lambda = value."""
        how = OperatorKernelFit(struct_size=ctypes.sizeof(OperatorKernelFit), lambda_=value, tolerance=1e-10,
                                most_iterations=10000)
        u, out = np.empty_like(Y), np.empty((len(X_test), Y.shape[1]))
        self.operator_kernel_ridge(kernel, rows(X), rows(Y), ctypes.byref(how), None, matrix(u))
        self.kernel_gram(kernel, rows(X_test), rows(X), rows(u), None, matrix(out))
        return out

    def map(self, spec):
        return self.make("map_from_spec", json.dumps(map_spec(spec)).encode())

    @contextlib.contextmanager
    def made(self, spec):
        """A map for the time of a with."""
        handle = self.map(spec)
        yield handle
        self.map_free(handle)

    def coefficients(self, made):
        info = MapInfo(struct_size=ctypes.sizeof(MapInfo))
        self.map_shape(made, ctypes.byref(info))
        return info.features

    def apply(self, made, X, theta, p):
        out = np.empty((len(X), p * theta.shape[1]))
        self.map_multiply(made, rows(X), rows(theta), VALUE, None, matrix(out))
        return out

    def adjoint(self, made, X, Y):
        theta = np.empty((self.coefficients(made), 1))
        self.map_adjoint(made, rows(X), rows(Y), None, matrix(theta))
        return theta

    def explicit(self, made, X, p):
        """Phi of all rows, n p x r."""
        out = np.empty((len(X) * p, self.coefficients(made)))
        self.map_transform(made, rows(X), None, None, matrix(out))
        return out

    def variance(self, made, x, y, p):
        """E (K~ - K)^2 of one pair, and its bound as printed and as corrected."""
        exact, printed, corrected = (np.empty((1, p * p)) for _ in range(3))
        self.map_variance(made, rows(x), rows(y), 0, None, exact.ctypes.data_as(c_void_p))
        self.map_variance_bound(made, rows(x), rows(y), 1, None, matrix(printed))
        self.map_variance_bound(made, rows(x), rows(y), 0, None, matrix(corrected))
        return [V.reshape(p, p) for V in (exact, printed, corrected)]

    def fit(self, made, X, Y, lambdas, method, tolerance=1e-5, seed=0, loss=None):
        """A model of the best lambda by held-out rows (STEIN: leave-one-out), its error there, and which it is."""
        given = (c_double * len(lambdas))(*lambdas)
        how = OperatorFit(struct_size=ctypes.sizeof(OperatorFit), method=method, lambdas=given, lambda_count=len(lambdas),
                          delta=1, tolerance=tolerance, most_iterations=2000, seed=seed, loss=loss)
        model = c_void_p()
        self.operator_model_fit(made, rows(X), rows(Y), ctypes.byref(how), None, ctypes.byref(model))
        return model, how.error, how.chosen

    def theta(self, model, r):
        out = np.empty((r, 1))
        self.operator_model_parts(model, None, matrix(out))
        return out

    def equivalence(self, model, X, u):
        """|r| / |theta|, r = sum_i Phi(X_i) u_i - theta."""
        residual = c_double()
        self.operator_model_equivalence(model, rows(X), rows(u), None, ctypes.byref(residual), None)
        return residual.value

    def predict(self, model, X, p):
        out = np.empty((len(X), p))
        self.operator_model_predict(model, rows(X), VALUE, None, matrix(out))
        return out


def arguments(about, features, of_features=None):
    """What a benchmark over rows, features and splits is asked with; parsed() reads it."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library")
    parser.add_argument("--rows", type=int, nargs="+", default=[100, 300, 1000])
    parser.add_argument("--features", type=int, nargs="+", default=features, help=of_features)
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--plot")
    return parser


def parsed(parser):
    options = parser.parse_args()
    if options.splits < 2 or len(options.rows) < 2 or len(options.features) < 2:
        parser.error("at least 2 splits, 2 numbers of rows and 2 of features")
    return options


def verdict(claims):
    """Prints the statements and whether they hold; the exit code."""
    for text, holds in claims:
        print(f"{'holds' if holds else 'DOES NOT HOLD'}: {text}")
    return 0 if all(holds for _, holds in claims) else 1


def slope(x, y):
    """Of log y against log x."""
    return np.polyfit(np.log(x), np.log(y), 1)[0]
