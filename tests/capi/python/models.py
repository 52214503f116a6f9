# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""Checks of fits and predictions."""
import pickle
import tempfile

from shared import GAUSSIAN, X, np, refused, rng, y

import mercer


def check_models():
    model = mercer.Model({"model": "gp", "precision": "f64", "map": {"features": 256}}, X, y)
    value = model.predict(X)
    assert 0.8 < model.report["score"]["value"] <= 1 and np.mean((value[:, 0] - y) ** 2) < 0.1
    quantile = model.predict(X, "quantile", quantiles=[0.1, 0.9])
    assert (quantile[:, 0] < value[:, 0]).all() and (value[:, 0] < quantile[:, 1]).all()
    step = (model.predict(X[:5] + [1e-5, 0, 0]) - model.predict(X[:5] - [1e-5, 0, 0])) / 2e-5
    assert np.abs(model.predict(X[:5], "gradient")[:, :1] - step).max() < 1e-4
    assert model.predict(X[:5], "sample", samples=4, seed=2).shape == (5, 4)
    prepared = model.predict(X, "prepared")
    assert np.abs(prepared.std(0) - 1).max() < 0.01 and model.map(prepared).shape == (len(X), model.shape.features)
    with tempfile.NamedTemporaryFile() as file:
        model.save(file.name)
        assert np.array_equal(mercer.Model.load(file.name).predict(X), value)
    assert np.array_equal(pickle.loads(pickle.dumps(model)).predict(X), value)

    def stop(done, total):
        raise KeyboardInterrupt

    refused(KeyboardInterrupt, "", lambda: mercer.Model({}, X, y, context=mercer.Context(progress=stop)))
    refused(ValueError, "weights of shape (3,)", lambda: mercer.Model({}, X, y, weights=np.ones(3)))
    w, intercept = model.weights
    units = np.linalg.lstsq(np.c_[model.map(prepared) @ w + intercept, np.ones(len(X))], value, rcond=None)
    assert units[1] < 1e-12 * len(X)  # of the targets' own units, one scale and one shift
    model.metadata = "höhe"
    assert pickle.loads(pickle.dumps(model)).metadata == "höhe"
    for what, name, given in (("partials", "partials", [[1, 0, 0]]), ("quantile", "quantiles", [0.5]), ("sample", "samples", 2)):
        refused(mercer.InvalidArgument, f'expected {name} with what = "{what}"', lambda: model.predict(X, what))
        refused(mercer.InvalidArgument, f'what = "value" with {name} = ', lambda: model.predict(X, **{name: given}))
    both = model.predict(X[:5], "partials", partials=[[1, 0, 0], [0, 2, 0]])
    single = np.c_[model.predict(X[:5], "gradient")[:, 0], model.predict(X[:5], "hessian_diagonal")[:, 1]]
    assert np.abs(both - single).max() < 1e-9 * np.abs(single).max()
    refused(ValueError, "partials of shape (1, 2)", lambda: model.predict(X, "partials", partials=[[1, 0]]))
    far = np.r_[X[:2], [[100, 0, -100]]]
    clipped, outside = model.predict(far, return_outside=True)
    assert outside[:2] == (1, 2) and outside.inputs.tolist() == [1, 0, 1] and outside.predictions_limited >= 0
    assert np.array_equal(clipped, model.predict(np.clip(far, X.min(0), X.max(0)), extrapolation="refuse"))
    assert abs(model.predict(far, extrapolation="free")[2, 0] - clipped[2, 0]) > 1e-3
    fields = refused(mercer.InvalidArgument, "outside", lambda: model.predict(far, extrapolation="refuse")).fields
    assert (fields["argument"], fields["row"], fields["column"], fields["value"]) == ("X", 2, 0, 100), fields
    refused(ValueError, "expected one of default, clip, free, refuse", lambda: model.predict(far, extrapolation="never"))


def check_default_derivatives():
    """A default fit of few rows is one of the kernel itself, and has that kernel's derivatives."""
    rows = np.random.default_rng(5).uniform(-1, 1, (300, 4))
    model = mercer.Model({"assess": False}, rows, np.sin(2 * rows[:, 0]) + rows[:, 1] * rows[:, 2] + 0.2 * np.random.default_rng(6).normal(size=300))
    assert "exact" in str(model.map) and model.shape.features == 300
    some, step = 0.9 * rows[:20], 1e-3
    gradient = model.predict(some, "gradient")
    for k, unit in enumerate(step * np.eye(4)):
        above, below = (model.predict(some + side * unit, extrapolation="free")[:, 0] for side in (1, -1))
        assert np.abs((above - below) / (2 * step) - gradient[:, k]).max() < 1e-3 * np.abs(gradient).max()
    assert np.abs(gradient[:, 0] - 2 * np.cos(2 * some[:, 0])).max() < 0.5  # noise of .2
    assert np.abs(model.predict(some, "hessian_diagonal").sum(1) - model.predict(some, "laplacian")[:, 0]).max() < 1e-6


