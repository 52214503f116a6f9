# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""Random feature maps of kernels, and models on them, by libmercer. `mercer.sklearn` has them as scikit-learn estimators;
`mercer.mpi` fits rows that the processes of mpi4py share, `mercer.dask` dask arrays.

    model = mercer.Model({}, X, y)                       # searched, and scored on rows that no choice has seen
    print(model.report["score"]); f = model.predict(T)
    kernel = mercer.spec.kernels.matern(nu=1.5, lengthscale=2)  # a dict: {"kernel": "matern", "nu": 1.5, "lengthscale": 2}
    features = mercer.Map(mercer.spec.maps.fourier(kernel=kernel, inputs=8, features=1024))
    Z = features.transform(X)                            # Z @ Z.T is near K(X, X)
    own = mercer.Custom("texts", lambda X, Y: similarity[np.ix_(X[:, 0].astype(int), Y[:, 0].astype(int))])
    kernel = mercer.Kernel(own.kernel)                   # rows number the caller's texts
"""
from __future__ import annotations

from typing import Any

from . import spec
from ._api import Cancelled, FileError, FitWarning, InvalidArgument, MercerError, OutOfMemory, Unsupported, library
from ._attention import Attention, attend, attend_vjp, attention_error
from ._context import Context
from ._custom import Custom
from ._model import Model, Observations, Outside
from ._objects import Kernel, Map, RowsSums, bound, file_info, fwht, hamming, lengthscale_median, rows_test, score, self_test, simplex_code, specs
from ._ridge import Ridge, Statistics, ridge_weights


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return library.mercer_version().decode()
    raise AttributeError(f"module 'mercer' has no attribute {name!r}")


__all__ = ["Attention", "Cancelled", "Context", "Custom", "FileError", "FitWarning", "InvalidArgument", "Kernel", "Map", "MercerError", "Model",
           "Observations", "OutOfMemory", "Outside", "Ridge", "RowsSums", "Statistics", "Unsupported", "attend", "attend_vjp", "attention_error",
           "bound", "file_info", "fwht", "hamming", "lengthscale_median", "ridge_weights", "rows_test", "score", "self_test", "simplex_code", "spec",
           "specs"]
