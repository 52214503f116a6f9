# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""The classes of sklearn.gaussian_process on mercer's processes. They are subclasses: parameters, kernel objects and the search of their
hyperparameters, which sees at most `SEARCHED` rows, are scikit-learn's; what predicts is a mercer.Model of all rows, `model_`: of the kernel itself
while rows are few, else of random features, so that rows may be millions. Of kernels that `_KERNELS` does not translate scikit-learn computes all."""
import contextlib
import warnings

import numpy as np
from sklearn.gaussian_process import GaussianProcessClassifier as TheirClassifier
from sklearn.gaussian_process import GaussianProcessRegressor as TheirRegressor
from sklearn.gaussian_process import kernels
from sklearn.gaussian_process._gpc import _BinaryGaussianProcessClassifierLaplace as TheirBinary
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.utils import check_random_state
from sklearn.utils.validation import _num_samples

from . import FitWarning, Model
from ._api import invalid, whole
from .sklearn import validate_data

__all__ = ["GaussianProcessClassifier", "GaussianProcessRegressor"]

SEARCHED = 1000  # rows of which n^3 is affordable some hundred times


def _product(one, other, inputs):
    for constant, kernel in ((one, other), (other, one)):
        if type(constant) is kernels.ConstantKernel:
            spec, noise = _translated(kernel, inputs)
            factor = constant.constant_value
            return spec and {**spec, "variance": factor * spec.get("variance", 1)}, factor * noise
    (first, noise), (second, more) = _translated(one, inputs), _translated(other, inputs)
    if noise or more:
        raise LookupError
    return {"kernel": "product", "parts": [first, second]}, 0


def _sum(one, other, inputs):
    (first, noise), (second, more) = _translated(one, inputs), _translated(other, inputs)
    return {"kernel": "sum", "parts": [first, second]} if first and second else first or second, noise + more


def _periodic(kernel, inputs):
    if inputs != 1:  # of several theirs is of the distance, ours a product over inputs
        raise LookupError
    return {"kernel": "periodic", "period": kernel.periodicity, "width": kernel.length_scale}, 0


# Of each class of scikit-learn, and of no subclass, the spec, None for no smooth part, and the variance of noise.
_KERNELS = {
    kernels.RBF: lambda k, inputs: ({"kernel": "gaussian", "lengthscale": k.length_scale}, 0),
    kernels.Matern: lambda k, inputs: (
        {"kernel": "gaussian" if k.nu == np.inf else "matern", "lengthscale": k.length_scale, **({} if k.nu == np.inf else {"nu": k.nu})}, 0),
    kernels.RationalQuadratic: lambda k, inputs: ({"kernel": "rational_quadratic", "alpha": k.alpha, "lengthscale": k.length_scale}, 0),
    kernels.ExpSineSquared: _periodic,
    kernels.DotProduct: lambda k, inputs: ({"kernel": "polynomial", "degree": 1, "offset": k.sigma_0**2}, 0),
    kernels.ConstantKernel: lambda k, inputs: ({"kernel": "gaussian", "lengthscale": 1e300, "variance": k.constant_value}, 0),
    kernels.WhiteKernel: lambda k, inputs: (None, k.noise_level),
    kernels.Sum: lambda k, inputs: _sum(k.k1, k.k2, inputs),
    kernels.Product: lambda k, inputs: _product(k.k1, k.k2, inputs),
}


def _translated(kernel, inputs):
    """The spec and the noise of a kernel, or LookupError."""
    return _KERNELS[type(kernel)](kernel, inputs)


def _drawn(rows, random_state):
    """The rows that the search of hyperparameters sees; None: all."""
    if rows <= SEARCHED:
        return None
    return np.sort(check_random_state(random_state).permutation(rows)[:SEARCHED])


class _OnModel:
    """What both classes share: the spec of model_, if there is one."""

    def _map(self, spec, rows, exact, default):
        """The map of the kernel itself, or features of it."""
        if self.features is None and rows <= exact[1]:
            return {"map": exact[0], "kernel": spec, **({"features": rows} if exact[0] == "nystroem" else {})}
        return {"kernel": spec, "features": default if self.features is None else whole("features", self.features, 1)}

    def _spec(self, X, exact, default):
        """A model's spec and the noise of the kernel, or None where it is left to scikit-learn."""
        try:
            spec, noise = _translated(self.kernel_, X.shape[1])
        except LookupError:
            spec = noise = None
        if spec is None:
            if self.features is not None or len(X) > exact[1]:
                raise invalid(f"kernel = {self.kernel_} of {len(X)} rows with features = {self.features}, expected one of "
                              f"{', '.join(kind.__name__ for kind in _KERNELS)}, or at most {exact[1]} rows")
            return None, None
        seed = self.random_state if isinstance(self.random_state, int) else 0
        return {"map": self._map(spec, len(X), exact, default), "search": False, "precision": "f64", "seed": seed,
                "prepare": {"standardize": False, "transform": "none", "target_transform": "none", "extrapolation": "free"}}, noise


