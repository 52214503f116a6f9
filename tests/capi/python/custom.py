# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""mercer.Custom: kernels and maps by functions, what these raise, and how long they live."""
import concurrent.futures
import gc
import pickle
import weakref

from shared import X, np, refused, y

import mercer


def gaussian(A, B):
    return np.exp(-((A[:, None] - B[None]) ** 2).sum(-1) / 2)


def check_kernels():
    own, plain = mercer.Custom("rbf", gaussian), mercer.Kernel({"kernel": "gaussian"})
    assert own.kernel == {"kernel": "custom", "name": "rbf"} and repr(own) == "Custom('rbf')"
    kernel = mercer.Kernel(own.kernel)
    assert np.abs(kernel(X) - plain(X)).max() < 1e-15 and np.abs(kernel(X, X[:7]) - plain(X, X[:7])).max() < 1e-15
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert all(np.array_equal(K, kernel(X)) for K in pool.map(kernel, [X] * 16))
    spec = {"lambda": 1e-3, "search": False, "map": {"map": "exact", "kernel": own.kernel}}
    as_given = {"prepare": {"standardize": False, "extrapolation": "free"}}
    model = mercer.Model(spec, X[:300], y[:300])
    other = mercer.Model({**spec, **as_given, "map": {"map": "exact", "kernel": {"kernel": "gaussian", "lengthscale": 1}}}, X[:300], y[:300])
    assert np.abs(model.predict(X) - other.predict(X)).max() < 1e-9
    data = pickle.dumps(model)
    assert np.array_equal(pickle.loads(data).predict(X), model.predict(X))
    alive, before = weakref.ref(own), model.predict(X)
    del own
    gc.collect()
    assert alive() is None and np.array_equal(model.predict(X), before)
    assert refused(mercer.MercerError, '"rbf"', lambda: pickle.loads(data)).status == "MERCER_NOT_REGISTERED"
    own = mercer.Custom("rbf", gaussian)  # the name is free
    assert np.array_equal(pickle.loads(data).predict(X), before)


def check_table():
    K = gaussian(X, X)
    own = mercer.Custom("table", lambda A, B: K[np.ix_(A[:, 0].astype(int), B[:, 0].astype(int))], inputs=1)
    rows = np.arange(400.0)[:, None]
    model = mercer.Model({"map": {"map": "exact", "kernel": own.kernel}}, rows[:300], y[:300])
    own_score = 1 - np.var(model.predict(rows[300:])[:, 0] - y[300:]) / np.var(y[300:])
    assert own_score > model.report["score"]["value"] - 0.1, own_score


