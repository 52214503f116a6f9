# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""The experiments of bench/ on scalar kernels, small, on generated data: every one runs, some are drawn, and the orderings that do not hang
on the data hold.
Usage: experiments_test.py BENCH LIBMERCER.so SCRATCH"""
import contextlib
import io
import json

from preamble import bench, has_shape, library, printed_by, scratch, write, write_images
import numpy as np

import sketched_processes
import spline
import two_sample

random = np.random.default_rng(6)
classes = random.integers(0, 4, 400)
letters = np.abs(random.normal(size=(4, 16)) * 4)[classes] + random.random((400, 16))
write("letter/letter.csv", letters, classes)
X = random.normal(size=(1600, 8))
for name in ("kin8nm", "abalone", "pendigits", "cal_housing"):
    write(f"{name}/{name}.csv", X, np.exp(np.sin(2 * X[:, 0]) + X[:, 1] + 0.1 * random.normal(size=1600)))
images = 255 * random.random((400, 784)) * (random.random((4, 784)) < 0.2)[classes]
for part in ("train", "t10k"):
    write_images(f"mnist/{part}", images, classes)

data = ["--data", scratch]
sketches = ["--quick", "--seeds", "2", *data]


def figures(claims, numbers, sets, but=(), drawn=False):
    has_shape("polynomial_sketches", claims, *sketches, "--figures", *numbers, *(["--sets", *sets] if sets else []),
              *(["--plot", scratch / "sketches.png"] if drawn else []), but=but, plot=None)
    for number in numbers if drawn else []:
        assert (scratch / f"sketches{f'_{number}' if len(numbers) > 1 else ''}.png").stat().st_size > 0


figures(2, ["3.2"], [], drawn=True)
figures(3 * 4 + 5, ["2.1", "2.2", "2.3", "5.7", "D.1"], [], drawn=True)
figures(3, ["7.1"], [])
for part in ("train2k", "test976"):
    write_images(f"fashion_mnist/{part}", images, classes)
figures(6, ["6.2", "t6.1"], [], but=["6.2", "6.1"])
figures(7, ["3.3", "4.1", "4.2", "4.4", "4.5"], ["letter"], but=["4.2", "4.4"])
figures(9, ["4.6", "5.1", "5.3"], ["letter"], but=["time", "error, too", "5.3"])
figures(2, ["5.6"], ["letter", "kin8nm"], but=["5.6"], drawn=True)
figures(5, ["3.4", "4.3"], ["letter"], but=["time", "gain", "degree", "errs"])
figures(8, ["5.4", "5.5"], ["letter"], but=["5.4", "5.5"])
figures(8, ["D.2", "tD.1"], ["kin8nm"], but=["D.2", "D.1"])
figures(3, ["4.8"], ["letter"], but=["4.8"])
figures(5, ["5.2", "5.8"], [], drawn=True)
figures(5, ["5.9", "5.10"], ["cal_housing"], but=["5.9", "5.10"])
figures(2, ["4.3"], ["mnist"], but=["time", "errs"])

# Processes by features of the kernel x'y are the exact ones, for noise of two sizes, and whatever phases columns have.
A, B, hot = X[:60], np.ascontiguousarray(X[60:90]), np.eye(3)[random.integers(0, 3, 60)]
y, noise = random.normal(size=(60, 3)), 2 - 1.9 * hot
exact = sketched_processes.exactly(A @ A.T, B @ A.T, (B**2).sum(1), y, noise)
for phases in (np.ones(8), np.exp(1j * np.arange(8))):
    assert np.allclose(sketched_processes.by_features(A * phases, B * phases, y, noise), exact, rtol=1e-9, atol=1e-12)
# Curves of other times are compared at the points of both.
assert sketched_processes.beats(([1, 3], [2, 1], [0, 0]), ([2, 4], [3, 2], [0, 0])) == (2, 2)
assert sketched_processes.beats(([1, 9], [2, 1], [0, 0]), ([2, 4], [3, 1], [0, 0])) == (1, 2)

has_shape("polynomial_sketches", 7, *sketches, "--figures", "degrees", "--sets", "kin8nm", but=["kin8nm"])
for entry in json.loads((bench.parent / "tests/oracle/ridge.json").read_text())["spline"]:
    assert abs(spline.Library(library).spline(entry["q"], np.array([[entry["x"]]]), np.array([[entry["z"]]])) - entry["Lambda"]) < 1e-9, entry
has_shape("spline", 16, "--rows", "50", "100", "200", "--seeds", "2", but=["falls", "grow"])
has_shape("polynomial_sketches", 1, *sketches, "--figures", "spherical", "--sets", "letter", plot=None)
code, text = printed_by("kernel_pca", "--exact-rows", "300", "--rows", "500", "--features", "64", "256")
assert code == 0 and float(text.splitlines()[2].split()[-1]) > 0.8, text
code, text = printed_by("density", "--rows", "1000", "--features", "128", "--seeds", "2")
assert code == 0, text
near = {line[:14].strip(): float(line[14:].split()[0]) for line in text.splitlines()[1:]}
assert near["128 features"] < near["kernels"] < near["normal"], text
code, text = printed_by("grid", "--features", "100", "288", "--seeds", "2", "--plot", scratch / "grid.png")
assert code == 0, text
code, text = printed_by("grid", *data, "--sets", "kin8nm", "--lengthscales", "2")
assert code == 0 and len(text.splitlines()) == 4, text
code, text = printed_by("random_binning", "--rows", "9000", "--features", "512")
assert code == 0 and all(float(line.split()[5]) < 1e-8 for line in text.splitlines()[1:]), text
code, text = printed_by("two_sample", scratch, "level", "1")
assert code == 0 and len(text.splitlines()) == 12 and "within 4 to 6 %" in text, text
said = io.StringIO()
with contextlib.redirect_stdout(said):
    two_sample.power(two_sample.tester(str(library)), scratch, 1, (40, 100))
shares = {line[:24].strip(): [float(one) for one in line[24:].split()] for line in said.getvalue().splitlines()[1:]}
assert len(shares) == 23 and all(len(one) == 6 for one in shares.values()) and shares["noise 100/255, 100%"][3] == 1, said.getvalue()
has_shape("kid", 6, *data, "--sets", "mnist", "--trials", "10", "--most", "400", "-d", "64", "--features", "64", "128", "--blocks", "20", "50",
          but=["deviate"])
has_shape("planner", 2, *data, "--sets", "kin8nm", "--kernels", "gaussian", "--errors", "0.3", "--seeds", "1", but=["least", "above"], plot=None)
