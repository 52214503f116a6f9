# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""Maps as scikit-learn transformers, models as estimators, and scikit-learn's Nystroem as a map."""
import json
import warnings

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, TransformerMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

try:
    from sklearn.utils.validation import validate_data
except ImportError:  # scikit-learn before 1.6 has it as a method
    def validate_data(estimator, *rows, **checks):
        return estimator._validate_data(*rows, **checks)

from . import InvalidArgument, Kernel, Map, Model, lengthscale_median, specs
from ._api import invalid, whole

NUMBERS = {"accept_sparse": "csr", "dtype": (np.float64, np.float32)}


def _keys(spec):
    """A dict of a spec: of a dict, a Kernel, a JSON text or, of a kernel, a name alone."""
    if isinstance(spec, str):
        try:
            spec = json.loads(spec) if spec.lstrip().startswith("{") else {"kernel": spec}
        except ValueError as error:
            raise invalid(f"spec = {spec!r}: {error}, expected a JSON object") from None
    return dict(spec.spec if isinstance(spec, Kernel) else spec or {})


def _rounded(spec, features, X):
    """The map with the least number of columns, from `features` on, that it makes of these inputs; or with the only number."""
    for columns in range(features, features + 4096):
        try:
            return Map({**spec, "features": columns}, X)
        except InvalidArgument as error:
            expected = error.fields.get("expected", "") if error.fields.get("argument") == "features" else ""
            only = expected.split(":")[0]
            if only.isdigit():
                return Map({**spec, "features": int(only)}, X)
            if not expected or expected.startswith(("at most", "an integer")):
                raise
            reason = error
    raise reason


class Features(TransformerMixin, BaseEstimator):
    """Random features of a kernel: transform(X) @ transform(Y).T is near K(X, Y).

    Parameters
    ----------
    kernel : str, dict or Kernel
        A name, a spec or a kernel.
    lengthscale : float or sequence, optional
        Of the kernel; None: the one in its spec, or the median distance of the rows.
    features : int
        How many columns, rounded up where the map makes them in steps, and of no effect where the inputs alone decide how many there are.
    map : str, optional
        A name; None or "auto": the kernel's own.
    seed : int
        Of everything drawn.
    options : dict, optional
        Further keys of the map's spec, such as {"projection": "sorf"}.
    """

    def __init__(self, kernel="gaussian", *, lengthscale=None, features=256, map=None, seed=0, options=None):
        self.kernel, self.lengthscale, self.features, self.map, self.seed, self.options = kernel, lengthscale, features, map, seed, options

    def fit(self, X, y=None):
        """Makes the map; its kernel's lengthscale, and what it learns of rows, are from X."""
        X = validate_data(self, X, **NUMBERS)
        kernel = _keys(self.kernel)
        said = Kernel(kernel).spec
        if self.lengthscale is not None:
            if "lengthscale" in kernel:
                raise invalid(f"lengthscale = {self.lengthscale} beside that of kernel = {kernel}, expected one of them")
            kernel["lengthscale"] = self.lengthscale  # refused of kernels that have none
        elif "lengthscale" not in kernel and "lengthscale" in said:
            kernel["lengthscale"] = (lengthscale_median(X) if X.shape[0] > 1 else 0) or 1.0
        name = self.map if self.map not in (None, "auto") else specs(said["kernel"])["kernels"][0]["default_map"]
        spec = {"map": name, "kernel": kernel, "inputs": X.shape[1], "seed": self.seed, **(self.options or {})}
        needs_rows = spec.get("projection") == "grid" or any(one["needs_rows"] for one in specs()["maps"] if one["name"] == name)
        self.map_ = _rounded(spec, whole("features", self.features, 1), X if needs_rows else None)
        self._n_features_out = self.map_.shape.features
        return self

    def transform(self, X):
        """The features of rows, dense or CSR, in their precision."""
        check_is_fitted(self)
        return self.map_.transform(validate_data(self, X, reset=False, **NUMBERS))

    def get_feature_names_out(self, input_features=None):
        """features0, features1, ..."""
        check_is_fitted(self)
        return np.array([f"features{j}" for j in range(self._n_features_out)], object)

    def _more_tags(self):  # before scikit-learn 1.6
        return {"preserves_dtype": [np.float64, np.float32]}

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