class GaussianProcessRegressor(_OnModel, TheirRegressor):
    __doc__ = TheirRegressor.__doc__ + """
    Beside scikit-learn's: parameter `features`, how many random features are in place of the kernel; None: none for up to 4,000 rows, 2,048 for
    more. Attribute `model_`, the mercer.Model that predicts, or None. `X_train_`, `L_`, `alpha_` and the likelihoods are of the rows that
    the search of hyperparameters has seen, all of up to 1,000.
    """

    def __init__(self, kernel=None, *, alpha=1e-10, optimizer="fmin_l_bfgs_b", n_restarts_optimizer=0, normalize_y=False, copy_X_train=True,
                 random_state=None, features=None):
        super().__init__(kernel, alpha=alpha, optimizer=optimizer, n_restarts_optimizer=n_restarts_optimizer, normalize_y=normalize_y,
                         copy_X_train=copy_X_train, random_state=random_state)
        self.features = features

    @contextlib.contextmanager
    def _noise_of(self, rows):
        """A noise of each row is, for the search, that of the rows that it sees."""
        given = self.alpha
        if rows is not None and np.iterable(given) and len(given) > 1:
            self.alpha = np.asarray(given)[rows]
        try:
            yield
        finally:
            self.alpha = given

    def fit(self, X, y):
        """Searches the kernel's hyperparameters, and fits the process of all rows."""
        self.model_ = None
        drawn = _drawn(_num_samples(X), self.random_state)
        if drawn is None:
            super().fit(X, y)
            X, y = self.X_train_, self.y_train_
        else:
            X, y = validate_data(self, X, y, multi_output=True, y_numeric=True)
            if np.iterable(self.alpha) and len(self.alpha) not in (1, len(y)):
                raise invalid(f"alpha must be a scalar or an array with same number of entries as y. ({len(self.alpha)} != {len(y)})")
            with self._noise_of(drawn):
                super().fit(X[drawn], y[drawn])
            y = (y - self._y_train_mean) / self._y_train_std
        if self.kernel_.requires_vector_input and len(y) > 1:
            self._fit_model(X, y)
        return self

    def _fit_model(self, X, y):
        spec, self._noise = self._spec(X, ("exact", 4000), 2048)
        if spec is None:
            return
        noise = np.broadcast_to(self.alpha + np.float64(self._noise), len(X))
        if not (noise > 0).all():  # scikit-learn's, if K has an inverse as it is
            return
        mean = 1 / np.mean(1 / noise)  # of a row of the mean weight
        self.model_ = Model({"model": "gp", **spec, "noise": mean, "lambda": mean / len(X), "center": False}, X, y, weights=mean / noise)

    def predict(self, X, return_std=False, return_cov=False):
        """As scikit-learn's, with deviations or covariances of what the kernel describes: alpha is not in them, a WhiteKernel is."""
        if getattr(self, "model_", None) is None or (return_std and return_cov):
            return super().predict(X, return_std=return_std, return_cov=return_cov)
        X = validate_data(self, X, reset=False)
        scale = np.ravel(self._y_train_std)
        shape = (len(X),) if len(scale) == 1 else (len(X), len(scale))
        mean = (scale * self.model_.predict(X, "latent_mean") + self._y_train_mean).reshape(shape)
        if return_cov:
            of_one = self.model_.predict(X, "joint_covariance")[:, ::len(scale)**2] + self._noise * np.eye(len(X))
            return mean, (of_one[..., np.newaxis] * scale**2).reshape(len(X), *shape)
        if return_std:
            of_one = np.maximum(self.model_.predict(X, "latent_variance")[:, :1], 0) + self._noise
            return mean, (np.sqrt(of_one) * scale).reshape(shape)
        return mean


