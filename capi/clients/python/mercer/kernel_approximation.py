# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""The classes of sklearn.kernel_approximation, sklearn.kernel_ridge.KernelRidge and sklearn.decomposition.KernelPCA, with mercer's features
and kernels: they are subclasses, so that parameters, their checks and attributes are scikit-learn's. Samplers draw other features of the
same kernel; what is computed from rows, by Nystroem, KernelRidge and KernelPCA, is scikit-learn's to rounding."""
import numpy as np
from scipy import sparse
from sklearn import kernel_approximation as theirs
from sklearn.decomposition import KernelPCA as TheirKernelPCA
from sklearn.kernel_ridge import KernelRidge as TheirKernelRidge
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, check_non_negative

from . import Kernel, Map
from ._api import invalid
from .sklearn import NUMBERS, validate_data

__all__ = ["AdditiveChi2Sampler", "KernelPCA", "KernelRidge", "Nystroem", "PolynomialCountSketch", "RBFSampler", "SkewedChi2Sampler"]


class _Sampler:
    """map_: the mercer.Map that a fit draws. Of scikit-learn's own draws none is left."""

    drawn = ("random_weights_", "random_offset_", "indexHash_", "bitHash_")

    def fit(self, X, y=None):
        """Draws the map for rows like X."""
        super().fit(X, y)
        for name in self.drawn:
            self.__dict__.pop(name, None)
        state = getattr(self, "random_state", 0)
        seed = state if isinstance(state, int) and state >= 0 else int(check_random_state(state).randint(2**31 - 1))
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
    __doc__ = theirs.RBFSampler.__doc__

    def _spec(self):
        return {"map": "fourier", "form": _form(self), "kernel": {"kernel": "gaussian", "lengthscale": (2 * self._gamma) ** -0.5}}


class SkewedChi2Sampler(_Sampler, theirs.SkewedChi2Sampler):
    __doc__ = theirs.SkewedChi2Sampler.__doc__

    def _spec(self):
        return {"map": "fourier", "form": _form(self), "kernel": {"kernel": "skewed_chi2", "c": self.skewedness}}

    def transform(self, X):
        X = self._rows(X)
        if (X <= -self.skewedness).any():
            raise invalid("X may not contain entries smaller than -skewedness.")
        return self.map_.transform(X)


class PolynomialCountSketch(_Sampler, theirs.PolynomialCountSketch):
    __doc__ = theirs.PolynomialCountSketch.__doc__

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