class _Estimator(BaseEstimator):
    """What both estimators share: a model of a spec as `model_`."""

    def __init__(self, spec=None, *, seed=0):
        self.spec, self.seed = spec, seed

    def _fit(self, X, Y, sample_weight, **keys):
        if sample_weight is not None:
            weights = np.broadcast_to(np.asarray(sample_weight, np.float64), len(Y))
            used = weights != 0  # the library refuses others that are no weights
            X, Y, sample_weight = X[used], Y[used], weights[used]
        if len(Y) < 2:
            raise invalid(f"{len(Y)} sample, expected at least 2 to learn from")
        self.model_ = Model({"seed": self.seed, **keys, **_keys(self.spec)}, X, Y, weights=sample_weight)

    def _goes_on(self):
        return hasattr(self, "model_") and self.model_.spec["keep"] == "sums"

    def _partial_fit(self, X, Y, sample_weight, **keys):
        """The first rows choose all that the spec leaves open; rows that follow only add to the sums."""
        if not self._goes_on():
            if hasattr(self, "model_"):
                warnings.warn("partial_fit after a fit that keeps no sums begins anew, without its rows: fit with {\"keep\": \"sums\"}, or call "
                              "partial_fit alone", stacklevel=3)
            return self._fit(X, Y, sample_weight, keep="sums", **keys)
        if sample_weight is not None:
            sample_weight = np.broadcast_to(np.asarray(sample_weight, np.float64), len(Y))
        self.model_ = self.model_.update(X, Y, sample_weight)

    def _predicted(self, X, what):
        check_is_fitted(self)
        return self.model_.predict(validate_data(self, X, reset=False, **NUMBERS), what)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class Regressor(RegressorMixin, _Estimator):
    """Regression of one target or several.

    Parameters
    ----------
    spec : dict or str, optional
        Of mercer.Model; {}, the default, searches map, kernel, lengthscales and lambda.
    seed : int
        Of everything drawn.
    """

    def fit(self, X, y, sample_weight=None):
        """Of one target, n numbers, or several, n x m; rows of weight 0 are left out."""
        X, y = validate_data(self, X, y, multi_output=True, y_numeric=True, **NUMBERS)
        self._several = y.ndim == 2
        self._fit(X, y, sample_weight)
        return self

    def partial_fit(self, X, y, sample_weight=None):
        """Of the rows before, where they were given here or to a fit whose spec says {"keep": "sums"}, and of these; else a fit of these,
        which are enough to choose by."""
        X, y = validate_data(self, X, y, multi_output=True, y_numeric=True, reset=not self._goes_on(), **NUMBERS)
        self._partial_fit(X, y, sample_weight)
        self._several = y.ndim == 2
        return self

    def predict(self, X, return_std=False):
        """Values; with return_std also deviations of new targets, of a spec with "model": "gp"."""
        value = self._predicted(X, "value")
        std = np.sqrt(self._predicted(X, "predictive_variance")) if return_std else value
        value, std = (value, std) if self._several else (value[:, 0], std[:, 0])
        return (value, std) if return_std else value

    def _more_tags(self):  # before scikit-learn 1.6
        return {"multioutput": True}

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


class Classifier(ClassifierMixin, _Estimator):
    """Classification; the class predicted is the most probable one.

    Parameters
    ----------
    spec : dict or str, optional
        Of mercer.Model; {}, the default, searches map, kernel, lengthscales and lambda.
    seed : int
        Of everything drawn.
    """

    def fit(self, X, y, sample_weight=None):
        """Of labels of any type; rows of weight 0 are left out."""
        X, y = validate_data(self, X, y, **NUMBERS)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        used = np.unique(codes if sample_weight is None else codes[np.broadcast_to(np.asarray(sample_weight) != 0, len(codes))])
        if len(used) < 2:
            raise invalid(f"one class, {self.classes_[used]}, expected at least two classes of positive weight")
        self._fit(X, codes, sample_weight, task="classification", classes=len(self.classes_))
        return self

    def partial_fit(self, X, y, classes=None, sample_weight=None):
        """As of Regressor. classes: all labels, in the first call."""
        first = not self._goes_on()
        X, y = validate_data(self, X, y, reset=first, **NUMBERS)
        check_classification_targets(y)
        if first:
            self.classes_ = np.unique(y if classes is None else classes)
        codes = np.searchsorted(self.classes_, y)
        known = codes < len(self.classes_)
        if not np.all(known) or np.any(self.classes_[codes] != y):
            raise invalid(f"labels {np.setdiff1d(y, self.classes_)}, expected those of the first partial_fit, {self.classes_}")
        self._partial_fit(X, codes, sample_weight, task="classification", classes=len(self.classes_), model="ridge")
        return self

    def predict_proba(self, X):
        """A column for each of ``classes_``."""
        return self._predicted(X, "probability")

    def predict(self, X):
        """Labels."""
        check_is_fitted(self)
        return self.classes_[self.predict_proba(X).argmax(1)]

    def _more_tags(self):  # before scikit-learn 1.6, whose successors take this as an argument of check_estimator
        return {"_xfail_checks": {"check_sample_weights_invariance": "folds are drawn by the numbers of the rows, which the check changes"}}


def from_nystroem(fitted):
    """The map of a fitted sklearn.kernel_approximation.Nystroem of the kernel rbf: products of its features are those of
    scikit-learn's to rounding, its columns another rotation of them."""
    check_is_fitted(fitted)
    if fitted.kernel != "rbf":
        raise invalid(f"a Nystroem map of the kernel {fitted.kernel}, expected rbf")
    L = np.ascontiguousarray(fitted.components_, np.float64)
    gamma = 1 / L.shape[1] if fitted.gamma is None else fitted.gamma
    kernel = {"kernel": "gaussian", "lengthscale": (2 * gamma) ** -0.5}
    return Map({"map": "nystroem", "kernel": kernel, "inputs": L.shape[1], "features": len(L)}, L)
