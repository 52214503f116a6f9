# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""Checks of the methods and functions of the Python package that are one C function each: by differences, by the sums that they stand for,
and by each other."""
import pickle
import tempfile

import mercer
from shared import GAUSSIAN, X, np, refused, rng, y

SMALL = {**GAUSSIAN, "features": 64}


def slopes(of, at):
    """Central differences of an array-valued function in each column of its rows."""
    step = 1e-5
    units = step * np.eye(at.shape[1])
    return np.stack([(of(at + unit) - of(at - unit)) / (2 * step) for unit in units], 1)


def check_derivatives():
    map, few, V, G = mercer.Map(SMALL), X[:9], rng.normal(size=(9, 3)), rng.normal(size=(9, 64))
    gradient = map.derivative(few)
    assert gradient.shape == (9, 3, 64) and np.abs(gradient - slopes(map, few)).max() < 1e-8
    second = map.derivative(few, "hessian_diagonal")
    assert np.array_equal(second, map.derivative(few, "partials", partials=2 * np.eye(3, dtype=int)))
    assert np.abs(second.sum(1) - map.derivative(few, "laplacian")).max() < 1e-12
    assert np.abs(map.jvp(few, V) - np.einsum("nk,nkj->nj", V, gradient)).max() < 1e-12
    pulled = map.vjp(few, G)
    assert np.abs(pulled - np.einsum("nj,nkj->nk", G, gradient)).max() < 1e-12
    assert np.abs(map.derivative(few, "log_lengthscale", vectors=G) + (few * pulled).sum()).max() < 1e-10
    assert map.derivative(few.astype(np.float32)).dtype == np.float32
    kernel = map.kernel
    mixed = kernel.derivative(few, few, [1, 0, 0], [0, 1, 0])
    tau = few[:, None] - few
    assert np.abs(mixed + kernel(few) * tau[..., 0] * tau[..., 1] / 1.5**4).max() < 1e-12
    refused(mercer.InvalidArgument, "expected one of partials, gradient", lambda: map.derivative(few, "slope"))
    refused(mercer.InvalidArgument, "expected 3 integers", lambda: kernel.derivative(few, few, [1, 0]))


def check_errors_of_maps():
    map, few = mercer.Map(SMALL), X[:60]
    map.prepare(np.float32)
    Z, K = map(few), map.kernel(few)
    assert np.isclose(map.kernel_error(few), np.linalg.norm(Z @ Z.T - K) / np.linalg.norm(K))
    each = map.variance(few.repeat(60, 0), np.tile(few, (60, 1)))
    assert np.isclose(map.kernel_error(few, "predicted"), np.sqrt(each.sum()) / np.linalg.norm(K))
    refused(mercer.InvalidArgument, "expected one of measured, predicted", lambda: map.kernel_error(few, "guessed"))


def check_fields():
    map, theta = mercer.Map({"kernel": {"kernel": "divergence_free"}, "inputs": 3, "features": 120, "seed": 1}), rng.normal(size=(120, 2))
    f = map.multiply(X, theta)
    assert np.abs(map(X) @ theta - f.reshape(400, 2, 3).swapaxes(1, 2).reshape(1200, 2)).max() < 1e-10
    assert np.abs(map.multiply(X, theta, "divergence")).max() < 1e-9
    jacobian = map.multiply(X, theta[:, :1], "jacobian").reshape(400, 3, 3)
    curl = np.stack([jacobian[:, (k + 2) % 3, (k + 1) % 3] - jacobian[:, (k + 1) % 3, (k + 2) % 3] for k in range(3)], 1)
    assert np.abs(map.multiply(X, theta[:, :1], "curl") - curl).max() < 1e-9
    Y = rng.normal(size=(400, 3))
    assert np.isclose((map.adjoint(X, Y) * theta[:, :1]).sum(), (Y * f[:, :3]).sum())
    scalar, gamma = mercer.Kernel({"kernel": "gaussian"}), np.array([[2.0, 1], [1, 3]])
    coupled, U = mercer.Kernel.decomposable(scalar, gamma), rng.normal(size=(50, 2))
    assert np.abs(coupled.times(X, X[:50], U) - scalar(X, X[:50]) @ U @ gamma).max() < 1e-12


def check_codes():
    map = mercer.Map({"map": "fourier", "form": "phase", **GAUSSIAN, "features": 1000})
    codes = map.codes(X[:40])
    bits = np.unpackbits(codes.view(np.uint8), axis=1, bitorder="little")[:, :1000].astype(int)
    distances = mercer.hamming(codes)
    assert codes.shape == (40, 16) and np.array_equal(distances, (bits[:, None] != bits).sum(2))
    # The expected share of a Gaussian kernel's value k: 8/pi^2 (1/2 - sum_m k^(m^2) / (4 m^2 - 1)) (Raginsky, Lazebnik 2009).
    m, values = np.arange(1, 200)[:, None, None], map.kernel.of_distances(distances, 1000)
    share = 8 / np.pi**2 * (0.5 - (values ** (m * m) / (4 * m * m - 1)).sum(0))
    assert np.abs(share - distances / 1000)[(0 < values) & (values < 0.99)].max() < 1e-9 and (values[distances == 0] == 1).all()
    refused(mercer.InvalidArgument, "rows of as many words", lambda: mercer.hamming(codes, codes[:, :3]))
    code = mercer.simplex_code(4)
    assert np.abs(code.T @ code - (4 * np.eye(4) - 1) / 3).max() < 1e-12
    assert mercer.fwht(np.eye(4)).tolist() == [[1, 1, 1, 1], [1, -1, 1, -1], [1, 1, -1, -1], [1, -1, -1, 1]]


def check_attention_states():
    map = mercer.Map({"map": "positive", "kernel": {"kernel": "exponential"}, "inputs": 3, "features": 64})
    Q, K, V, G = (0.5 * rng.normal(size=(2, 12, width)) for width in (3, 3, 5, 5))
    whole, state = mercer.attend(map, Q, K, V, causal=True), mercer.Attention(map, 5, batch=2)
    assert state.step(K=K[:, :4], V=V[:, :4]) is None
    state = pickle.loads(pickle.dumps(state))
    with tempfile.NamedTemporaryFile() as file:
        state.save(file.name)
        state = mercer.Attention.load(file.name)
        assert mercer.file_info(file.name)["keys"] == 4
    rest = [state.step(Q[:, i:i + 1], K[:, i:i + 1], V[:, i:i + 1], causal=True) for i in range(4, 12)]
    assert np.abs(np.concatenate(rest, 1) - whole[:, 4:]).max() < 1e-12
    assert np.abs(state.step(Q) - mercer.attend(map, Q, K, V)).max() < 1e-12
    pulled = mercer.attend_vjp(map, Q, K, V, G)
    for part, of in enumerate((Q, K, V)):
        toward = rng.normal(size=of.shape)
        moved = [mercer.attend(map, *(a + sign * 1e-5 * toward if k == part else a for k, a in enumerate((Q, K, V)))) for sign in (1, -1)]
        assert np.isclose((pulled[part] * toward).sum(), (G * (moved[0] - moved[1])).sum() / 2e-5, rtol=1e-6)
    scores = np.exp(Q @ K.swapaxes(1, 2))
    exact = scores @ V / scores.sum(2, keepdims=True)
    assert np.isclose(mercer.attention_error(map, Q, K, V), np.linalg.norm(mercer.attend(map, Q, K, V) - exact) / np.linalg.norm(exact))


def check_ridge():
    Z, Y = mercer.Map(SMALL)(X), np.column_stack([y, X[:, 0]])
    sums, part = mercer.Statistics(64, 2), mercer.Statistics(64, 2)
    sums.add(Z[:250], Y[:250])
    part.add(Z[250:], Y[250:])
    sums.merge(pickle.loads(pickle.dumps(part)))
    assert (sums.shape.rows, sums.shape.columns, sums.shape.outputs) == (400, 64, 2)
    numbers, copy = sums.sums, mercer.Statistics(64, 2)
    assert np.allclose(numbers["gram"], Z.T @ Z) and np.allclose(numbers["sum_y2"], (Y * Y).sum(0))
    copy.replace(400, **numbers)
    ridge = mercer.Ridge(sums, center=False)
    w, intercept = ridge.solve(1e-3)
    expected = np.linalg.solve(Z.T @ Z + 0.4 * np.eye(64), Z.T @ Y)
    assert np.abs(w - expected).max() < 1e-9 and not intercept.any()
    for given in ({"statistics": copy}, {"statistics": sums}, {"Z": Z, "Y": Y}):
        assert np.abs(mercer.ridge_weights(1e-3, **given, center=False)[0] - expected).max() < 1e-8
    H = Z @ np.linalg.solve(Z.T @ Z + 0.4 * np.eye(64), Z.T)
    assert np.isclose(ridge.error(1e-3)[1], H.trace()) and np.isclose(ridge.leverage(1e-3).sum(), H.trace())
    assert np.allclose(ridge.error(1e-3, part)[0], ((Y[250:] - Z[250:] @ w) ** 2).mean(0))
    assert np.allclose(ridge.leave_one_out(1e-3, Z, Y), (Y - H @ Y) / (1 - H.diagonal()[:, None]))
    f, v = Z @ w, 0.5 + np.abs(Y)
    assert np.isclose(mercer.score(f, Y, metric="rmse"), np.sqrt(((Y - f) ** 2).mean(0)).mean())
    assert np.isclose(mercer.score(f[:, :1], y, metric="mae", weights=v[:, 0]), np.average(np.abs(y - f[:, 0]), weights=v[:, 0]))
    assert mercer.score(np.eye(3)[[0, 1, 1]], [0, 1, 2], 3, "confusion").tolist() == [[1, 0, 0], [0, 1, 0], [0, 1, 0]]
    refused(mercer.InvalidArgument, "expected one of default, r2", lambda: mercer.score(f, Y, metric="r3"))


def check_model_parts():
    """A model's values by its preparation, numbers and weights alone."""
    model = mercer.Model({"map": {"map": "exact"}, "lambda": 1e-3, "search": False, "prepare": {"transform": "rank", "target_transform": "log"}}, X, np.exp(3 * y))
    steps, (w, intercept), far = model.preparation, model.weights, 2 * X[:50]
    inside = np.clip(far, steps["lowest"], steps["highest"])
    ranks = np.column_stack([np.interp(inside[:, j], curve["knots"], curve["values"]) for j, curve in enumerate(steps["curves"])])
    prepared = (ranks - steps["mean"]) / steps["scale"]
    scores = model.map.kernel(prepared, model.numbers["landmarks"]) @ w + intercept
    s, = steps["target_curves"][0]["knots"]
    values = np.clip(np.sign(scores) * s * np.expm1(np.abs(scores)), *steps["limits"][0])
    assert np.abs(model.predict(far) - values).max() < 1e-9 * np.abs(values).max()
    assert np.isclose(model.norms[0] ** 2, (w.T @ model.map.kernel(model.numbers["landmarks"]) @ w).item())
    used = mercer.Context(threads=1)
    model.predict(X, context=used)
    assert used.threads_used == 1 and mercer.self_test()["passed"] is True
