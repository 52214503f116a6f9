# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""The Python package: the numbers of C, pickling, files, interruption, errors, many threads, and, where scikit-learn is
installed, its own checks of estimators. MERCER_LIBRARY is the library, PYTHONPATH has the package. Usage: package_test.py"""
import concurrent.futures
import inspect
import json
import pickle
import subprocess
import sys
import warnings

import custom
import functions
import refusals
from models import check_default_derivatives, check_models, check_sets, check_sources
from shared import GAUSSIAN, X, np, refused, rng, y

import mercer
from mercer import _api


def check_maps():
    map = mercer.Map(GAUSSIAN)
    Z, by_c = map.transform(X), np.empty((400, 512))
    _api.call("map_apply_f64", map.handle, 400, X.ctypes.data, 3, None, by_c.ctypes.data, 512)
    assert np.array_equal(Z, by_c)
    K = mercer.Kernel(GAUSSIAN["kernel"])(X)
    assert np.abs(Z @ Z.T - K).max() < 6 * np.sqrt(1.5 / 512)  # six deviations of the pair form
    out = np.zeros((400, 600))[:, :512]
    assert map.transform(np.asfortranarray(X), out=out) is out and np.array_equal(out, Z)
    assert map.transform(X.astype(np.float32)).dtype == np.float32
    assert np.array_equal(map.transform(X[::2]), Z[::2])
    assert np.array_equal(pickle.loads(pickle.dumps(map)).transform(X), Z)
    bad = X.copy()
    bad[7, 1] = np.nan
    assert np.isnan(map.transform(bad)).any(1).tolist() == [i == 7 for i in range(400)]
    with concurrent.futures.ThreadPoolExecutor(64) as pool:
        assert all(np.array_equal(one, Z) for one in pool.map(map.transform, [X] * 64))
    refused(ValueError, "out is a float64 array of shape (3, 3)", lambda: map.transform(X, out=np.empty((3, 3))))
    big, flat = np.zeros((1200, 512)), np.zeros(400 * 512)
    for out in (big[400:800][::-1], np.lib.stride_tricks.as_strided(flat, (400, 512), (8, 8)), np.zeros((400, 1024))[:, ::2],
                np.lib.stride_tricks.as_strided(flat, (400, 512), (0, 8)), np.zeros(400 * 4096 + 1, "b")[1:].view(float).reshape(400, 512)):
        refused(ValueError, "out has strides", lambda: map.transform(X, out=out))
    assert not big.any() and not flat.any()
    refused(ValueError, "out is a list", lambda: map.transform(X, out=[]))
    assert np.array_equal(map.transform(X[::-1]), Z[::-1])
    refused(mercer.InvalidArgument, "mercer.Map.transform: X.shape[1] = 2", lambda: map.transform(X[:, :2]))
    for text in (lambda: mercer.Kernel("{}\0"), lambda: mercer.Map.load("a\0b"), lambda: map.save("a\0b"), lambda: mercer.specs("a\0")):
        refused(mercer.InvalidArgument, "a NUL", text)
    refused(mercer.InvalidArgument, "complex128", lambda: map.transform(X + 1j))
    landmarks = mercer.Map({"map": "nystroem", **GAUSSIAN, "features": 400}, X)
    assert np.abs(landmarks(X) @ landmarks(X).T - K).max() < 1e-6
    assert mercer.specs("fourier")["maps"][0]["name"] == "fourier"
    assert mercer.rows_test({"test": "mmd"}, X[:200], X[200:] + 1)["p_value"] < 0.01
    many = mercer.rows_test({"test": "mmd", "witnesses": 10**6, "permutations": 1, "bandwidths": [1]}, np.zeros((30000, 1)), np.ones((30000, 1)))
    assert len(many["x_rows"]) == 30000
    sums, rest = (mercer.RowsSums({"test": "mmd"}, 200, 200, X[:200], X[200:] + 1) for _ in range(2))
    sums.add(0, 0, X[:200])
    rest.add(1, 0, X[200:] + 1)
    sums.merge(pickle.loads(pickle.dumps(rest)))
    assert sums.answer()["p_value"] == mercer.rows_test({"test": "mmd"}, X[:200], X[200:] + 1)["p_value"]
    refused(mercer.InvalidArgument, "0 rows of X", rest.answer)
    added, before = [], sums.answer()
    sums.reduce(lambda numbers: added.append(len(numbers)))  # of this process alone
    assert sum(added) > 256 and sums.answer() == before
    refused(ZeroDivisionError, "", lambda: sums.reduce(lambda numbers: 1 // 0))


# A value of each kind of key, and of two keys that go together.
SAMPLES = {"radii": [0.0, 2.0], "values": [1.0, 1.0], "number": 0.5, "integer": 2, "seed": 2**64 - 1, "kernel": {"kernel": "gaussian"}, "numbers": [1.0, 2.0], "numbers_or_lists": np.eye(2) + 1,
           "kernels": [{"kernel": "gaussian"}, {"kernel": "polynomial", "degree": 1}]}


def entries(group):
    """(name, builder, values of the keys that it needs) of each."""
    for said in mercer.specs()[group]:
        yield said["name"], getattr(getattr(mercer.spec, group), said["name"]), {p["key"]: SAMPLES.get(p["key"], SAMPLES[p["type"]])
                                                                                for p in said["parameters"] if p["required"]}


def check_specs():
    """Every entry of every group, with what it needs, is a spec that the library takes; what a dict may hold; what is refused."""
    spec, few = mercer.spec, X[:40]
    own = mercer.Custom("custom", lambda A, B: A @ B.T, lambda A, D, seed: A @ np.random.default_rng(seed).normal(size=(A.shape[1], D)) / D**0.5)
    for name, entry, keys in entries("kernels"):  # of which custom is `own`
        assert mercer.Kernel(entry(**keys)).spec["kernel"] == name
    for about in mercer.specs()["maps"]:
        features = {"additive": 9, "exact_polynomial": 6}.get(about["name"], 32)
        map = mercer.Map(getattr(spec.maps, about["name"])(kernel=about["default_kernel"], inputs=3, features=features), np.abs(few[:32]))
        assert map.spec["map"] == about["name"] and map.shape.inputs == 3
    for name, entry in vars(spec.models).items():
        classes = {"task": "classification"} if name in ("logistic", "dirichlet", "svgp") else {}
        fit = entry(search=False, map=spec.maps.auto(features=np.int64(16)), prepare=spec.others.prepare(transform="none"), **classes)
        assert mercer.Model(fit, few, None if name in ("kernel_pca", "density") else few[:, 0] > 0).spec["model"] == name.replace("auto", "ridge")
    for _, entry, keys in entries("outputs"):
        fit = spec.models.ridge(search=False, map=spec.maps.auto(features=16), outputs=entry(**keys))
        mercer.Model(fit, few, few[:, :2])
    for _, entry, _ in entries("selections"):
        mercer.Model(spec.models.auto(search=False, map=spec.maps.auto(features=16), select=entry()), few, few[:, 0])
    for name, entry, keys in entries("bounds"):
        keys |= {"derivative": {"epsilon": 0.5}, "uniform": {"epsilon": 0.5, "second_moment": 2},
                 "expected": {"epsilon": 0.5, "second_moment": 2}, "excess_risk": {"largest_eigenvalue": 0.5}, "sketch": {"y": [1, 2], "delta": 0.1},
                 "ridge": {}, "kernel_pca": {}}.get(name, {"kernel": spec.kernels.decomposable(gamma=np.eye(2)), "delta": 0.1, "diameter": 1})
        assert {"frequencies", "features"} & set(mercer.bound(entry(**keys)))
    best, compared = mercer.Map.recommend(spec.others.recommend(kernel=spec.kernels.gaussian(lengthscale=2), error=0.1), X)
    assert compared["error"] == 0.1 and best.transform(X).shape == (400, best.shape.features)
    assert best.certify(X, spec.others.certify(rows=60))["rows"] == 60 and best.certify(X)["frobenius_low"] < 0.1
    refused(mercer.InvalidArgument, "X is missing, expected rows", lambda: best.certify(None))
    for read in (best.transform, lambda X: mercer.rows_test({"test": "mmd"}, X, X), mercer.lengthscale_median):
        refused(mercer.InvalidArgument, "X is missing, expected rows", lambda: read(None))
    refused(mercer.InvalidArgument, "Y is missing, expected rows", lambda: mercer.Model({}, X))
    refused(mercer.MercerError, "svgp", lambda: mercer.Model({"model": "gp", "task": "classification"}, X, y > 0))
    for _, entry, _ in entries("tests"):
        assert "p_value" in mercer.rows_test(entry(), X[:200], X[200:])
    mixed = spec.kernels.sum(parts=[mercer.Kernel(spec.kernels.matern(nu=np.float32(0.1), lengthscale=X[0] ** 2 + 1)),
                                    spec.kernels.polynomial(degree=np.int8(2))], variance=0.1 + 0.2)
    said = mercer.Kernel(mixed).spec
    assert said["variance"] == 0.1 + 0.2 and said["parts"][0]["nu"] == float(np.float32(0.1)) and said["parts"][0]["lengthscale"] == list(X[0] ** 2 + 1)
    assert spec.models.ridge(lambda_=1) == {"model": "ridge", "lambda": 1} and str(inspect.signature(spec.bounds.ridge)).startswith("(*, rows, r=0.5")
    assert "nu: smoothness" in spec.kernels.matern.__doc__ and dir(spec) == sorted(["others", *spec._KEYS]) and "matern" in dir(spec.kernels)
    refused(TypeError, "no key 'nux', expected nu, lengthscale, variance", lambda: spec.kernels.matern(nux=1))
    refused(TypeError, "needs weights, means", lambda: spec.kernels.spectral_mixture(variances=[1]))
    refused(AttributeError, "no group 'kernel'", lambda: spec.kernel)
    refused(mercer.InvalidArgument, "expected finite numbers", lambda: mercer.Kernel(spec.kernels.matern(nu=np.inf)))
    refused(mercer.InvalidArgument, "expected finite numbers", lambda: mercer.Kernel(spec.kernels.gaussian(lengthscale=np.array([1, np.nan]))))
    refused(mercer.InvalidArgument, "in a spec, expected", lambda: mercer.Kernel(spec.kernels.gaussian(lengthscale=1j)))


def check_attention():
    map = mercer.Map({"map": "positive", "kernel": {"kernel": "exponential"}, "inputs": 3, "features": 64})
    Q, K, V = (0.5 * rng.normal(size=(2, 4, 30, width)) for width in (3, 3, 5))
    weights = np.array([[map(q) @ map(k).T for q, k in zip(*pair)] for pair in zip(Q, K)])
    for causal in (False, True):
        seen = weights * (np.tri(30) if causal else 1)
        by_hand = seen @ V / seen.sum(3, keepdims=True)
        assert np.abs(mercer.attend(map, Q, K, V, causal) - by_hand).max() < 1e-10
        # Keys of weight 0 are as if left out, whatever they hold.
        if not causal:
            hidden, shown = K.copy(), np.arange(K.shape[-2]) < K.shape[-2] - 2
            hidden[..., -2:, :] = -np.inf
            assert np.abs(mercer.attend(map, Q, hidden, V, key_weights=shown) - mercer.attend(map, Q, K[..., :-2, :], V[..., :-2, :])).max() < 1e-12
    refused(mercer.InvalidArgument, "mercer.attend: ", lambda: mercer.attend(map, Q, K[:, :, :7], V))
    refused(ValueError, "leading axes", lambda: mercer.attend(map, Q, K.swapaxes(0, 1), V))
    assert np.array_equal(mercer.attend(map, Q.tolist(), K.tolist(), V.tolist(), causal=True), mercer.attend(map, Q, K, V, causal=True))


INTERRUPTED = """
import os, signal, threading
import mercer, numpy as np
X = np.random.default_rng(1).normal(size=(3000, 20))
for delay in (0.1, 0.12, 0.15, 0.2, 0.25):
    threading.Timer(delay, os.kill, (os.getpid(), signal.SIGINT)).start()
    try:
        mercer.Model({}, X, np.sin(X[:, 0]))
    except KeyboardInterrupt:
        print("interrupted")