def check_sources():
    """Fits of blocks are those of the rows in memory, to rounding; what a block raises ends the fit and is raised by it."""
    map, spec, weights = mercer.Map(GAUSSIAN), {"precision": "f64", "lambda": 0.01}, rng.integers(1, 4, 400).astype(float)
    opened = []

    def blocks(*arrays):
        opened.append(arrays)
        yield tuple(array[:0] for array in arrays)
        for first in range(0, 400, 90):
            yield tuple(array[first:first + 90] for array in arrays)

    plain, weighted = (mercer.Model(spec, source=lambda: blocks(*arrays), map=map) for arrays in ((X, y), (X, y, weights)))
    for streamed, given in ((plain, None), (weighted, weights)):
        # sums of n terms differ by n 2^-52, weights at most by |y| n 2^-52 / lambda^1.5
        worst = np.abs(streamed.predict(X) - mercer.Model(spec, X, y, weights=given, map=map).predict(X)).max()
        assert worst < 4 * 400 * 2**-52 * np.abs(y).max() / 0.01**1.5 and streamed.shape.rows == 400
    assert np.abs(plain.predict(X) - weighted.predict(X)).max() > 1e-6 and len(opened) >= 2
    twice = mercer.Model(spec, source=lambda: blocks(X, y), map=map, sum=lambda numbers: np.multiply(numbers, 2, numbers))
    assert twice.shape.rows == 800 and np.abs(twice.predict(X) - plain.predict(X)).max() < 1e-8
    components = mercer.Model({"model": "kernel_pca", "precision": "f64"}, source=lambda: ((X[i:i + 80], None) for i in range(0, 400, 80)), map=map)
    assert np.abs(components.predict(X).mean(0)).max() < 1e-6  # they are centred
    mark = ZeroDivisionError("of a block")

    def breaks():
        yield X[:90], y[:90]
        raise mark

    kept = []  # the others of a process that fails are told so by a last sum
    assert refused(ZeroDivisionError, "", lambda: mercer.Model(spec, source=breaks, map=map, sum=kept.append)) is mark
    assert len(kept) > 1 and all(np.isfinite(numbers).all() for numbers in kept)
    refused(mercer.InvalidArgument, "source->next.n = 310", lambda: mercer.Model(spec, source=lambda: [(X[:90], y[:90]), (X[:0], y[90:])], map=map))
    refused(ValueError, "no block", lambda: mercer.Model(spec, source=list, map=map))
    refused(ValueError, "sum without source", lambda: mercer.Model(spec, X, y, sum=print))
    refused(mercer.InvalidArgument, "data has X, source", lambda: mercer.Model(spec, X, y, source=lambda: blocks(X, y), map=map))


def check_sets():
    """Slopes add to values; sets in another order, or with weights of rows in place of theirs, give the same model to rounding, n 2^-52
    / lambda^1.5 for numbers near 1."""
    map, spec = mercer.Map(GAUSSIAN), {"lambda": 1e-3}
    few, far = X[:40], X[40:]
    f, slope = (lambda Z: np.sin(Z[:, 0]) * Z[:, 1]), (lambda Z: np.cos(Z[:, 0]) * Z[:, 1])
    values, slopes = mercer.Observations(few, f(few)), mercer.Observations(few, slope(few), [1, 0, 0], 0.5, np.ones(40))
    one, both, turned = (mercer.Model(spec, sets=sets, map=map) for sets in ([values], [values, slopes], [slopes, values]))
    assert np.abs(both.predict(far) - turned.predict(far)).max() < 1e-8
    error = [np.mean((model.predict(far, "gradient")[:, 0] - slope(far)) ** 2) for model in (one, both)]
    assert error[1] < 0.8 * error[0], error
    halved = mercer.Model(spec, sets=[values, slopes._replace(weight=1.0, row_weights=np.full(40, 0.5))], map=map)
    assert np.abs(both.predict(far) - halved.predict(far)).max() < 1e-8
    refused(ValueError, "partial of shape (2,), expected 3 numbers", lambda: mercer.Model(spec, sets=[values._replace(partial=[1, 0])], map=map))
    refused(mercer.InvalidArgument, "lengthscale", lambda: mercer.Model(spec, sets=[values]))
    made = mercer.Model({"map": {"kernel": "gaussian", "features": 200}}, sets=[values, slopes])
    assert np.mean((made.predict(far, "gradient")[:, 0] - slope(far)) ** 2) < error[0]
