# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""What the experiments of Wacker's thesis (2022) share: rows, specs, features, kernels, and figures of one kind."""
import time
from collections import namedtuple

import numpy as np

import figure
from library import read_images

# series: by name x, y and, where there are seeds, standard errors; log: which axes are logarithmic.
Panel = namedtuple("Panel", "title xlabel ylabel series log", defaults=("",))
IMAGES = {"mnist": ("train", "t10k"), "fashion_mnist": ("train2k", "test976")}
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
    inner = X @ Y.T
    if kernel["kernel"] == "polynomial":
        return (kernel["gamma"] * inner + kernel["offset"]) ** kernel["degree"]
    squares = np.maximum((X**2).sum(1)[:, None] + (Y**2).sum(1) - 2 * inner, 0)
    return np.exp(-squares / (2 * kernel["lengthscale"] ** 2))


def median_distance(X):
    squares = (X**2).sum(1)
    return float(np.sqrt(np.median(np.maximum(squares[:, None] + squares - 2 * X @ X.T, 0)[np.triu_indices(len(X), 1)])))


def table(data, name, seed, most, pool=1):
    """Rows and targets in a random order; images of pool x pool pixels averaged."""
    if name in IMAGES:
        part = data / name / IMAGES[name][0]
        X = read_images(part.with_name(part.name + "-images-idx3-ubyte.gz"))
        labels = part.with_name(part.name + "-labels-idx1-ubyte.gz")
        y = read_labels(labels)
    else:
        path = next(p for p in (data / name / f"{name}.csv", data / name / f"{name}.train.csv") if p.exists())
        both = np.loadtxt(path, delimiter=",", skiprows=1)
        X, y = both[:, :-1], both[:, -1]
    order = np.random.default_rng(seed).permutation(len(X))[:most]
    X, y = X[order], y[order]
    if name in IMAGES and pool > 1:
        X = X.reshape(-1, 28 // pool, pool, 28 // pool, pool).mean((2, 4)).reshape(len(X), -1)
    return X, y


def read_labels(path):
    import gzip
    return np.frombuffer(gzip.decompress(path.read_bytes()), np.uint8)[8:].astype(float)


def standardised(X):
    return np.ascontiguousarray((X - X.mean(0)) / np.where(X.std(0) > 0, X.std(0), 1))


def unit(X, centred):
    X = X - X.mean(0) if centred else X
    return np.ascontiguousarray(X / np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-12))


def padded(d):
    return 1 << (d - 1).bit_length()


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
        found.append(np.linalg.norm((estimate if keeps_imaginary else estimate.real) - K) / np.linalg.norm(K))
    return np.array(found)


def mean(errors):
    return errors.mean(), figure.of_mean(errors)


def draw(path, panels):
    import matplotlib.pyplot as plt
    columns = min(len(panels), 4)
    chart, axes = figure.subplots(-(-len(panels) // columns), columns, 4.6, 4)
    for axis in axes.flat[len(panels):]:
        axis.set_axis_off()
    for axis, panel in zip(axes.flat, panels):
        for k, (label, (x, y, *bars)) in enumerate(panel.series.items()):
            look = figure.look(k) | ({"marker": ""} if len(x) > 30 else {})
            axis.errorbar(x, y, 2 * np.asarray(bars[0]) if bars else None, label=label, **look)
        for which in panel.log:
            getattr(axis, f"set_{which}scale")("log")
        axis.grid(True, which="both", alpha=0.25)
        axis.set(title=panel.title, xlabel=panel.xlabel, ylabel=panel.ylabel)
    figure.save(chart, axes.flat[len(panels) - 1], path)
    plt.close(chart)