def check_maps():
    def features(A, D, seed):
        w = np.random.default_rng(seed).normal(size=(A.shape[1], D // 2))
        return np.concatenate([np.cos(A @ w), np.sin(A @ w)], 1) / np.sqrt(D // 2)

    own = mercer.Custom("rff", gaussian, features)
    spec = {"map": "custom", "kernel": own.kernel, "inputs": 3, "features": 1024, "seed": 5}
    map = mercer.Map(spec)
    Z = map.transform(X)
    assert np.array_equal(Z, features(X, 1024, 5)) and np.abs(Z @ Z.T - gaussian(X, X)).max() < 6 / np.sqrt(512)
    assert np.array_equal(pickle.loads(pickle.dumps(map)).transform(X), Z)
    assert map.transform(X.astype(np.float32)).dtype == np.float32
    model = mercer.Model({"map": {"map": "custom", "kernel": own.kernel}}, X, y)
    assert model.spec["map"]["map"] == "custom" and model.report["score"]["value"] > 0.5
    squares = mercer.Custom("squares", features=lambda A, D, seed: np.concatenate([A, A * A], 1), feature_count=6)
    Z = mercer.Map({"map": "custom", "kernel": squares.kernel, "inputs": 3, "features": 6}).transform(X)
    assert np.abs(mercer.Kernel(squares.kernel)(X) - Z @ Z.T).max() < 1e-12


def check_losses():
    def squares(S, Y):
        return (S - Y) ** 2 / 2, S - Y, np.ones_like(S)

    own = mercer.Custom("squares_of_scores", loss=squares)
    spec = {"lambda": 1e-3, "search": False, "precision": "f64", "map": {"map": "fourier", "features": 64, "seed": 3}}
    other = {"model": "logistic", "loss": "custom", "loss_name": "squares_of_scores", "tolerance": 1e-18, "iterations": 5000}
    model, ridge = mercer.Model({**spec, **other}, X, y), mercer.Model(spec, X, y)
    assert np.abs(model.predict(X) - ridge.predict(X)).max() < 1e-6
    data = pickle.dumps(model)
    del own
    gc.collect()
    assert np.array_equal(pickle.loads(data).predict(X), model.predict(X))  # needs no loss
    assert refused(mercer.MercerError, "squares_of_scores", lambda: mercer.Model({**spec, **other}, X, y)).status == "MERCER_NOT_REGISTERED"
    bent = mercer.Custom("bent", loss=lambda S, Y: (-S * S, -2 * S, -2 + 0 * S))
    spec = {**spec, **other, "loss_name": "bent"}
    assert refused(mercer.MercerError, "curvature -2", lambda: mercer.Model(spec, X, y)).status == "MERCER_CALLBACK"
    for loss in (lambda S, Y: (-S, -1 + 0 * S, 0 * S), lambda S, Y: (np.exp(-S), -np.exp(-S), np.exp(-S))):
        endless = mercer.Custom("endless", loss=loss)
        spec["loss_name"] = "endless"
        assert refused(mercer.MercerError, "falls without end", lambda: mercer.Model(spec, X, y)).status == "MERCER_NOT_CONVERGED"
        del endless
        gc.collect()
    # Scores are what the loss makes of them: here logarithms of means, which targets' range does not limit.
    counts = mercer.Custom("counts", loss=lambda S, Y: (np.exp(S) - Y * S, np.exp(S) - Y, np.exp(S)))
    drawn = np.random.default_rng(1).poisson(np.exp(5), (len(X), 1)).astype(float)
    own, known = (mercer.Model({**spec, "lambda": 1e-3, "loss": loss, **named}, X, drawn).predict(X)
                  for loss, named in (("custom", {"loss_name": "counts"}), ("poisson", {"loss_name": ""})))
    assert np.abs(own - 5).max() < 0.5 and np.abs(own - np.asarray(known)).max() < 1e-5
    del counts
    spec["loss_name"] = "bent"
    del bent
    gc.collect()
    bent = mercer.Custom("bent", loss=lambda S, Y: S)
    refused(ValueError, "expected a tuple", lambda: mercer.Model(spec, X, y))


def check_faults():
    class Broken(Exception):
        pass

    def broken(A, B):
        raise Broken("of the function")

    bad, thin = mercer.Custom("broken", broken), mercer.Custom("thin", lambda A, B: np.zeros((len(A), 1)))
    for call in (lambda: mercer.Kernel(bad.kernel)(X), lambda: mercer.Model({"map": {"map": "exact", "kernel": bad.kernel}}, X, y),
                 lambda: mercer.Model({"map": {"kernel": bad.kernel}}, X, y, context=mercer.Context())):
        refused(Broken, "of the function", call)
    refused(ValueError, "gram returned ndarray of shape (7, 1), expected (7, 7)", lambda: mercer.Kernel(thin.kernel)(X[:7]))
    far = mercer.Custom("far", lambda A, B: gaussian(A, B) * np.inf)
    assert refused(mercer.MercerError, "finite", lambda: mercer.Kernel(far.kernel)(X)).status == "MERCER_CALLBACK"
    refused(ValueError, "is registered", lambda: mercer.Custom("broken", gaussian))
    refused(ValueError, "expected a callback", lambda: mercer.Custom("none"))
    refused(ValueError, "expected a function", lambda: mercer.Custom("one", 1))
    refused(TypeError, "pickled", lambda: pickle.dumps(bad))
