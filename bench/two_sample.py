# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""Levels over null trials on five sets, power against shifts, and time beside the quadratic statistic in NumPy.
Run: two_sample.py LIBMERCER.so DATA level|pilot|power|time [TRIALS]"""
import ctypes
import json
import pathlib
import sys

import numpy as np

from experiment import images, timed
from library import Mercer, rows
from mercer import RowsSums


def tester(path):
    library = Mercer(path)

    def test(X, Y, **keys):
        text = ctypes.create_string_buffer(1 << 16)
        library.rows_test(json.dumps(keys).encode(), rows(X), rows(Y), None, text, len(text), None)
        return json.loads(text.value)
    return test


def sets(data):
    for name in ("kin8nm", "abalone", "pendigits"):
        found = sorted((data / name).glob("*.csv"))
        yield name, np.loadtxt(found[0], delimiter=",", skiprows=1)
    yield "normal", np.random.default_rng(0).standard_normal((20000, 20))
    yield "mnist", images(data, "mnist", 1)[0]


def split(A, m, n, rng):
    chosen = rng.permutation(len(A))[:m + n]
    return np.ascontiguousarray(A[chosen[:m]]), np.ascontiguousarray(A[chosen[m:]])


def level(test, data, trials):
    """The share of rejections at 5 % where both samples are drawn from one set, of two sizes; and how many shares lie within 4 to 6 %."""
    ways = {"mmd": dict(test="mmd", permutations=199), "mmd limit": dict(test="mmd", permutations=0),
            "block": dict(test="block_mmd"), "kid": dict(test="kid", permutations=199, features=256),
            "hsic": dict(test="hsic", permutations=99, features=32), "hsic limit": dict(test="hsic", permutations=0)}
    print("set".ljust(20), *(way.rjust(11) for way in ways))
    shares = []
    for m, n in ((100, 150), (300, 40)):
        for name, A in sets(data):
            rng = np.random.default_rng(1)
            hits = dict.fromkeys(ways, 0)
            widest = np.argmax(A.std(0))  # the input whose dependence on the others is tested
            for t in range(trials):
                X, Y = split(A, m, n, rng)
                left = np.delete(X, widest, 1)
                right = np.ascontiguousarray(X[rng.permutation(m)][:, widest:widest + 1])
                for way, keys in ways.items():
                    found = test(*((left, right) if "hsic" in way else (X, Y)), seed=t, **keys)
                    hits[way] += found["p_value"] <= 0.05
            shares.append([hit / trials for hit in hits.values()])
            print(f"{name} {m}, {n}".ljust(20), *(f"{share:11.4f}" for share in shares[-1]), flush=True)
    within = (np.abs(np.array(shares) - 0.05) <= 0.01).sum(0)
    print("within 4 to 6 %".ljust(20), *(f"{count:4} of {len(shares)}".rjust(11) for count in within))


def pilot(trials):
    """The share of rejections at 5 % from sums over rows that are not in memory, whose bandwidths are of the first rows."""
    rng = np.random.default_rng(1)
    for m, n, first in ((100, 150, 20), (100, 150, 100), (300, 40, 20), (300, 300, 100)):
        hits = {"both": 0, "X": 0}
        for t in range(trials):
            samples = rng.normal(size=(m, 4)), rng.normal(size=(n, 4))
            for way in hits:
                X, Y = samples[0][:first], samples[1][:first if way == "both" else 0]
                sums = RowsSums({"test": "mmd", "permutations": 99, "seed": t, "features": 64}, m, n, X, Y)
                for side in (0, 1):
                    sums.add(side, 0, samples[side])
                hits[way] += sums.answer()["p_value"] <= 0.05
        print(f"{m}, {n}; first {first} of", *(f"{way}: {hit / trials:.4f} " for way, hit in hits.items()), flush=True)


def median_mmd(X, Y, permutations, rng):
    """The quadratic statistic with a Gaussian kernel at the median heuristic, permuted: its p-value."""
    Z = np.concatenate([X, Y])
    norms = (Z * Z).sum(1)
    squared = np.maximum(norms[:, None] + norms - 2 * Z @ Z.T, 0)
    K = np.exp(-squared / (2 * np.median(squared[:1000, :1000][np.triu_indices(min(len(Z), 1000), 1)])))
    np.fill_diagonal(K, 0)
    m, n = len(X), len(Y)
    signs = np.zeros((permutations + 1, m + n))
    for b in range(permutations + 1):
        signs[b, rng.permutation(m + n)[:m] if b else slice(m)] = 1
    within = np.einsum("bi,bi->b", signs @ K, signs)
    total, left = K.sum(), signs @ K.sum(1)
    across = left - within
    T = within / (m * (m - 1)) + (total - within - 2 * across) / (n * (n - 1)) - 2 * across / (m * n)
    return np.mean(T >= T[0] - 1e-12)


def shifts(rng):
    """Of images in [0, 1] and their labels, after Rabanser, Guennemann, Lipton 2019: a share of the rows is changed, or of
    the zeros is left out."""
    for share in (0.1, 0.5, 1.0):
        for noise in (1, 10, 100):
            yield f"noise {noise}/255, {share:.0%}", share, 0, lambda A, s=noise / 255: A + s * rng.standard_normal(A.shape)
        for pixels in (1, 2, 4):
            yield (f"moved {pixels} pixels, {share:.0%}", share, 0,
                   lambda A, k=pixels: np.roll(A.reshape(-1, 28, 28), (k, k), (1, 2)).reshape(-1, 784))
        yield f"without zeros, {share:.0%}", 0, share, lambda A: A


def power(test, data, trials, sizes=(1000, 10000)):
    """At 5 %: this library with its defaults, without scaled columns and, of 1,000 rows, the quadratic statistic at one bandwidth; the
    rows of the smaller samples are the first of the larger ones. The last line: seconds of a test."""
    A, labels = images(data, "mnist", 0)
    rng, most = np.random.default_rng(2), max(sizes)
    ways = [(n, keys) for n in sizes for keys in ({}, {"scale": "none"}, None) if keys is not None or n <= 1000]
    print("shift".ljust(24), *(f"{n} {'quadratic' if keys is None else keys.get('scale', 'columns')}".rjust(16) for n, keys in ways))
    shares, seconds = [], np.zeros(len(ways))
    for name, changed, dropped, change in shifts(rng):
        hits = np.zeros(len(ways))
        for t in range(trials):
            order = rng.permutation(len(A))
            rest = order[most:]
            X, Y = A[order[:most]], A[rest[(labels[rest] != 0) | (rng.random(len(rest)) >= dropped)][:most]]
            of_share = rng.random(most) < changed
            Y[of_share] = change(Y[of_share])
            for k, (n, keys) in enumerate(ways):
                found, taken = timed(lambda: median_mmd(X[:n], Y[:n], 199, rng) if keys is None else
                                     test(X[:n], Y[:n], test="mmd", permutations=199, seed=t, **keys)["p_value"])
                seconds[k] += taken
                hits[k] += found <= 0.05
        shares.append(hits / trials)
        print(name.ljust(24), *(f"{hit:16.2f}" for hit in shares[-1]), flush=True)
    print("mean".ljust(24), *(f"{one:16.2f}" for one in np.mean(shares, axis=0)))
    print("seconds".ljust(24), *(f"{one:16.2f}" for one in seconds / (trials * len(shares))))


def timing(test):
    rng = np.random.default_rng(3)
    one = [{"kernel": "gaussian", "lengthscale": 11.3}]
    for n in (1000, 10000, 100000, 1000000):
        X, Y = (rng.standard_normal((n, 64)).astype(np.float32) for _ in range(2))
        (said, ten), (_, single) = (timed(lambda: test(X, Y, test="mmd", **keys)) for keys in ({}, {"kernels": one}))
        quadratic = timed(lambda: median_mmd(X, Y, 500, rng) if n <= 10000 else None)[1]
        print(f"n = {n}: {ten:.2f} s with ten kernels of {said['features']} features, {single:.2f} with one; "
              f"quadratic, one kernel: {quadratic:.2f}", flush=True)


if __name__ == "__main__":
    what, trials = sys.argv[3], int(sys.argv[4]) if len(sys.argv) > 4 else 2000
    call, folder = tester(sys.argv[1]), pathlib.Path(sys.argv[2])
    if what == "time":
        timing(call)
    elif what == "pilot":
        pilot(trials)
    else:
        (level if what == "level" else power)(call, folder, trials)
