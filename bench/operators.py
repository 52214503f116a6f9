# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""Operator-valued features for the scripts beside this one, by the Python client of capi/clients/python."""
import ctypes
import json
import pathlib
import sys

import numpy as np

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "capi/clients/python"))
from ridge import Mercer, OperatorFit, matrix, rows  # noqa: E402

VALUE = 0
CONJUGATE_GRADIENT = 2


class Operators(Mercer):
    def map(self, spec):
        return self.make("operator_map_from_spec", json.dumps(spec).encode())

    def coefficients(self, made):
        r = ctypes.c_int64()
        self.operator_map_shape(made, None, None, None, ctypes.byref(r), None)
        return r.value

    def fit(self, made, X, Y, lambdas, method, tolerance=1e-5, seed=0):
        """A model of the best lambda by held-out rows, its error there, and which it is."""
        given = (ctypes.c_double * len(lambdas))(*lambdas)
        how = OperatorFit(struct_size=ctypes.sizeof(OperatorFit), method=method, lambdas=given, lambda_count=len(lambdas),
                          delta=1, tolerance=tolerance, most_iterations=2000, seed=seed)
        model = ctypes.c_void_p()
        self.operator_model_fit(made, rows(X), rows(Y), ctypes.byref(how), None, ctypes.byref(model))
        return model, how.error, how.chosen

    def predict(self, model, X, p):
        out = np.empty((len(X), p))
        self.operator_model_predict(model, rows(X), VALUE, None, matrix(out))
        return out