"""


ENDED = """
import threading, time
import mercer, numpy as np
X, begun = np.random.default_rng(1).normal(size=(20000, 20)), threading.Event()
context = mercer.Context(progress=lambda done, total: begun.set())
threading.Thread(target=lambda: mercer.Model({}, X, np.sin(X[:, 0]), context=context), daemon=True).start()
begun.wait()
"""


def check_blocks_of_quantiles():
    """The blocks of a source move lambda by a step at most: by hundreds, where walks end early."""
    draws = np.random.default_rng(3)
    rows = draws.normal(size=(300, 2))
    targets = np.column_stack([np.sin(rows[:, 0]) + 0.1 * draws.normal(size=300), rows[:, 1] + 0.1 * draws.normal(size=300)])
    targets[draws.random(targets.shape) < 0.2] = np.nan
    spec = {"model": "logistic", "loss": "quantile", "tau": 0.3, "search": False, "precision": "f64", "prepare": {"standardize": False},
            "map": {"map": "fourier", "kernel": {"kernel": "gaussian", "lengthscale": 1.0}, "features": 48}}
    chosen = [mercer.Model(spec, source=lambda: ((rows[i:i + size], targets[i:i + size]) for i in range(0, 300, size))).shape.penalty
              for size in (300, 150, 64, 10, 7)]
    assert max(chosen) <= 10 * min(chosen), chosen


def check_contexts():
    """Ctrl-C, the end of the program, and a second call while a context is in use."""
    assert subprocess.run([sys.executable, "-B", "-c", ENDED], capture_output=True, timeout=300).returncode == 0
    said = subprocess.run([sys.executable, "-B", "-c", INTERRUPTED], capture_output=True, text=True, timeout=300)
    assert (said.stdout, said.stderr) == (5 * "interrupted\n", ""), said
    seen, mark = [], ZeroDivisionError("of the first call")

    def second(done, total):
        if not seen:
            seen.append(refused(mercer.InvalidArgument, "one call at a time", lambda: mercer.Model({}, X, y, context=context)))
            raise mark

    context = mercer.Context(progress=second)
    assert refused(ZeroDivisionError, "", lambda: mercer.Model({}, X, y, context=context)) is mark
    assert seen[0].status == "MERCER_INVALID_ARGUMENT" and mercer.Model({"search": False}, X, y, context=context).predict(X).shape == (400, 1)
    asked = mercer.Context(progress=lambda done, total: asked.cancel())
    assert refused(mercer.MercerError, "cancelled", lambda: mercer.Model({}, X, y, context=asked)).status == "MERCER_CANCELLED"
    stopping = mercer.Context(progress=lambda done, total: False)
    assert refused(mercer.MercerError, "cancelled", lambda: mercer.Model({}, X, y, context=stopping)).status == "MERCER_CANCELLED"
    trials, small = [], {"map": {"features": 32}}
    reported = mercer.Model(small, X, y, context=mercer.Context(trial=trials.append)).report["trials"]
    assert [trial["score"] for trial in trials] == [trial["score"] for trial in reported] and trials[0]["seconds"] >= 0
    assert refused(KeyError, "loss of", lambda: mercer.Model(small, X, y, context=mercer.Context(trial=lambda trial: {}["loss of"])))


def check_texts():
    """Objects show what they are; everything public says what it does."""
    assert repr(mercer.Kernel(GAUSSIAN["kernel"])) == "Kernel({'kernel': 'gaussian', 'lengthscale': 1.5, 'variance': 1})"
    map = mercer.Map(GAUSSIAN)
    shown = "{'features': 512, 'inputs': 3, 'kernel': {'kernel': 'gaussian', 'lengthscale': 1.5, 'variance': 1}, 'map': 'fourier', 'projection': 'dense', 'seed': 3}"
    assert repr(map) == f"Map({shown})" and repr(mercer.Context(threads=2)) == "Context(threads=2)"
    assert repr(mercer.Model({"lambda": 0.5, "search": False}, X, y, map=map)) == f"Model({{'lambda': 0.5, 'map': {shown}, 'model': 'ridge', 'seed': 0}})"
    public = [getattr(mercer, name) for name in mercer.__all__]
    public += [value for kind in public if inspect.isclass(kind) for name, value in vars(kind).items() if name[0] != "_" and
               isinstance(value, (property, classmethod)) or inspect.isfunction(value) and name[0] != "_"]
    assert len(public) > 30 and not [value for value in public if not inspect.getdoc(value)]


def check_statuses():
    """Every status has its exception, its name and its text."""
    map = mercer.Map(GAUSSIAN)

    def damaged(at):
        data = bytearray(map.__getstate__())
        data[at] ^= 64
        return lambda: map.__setstate__(bytes(data))

    def fit(spec, **limits):
        return lambda: mercer.Model(spec, X, y > 0, context=mercer.Context(**limits))

    one_step = {"model": "logistic", "task": "classification", "classes": 2, "iterations": 1, "tolerance": 1e-12, "lambda": 1e-8,
                "search": False, "map": {"features": 32}}
    cancelled = mercer.Context()
    cancelled.cancel()
    for status, kind, word, call in (
            ("INVALID_ARGUMENT", ValueError, "gausian", lambda: mercer.Kernel({"kernel": "gausian"})),
            ("DIMENSION_MISMATCH", ValueError, "mercer.Map.transform", lambda: map.transform(X[:, :2])),
            ("OUT_OF_MEMORY", MemoryError, "memory", fit({}, memory_cap=1000)),
            ("UNSUPPORTED", mercer.Unsupported, "polynomial", lambda: mercer.Map({"map": "fourier", "kernel": {"kernel": "polynomial"}, "inputs": 3, "features": 8})),
            ("NOT_POSITIVE_DEFINITE", mercer.MercerError, "gamma", lambda: mercer.Kernel({"kernel": "decomposable", "gamma": [[1, 2], [2, 1]]})),
            ("NOT_CONVERGED", mercer.MercerError, "lambda = 1e-08", fit(one_step)),
            ("IO", OSError, "absent", lambda: mercer.Map.load("/absent/map")),
            ("CORRUPT_FILE", OSError, "mercer.Map.load", damaged(40)),
            ("NEWER_VERSION", mercer.MercerError, "newer", damaged(8)),
            ("CANCELLED", mercer.Cancelled, "mercer.Model: ", lambda: mercer.Model({}, X, y, context=cancelled))):
        assert refused(kind, word, call).status == "MERCER_" + status
    fields = refused(ValueError, "sorf", lambda: mercer.Map({"map": "fourier", "kernel": "gaussian", "inputs": 3, "features": 8,
                                                             "projection": "sorrf"})).fields
    assert fields["argument"] == "projection" and fields["value"] == "sorrf" and "sorf" in fields["choices"], fields


def check_scikit_learn():
    try:
        import scipy.sparse
        import sklearn.exceptions
        import sklearn.kernel_approximation
        import sklearn.utils.estimator_checks
    except ImportError:
        print("without python3-sklearn: estimators are not checked")
        return
    from mercer.sklearn import Classifier, Features, Regressor, from_nystroem
    warnings.simplefilter("ignore")
    small = {"map": {"kernel": {"kernel": "gaussian", "lengthscale": 3}, "features": 32}, "search": False}
    positive = np.abs(X)
    for name in ("additive_chi2", "hellinger", "intersection", "jensen_shannon"):
        assert Features(name).fit(positive).map_.spec["map"] == "additive"
    parts = {"parts": [{"kernel": "gaussian"}, {"kernel": "polynomial", "degree": 1}]}
    for kernel, map, columns in (({"kernel": "sum", **parts}, None, 18), ({"kernel": "product", **parts}, "auto", 18), ("exponential", "maclaurin", 17),
                                 ("polynomial", "exact_polynomial", 6), ({"kernel": "helmholtz"}, None, 24),
                                 (mercer.Kernel({"kernel": "matern"}), None, 18), ('{"kernel":"laplacian"}', "random_binning", 32)):
        assert Features(kernel, map=map, features=17).fit(X).transform(X).shape[1] == columns
    refused(ValueError, 'kernel = "gausian", expected one of "gaussian"', lambda: Features("gausian").fit(X))
    refused(ValueError, 'map = "fouri", expected one of "fourier"', lambda: Features(map="fouri").fit(X))
    assert Regressor(json.dumps(small)).fit(X, y).predict(X).shape == (400,)
    refused(mercer.InvalidArgument, "expected a JSON object", lambda: Regressor('{"search"').fit(X, y))
    refused(sklearn.exceptions.NotFittedError, "Nystroem", lambda: from_nystroem(sklearn.kernel_approximation.Nystroem()))
    check_estimator = sklearn.utils.estimator_checks.check_estimator
    folds = "folds are drawn by the numbers of the rows, which the check changes"
    fails = {"expected_failed_checks": {f"check_sample_weight{name}": folds for name in
                                        ("s_invariance", "_equivalence_on_dense_data", "_equivalence_on_sparse_data")}}
    known = fails if "expected_failed_checks" in inspect.signature(check_estimator).parameters else {}  # from 1.6 on
    check_estimator(Features(features=15))
    check_estimator(Regressor(small))
    check_estimator(Classifier(small), **known)
    import mercer.kernel_approximation as names
    for name in names.__all__:
        check_estimator(getattr(names, name)())
    sampler = names.RBFSampler(gamma=0.2, n_components=4096, random_state=0).fit(X)
    assert np.abs(sampler.transform(X) @ sampler.transform(X).T - mercer.Kernel({"kernel": "gaussian", "lengthscale": 0.4**-0.5})(X)).max() < 0.15
    steps = Regressor({**small, "lambda": 1e-3})
    for part in np.split(np.arange(400), 4):
        steps.partial_fit(X[part], y[part])
    prepared = mercer.Model({**small, "lambda": 1e-3, "keep": "sums"}, X[:100], y[:100]).update(X[100:], y[100:])
    assert np.abs(steps.predict(X) - prepared.predict(X)[:, 0]).max() < 1e-9 and steps.model_.shape.rows == 400
    labels = np.where(y > np.median(y), "high", "low")
    classes = Classifier({**small, "lambda": 1e-3}).partial_fit(X[:200], labels[:200], classes=["high", "low"]).partial_fit(X[200:], labels[200:])
    assert (classes.predict(X) == labels).mean() > 0.8
    refused(ValueError, "medium", lambda: classes.partial_fit(X[:2], ["medium", "low"]))
    theirs = sklearn.kernel_approximation.Nystroem(gamma=0.2, n_components=50, random_state=1).fit(X)
    Z, own = theirs.transform(X), from_nystroem(theirs).transform(X)
    assert np.abs(Z @ Z.T - own @ own.T).max() < 1e-10
    bins = mercer.Map({"map": "random_binning", "kernel": {"kernel": "laplacian"}, "inputs": X.shape[1], "features": 512})
    assert np.array_equal(bins.transform_csr(X).toarray(), bins.transform(X)) and bins.transform_csr(X).nnz == 400 * 16
    sparse = scipy.sparse.random(50, 20, 0.2, "csr", random_state=1)
    features = Features(features=64).fit(sparse)
    assert np.abs(features.transform(sparse) - features.transform(sparse.toarray())).max() < 1e-12
    sparse.indices = sparse.indices[:5].copy()
    refused(ValueError, "5 indices", lambda: features.map_.transform(sparse))
    assert Features(lengthscale=3, features=8).fit(X).map_.spec["kernel"]["lengthscale"] == 3
    refused(ValueError, "lengthscale", lambda: Features("polynomial", lengthscale=2).fit(X))
    refused(ValueError, "expected one of them", lambda: Features({"kernel": "gaussian", "lengthscale": 1}, lengthscale=2).fit(X))
    refused(ValueError, "-1", lambda: Regressor(small).fit(X, y, np.r_[-1, np.ones(399)]))
    from sklearn.model_selection import GridSearchCV
    found = GridSearchCV(Regressor(small), {"spec__lambda": [1e-3, 1e3], "spec__map__features": [8, 64]}).fit(X, y)
    assert found.best_params_ == {"spec__lambda": 1e-3, "spec__map__features": 64} and small["map"]["features"] == 32
    for key, value in (("task", "regression"), ("classes", 3), ("seed", 1)):
        refused(mercer.InvalidArgument, f"key '{key}'", lambda: Regressor({key: value}).fit(X, y))
    refused(mercer.InvalidArgument, "name of a model", lambda: Regressor(5).fit(X, y))
    refused(ValueError, "100", lambda: Regressor(small).fit(X, y, np.ones(100)))
    assert [Features(features=4, random_state=state).fit(X).map_.spec["seed"] == 7 for state in (7, None, np.random.RandomState(7))] == [True, False, False]
    gaps = np.where(np.arange(X.size).reshape(X.shape) % 7 == 0, np.nan, X)
    filled = Regressor({**small, "prepare": {"missing": "fill"}}).fit(gaps, y)
    assert np.array_equal(filled.predict(gaps)[:, None], filled.model_.predict(gaps))
    refused(ValueError, "NaN", lambda: Regressor(small).fit(gaps, y))
    two = Classifier(small).fit(X, labels, groups=np.arange(400) // 2)
    assert np.array_equal(two.decision_function(X) > 0, two.predict(X) == "low") and np.allclose(np.exp(two.predict_log_proba(X)), two.predict_proba(X))
    schema = json.loads(two.model_.metadata)["schema"]
    assert schema["classes"] == ["high", "low"] and schema["text_labels"] and schema["inputs"] == []
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        Regressor({**small, "map": {"features": 4}, "lambda": 1e-9}).fit(X, y).partial_fit(X, y)
    assert said and all(one.filename == __file__ for one in said), [(str(one.message), one.filename) for one in said]
    value, deviation = Regressor({"model": "gp", **small}).fit(X, y).predict(X, return_std=True)
    assert value.shape == deviation.shape == (400,) and (deviation > 0).all()


def check_gaussian_processes():
    """Processes by scikit-learn's names: of few rows its own answers, of many those of features of the same kernel."""
    try:
        import sklearn.gaussian_process as theirs
        import sklearn.utils.estimator_checks
        from sklearn.gaussian_process import kernels
    except ImportError:
        return
    import mercer.gaussian_process as ours
    for name in ours.__all__:
        sklearn.utils.estimator_checks.check_estimator(getattr(ours, name)())
    kernel = 2 * kernels.Matern(1.5, "fixed", nu=2.5) + kernels.WhiteKernel(0.05) + kernels.DotProduct() * kernels.ConstantKernel(0.5)
    noise = rng.uniform(0.01, 0.1, 400)
    for given in ({}, {"alpha": noise, "normalize_y": True}):
        own, other = (kind(kernel, optimizer=None, **given).fit(X, y) for kind in (ours.GaussianProcessRegressor, theirs.GaussianProcessRegressor))
        assert own.model_ is not None
        for asked in ("return_std", "return_cov"):
            for mine, their in zip(own.predict(2 * X, **{asked: True}), other.predict(2 * X, **{asked: True})):
                assert np.abs(mine - their).max() < 1e-9
    many = rng.uniform(-2, 2, (3000, 2))
    truth = np.sin(2 * many[:, 0]) + many[:, 1]
    kernel = kernels.RBF([1.0, 2.0], "fixed") * 4 + kernels.WhiteKernel(0.09)
    targets = truth + 0.3 * rng.normal(size=3000)
    exact, near = (ours.GaussianProcessRegressor(kernel, features=count, random_state=1).fit(many, targets) for count in (None, 600))
    assert exact.model_.spec["map"]["map"] == "exact" and near.model_.spec["map"]["features"] == 600 and len(near.X_train_) == ours.SEARCHED
    (mean, deviation), (by_features, its) = (one.predict(many[:500], return_std=True) for one in (exact, near))
    assert np.abs(mean - truth[:500]).mean() < 0.05 and np.abs(mean - by_features).mean() < 0.02 and np.abs(its / deviation - 1).max() < 0.1
    classes = np.where(truth > 0.5, "a", np.where(truth > -0.5, "b", "c"))
    found = ours.GaussianProcessClassifier(4 * kernels.RBF(1.0, "fixed"), optimizer=None, features=200).fit(many[:1500], classes[:1500])
    assert found.score(many[1500:], classes[1500:]) > 0.92 and np.abs(found.predict_proba(many).sum(1) - 1).max() < 1e-9
    refused(ValueError, "expected one of RBF", lambda: ours.GaussianProcessRegressor(kernels.RBF() ** 2, features=50).fit(X, y))


