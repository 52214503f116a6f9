# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""What pyproject.toml cannot say of the wheel: its version is that of CMakeLists.txt, and it holds api.json and libmercer, the file that
MERCER_LIBRARY names, or else the one that CMake builds in MERCER_BUILD_DIR (build/wheel of the sources)."""
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py

try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:  # setuptools before 70.1
    from wheel.bdist_wheel import bdist_wheel

SOURCE = pathlib.Path(__file__).resolve().parents[3]
if not (SOURCE / "CMakeLists.txt").exists():
    raise SystemExit("mercer: no CMakeLists.txt three folders above setup.py, expected capi/clients/python within the sources of mercer")
VERSION = re.search(r"^project\(mercer VERSION ([\d.]+)", (SOURCE / "CMakeLists.txt").read_text(), re.M)[1]
NAME = f"libmercer.so.{VERSION.rpartition('.')[0]}"  # while the major version is 0, as the SONAME


def library():
    """The path of libmercer."""
    given = os.environ.get("MERCER_LIBRARY")
    if given is not None and not os.path.isfile(given):
        raise SystemExit(f"mercer: MERCER_LIBRARY = {given}, expected the path of libmercer.so")
    if given is not None:
        return given
    tree = pathlib.Path(os.environ.get("MERCER_BUILD_DIR", SOURCE / "build/wheel"))
    if not (tree / "CMakeCache.txt").exists():
        subprocess.run(["cmake", "-S", SOURCE, "-B", tree, "-DCMAKE_BUILD_TYPE=Release", "-DMERCER_BUILD_TESTS=OFF", "-DMERCER_BUILD_TOOLS=OFF"], check=True)
    subprocess.run(["cmake", "--build", tree, "--target", "mercer", "--parallel", str(os.cpu_count())], check=True)
    return tree / "capi" / NAME


class WithLibrary(build_py):
    def run(self):
        super().run()
        place = pathlib.Path(self.build_lib) / "mercer"
        shutil.copyfile(library(), place / NAME)
        shutil.copyfile(SOURCE / "cmake/api.json", place / "api.json")


class OfPlatform(bdist_wheel):
    """Of this platform, for any Python 3: ctypes alone calls the library."""

    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


class Binary(Distribution):
    def has_ext_modules(self):
        return True


with tempfile.TemporaryDirectory() as work:  # nothing is written beside the sources
    setup(version=VERSION, package_data={"mercer": ["py.typed"]}, distclass=Binary, cmdclass={"build_py": WithLibrary, "bdist_wheel": OfPlatform},
          options={"build": {"build_base": work}, "egg_info": {"egg_base": work}})
