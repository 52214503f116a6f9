# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""Maps as scikit-learn transformers, models as estimators, and scikit-learn's Nystroem as a map."""
import json

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

try:
    from sklearn.utils.validation import validate_data
    FINITE = "ensure_all_finite"
except ImportError:  # scikit-learn before 1.6 has it as a method
    FINITE = "force_all_finite"

    def validate_data(estimator, *rows, **checks):
        return estimator._validate_data(*rows, **checks)

from . import InvalidArgument, Kernel, Map, Model, lengthscale_median, specs
from ._api import invalid, warn, whole

NUMBERS = {"accept_sparse": "csr", "dtype": (np.float64, np.float32)}


def seed_of(random_state):
    """The library's seed of scikit-learn's random_state: an integer is itself."""
    own = isinstance(random_state, (int, np.integer)) and random_state >= 0
    return int(random_state) if own else int(check_random_state(random_state).randint(2**31 - 1))


def _keys(spec, named):
    """A dict of a spec: of a dict, a Kernel, a JSON text or a name alone, of what `named` says."""
    if isinstance(spec, str):
        try:
            spec = json.loads(spec) if spec.lstrip().startswith("{") else {named: spec}
        except ValueError as error:
            raise invalid(f"spec = {spec!r}: {error}, expected a JSON object") from None
    spec = spec.spec if isinstance(spec, Kernel) else {} if spec is None else spec
    if not isinstance(spec, dict):
        raise invalid(f"spec = {spec!r}, expected a dict, a JSON text or the name of a {named}")
    return dict(spec)


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
    random_state : int, RandomState or None
        Of everything drawn.
    options : dict, optional
        Further keys of the map's spec, such as {"projection": "sorf"}.

    Attributes
    ----------
    map_ : Map
    """

    def __init__(self, kernel="gaussian", *, lengthscale=None, features=256, map=None, random_state=0, options=None):
        self.kernel, self.lengthscale, self.features, self.map, self.random_state, self.options = \
            kernel, lengthscale, features, map, random_state, options

    def fit(self, X, y=None):
        """Makes the map; its kernel's lengthscale, and what it learns of rows, are from X."""
        X = validate_data(self, X, **NUMBERS)
        kernel = _keys(self.kernel, "kernel")
        said = Kernel(kernel).spec
        if self.lengthscale is not None:
            if "lengthscale" in kernel:
                raise invalid(f"lengthscale = {self.lengthscale} beside that of kernel = {kernel}, expected one of them")
            kernel["lengthscale"] = self.lengthscale  # refused of kernels that have none
        elif "lengthscale" not in kernel and "lengthscale" in said:
            kernel["lengthscale"] = (lengthscale_median(X) if X.shape[0] > 1 else 0) or 1.0
        name = self.map if self.map not in (None, "auto") else specs(said["kernel"])["kernels"][0]["default_map"]
        spec = {"map": name, "kernel": kernel, "inputs": X.shape[1], "seed": seed_of(self.random_state), **(self.options or {})}
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

    def __init__(self, spec=None, *, random_state=0):
        self.spec, self.random_state = spec, random_state

    def get_params(self, deep=True):
        """With deep the keys of a spec that is a dict, too, as spec__KEY."""
        params = super().get_params(False)
        if deep and isinstance(self.spec, dict):
            params.update((f"spec__{key}", value) for key, value in self.spec.items())
        return params

    def set_params(self, **params):
        """Among them keys of the spec, as a grid search varies them: spec__lambda, spec__map__features."""
        of_spec = {name: params.pop(name) for name in list(params) if name.startswith("spec__")}
        super().set_params(**params)
        for name, value in of_spec.items():
            *path, key = name.split("__")[1:]
            self.spec = place = _keys(self.spec, "model")
            for part in path:
                place[part] = place = dict(place.get(part, {}))
            place[key] = value
        return self

    def _spec(self):
        spec = _keys(self.spec, "model")
        for key, why in (("seed", "random_state is the seed"), ("task", "the estimator's class says it"), ("classes", "the labels tell")):
            if key in spec:
                raise invalid(f"spec with the key {key!r}, expected none: {why}")
        return spec

    def _checks(self):
        """Missing inputs are the library's where the spec says what becomes of them."""
        prepare = _keys(self.spec, "model").get("prepare")
        missing = isinstance(prepare, dict) and prepare.get("missing") in ("fill", "flag")
        return {**NUMBERS, FINITE: "allow-nan"} if missing else NUMBERS

    def _fit(self, X, Y, sample_weight, names, groups=None, **keys):
        """names: of targets and of classes, for the model's file."""
        if sample_weight is not None:
            weights = _check_sample_weight(sample_weight, X, np.float64)
            used = weights != 0  # the library refuses others that are no weights
            X, Y, sample_weight, groups = X[used], Y[used], weights[used], None if groups is None else np.asarray(groups)[used]
        if len(Y) < 2:
            raise invalid(f"{len(Y)} sample, expected at least 2 to learn from")
        self.model_ = Model({"seed": seed_of(self.random_state), **keys, **self._spec()}, X, Y, weights=sample_weight, groups=groups)
        self._keep_names(*names)

    def _keep_names(self, targets, classes=()):
        """As the command has them, so that it, and other languages, find columns and classes by their names."""
        inputs = [str(name) for name in getattr(self, "feature_names_in_", [])]
        whole_numbers = all(isinstance(label, (int, np.integer)) and not isinstance(label, bool) for label in classes)
        schema = {"version": 1, "inputs": inputs, "targets": targets if inputs else [], "classes": [str(label) for label in classes],
                  "text_labels": not whole_numbers, "missing": self._checks() is not NUMBERS, "encodings": []}
        self.model_.metadata = json.dumps({"schema": schema})

    def _goes_on(self):
        return hasattr(self, "model_") and self.model_.spec["keep"] == "sums"

    def _partial_fit(self, X, Y, sample_weight, names, **keys):
        """The first rows choose all that the spec leaves open; rows that follow only add to the sums."""
        if not self._goes_on():
            if hasattr(self, "model_"):
                warn("partial_fit after a fit that keeps no sums begins anew, without its rows: fit with {\"keep\": \"sums\"}, or call "
                     "partial_fit alone", UserWarning)
            return self._fit(X, Y, sample_weight, names, keep="sums", **keys)
        if sample_weight is not None:
            sample_weight = _check_sample_weight(sample_weight, X, np.float64)
        self.model_ = self.model_.update(X, Y, sample_weight)
        self._keep_names(*names)

    def _predicted(self, X, what):
        check_is_fitted(self)
        return self.model_.predict(validate_data(self, X, reset=False, **self._checks()), what)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = isinstance(self.spec, dict) and self._checks() is not NUMBERS
        return tags


