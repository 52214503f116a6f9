# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""Operator-valued kernels and features, and models, for the scripts beside this one."""
import contextlib
import ctypes
import json

import numpy as np

from library import Mercer, _api, matrix, rows

BOUND = 2  # MERCER_VARIANCE_BOUND
# Rows and targets are taken as they are.
PLAIN = {"precision": "f64", "prepare": {"standardize": False, "transform": "none", "extrapolation": "free"}}


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
    """The spec of what the experiments choose, in one dictionary: "operator" names a kernel of several outputs, "kernel" is its
    scalar one, or the kernel itself; "features" counts columns of the scalar one's map."""
    own = {key: choices[key] for key in ("alpha", "gamma", "cutoff") if key in choices}
    rest = {key: value for key, value in choices.items() if key not in ("operator", "kernel", *own)}
    spec = {"kernel": choices.get("kernel", {"kernel": "gaussian"}), "projection": "dense", **rest}
    if "operator" in choices:
        spec["kernel"] = {"kernel": choices["operator"], "scalar": spec["kernel"], **own}
        if "features" in rest:
            spec["features"] *= root_columns(spec["kernel"], spec["inputs"], spec.get("root"))
    return spec


class Operators(Mercer):
    def simplex(self, classes):
        """Vectors of the classes, one a column."""
        out = np.empty((classes - 1, classes))
        self.simplex_code(matrix(out))
        return out

    def gram(self, spec, X, Y, p):
        """The exact kernel of a map's choices: its blocks, n p x m p."""
        out, kernel = np.empty((len(X) * p, len(Y) * p)), self.make("kernel_from_spec", json.dumps(map_spec(spec)["kernel"]).encode())
        self.kernel_gram(kernel, rows(X), rows(Y), rows(None), None, matrix(out))
        self.kernel_free(kernel)
        return out

    def exact(self, spec, X, Y, shifts, X_test):
        """Predictions of exact ridge regression, (K + shift I) u = y, for each shift, by numpy."""
        n, p = Y.shape
        K, across = self.gram(spec, X, X, p), self.gram(spec, X_test, X, p)
        return [(across @ np.linalg.solve(K + shift * np.eye(n * p), Y.ravel())).reshape(-1, p) for shift in shifts]

    @contextlib.contextmanager
    def made(self, spec):
        """A map for the time of a with."""
        handle = self.make("map_from_spec", json.dumps(map_spec(spec)).encode())
        yield handle
        self.map_free(handle)

    def coefficients(self, made):
        info = _api.make("map_info")
        self.map_shape(made, ctypes.byref(info))
        return info.features

    def apply(self, made, X, theta, p):
        out = np.empty((len(X), p * theta.shape[1]))
        self.map_multiply(made, rows(X), rows(theta), 0, None, matrix(out))
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
        """E (K~ - K)^2 of one pair, and its bound as printed, with Var A once, and as corrected; Var A is F times the variance of
        equal rows."""
        def of(y, which):
            out = np.empty((p, p))
            self.map_variance(made, rows(x), rows(y), which, None, out.ctypes.data)
            return out
        corrected = of(y, BOUND)
        return of(y, 0), corrected - of(x, 0) / 2, corrected

    @contextlib.contextmanager
    def learnt(self, choices, X, Y, **how):
        """A model of the choices' map for the time of a with: lambda, and what else they leave open, by the library's search,
        unless it is told how."""
        given = choices.get("kernel", {}).get("lengthscale")
        asked = {"ard": "off", "assess": False, **({} if given is None else {"lengthscale": given})}
        model = self.fit_model({"map": map_spec(choices), **PLAIN, **(how or asked)}, X, Y)
        yield model
        self.model_free(model)
