#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""Is the map that mercer_map_recommend puts first the cheapest? Every map that it lists, but those that it finds four times slower, is made, its
error measured, and its columns brought to the fewest whose measured error is the one asked for; then rows are timed.

Usage: planner.py LIBMERCER.so --data DIR [--sets kin8nm ...] [--kernels gaussian ...] [--errors 0.1 0.05 0.02] [--seeds 3] [--within 1.3]
For each cell, of set (150 standardised rows), kernel (median distance as lengthscale) and error: the choice, its columns and measured error,
microseconds of a row in float, and the cheapest map that the measurements found with its own. Errors are root mean squares over seeds; a map may
exceed the error asked for by a tenth. The exit code is 1 if in some cell the choice takes more than --within times the least, or misses the error.
"""
import ctypes
import json
import sys

import numpy as np

from experiment import median_distance, options_of, parsed, standardised, table, timed, verdict
from library import Library, MercerError, rows

SETS = ["kin8nm", "letter", "abalone", "cal_housing", "concrete", "energy", "power_plant", "elevators", "pendigits", "spambase"]
KERNELS = {"gaussian": lambda X: {"kernel": "gaussian", "lengthscale": median_distance(X)},
           "matern": lambda X: {"kernel": "matern", "nu": 1.5, "lengthscale": median_distance(X)},
           "laplacian": lambda X: {"kernel": "laplacian", "lengthscale": float(np.median(np.abs(X[:, None] - X[None]).sum(2)))},
           "polynomial": lambda X: {"kernel": "polynomial", "degree": 3, "gamma": 1 / X.shape[1], "offset": 1.0}}
SLACK, FAR = 1.1, 4


class Planner:
    def __init__(self, path, X, seeds):
        self.library, self.X, self.seeds = Library(path), np.ascontiguousarray(X), seeds

    def recommended(self, kernel, error):
        text, best = ctypes.create_string_buffer(1 << 20), ctypes.c_void_p()
        asked = json.dumps({"kernel": kernel, "error": error, "count": 1000}).encode()
        self.library.map_recommend(asked, rows(self.X), None, ctypes.byref(best), text, len(text), None)
        self.library.free(best)
        return [one for one in json.loads(text.value)["maps"]]

    def made(self, spec, seed):
        try:
            return self.library.fit(spec | {"seed": seed}, self.X)
        except MercerError:
            return None

    def error(self, spec):
        """Measured; infinite where there is no such map."""
        found = []
        for seed in range(self.seeds):
            made, error = self.made(spec, seed), ctypes.c_double()
            if made is None:
                return np.inf
            try:
                self.library.map_kernel_error(made, rows(self.X), 0, None, ctypes.byref(error))
            except MercerError:
                error.value = np.inf
            self.library.free(made)
            found.append(error.value)
        return float(np.sqrt(np.mean(np.square(found))))

    def seconds(self, spec):
        made, n = self.made(spec, 0), int(np.clip(4e6 / spec["features"], 64, 8192))
        X = np.ascontiguousarray(np.resize(self.X, (n, self.X.shape[1])), np.float32)
        Z, least = np.empty((n, spec["features"]), np.float32), np.inf
        for _ in range(7):
            least = min(least, timed(lambda: self.library.apply(made, X, Z))[1])
        self.library.free(made)
        return least / n

    def fewest(self, spec, error):
        """The spec with about the fewest columns of that measured error: errors fall as D^-1/2, or faster."""
        best, D = None, spec["features"]
        for _ in range(5):
            found = self.error(spec | {"features": D})
            if found <= error and (best is None or D < best[0]):
                best = D, found
            low = max(2, int(D * min(1.0, (found / error) ** 2) if np.isfinite(found) else D) // 2 * 2)
            if best is None or low >= D:
                break
            D = low
        return best and (spec | {"features": best[0]}, best[1])


def open_spec(spec):
    """Without what rows decide, so that other numbers of columns can be asked for."""
    return {key: value for key, value in spec.items() if key not in ("mercer", "seed", "step", "extent", "error_bound", "largest_bias", "rms_bias")}


def name(spec):
    inner = spec.get("sketch", spec)
    return " ".join(str(one) for one in (spec["map"], spec.get("allocation"), spec.get("projection"), spec.get("form"), inner.get("kind"), inner.get("field"))
                    if one)


def cell(planner, kernel, error):
    """The choice and the cheapest: name, columns, measured error, seconds."""
    listed = [one for one in planner.recommended(kernel, error) if one["reached"]]
    chosen = open_spec(listed[0]["map"])
    choice = name(chosen), chosen["features"], planner.error(chosen), planner.seconds(chosen)
    best, winner = choice, chosen
    for one in listed:
        if one["seconds"] > FAR * listed[0]["seconds"]:
            continue
        spec = open_spec(one["map"])
        found = planner.fewest(spec, error)
        if found:
            seconds = planner.seconds(found[0])
            if seconds < best[3]:
                best, winner = (name(spec), found[0]["features"], found[1], seconds), found[0]
    # Once more, side by side, since others use the machine.
    again = [planner.seconds(spec) for spec in (chosen, winner, chosen, winner)]
    least = min(choice[3], *again[::2]), min(best[3], *again[1::2])
    return (*choice[:3], min(least) if best[:2] == choice[:2] else least[0]), (*best[:3], min(least) if best[:2] == choice[:2] else least[1])


def main():
    parser = options_of(__doc__, data=True, plot=False)
    parser.add_argument("--sets", nargs="+", default=SETS)
    parser.add_argument("--kernels", nargs="+", choices=list(KERNELS), default=list(KERNELS))
    parser.add_argument("--errors", type=float, nargs="+", default=[0.1, 0.05, 0.02])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--within", type=float, default=1.3)
    asked = parsed(parser, sets=SETS[:2], errors=[0.1], seeds=1)
    ratios, missed = [], []
    for set_name in asked.sets:
        X = standardised(table(asked.data, set_name, 1, 150)[0])
        planner = Planner(asked.library, X, asked.seeds)
        for label in asked.kernels:
            for error in asked.errors:
                choice, best = cell(planner, KERNELS[label](X), error)
                ratios.append(choice[3] / best[3])
                missed.append(choice[2] > SLACK * error)
                print(f"{set_name}, {label}, {error}: {choice[0]}, D = {choice[1]:,}, {choice[2]:.4f}, {1e6 * choice[3]:.3g} us; "
                      f"least {best[0]}, D = {best[1]:,}, {best[2]:.4f}, {1e6 * best[3]:.3g} us: {ratios[-1]:.2f} times{', MISSED' * missed[-1]}", flush=True)
    inside = sum(ratio <= asked.within for ratio in ratios)
    return verdict([(f"the choice takes at most {asked.within} times the least in {inside} of {len(ratios)} cells (most {max(ratios):.2f})", inside == len(ratios)),
                    (f"its measured error is at most a tenth above the one asked for in {len(missed) - sum(missed)} of {len(missed)} cells", not any(missed))])


if __name__ == "__main__":
    sys.exit(main())
