# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""What the experiments of Wacker's thesis (2022) share: specs, features and kernels."""
import time

import numpy as np

import figure
from experiment import frobenius, squared_distances

RADEMACHER = {"map": "product_sketch", "kind": "rademacher"}
SRHT = {"map": "tensor_srht", "kind": "stacked"}
UPSAMPLED = {"map": "tensor_srht", "kind": "upsampled"}
TENSOR_SKETCH = {"map": "tensor_sketch"}


def maclaurin(allocation, degree=10, **sketch):
    return {"map": "maclaurin", "allocation": allocation, "max_degree": degree, "sketch": SRHT | sketch}


def fourier(kernel, projection, form="pair"):
    """Of the kernel of unit rows (1 - |x - y|^2/a^2)^p by fitted frequencies, or of a Gaussian."""
    degree = {} if "degree" not in kernel else {"kernel": {"kernel": "sphere_polynomial", "degree": kernel["degree"],
                                                           "a": (2 / kernel["gamma"]) ** 0.5}}
    return {"map": "fourier", "projection": projection, "form": form} | degree


def polynomial(p, a=None):
    """(x'y + 1)^p, or of unit rows (1 - |x - y|^2/a^2)^p."""
    gamma, offset = (1.0, 1.0) if a is None else (2 / a**2, 1 - 2 / a**2)
    return {"kernel": "polynomial", "degree": p, "gamma": gamma, "offset": offset}


def gram(kernel, X, Y):
    if kernel["kernel"] == "polynomial":
        return (kernel["gamma"] * X @ Y.T + kernel["offset"]) ** kernel["degree"]
    return np.exp(-squared_distances(X, Y) / (2 * kernel["lengthscale"] ** 2))


def is_complex(spec):
    return "complex" in (spec.get("field"), spec.get("form"), spec.get("sketch", {}).get("field"))


def sized(spec, kernel, d, D, seed=0):
    """With D columns, beside the column of degree 0 of a power series."""
    return {"kernel": kernel, **spec, "inputs": d, "features": D + (spec["map"] == "maclaurin"), "seed": seed}


def made(library, spec, sample=None):
    if spec.get("allocation") == "optimized":
        return library.fit(spec, sample)
    handle, reason = library.map(spec)
    assert handle, reason
    return handle


def features(library, spec, parts, sample=None):
    """Features of each array of rows, and the seconds that they took once the map was made."""
    handle = made(library, spec, sample)
    found, start = [], time.perf_counter()
    for X in parts:
        found.append(np.empty((len(X), spec["features"]), np.complex128 if is_complex(spec) else np.float64))
        library.apply(handle, X, found[-1])
    seconds = time.perf_counter() - start
    library.free(handle)
    return found, seconds


def errors_of(library, spec, X, K, seeds, sample=None, keeps_imaginary=False):
    """Relative Frobenius errors over seeds."""
    found = []
    for seed in range(seeds):
        (Z,), _ = features(library, spec | {"seed": seed}, [X], sample)
        estimate = Z @ Z.conj().T
        found.append(frobenius(estimate if keeps_imaginary else estimate.real, K))
    return np.array(found)


def mean(errors):
    return errors.mean(), figure.of_mean(errors)
