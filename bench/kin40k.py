#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""The mean absolute error on kin40k by the number of features: the kernel that a default fit learns, lambda by rows held out, and
conjugate gradients at --penalty where D^2 numbers are more than --direct allows. Targets have unit variance; a fifth of the rows is predicted."""
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
    parser.add_argument("--direct", type=int, default=8192, help="the most features of a factor")
    parser.add_argument("--penalty", type=float, nargs="+", default=[1e-5, 1e-6], help="lambda of more features")
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
        smallest = found["lambda"]

        def show(D, solver, penalty):
            spec = {"search": False, "map": {**found["map"], "features": D}, "prepare": found["prepare"], "solver": solver, **penalty}
            model, clock, work = fitted(Model, spec, X[train], y[train] / unit)
            error = np.abs(model.predict(X[test])[:, 0] - y[test] / unit).mean()
            print(f"{split:5} {D:5}  {error:19.4f}  {model.shape.penalty:.0e} {clock:8.1f} {work:8.1f}", flush=True)
            return model.shape.penalty

        for D in options.features:
            if D <= options.direct:
                smallest = show(D, "mixed", {"select": {"by": "held_out", "smallest": smallest / 100, "largest": smallest, "count": 5}})
            else:
                for penalty in options.penalty:
                    show(D, "cg", {"lambda": penalty})


if __name__ == "__main__":
    main()