class _Binary(_OnModel, TheirBinary):
    """One of two classes: hyperparameters by Laplace's approximation of the evidence, the posterior by the variational bound."""

    def __init__(self, kernel=None, *, optimizer="fmin_l_bfgs_b", n_restarts_optimizer=0, max_iter_predict=100, warm_start=False, copy_X_train=True,
                 random_state=None, features=None):
        super().__init__(kernel, optimizer=optimizer, n_restarts_optimizer=n_restarts_optimizer, max_iter_predict=max_iter_predict,
                         warm_start=warm_start, copy_X_train=copy_X_train, random_state=random_state)
        self.features = features

    def fit(self, X, y):
        self.model_, drawn = None, _drawn(_num_samples(X), self.random_state)
        super().fit(*((X, y) if drawn is None else (X[drawn], y[drawn])))
        if not self.kernel_.requires_vector_input:
            return self
        spec, noise = self._spec(X, ("nystroem", 1000), 1024)
        if spec is not None and not noise:
            codes = np.searchsorted(self.classes_, y)
            with warnings.catch_warnings():  # there the mean is 0, and the probability a half, whatever the variance
                warnings.filterwarnings("ignore", "far from all rows", FitWarning)
                self.model_ = Model({"model": "svgp", **spec, "task": "classification", "classes": 2, "lambda": 1 / len(X)}, X, codes)
        return self

    def predict(self, X):
        return super().predict(X) if self.model_ is None else self.classes_[(self.predict_proba(X)[:, 1] >= 0.5).astype(int)]

    def predict_proba(self, X):
        return super().predict_proba(X) if self.model_ is None else self.model_.predict(X, "probability")


class GaussianProcessClassifier(TheirClassifier):
    __doc__ = TheirClassifier.__doc__ + """
    Beside scikit-learn's: parameter `features`, how many random features are in place of the kernel; None: none for up to 1,000 rows, 1,024 for
    more. What predicts is the variational posterior of a mercer.Model, the `model_` of `base_estimator_` or of its `estimators_`, whose
    intercept has a flat prior and whose probabilities are calibrated; a kernel with noise is left to scikit-learn, by Laplace's approximation.
    """

    def __init__(self, kernel=None, *, optimizer="fmin_l_bfgs_b", n_restarts_optimizer=0, max_iter_predict=100, warm_start=False, copy_X_train=True,
                 random_state=None, multi_class="one_vs_rest", n_jobs=None, features=None):
        super().__init__(kernel, optimizer=optimizer, n_restarts_optimizer=n_restarts_optimizer, max_iter_predict=max_iter_predict,
                         warm_start=warm_start, copy_X_train=copy_X_train, random_state=random_state, multi_class=multi_class, n_jobs=n_jobs)
        self.features = features

    def fit(self, X, y):
        """Searches the kernel's hyperparameters for each pair of classes, and fits their processes."""
        if isinstance(self.kernel, kernels.CompoundKernel):
            raise invalid("kernel cannot be a CompoundKernel")
        vectors = self.kernel is None or self.kernel.requires_vector_input
        X, y = validate_data(self, X, y, multi_output=False, ensure_2d=vectors, dtype="numeric" if vectors else None)
        self.classes_ = np.unique(y)
        self.n_classes_ = len(self.classes_)
        if self.n_classes_ == 1:
            raise invalid(f"GaussianProcessClassifier requires 2 or more distinct classes; got 1 class (only class {self.classes_[0]} is present)")
        many = {"one_vs_rest": OneVsRestClassifier, "one_vs_one": OneVsOneClassifier}
        if self.multi_class not in many:
            raise invalid(f"multi_class = {self.multi_class!r}, expected one of {', '.join(many)}")
        of_two = {name: value for name, value in self.get_params(deep=False).items() if name not in ("multi_class", "n_jobs")}
        base = _Binary(**of_two)
        self.base_estimator_ = base if self.n_classes_ == 2 else many[self.multi_class](base, n_jobs=self.n_jobs)
        self.base_estimator_.fit(X, y)
        fitted = [self.base_estimator_] if self.n_classes_ == 2 else self.base_estimator_.estimators_
        self.log_marginal_likelihood_value_ = np.mean([one.log_marginal_likelihood() for one in fitted])
        return self