def check_newer_scikit_learn():
    """Estimators where, as from scikit-learn 1.7 on, validation is a function and tags are an object, and the old methods are gone."""
    try:
        import sklearn.base
        import sklearn.utils.validation
    except ImportError:
        return
    import importlib
    import types
    import unittest.mock

    import mercer.sklearn as ours
    base = sklearn.base.BaseEstimator
    if not hasattr(base, "_validate_data"):
        return  # the version here is one of these
    validate = base._validate_data

    def tags(self):
        names = types.SimpleNamespace
        return names(input_tags=names(sparse=False), target_tags=names(multi_output=False), transformer_tags=names(preserves_dtype=["float64"]))
    with unittest.mock.patch.object(sklearn.utils.validation, "validate_data", lambda self, *rows, **checks: validate(self, *rows, **checks), create=True), \
            unittest.mock.patch.object(base, "__sklearn_tags__", tags, create=True):
        del base._validate_data, base._more_tags
        importlib.reload(ours)
        small = {"map": {"kernel": {"kernel": "gaussian", "lengthscale": 3}, "features": 32}, "search": False}
        assert ours.Features(features=16).fit(X).transform(X.astype(np.float32)).dtype == np.float32
        assert ours.Regressor(small).fit(X, y).predict(X).shape == (400,)
        assert set(ours.Classifier(small).fit(X, y > 0).predict(X)) == {False, True}
        told = ours.Features().__sklearn_tags__()
        assert told.input_tags.sparse and told.transformer_tags.preserves_dtype == ["float64", "float32"]
        assert ours.Regressor().__sklearn_tags__().target_tags.multi_output and ours.Classifier().__sklearn_tags__().input_tags.sparse


check_maps()
check_specs()
check_attention()
check_models()
check_default_derivatives()
check_sources()
check_sets()
check_blocks_of_quantiles()
check_contexts()
check_texts()
check_statuses()
check_scikit_learn()
check_gaussian_processes()
check_newer_scikit_learn()
for module in (custom, functions, refusals):
    for name in dir(module):
        if name.startswith("check_"):
            getattr(module, name)()
