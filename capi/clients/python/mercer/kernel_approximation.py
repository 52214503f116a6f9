# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""The classes of sklearn.kernel_approximation, sklearn.kernel_ridge.KernelRidge, sklearn.decomposition.KernelPCA and
sklearn.linear_model.RidgeCV, with mercer's features, kernels and leave-one-out: they are subclasses, so that parameters and their checks are scikit-learn's. Samplers draw other features of the
same kernel; what is computed from rows, by Nystroem, KernelRidge and KernelPCA, is scikit-learn's to rounding."""
import numpy as np
from scipy import sparse
from sklearn import kernel_approximation as theirs
from sklearn.decomposition import KernelPCA as TheirKernelPCA
from sklearn.kernel_ridge import KernelRidge as TheirKernelRidge
from sklearn.linear_model import RidgeCV as TheirRidgeCV
from sklearn.metrics import check_scoring
from sklearn.utils.validation import check_is_fitted, check_non_negative

from . import Kernel, Map, Ridge, Statistics
from ._api import invalid
from .sklearn import NUMBERS, seed_of, validate_data

__all__ = ["AdditiveChi2Sampler", "KernelPCA", "KernelRidge", "Nystroem", "PolynomialCountSketch", "RBFSampler", "RidgeCV", "SkewedChi2Sampler"]


DRAWN = ("random_weights_", "random_offset_", "indexHash_", "bitHash_")
IN_PLACE = f"""
    Draws are mercer's: its Map is the attribute map_, and there is none of {", ".join(DRAWN)}.
    """


class _Sampler:
    """map_: the mercer.Map that a fit draws. Of scikit-learn's own draws none is left."""

    def fit(self, X, y=None):
        """Draws the map for rows like X."""
        super().fit(X, y)
        for name in DRAWN:
            self.__dict__.pop(name, None)
        seed = seed_of(getattr(self, "random_state", 0))
        self.map_ = Map({**self._spec(), "inputs": self.n_features_in_, "features": self._n_features_out, "seed": seed})
        return self

    def _rows(self, X):
        check_is_fitted(self)
        return validate_data(self, X, reset=False, **NUMBERS)

    def transform(self, X):
        """The features of rows, dense or CSR."""
        return self.map_.transform(self._rows(X))


def _form(sampler):
    """A cosine and a sine of each frequency have less variance than cosines of twice as many with random phases."""
    return "pair" if sampler.n_components % 2 == 0 else "phase"


class RBFSampler(_Sampler, theirs.RBFSampler):
    __doc__ = theirs.RBFSampler.__doc__ + IN_PLACE

    def _spec(self):
        return {"map": "fourier", "form": _form(self), "kernel": {"kernel": "gaussian", "lengthscale": (2 * self._gamma) ** -0.5}}


class SkewedChi2Sampler(_Sampler, theirs.SkewedChi2Sampler):
    __doc__ = theirs.SkewedChi2Sampler.__doc__ + IN_PLACE

    def _spec(self):
        return {"map": "fourier", "form": _form(self), "kernel": {"kernel": "skewed_chi2", "c": self.skewedness}}

    def transform(self, X):
        X = self._rows(X)
        if (X <= -self.skewedness).any():
            raise invalid("X may not contain entries smaller than -skewedness.")
        return self.map_.transform(X)


class PolynomialCountSketch(_Sampler, theirs.PolynomialCountSketch):
    __doc__ = theirs.PolynomialCountSketch.__doc__ + IN_PLACE

    def _spec(self):
        return {"map": "tensor_sketch", "kernel": {"kernel": "polynomial", "degree": self.degree, "gamma": self.gamma, "offset": self.coef0}}


class AdditiveChi2Sampler(_Sampler, theirs.AdditiveChi2Sampler):
    __doc__ = theirs.AdditiveChi2Sampler.__doc__

    def _spec(self):
        self._n_features_out = (2 * self.sample_steps - 1) * self.n_features_in_
        return {"map": "additive", "kernel": {"kernel": "additive_chi2"}, "order": self.sample_steps - 1, "period": self.sample_interval_}

    def transform(self, X):
        X = self._rows(X)
        check_non_negative(X, "X in AdditiveChi2Sampler.transform")
        if isinstance(X, np.ndarray):
            return self.map_.transform(X)
        of_one = Map({**self.map_.spec, "inputs": 1, "features": 2 * self.sample_steps - 1})
        values = of_one.transform(X.data[:, np.newaxis]).T  # of each number that is stored; zeros have zeros
        return sparse.hstack([sparse.csr_matrix((each, X.indices, X.indptr), X.shape) for each in values], "csr")


