# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""The headers as they are, read by cffi (without the bodies of inline functions), which calls the library by them, and by bindgen; each where it is installed. (pycparser
reads them in cmake/describe_api.py.) Usage: parsers.py cffi|bindgen CC INCLUDE SYMBOLS.txt LIBMERCER.so"""
import pathlib
import re
import shutil
import subprocess
import sys

parser, compiler, include, symbols, library = sys.argv[1:]
functions = pathlib.Path(symbols).read_text().split()
header = f"{include}/mercer/mercer.h"


def output(*command):
    return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE).stdout


def cffi():
    try:
        from cffi import FFI
    except ImportError:
        return "SKIPPED: python3-cffi is not installed"
    ffi = FFI()
    declarations = output(compiler, "-E", "-P", f"-I{include}", header)
    ffi.cdef(re.sub(r"^static inline .*?^}$", "", declarations, flags=re.S | re.M))  # cffi takes no bodies
    mercer = ffi.dlopen(library)
    for function in functions:
        getattr(mercer, function)
    out = ffi.new("mercer_map**")
    assert mercer.mercer_map_from_spec(b'{"kernel":{"kernel":"gaussian"},"inputs":2,"features":4}', out) == mercer.MERCER_OK
    info = ffi.new("mercer_map_info*", {"struct_size": ffi.sizeof("mercer_map_info")})
    assert mercer.mercer_map_shape(out[0], info) == mercer.MERCER_OK and (info.inputs, info.features) == (2, 4)
    mercer.mercer_map_free(out[0])
    assert mercer.mercer_map_from_spec(b"{}", out) == mercer.MERCER_INVALID_ARGUMENT
    assert ffi.string(mercer.mercer_last_error()).startswith(b"mercer_map_from_spec")
    return f"cffi has {len(functions)} functions"


def bindgen():
    if not shutil.which("bindgen"):
        return "SKIPPED: bindgen is not installed"
    text = output("bindgen", header, "--", f"-I{include}")
    missing = [function for function in functions if f"pub fn {function}(" not in text]
    assert not missing, missing
    return f"bindgen has {len(functions)} functions"


print({"cffi": cffi, "bindgen": bindgen}[parser]())
