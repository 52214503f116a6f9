# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""The library by the Python package's raw layer, for the scripts beside this one."""
import ctypes
import json
import os
import pathlib
import sys
from functools import partial

import numpy as np

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "capi/clients/python"))
from mercer import MercerError, _api  # noqa: E402, F401
from mercer._arrays import Rows, matrix  # noqa: E402, F401


def rows(X):
    """A view of the rows of an array, or of a scipy.sparse.csr_matrix; None: absent rows."""
    made = Rows(X)
    made.view.keep = made
    return made.view


class Mercer:
    """The functions of the library without their prefix; one that fails raises MercerError."""

    def __init__(self, path):
        os.environ["MERCER_LIBRARY"] = str(path)  # once in a process

    def __getattr__(self, name):
        if _api.API["functions"]["mercer_" + name]["returns"] == "void":
            return getattr(_api.library, "mercer_" + name)
        return partial(_api.call, name)

    make, text = staticmethod(_api.new), staticmethod(_api.text)

    def fit_model(self, spec, X, y=None, map=None, weights=None, groups=None):
        data = _api.make("data")
        data.X, data.Y, data.groups, data.map = rows(X), rows(y), rows(groups), map
        if weights is not None:
            data.weights = weights.ctypes.data
        return self.make("model_fit", json.dumps(spec).encode(), ctypes.byref(data), None)

    def predict(self, model, X, p, what="value"):
        """p numbers of each row."""
        out = np.empty((len(X), p))
        self.model_predict(model, rows(X), what.encode(), None, None, matrix(out))
        return out

    def said(self, model, what):
        """The spec or the report of a model."""
        return json.loads(self.text("model_text", model, what))


class Library(Mercer):
    """Maps."""

    def map(self, spec):
        """A map from its spec, or None with the library's reason if it is refused."""
        try:
            return self.make("map_from_spec", json.dumps(spec).encode()), ""
        except MercerError as refused:
            return None, str(refused)

    def fit(self, spec, X):
        """A map that is learnt from rows."""
        data = _api.make("map_data")
        data.X = rows(X)
        return self.make("map_fit", json.dumps(spec).encode(), ctypes.byref(data), None)

    def spec(self, made):
        """What the map says of itself."""
        return json.loads(self.text("map_spec", made))

    def apply(self, made, X, Z):
        """Z = the features of the rows of X, dense or sparse, of one precision."""
        self.map_transform(made, rows(X), None, None, matrix(Z))

    def variance(self, made, X, Y):
        """Of the estimate of k(x_i, y_i), in closed form."""
        variance = np.empty(len(X))
        self.map_variance(made, rows(X), rows(Y), 0, None, variance.ctypes.data)
        return variance

    def free(self, made):
        self.map_free(made)