def _kernel(name, gamma, degree, coef0, inputs):
    """The mercer.Kernel of scikit-learn's name and parameters; None: it is left to scikit-learn."""
    gamma = (1 if name == "chi2" else 1 / inputs) if gamma is None else gamma
    if name == "rbf" and gamma > 0:
        return Kernel({"kernel": "gaussian", "lengthscale": (2 * gamma) ** -0.5})
    if name == "laplacian" and gamma > 0:
        return Kernel({"kernel": "laplacian", "lengthscale": 1 / gamma})
    degree, coef0 = 3 if degree is None else degree, 1.0 if coef0 is None else coef0
    if name in ("poly", "polynomial") and float(degree).is_integer() and degree >= 1 and gamma > 0 and coef0 >= 0:
        return Kernel({"kernel": "polynomial", "degree": int(degree), "gamma": gamma, "offset": coef0})
    return None


class Nystroem(theirs.Nystroem):
    __doc__ = theirs.Nystroem.__doc__

    def transform(self, X):
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, **NUMBERS)
        kernel = _kernel(self.kernel, self.gamma, self.degree, self.coef0, X.shape[1])
        if kernel is None:
            return super().transform(X)
        return (kernel(X, self.components_) @ self.normalization_.T).astype(X.dtype, copy=False)


class _OfKernel:
    def _get_kernel(self, X, Y=None):
        gamma = getattr(self, "gamma_", self.gamma)
        kernel = _kernel(self.kernel, gamma, self.degree, self.coef0, X.shape[1])
        return super()._get_kernel(X, Y) if kernel is None else kernel(X, Y).astype(X.dtype, copy=False)


class KernelRidge(_OfKernel, TheirKernelRidge):
    __doc__ = TheirKernelRidge.__doc__


class KernelPCA(_OfKernel, TheirKernelPCA):
    __doc__ = TheirKernelPCA.__doc__


class _Predicted:
    """What a scorer takes for an estimator: its rows are predictions."""

    def predict(self, predictions):
        return predictions


class RidgeCV(TheirRidgeCV):
    __doc__ = TheirRidgeCV.__doc__ + """
    Leave-one-out of at least as many rows as columns, without weights, is mercer's: one decomposition of X'X serves all alphas and targets.
    """

    def fit(self, X, y, sample_weight=None):
        """Chooses alpha, and fits all rows by it."""
        alphas = np.atleast_1d(self.alphas)
        ours = self.cv is None and sample_weight is None and self.gcv_mode in (None, "auto")
        if not ours or alphas.dtype.kind not in "iuf" or not (alphas > 0).all():  # of others their sentence
            return super().fit(X, y, sample_weight)
        self._validate_params()
        X, y = validate_data(self, X, y, accept_sparse=["csr", "csc", "coo"], dtype=[np.float64], multi_output=True, y_numeric=True)
        if X.shape[0] < X.shape[1]:
            return super().fit(X, y)
        Y, scorer = y.reshape(len(y), -1), None if self.scoring is None else check_scoring(self, self.scoring)
        sums = Statistics(X.shape[1], Y.shape[1])
        sums.add(X, Y)
        ridge = Ridge(sums, self.fit_intercept)
        left_out = [ridge.leave_one_out(alpha / len(Y), X, Y) for alpha in alphas]
        each = [Y[:, [j]] for j in range(Y.shape[1])] if self.alpha_per_target else [Y]
        scores = np.array([[self._scored(scorer, truth, left[:, [j]] if self.alpha_per_target else left) for j, truth in enumerate(each)]
                           for left in left_out])
        best = scores.argmax(0)
        chosen = [ridge.solve(alphas[k] / len(Y)) for k in best]
        weights, intercept = (np.hstack([one[part][:, j:j + 1] for j, one in enumerate(chosen)]) if self.alpha_per_target else chosen[0][part]
                              for part in (0, 1))
        several = self.alpha_per_target and y.ndim == 2
        self.alpha_, self.best_score_ = (alphas[best], scores.max(0)) if several else (alphas[best[0]], scores.max(0)[0])
        self.coef_ = weights.T if y.ndim == 2 else weights[:, 0]
        self.intercept_ = 0.0 if not self.fit_intercept else intercept[0] if y.ndim == 2 else intercept[0, 0]
        since_1_5 = hasattr(self, "store_cv_results")  # which renamed it, and 1.7 has no other
        if getattr(self, "store_cv_values", False) not in (False, "deprecated") or since_1_5 and self.store_cv_results:
            kept = np.stack(left_out, -1)
            kept = (kept**2 if scorer is None else Y[..., np.newaxis] - kept).reshape(*y.shape, len(alphas))
            setattr(self, "cv_results_" if since_1_5 else "cv_values_", kept)
        return self

    @staticmethod
    def _scored(scorer, truth, left_out):
        return -np.mean(left_out**2) if scorer is None else scorer(_Predicted(), (truth - left_out).ravel(), truth.ravel())
