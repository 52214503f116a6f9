#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
# pip makes a wheel of the sources, by a library that is named and by one that CMake builds, here without work, in a tree that is built. It is
# installed into an environment, predicts there as the build does, from an empty folder, and leaves nothing. Usage: wheel.sh PYTHON SOURCE BUILD WORK
set -euo pipefail
python=$1 source=$2 build=$3 work=$4
"$python" -c 'import numpy, setuptools, wheel, pip, venv' 2> /dev/null || { echo "SKIPPED: no python3-numpy, -setuptools, -wheel, -pip or -venv"; exit 0; }
unset MERCER_LIBRARY PYTHONPATH LD_LIBRARY_PATH
export PYTHONDONTWRITEBYTECODE=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore OPENBLAS_NUM_THREADS=1
export PYTHONWARNINGS=ignore:OpenBLAS
rm -rf "$work" && mkdir -p "$work/empty"
client=$source/capi/clients/python
find "$client" | sort > "$work/before"
"$python" -m venv --system-site-packages "$work/venv"
own=$work/venv/bin
install() { "$own/pip" install -q --no-build-isolation --no-index "$client"; }

cp "$client/ridge.py" "$work/ridge.py"  # beside the sources' package it would import that
expected=$(MERCER_LIBRARY=$build/capi/libmercer.so PYTHONPATH=$build/capi/python "$python" "$work/ridge.py" "$work/model" | grep ^predictions)
works() {
  cd "$work/empty"
  "$own/python" "$work/ridge.py" "$work/model" > "$work/said"
  grep -qxF "$expected" "$work/said"
  "$own/python" - << 'PROGRAM'
import importlib.metadata
import pathlib
import sys

import mercer
from mercer import _api

place = pathlib.Path(mercer.__file__).parent
assert place.is_relative_to(sys.prefix) and (place / "py.typed").exists(), place
assert importlib.metadata.version("mercer") == mercer.__version__
used = {line.split()[-1] for line in pathlib.Path("/proc/self/maps").read_text().splitlines() if "libmercer" in line}
assert used == {str(next(place.glob("libmercer.so*")).resolve())}, used
PROGRAM
  cd "$work"
}
MERCER_LIBRARY=$build/capi/libmercer.so install
works
"$own/pip" uninstall -q -y mercer
MERCER_BUILD_DIR=$build install
works
if MERCER_LIBRARY=$work/absent install > "$work/said" 2>&1; then
  echo "a wheel of a library that is not there"
  exit 1
fi
grep -q "mercer: MERCER_LIBRARY = $work/absent, expected" "$work/said"
cp -r "$client" "$work/alone"
if "$own/pip" wheel -q --no-build-isolation --no-index --no-deps -w "$work" "$work/alone" > "$work/said" 2>&1; then
  echo "a wheel of sources that are cut off"
  exit 1
fi
grep -q 'mercer: no CMakeLists.txt' "$work/said"
"$own/pip" uninstall -q -y mercer
[ -z "$(find "$work/venv" -name '*mercer*')" ]
find "$client" | sort | diff "$work/before" -
