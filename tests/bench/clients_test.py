# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""The bench of clients builds and times each language that is here, against an installed copy of a build tree.
Usage: clients_test.py BENCH LIBMERCER.so SCRATCH"""
import contextlib
import io
import os
import shutil
import subprocess
import sys

from preamble import library, scratch

if not all(map(shutil.which, ("cc", "cmake", "pkg-config"))):
    print("SKIPPED: no cc, cmake or pkg-config")
    sys.exit(0)
prefix = scratch.resolve() / "clients"
for component in ("runtime", "development"):
    subprocess.run(["cmake", "--install", library.parent.parent, "--prefix", prefix, "--component", component], check=True, stdout=subprocess.DEVNULL)
installed = next(prefix.rglob("libmercer.so"))
os.environ.update(PKG_CONFIG_PATH=str(installed.parent / "pkgconfig"), LD_LIBRARY_PATH=str(installed.parent))
import clients  # noqa: E402

sys.argv = ["clients.py", str(installed), "--rows", "100", "--calls", "3", "--rounds", "1"]
with contextlib.redirect_stdout(io.StringIO()) as said:
    clients.main()
times = {line.split()[0]: float(line.split()[1]) for line in said.getvalue().splitlines()}
expected = {"C", "Python"} | ({"Rust"} if shutil.which("cargo") else set()) | ({"Go"} if shutil.which("go") else set())
assert set(times) == expected and all(0 < time < 1e4 for time in times.values()), said.getvalue()
