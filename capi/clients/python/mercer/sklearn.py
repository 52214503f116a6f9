# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""Maps as scikit-learn transformers, models as estimators, and scikit-learn's Nystroem as a map."""
import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, TransformerMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from . import Map, Model, lengthscale_median, specs

NUMBERS = {"accept_sparse": "csr", "dtype": (np.float64, np.float32)}


class Features(TransformerMixin, BaseEstimator):
    """Random features of a kernel: transform(X) @ transform(Y).T is near K(X, Y).

    kernel: a name or a spec. lengthscale: of the kernel, None: the median distance of the rows. features: columns, rounded up to what
    the map makes, of maps whose columns the inputs do not decide. map: a name, None: the kernel's own. seed: of everything drawn. options: further keys of the map's spec, such as
    {"projection": "sorf"}."""

    def __init__(self, kernel="gaussian", *, lengthscale=None, features=256, map=None, seed=0, options=None):
        self.kernel, self.lengthscale, self.features, self.map, self.seed, self.options = kernel, lengthscale, features, map, seed, options

    def fit(self, X, y=None):
        """Makes the map; its kernel's lengthscale, and what it learns of rows, are from X."""
        X = self._validate_data(X, **NUMBERS)
        kernel = dict(self.kernel) if isinstance(self.kernel, dict) else {"kernel": self.kernel}
        entry = specs(kernel["kernel"])["kernels"][0]
        if self.lengthscale is not None:
            if "lengthscale" in kernel:
                raise ValueError(f"lengthscale = {self.lengthscale} beside that of kernel = {kernel}, expected one of them")
            kernel["lengthscale"] = self.lengthscale  # refused of kernels that have none
        elif "lengthscale" not in kernel and any(field["key"] == "lengthscale" for field in entry["parameters"]):
            kernel["lengthscale"] = (lengthscale_median(X) if X.shape[0] > 1 else 0) or 1.0
        name = self.map or entry["default_map"]
        step = next(one for one in specs(name)["maps"] if one["name"] == name)
        columns = -(-self.features // (step["features_step"] or 1)) * (step["features_step"] or 1)
        spec = {"map": name, "kernel": kernel, "inputs": X.shape[1], "seed": self.seed, **(self.options or {})}
        if not step["one_size"]:
            spec["features"] = columns
        self.map_ = Map(spec, X if step["needs_rows"] else None)
        self._n_features_out = self.map_.shape.features
        return self

    def transform(self, X):
        """The features of rows, dense or CSR, in their precision."""
        check_is_fitted(self)
        return self.map_.transform(self._validate_data(X, reset=False, **NUMBERS))

    def get_feature_names_out(self, input_features=None):
        """features0, features1, ..."""
        check_is_fitted(self)
        return np.array([f"features{j}" for j in range(self._n_features_out)], object)

    def _more_tags(self):
        return {"preserves_dtype": [np.float64, np.float32]}


class _Estimator(BaseEstimator):
    """spec: of mercer.Model; {}, its default, searches map, kernel, lengthscales and lambda. seed: of everything drawn."""

    def __init__(self, spec=None, *, seed=0):
        self.spec, self.seed = spec, seed

    def _fit(self, X, Y, sample_weight, **keys):
        if sample_weight is not None:
            weights = np.broadcast_to(np.asarray(sample_weight, np.float64), len(Y))
            used = weights != 0  # the library refuses others that are no weights
            X, Y, sample_weight = X[used], Y[used], weights[used]
        if len(Y) < 2:
            raise ValueError(f"{len(Y)} sample, expected at least 2 to learn from")
        self.model_ = Model({"seed": self.seed, **keys, **(self.spec or {})}, X, Y, weights=sample_weight)

    def _predicted(self, X, what):
        check_is_fitted(self)
        return self.model_.predict(self._validate_data(X, reset=False, **NUMBERS), what)


class Regressor(RegressorMixin, _Estimator):
    """Regression of one target or several."""

    def fit(self, X, y, sample_weight=None):
        """Of one target, n numbers, or several, n x m; rows of weight 0 are left out."""
        X, y = self._validate_data(X, y, multi_output=True, y_numeric=True, **NUMBERS)
        self._several = y.ndim == 2
        self._fit(X, y, sample_weight)
        return self

    def predict(self, X, return_std=False):
        """Values; with return_std also deviations of new targets, of a spec with "model": "gp"."""
        value = self._predicted(X, "value")
        std = np.sqrt(self._predicted(X, "predictive_variance")) if return_std else value
        value, std = (value, std) if self._several else (value[:, 0], std[:, 0])
        return (value, std) if return_std else value

    def _more_tags(self):
        return {"multioutput": True}


class Classifier(ClassifierMixin, _Estimator):
    """Classification; the class predicted is the most probable one."""

    def fit(self, X, y, sample_weight=None):
        """Of labels of any type; rows of weight 0 are left out."""
        X, y = self._validate_data(X, y, **NUMBERS)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        used = np.unique(codes if sample_weight is None else codes[np.broadcast_to(np.asarray(sample_weight) != 0, len(codes))])
        if len(used) < 2:
            raise ValueError(f"one class, {self.classes_[used]}, expected at least two classes of positive weight")
        self._fit(X, codes, sample_weight, task="classification", classes=len(self.classes_))
        return self

    def predict_proba(self, X):
        """A column for each of classes_."""
        return self._predicted(X, "probability")

    def predict(self, X):
        """Labels."""
        check_is_fitted(self)
        return self.classes_[self.predict_proba(X).argmax(1)]

    def _more_tags(self):
        return {"_xfail_checks": {"check_sample_weights_invariance": "folds are drawn by the numbers of the rows, which the check changes"}}


def from_nystroem(fitted):
    """The map of a fitted sklearn.kernel_approximation.Nystroem of the kernel rbf: products of its features are those of
    scikit-learn's to rounding, its columns another rotation of them."""
    if fitted.kernel != "rbf":
        raise ValueError(f"a Nystroem map of the kernel {fitted.kernel}, expected rbf")
    L = np.ascontiguousarray(fitted.components_, np.float64)
    gamma = 1 / L.shape[1] if fitted.gamma is None else fitted.gamma
    kernel = {"kernel": "gaussian", "lengthscale": (2 * gamma) ** -0.5}
    return Map({"map": "nystroem", "kernel": kernel, "inputs": L.shape[1], "features": len(L)}, L)
