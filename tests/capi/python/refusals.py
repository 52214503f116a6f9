# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""Checks of arguments that are refused in words of the caller's, of conversions that would be silent, and of signals."""
import concurrent.futures
import copy
import operator
import os
import pickle
import subprocess
import sys
import tempfile
import warnings

from shared import GAUSSIAN, X, np, refused, y

import mercer

INVALID = mercer.InvalidArgument


def check_arguments():
    map, model, small = mercer.Map(GAUSSIAN), mercer.Model({"search": False, "map": {"features": 16}}, X, y), {"search": False}
    for duplicate in (copy.copy, copy.deepcopy, pickle.dumps):
        refused(TypeError, "cannot be copied or pickled", lambda: duplicate(mercer.Context()))
    sums = mercer.RowsSums({"test": "mmd"}, 200, 200, X[:200], X[200:])
    fits = {"map = {'features': 16}": {"map": {"features": 16}}, "context = 3": {"context": 3}, "weights with source": {"source": list, "weights": y}}
    for word, keys in fits.items():
        refused(INVALID, word, lambda: mercer.Model(small, X, y, **keys))
    for word, source in (("source() = None", lambda: None), ("type ndarray", lambda: (X, y)), ("of 1 parts", lambda: [[X]]), ("source = [", [(X, y)]),
                         ("of 4 parts", lambda: [(X, y, y, y)])):
        refused(INVALID, word, lambda: mercer.Model(small, source=source, map=map))
    for word, call in (
            ("what = None", lambda: model.predict(X, None)), ("metadata = 3", lambda: setattr(model, "metadata", 3)), ("name = 3", lambda: mercer.specs(3)),
            ("progress = 3", lambda: mercer.Context(progress=3)), ("threads = 4294967296", lambda: mercer.Context(threads=2**32)),
            ("expected a list of mercer.Observations", lambda: mercer.Model(small, sets=[(X, y)], map=map)),
            ("side = 'x'", lambda: sums.add("x", 0, X)), ("expected a mercer.Map", lambda: mercer.attend(3, X, X, X)),
            ("spec = {'lengthscale': nan}: NaN", lambda: mercer.Kernel({"lengthscale": np.nan})),
            ("expected what JSON holds", lambda: mercer.Kernel({(1, 2): 3}))):
        refused(INVALID, word, call)
    single = mercer.Observations(X, y)
    assert np.array_equal(*(mercer.Model({"lambda": 1}, sets=sets, map=map).predict(X) for sets in (single, [single])))
    refused(AttributeError, "no 'mattern' in this group of specs, expected gaussian,", lambda: mercer.spec.kernels.mattern)
    refused(AttributeError, "module 'mercer' has no attribute 'nothing'", lambda: mercer.nothing)
    assert mercer.spec.models.ridge(lambda_=None, map=None) == {"model": "ridge"}


def check_conversions():
    """Numbers that C cannot hold, and arrays that are no real numbers."""
    model, map = mercer.Model({"search": False, "map": {"features": 16}, "model": "gp"}, X, y), mercer.Map(GAUSSIAN)
    for orders in ([[0.5, 0, 0]], [[2**31, 0, 0]], [[np.nan, 0, 0]], [[2**70, 0, 0]]):
        refused(INVALID, "expected", lambda: model.predict(X, "partials", partials=orders))
    assert np.array_equal(*(model.predict(X, "partials", partials=[[one, 0, 0]]) for one in (1, 1.0)))
    for seed in (-1, 2**64, 0.5):
        refused(INVALID, f"seed = {seed}", lambda: model.predict(X, "sample", samples=1, seed=seed))
        refused(INVALID, f"seed = {seed}", lambda: mercer.lengthscale_median(X, seed=seed))
    masked = np.ma.array(X, mask=X > 2)
    assert masked.mask.any() and np.array_equal(map.transform(np.ma.array(X)), map.transform(X))
    refused(INVALID, "masked", lambda: map.transform(masked))
    for kind in ("datetime64[s]", "object", "complex64", "<U3"):
        refused(INVALID, f"X is an array of {np.dtype(kind)}, expected real numbers", lambda: map.transform(np.ones((2, 3)).astype(kind)))
    out = np.empty((400, 512))
    out.flags.writeable = False
    refused(INVALID, "out is read-only", lambda: map.transform(X, out=out))
    spec = {"precision": "f64", "lambda": 0.01}
    twice, in_place = (mercer.Model(spec, source=lambda: [(X, y)], map=map, sum=sum)
                       for sum in (lambda numbers: 2 * numbers, lambda numbers: np.multiply(numbers, 2, numbers)))
    assert twice.shape.rows == 800 and np.array_equal(twice.predict(X), in_place.predict(X))
    refused(INVALID, "sum returned int", lambda: mercer.Model(spec, source=lambda: [(X, y)], map=map, sum=lambda numbers: 0))


def check_kernels_that_are_none():
    """With a target that is missing, too, whose system is another."""
    rows = np.random.default_rng(0).normal(size=(12, 2))
    complete = np.column_stack([rows[:, 0], rows[:, 0]])
    gap = complete.copy()
    gap[3, 1] = np.nan
    for word, gram in (("expected none below 0", lambda A, B: 2 + np.tanh(3 * A @ B.T - 1)), ("is not symmetric", lambda A, B: np.exp(A[:, :1] - 2 * B[:, 0]))):
        custom = mercer.Custom(word.replace(" ", "_"), gram=gram)
        for targets in (complete, gap):
            refused(mercer.MercerError, word, lambda: mercer.Model({"model": "ridge", "search": False, "map": {"map": "exact", "kernel": custom.kernel}}, rows, targets))


