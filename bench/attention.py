# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""Attention: this library beside a rank-1 loop in C, linear attention in NumPy and exact softmax in NumPy, all in single
precision on two cores; and its error against the predicted one, with a plot of both.
Run: attention.py LIBMERCER.so [--quick] [--plot FILE.png]"""
import ctypes
import math
import pathlib
import subprocess
import tempfile

import numpy as np

from experiment import options_of, timed
from library import Library, _api, matrix, rows

HEADS, WIDTH = 8, 64  # heads, and the numbers of each


def tokens_of(causal, batch, heads, *numbers):
    made = _api.make("tokens")
    made.causal, made.batch, made.heads = causal, batch, heads
    made.Q, made.K, made.V = map(rows, numbers)
    return made


def seconds(call, repetitions):
    """The median; the first call is not counted."""
    call()
    return float(np.median([timed(call)[1] for _ in range(repetitions)]))


def loop_in_c(folder):
    source = pathlib.Path(__file__).with_name("attention_loop.c")
    built = pathlib.Path(folder) / "attention_loop.so"
    subprocess.run(["cc", "-O3", "-shared", "-fPIC", source, "-o", built, "-lm"], check=True)
    return ctypes.CDLL(str(built)).attention_loop


class Setting:
    """Heads one after the other, normal tokens; softmax at the usual scale 1/sqrt(d)."""

    def __init__(self, library, n, D, rng, spread=1.0, heads=HEADS, seed=1, tilt=0.0):
        self.library, self.n, self.D, self.heads = library, n, D, heads
        self.q, self.k = (spread * rng.standard_normal((heads, n, WIDTH), np.float32) for _ in range(2))
        self.v = rng.standard_normal((heads, n, WIDTH), np.float32)
        self.W = rng.standard_normal((WIDTH, D)).astype(np.float32)
        self.map, why = library.map({"map": "positive", "kernel": {"kernel": "exponential", "lengthscale": WIDTH ** 0.25},
                                     "inputs": WIDTH, "features": D, "seed": seed, "tilt": tilt})
        assert self.map, why
        self.out = np.empty((heads * n, WIDTH), np.float32)

    def tokens(self, causal):
        return tokens_of(causal, self.heads, 1, *(X.reshape(-1, WIDTH) for X in (self.q, self.k, self.v)))

    def attend(self, causal):
        self.library.attend(self.map, ctypes.byref(self.tokens(causal)), None, matrix(self.out))
        return self.out.reshape(self.heads, self.n, WIDTH)

    def error(self, causal, which):
        found = ctypes.c_double()
        self.library.attention_error(self.map, ctypes.byref(self.tokens(causal)), which, None, ctypes.byref(found))
        return found.value

    def decoding(self):
        """A call that takes one more token of all heads, these side by side in its row."""
        token = np.random.default_rng(5).standard_normal((1, self.heads * WIDTH)).astype(np.float32)
        out, state = np.empty_like(token), self.library.make("attention_create", self.map, 1, self.heads, WIDTH)
        tokens = tokens_of(1, 1, self.heads, token, token, token)

        def step():
            self.library.attention_step(state, ctypes.byref(tokens), None, matrix(out))
        step.kept = token, out  # the views' memory
        return step

    def exact(self, causal):
        weights = np.matmul(self.q, self.k.transpose(0, 2, 1))
        weights *= np.float32(1 / math.sqrt(WIDTH))
        weights -= weights.max(2, keepdims=True)
        np.exp(weights, weights)
        if causal:
            weights *= np.tri(self.n, dtype=np.float32)
        out = np.matmul(weights, self.v)
        out /= weights.sum(2, keepdims=True)
        return out

    def features(self, X):
        X = X * np.float32(WIDTH ** -0.25)
        return np.exp(np.matmul(X, self.W) - (X * X).sum(2, keepdims=True) / 2)

    def linear_in_numpy(self, causal):
        q, k = self.features(self.q), self.features(self.k)
        v = np.concatenate([self.v, np.ones_like(self.v[..., :1])], 2)
        if not causal:
            out = np.matmul(q, np.matmul(k.transpose(0, 2, 1), v))
        else:  # the sums before each token, a head at a time: all at once they do not fit in memory
            out = np.empty(v.shape, np.float32)
            for h in range(self.heads):
                S = np.zeros((self.D, WIDTH + 1), np.float32)
                for i in range(self.n):
                    S += np.multiply.outer(k[h, i], v[h, i])
                    out[h, i] = q[h, i] @ S
        return out[..., :WIDTH] / out[..., WIDTH:]

    def loop(self, function):
        scaled = [np.ascontiguousarray(X * np.float32(WIDTH ** -0.25)) for X in (self.q, self.k)]
        out = np.empty_like(self.v)
        assert function(*(ctypes.c_int64(x) for x in (self.heads, self.n, WIDTH, self.D, WIDTH)),
                        *(ctypes.c_void_p(X.ctypes.data) for X in (*scaled, self.v, self.W, out))) == 0
        return out


def timing(library, lengths, D, repetitions, loop):
    """Milliseconds of each way and length."""
    print(f"milliseconds, {HEADS} heads of {WIDTH}, D = {D}".ljust(44), *(f"{n:>9,}" for n in lengths))
    settings = [Setting(library, n, D, np.random.default_rng(n)) for n in lengths]
    table = {}
    for causal in (1, 0):
        kind = "causal" if causal else "full"
        ways = {f"mercer, {kind}": lambda s: s.attend(causal), f"softmax in NumPy, {kind}": lambda s: s.exact(causal),
                f"linear in NumPy, {kind}": lambda s: s.linear_in_numpy(causal)}
        if causal:
            ways["rank-1 loop in C, causal"] = lambda s: s.loop(loop)
        for name, way in ways.items():
            slow = "NumPy, causal" in name or "loop" in name
            table[name] = []
            for setting in settings:
                several = 3 if slow and setting.n > 1000 else repetitions
                table[name].append(1e3 * seconds(lambda: way(setting), min(several, repetitions)))
            print(name.ljust(44), *(f"{t:9.2f}" for t in table[name]), flush=True)
    step = seconds(settings[0].decoding(), 9 if repetitions == 1 else 999)
    print(f"one token more, of {HEADS} heads: {1e6 * step:.0f} microseconds, however many before it")
    return table


def best_tilt(spread):
    """Of least variance at the mean ||q + k||^2 of scaled tokens (Likhosherstov et al. 2022)."""
    phi = 2 * spread ** 2 / math.sqrt(WIDTH)
    return (1 - 2 * phi - math.sqrt((1 + 2 * phi) ** 2 + 8 * phi)) / 16


def errors(library, widths, n, seeds):
    """Measured root mean square over seeds and the predicted error, by tilt and size of the tokens."""
    found = {}
    for spread in (0.25, 0.5, 1.0):
        for tilt in (0.0, best_tilt(spread)):
            name = f"tokens of {spread:g}, {f'tilt {tilt:.3f}' if tilt else 'no tilt'}"
            found[name] = []
            for D in widths:
                settings = [Setting(library, n, D, np.random.default_rng(7), spread, 1, seed, tilt) for seed in range(seeds)]
                measured = math.sqrt(np.mean([s.error(1, 0) ** 2 for s in settings]))
                found[name].append((measured, settings[0].error(1, 1)))
            print(name.ljust(44), *(f"D = {D}: {m:.4f} (predicted {p:.4f})" for D, (m, p) in zip(widths, found[name])), flush=True)
    return found


def plot(path, lengths, table, widths, found):
    import figure
    picture, axes = figure.subplots(1, 2)
    for k, (name, times) in enumerate(table.items()):
        axes[0, 0].errorbar(lengths, times, label=name, **figure.look(k))
    axes[0, 0].set(xscale="log", yscale="log", xlabel="tokens", ylabel="milliseconds", title=f"{HEADS} heads of {WIDTH} numbers")
    axes[0, 0].legend(fontsize=7)
    for k, (name, pairs) in enumerate(found.items()):
        axes[0, 1].errorbar(widths, [m for m, _ in pairs], label=name, **figure.look(k))
        shown = [p if p < 3 else math.nan for _, p in pairs]  # larger ones say only that it is of no use
        axes[0, 1].plot(widths, shown, color=figure.COLORS[k], linewidth=0.8, linestyle=":")
    axes[0, 1].set(xscale="log", yscale="log", xlabel="features D", ylabel="relative error of causal attention",
                   title="tokens of a standard deviation; dotted: predicted")
    axes[0, 1].legend(fontsize=7)
    picture.tight_layout()
    picture.savefig(path, dpi=110)


def main():
    given = options_of(__doc__).parse_args()
    library = Library(given.library)
    lengths = (64, 256) if given.quick else (256, 1024, 4096)
    widths = (64, 256) if given.quick else (64, 256, 1024, 4096)
    with tempfile.TemporaryDirectory() as folder:
        table = timing(library, lengths, 128, 1 if given.quick else 9, loop_in_c(folder))
    found = errors(library, widths, 32 if given.quick else 128, 5 if given.quick else 40)
    if given.plot:
        plot(given.plot, lengths, table, widths, found)


if __name__ == "__main__":
    main()
