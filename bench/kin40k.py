#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""The mean absolute error on kin40k by the number of features: the kernel that a default fit learns, lambda by rows held out, and
conjugate gradients where D^2 numbers are more than --direct allows. Targets have unit variance; a fifth of the rows is predicted."""
import os
import resource
import time

import numpy as np

from experiment import options_of, read_csv


def seconds():
    return sum(resource.getrusage(resource.RUSAGE_SELF)[:2])


def fitted(Model, spec, X, y):
    """The model, its seconds by the clock and those of the processors."""
    clock, work = time.perf_counter(), seconds()
    return Model(spec, X, y), time.perf_counter() - clock, seconds() - work


def main():
    parser = options_of(__doc__, data=True, plot=False, quick=False)
    parser.add_argument("--features", type=int, nargs="+", default=[4096, 8192, 16384, 32768])
    parser.add_argument("--direct", type=int, default=8192, help="the most features of a factor; with more, lambda is that of fewer")
    parser.add_argument("--splits", type=int, default=1)
    options = parser.parse_args()
    os.environ["MERCER_LIBRARY"] = options.library
    import library  # noqa: F401: the package's path
    from mercer import Model

    X, y = read_csv(options.data, "kin40k")
    print("split     D  mean absolute error  lambda  seconds  processor's")
    for split in range(options.splits):
        order = np.random.default_rng(split).permutation(len(X))
        train, test = np.split(order, [len(X) * 4 // 5])
        unit = y[train].std()
        learnt, clock, work = fitted(Model, {"map": {"features": options.features[0]}, "assess": False}, X[train], y[train] / unit)
        found = learnt.spec
        print(f"{split:5} {options.features[0]:5}  {'a search, without score':27} {clock:8.1f} {work:8.1f}")
        penalty = found["lambda"]
        for D in options.features:
            direct = D <= options.direct
            spec = {"search": False, "map": {**found["map"], "features": D}, "prepare": found["prepare"],
                    "solver": "mixed" if direct else "cg",
                    **({"select": {"by": "held_out", "smallest": penalty / 100, "largest": penalty, "count": 5}} if direct else {"lambda": penalty})}
            model, clock, work = fitted(Model, spec, X[train], y[train] / unit)
            penalty = model.shape.penalty
            error = np.abs(model.predict(X[test])[:, 0] - y[test] / unit).mean()
            print(f"{split:5} {D:5}  {error:19.4f}  {penalty:.0e} {clock:8.1f} {work:8.1f}", flush=True)


if __name__ == "__main__":
    main()