def check_targets_that_say_nothing():
    """Rows of one place leave the mean; targets in rows without weight, or whose squares are 0, are none."""
    same = np.full((12, 2), 3.7)
    for spec in ({}, {"model": "ridge", "search": False, "map": {"map": "exact", "kernel": {"kernel": "polynomial", "degree": 1}}}):
        assert np.allclose(mercer.Model(spec, same, y[:12]).predict(same), y[:12].mean(), atol=1e-12)
    refused(INVALID, "is 1e-160 at most", lambda: mercer.Model({}, X[:40], np.full(40, 1e-160)))
    few, weights = y[:40].copy(), np.ones(40)
    few[5:], weights[:5] = np.nan, 0
    for spec in ({}, {"model": "gp"}, {"model": "logistic", "loss": "huber", "search": False, "map": {"features": 16}}):
        refused(INVALID, "is NaN in every row that has a weight", lambda: mercer.Model(spec, X[:40], few, weights))


def check_groups():
    """Groups are told apart by whatever names them, integers that no double holds, too, which would all be one group."""
    spec, small = {"search": False, "select": {"by": "folds"}, "map": {"features": 16}}, np.arange(400) // 4
    expected = mercer.Model(spec, X, y, groups=small).predict(X)
    for groups in (2**60 + small, [f"group {number:03}" for number in small], small[:, None] + 0.5):
        assert np.array_equal(mercer.Model(spec, X, y, groups=groups).predict(X), expected)
    refused(INVALID, "groups of shape (200, 2)", lambda: mercer.Model(spec, X, y, groups=np.ones((200, 2))))
    refused(INVALID, "NaN", lambda: mercer.Model(spec, X, y, groups=np.full(400, np.nan)))


def check_files():
    """The number and the name of a path that is absent, a folder, or in an absent one."""
    map = mercer.Map(GAUSSIAN)
    with tempfile.TemporaryDirectory() as folder:
        absent = os.path.join(folder, "absent")
        for kind, path, call in ((FileNotFoundError, absent, mercer.Map.load), (FileNotFoundError, absent + "/map", map.save),
                                 (IsADirectoryError, folder, mercer.Map.load)):
            error = refused(kind, path, lambda: call(path))
            assert isinstance(error, mercer.FileError) and error.filename == path and error.errno and error.status == "MERCER_IO"
        with open(absent, "wb") as file:
            file.write(b"text")
        assert refused(mercer.FileError, "", lambda: mercer.Map.load(absent)).errno is None


def check_reprs():
    shown = repr(mercer.Map(GAUSSIAN).shape)
    assert shown.startswith("mercer_map_info(is_complex=0, inputs=3, outputs=1, features=512"), shown
    assert repr(mercer.Map(GAUSSIAN)) != repr(mercer.Map({**GAUSSIAN, "seed": 4})) != repr(mercer.Map({**GAUSSIAN, "projection": "sorf"}))
    assert repr(mercer.RowsSums({"test": "mmd"}, 200, 150, X[:200], X[200:])).endswith("inputs=3, x_rows=200, y_rows=150, x_added=0, y_added=0)")


ALARMED = """
import signal, sys
import mercer, numpy as np
class Late(Exception): pass
def alarmed(number, frame): raise Late
signal.signal(signal.SIGALRM, alarmed)
rng, before = np.random.default_rng(1), sys.unraisablehook
X = rng.normal(size=(3000, 20))
for delay in rng.uniform(0.005, 0.1, 20):
    signal.setitimer(signal.ITIMER_REAL, delay)
    try:
        mercer.Model({}, X, np.sin(X[:, 0]))
    except Late:
        print("late")
    assert sys.unraisablehook is before
"""


def check_signals():
    """What a handler raises comes out itself, at whatever moment, and nothing is said on standard error."""
    said = subprocess.run([sys.executable, "-B", "-c", ALARMED], capture_output=True, text=True, timeout=300)
    assert (said.stdout, said.stderr) == (20 * "late\n", ""), said
    with concurrent.futures.ThreadPoolExecutor(8) as pool:  # overlapping calls, after which the hook is what it was
        list(pool.map(lambda seed: mercer.Model({"search": False, "seed": seed}, X, y), range(32)))
    assert sys.unraisablehook is sys.__unraisablehook__


def check_names_in_sentences():
    """Functions that sentences name are this package's, and what C alone has is not in them."""
    for name in mercer._api.API["functions"]:
        name = name.removeprefix("mercer_")
        if not name.endswith("_free") and not name.startswith(("arrow_source", "map_apply")) and name not in ("status_name", "version", "last_error"):
            operator.attrgetter(mercer._api.spelt(name))(mercer)
    assert mercer._api.of_python('mercer_model_fit: data->Y.n = 2 in a mercer_rows, expected NULL or "NULL"') == \
        'mercer.Model: Y.shape[0] = 2 in a mercer_rows, expected None or "NULL"'
    failure = refused(mercer.InvalidArgument, "mercer.Kernel: Y.shape[1] = 2, expected the columns of X, 3", lambda: mercer.Kernel("gaussian")(X, X[:, :2]))
    assert failure.fields["function"] == "mercer_kernel_gram"


def check_warnings_of_fits():
    """What the report warns of is a Python warning where the fit is called."""
    noise = np.random.default_rng(0).normal(size=(500, 4))
    with warnings.catch_warnings(record=True) as met:
        warnings.simplefilter("always")
        model = mercer.Model({"model": "gp", "map": {"kernel": "gaussian", "features": 8}, "search": False}, noise[:, 1:], noise[:, 0])
    assert [str(one.message) for one in met] == model.report["warnings"] and len(met) == 1
    assert met[0].category is mercer.FitWarning and met[0].filename == __file__
