# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""What a language adds to a call: 4,096 features of 10,000 rows of 64 in single precision, into memory that is there, from C, Rust, Go
and Python. All have rows at cache lines and, by a setting of glibc, the large pages that Go asks for. Builds the programs against the installed mercer that pkg-config finds, and runs them in turn, several times; prints the
least milliseconds of a call and the ratio to C's, medians over rounds. A language that is not installed is left out.
Usage: clients.py LIBMERCER.so [--rows N] [--calls N] [--rounds N]"""
import argparse
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

import numpy as np

from experiment import timed
from library import Library  # noqa: F401, puts the Python package on the path

import mercer

CLIENTS = pathlib.Path(subprocess.run(["pkg-config", "--variable=clients", "mercer"], check=True, text=True, stdout=subprocess.PIPE).stdout.strip())


def by_python(n, calls):
    X = ((np.arange(n * 64) * 7919 % 1024).astype(np.float32) / 512 - 1).reshape(n, 64)
    numbers = np.zeros(n * 4096 + 16, np.float32)
    skip = -numbers.ctypes.data % 64 // 4  # at a cache line, as Go has it
    Z = numbers[skip:skip + n * 4096].reshape(n, 4096)
    map = mercer.Map({"kernel": {"kernel": "gaussian", "lengthscale": 8}, "inputs": 64, "features": 4096, "seed": 1})
    map.transform(X, out=Z)  # draws the frequencies
    return min(1e3 * timed(lambda: map.transform(X, out=Z))[1] for _ in range(calls))


def built(folder):
    """{language: command}."""
    run = lambda *command, at=None, **extra: subprocess.run(command, check=True, cwd=at, env={**os.environ, **extra}, stdout=subprocess.DEVNULL)  # noqa: E731
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", "mercer"], check=True, text=True, stdout=subprocess.PIPE).stdout.split()
    run(os.environ.get("CC", "cc"), "-O2", CLIENTS / "c/transform.c", "-o", folder / "c", *flags, "-lm")
    commands = {"C": [folder / "c"]}
    if shutil.which("cargo"):
        shutil.copytree(CLIENTS / "rust", folder / "rust")  # cargo writes beside its sources
        run("cargo", "build", "-q", "--release", "--offline", "--example", "transform", at=folder / "rust", CARGO_TARGET_DIR=str(folder / "target"))
        commands["Rust"] = [folder / "target/release/examples/transform"]
    if shutil.which("go"):
        run("go", "build", "-o", folder / "go", "./examples/transform", at=CLIENTS / "go", GOFLAGS="-mod=mod")
        commands["Go"] = [folder / "go"]
    commands["Python"] = [sys.executable, "-B", __file__, os.environ["MERCER_LIBRARY"], "--alone"]
    return commands


def main():
    ask = argparse.ArgumentParser(description=__doc__)
    ask.add_argument("library")
    for name, default in (("rows", 10000), ("calls", 20), ("rounds", 7)):
        ask.add_argument("--" + name, type=int, default=default)
    ask.add_argument("--alone", type=int, nargs=2, help=argparse.SUPPRESS)
    given = ask.parse_args()
    os.environ["MERCER_LIBRARY"] = given.library
    os.environ["GLIBC_TUNABLES"] = "glibc.malloc.hugetlb=1"
    if given.alone:
        return print(f"{by_python(*given.alone):.4f}")
    with tempfile.TemporaryDirectory() as name:
        commands = built(pathlib.Path(name))
        times = {language: [] for language in commands}
        for _ in range(given.rounds):
            for language, command in commands.items():
                said = subprocess.run([*command, str(given.rows), str(given.calls)], check=True, text=True, stdout=subprocess.PIPE).stdout
                times[language].append(float(said))
    for language, rounds in times.items():
        ratio = statistics.median(own / c for own, c in zip(rounds, times["C"]))
        print(f"{language:8}{statistics.median(rounds):9.2f} ms  {ratio:.3f} of C")


if __name__ == "__main__":
    main()