def _target_names(y):
    """Of a Series or a DataFrame of pandas."""
    named = getattr(y, "columns", [getattr(y, "name", None)])
    return [str(name) for name in named] if all(name is not None for name in named) else []


class Regressor(RegressorMixin, _Estimator):
    """Regression of one target or several.

    Parameters
    ----------
    spec : dict or str, optional
        Of mercer.Model, or a model's name; {}, the default, searches map, kernel, lengthscales and lambda. Its keys are parameters, too: a
        grid search varies ``spec__lambda`` or ``spec__map__features``. Missing inputs: ``{"prepare": {"missing": "fill"}}`` or "flag".
    random_state : int, RandomState or None
        Of everything drawn.

    Attributes
    ----------
    model_ : Model
        Which has the report, derivatives and variances, and is saved.
    """

    def fit(self, X, y, sample_weight=None, groups=None):
        """Of one target, n numbers, or several, n x m; rows of weight 0 are left out, those of a group are never on both sides of a split."""
        names = _target_names(y)
        X, y = validate_data(self, X, y, multi_output=True, y_numeric=True, **self._checks())
        self._several = y.ndim == 2
        self._fit(X, y, sample_weight, [names], groups)
        return self

    def partial_fit(self, X, y, sample_weight=None):
        """Adds rows to those of partial_fit before, or of a fit whose spec says {"keep": "sums"}. The first call is a fit, which chooses
        for all that follow: it should have enough rows for that."""
        names = _target_names(y)
        X, y = validate_data(self, X, y, multi_output=True, y_numeric=True, reset=not self._goes_on(), **self._checks())
        self._partial_fit(X, y, sample_weight, [names])
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
        Of mercer.Model, or a model's name; {}, the default, searches map, kernel, lengthscales and lambda. Its keys are parameters, too: a
        grid search varies ``spec__lambda`` or ``spec__map__features``. Missing inputs: ``{"prepare": {"missing": "fill"}}`` or "flag".
    random_state : int, RandomState or None
        Of everything drawn.

    Attributes
    ----------
    model_ : Model
        Which has the report, derivatives and variances, and is saved.
    classes_ : ndarray
        Labels in the order of the probabilities' columns.
    """

    def fit(self, X, y, sample_weight=None, groups=None):
        """Of labels of any type; rows of weight 0 are left out, those of a group are never on both sides of a split."""
        names = _target_names(y)
        X, y = validate_data(self, X, y, **self._checks())
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        used = np.unique(codes if sample_weight is None else codes[np.broadcast_to(np.asarray(sample_weight) != 0, len(codes))])
        if len(used) < 2:
            raise invalid(f"one class, {self.classes_[used]}, expected at least two classes of positive weight")
        self._fit(X, codes, sample_weight, [names, self.classes_], groups, task="classification", classes=len(self.classes_))
        return self

    def partial_fit(self, X, y, classes=None, sample_weight=None):
        """As of Regressor. classes: all labels, in the first call."""
        first, names = not self._goes_on(), _target_names(y)
        X, y = validate_data(self, X, y, reset=first, **self._checks())
        check_classification_targets(y)
        if first:
            self.classes_ = np.unique(y if classes is None else classes)
        codes = np.searchsorted(self.classes_, y)
        known = codes < len(self.classes_)
        if not np.all(known) or np.any(self.classes_[codes] != y):
            raise invalid(f"labels {np.setdiff1d(y, self.classes_)}, expected those of the first partial_fit, {self.classes_}")
        self._partial_fit(X, codes, sample_weight, [names, self.classes_], task="classification", classes=len(self.classes_), model="ridge")
        return self

    def predict_proba(self, X):
        """A column for each of ``classes_``."""
        return self._predicted(X, "probability")

    def predict_log_proba(self, X):
        """Logarithms of these, -inf of 0."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def decision_function(self, X):
        """predict_log_proba; of two classes that of the second less that of the first."""
        scores = self.predict_log_proba(X)
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

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
