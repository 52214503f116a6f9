# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""The C functions, structs and enumerators of libmercer, made by ctypes from the description of its headers."""
from __future__ import annotations

import ctypes
import errno
import json
import operator
import os
import pathlib
import re
import sys
import threading
import warnings
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._types import Path

HERE = pathlib.Path(__file__)
# Beside this file as installed, in the sources' folder cmake.
API = json.loads(next(path for path in (HERE.with_name("api.json"), *(up / "cmake/api.json" for up in HERE.parents)) if path.exists()).read_text())
VERSION = "0.1"
SCALARS = {"int32_t": ctypes.c_int32, "uint32_t": ctypes.c_uint32, "int64_t": ctypes.c_int64, "uint64_t": ctypes.c_uint64,
           "double": ctypes.c_double, "float": ctypes.c_float, "const char*": ctypes.c_char_p, "void": None,
           **dict.fromkeys(API["enums"], ctypes.c_int32)}


def type_of(written: str) -> Any:
    """The ctypes type of a C type; addresses are void*, so that arrays and byref both pass."""
    return SCALARS[written] if written in SCALARS else structs.get(written) or callbacks.get(written) or ctypes.c_void_p


class _Struct(ctypes.Structure):
    def __repr__(self) -> str:
        shown = (f"{name}={getattr(self, name)!r}" for name, _ in self._fields_ if name not in ("struct_size", "reserved"))
        return f"{type(self).__name__}({', '.join(shown)})"


structs, callbacks = {}, {}
for _name, _entry in API["callbacks"].items():
    callbacks[_name] = ctypes.CFUNCTYPE(type_of(_entry["returns"]), *map(type_of, _entry["parameters"].values()))
for _name, _entry in API["structs"].items():
    structs[_name] = type(_name, (_Struct,), {
        "__doc__": _entry["help"], "_fields_": [(field["name"], type_of(field["type"])) for field in _entry["fields"]]})
constants = {name: number for entries in API["enums"].values() for name, number in entries.items()}


def words_of(enum: str) -> dict[str, int]:
    """The numbers of an enumeration of C by their words: of mercer_field "value", "jacobian", ..."""
    names = API["enums"]["mercer_" + enum]
    shared = os.path.commonprefix(list(names)).rfind("_") + 1
    return {name[shared:].lower(): number for name, number in names.items()}


class MercerError(Exception):
    """A call that failed: `status`, the name of its status, a text with function, argument, value and expectation, and `fields`, a dict of
    these where the library made the text: "argument", "value", "expected", "row", "column", "choices" and more, as of mercer_context_error."""

    status = ""
    fields: dict[str, Any] = {}


class InvalidArgument(MercerError, ValueError):
    """An argument outside its domain, or two that disagree about a size."""


class FitWarning(UserWarning):
    """What a fit's report warns of: once for each sentence, as `warnings` shows it."""


class Unsupported(MercerError):
    """A combination that the library does not have."""


class Cancelled(MercerError):
    """A call that its context asked to end."""


class OutOfMemory(MercerError, MemoryError):
    """No memory, or more than the cap of a context."""


class FileError(MercerError, OSError):
    """A file that could not be opened, read, written or renamed, or is damaged: one that is absent is a FileNotFoundError, too, and has
    errno and filename, as one that may not be read or written is a PermissionError. Of others the text alone has the reason."""

    def __str__(self) -> str:
        return str(self.args[0])


def about_file(error: FileError, path: Path, place: Path) -> FileError:
    """The FileError of a path with the number of its reason, where the path, or the folder to write it into, shows one."""
    found = errno.ENOENT if not os.path.exists(place) else errno.EISDIR if os.path.isdir(path) else \
        errno.EACCES if not os.access(place, os.R_OK if place == path else os.W_OK) else None
    if error.status != "MERCER_IO" or found is None:
        return error
    made: Any = type("FileError", (FileError, type(OSError(found, ""))), {"__module__": __name__, "__doc__": FileError.__doc__})(*error.args)
    made.status, made.fields, made.errno, made.filename = error.status, error.fields, found, os.fspath(path)
    known: FileError = made
    return known


KINDS = {"MERCER_INVALID_ARGUMENT": InvalidArgument, "MERCER_DIMENSION_MISMATCH": InvalidArgument, "MERCER_OUT_OF_MEMORY": OutOfMemory,
         "MERCER_UNSUPPORTED": Unsupported, "MERCER_CANCELLED": Cancelled,
         "MERCER_IO": FileError, "MERCER_CORRUPT_FILE": FileError}


def _warn_of_slow_blas(loaded: Any) -> None:
    """OpenBLAS runs its oldest kernels on a processor that it does not know; what it reads as it is loaded helps."""
    core, cpu = getattr(loaded, "openblas_get_corename", None), pathlib.Path("/proc/cpuinfo")
    if core is None or "OPENBLAS_CORETYPE" in os.environ or not cpu.exists():
        return
    core.restype, flags = ctypes.c_char_p, cpu.read_text()
    if core() == b"Prescott" and "avx2" in flags:
        better = "SkylakeX" if "avx512vl" in flags else "Haswell"
        warnings.warn(f"OpenBLAS does not know this processor and is some five times slower than it can be: "
                      f"set OPENBLAS_CORETYPE={better} before Python starts", RuntimeWarning, stacklevel=2)


def opened(stem: str) -> ctypes.CDLL:
    """The library libSTEM: where MERCER_LIBRARY says that libmercer is, beside this file as in a wheel, or installed."""
    given, name = os.environ.get("MERCER_LIBRARY"), f"lib{stem}.so.{VERSION}"
    if given:
        places = [given if stem == "mercer" else pathlib.Path(given).with_name(name)]
    else:
        prefixes = list(HERE.parents)[4:5]  # which the loader may not search
        places = [HERE.with_name(name), *(path for up in prefixes for folder in ("lib*", "lib/*") for path in up.glob(f"{folder}/{name}")), name]
    for path in places:
        try:
            return ctypes.CDLL(str(path))
        except OSError as error:
            reason = error
    raise ImportError(f"{name} was not found ({reason}): install lib{stem.replace('_', '-')}{VERSION}, or set MERCER_LIBRARY to the path of libmercer")


def _load() -> ctypes.CDLL:
    loaded = opened("mercer")
    loaded.mercer_version.restype = ctypes.c_char_p
    version = loaded.mercer_version().decode()
    if not version.startswith(VERSION + "."):
        raise ImportError(f"{loaded._name} is version {version}, expected {VERSION}")
    _warn_of_slow_blas(loaded)
    return loaded


class _Library:
    """Loaded at the first call, before which MERCER_LIBRARY may be set."""

    def __getattr__(self, name: str) -> Any:
        loaded = _load()
        for function, entry in API["functions"].items():
            made = getattr(loaded, function)
            made.restype = type_of(entry["returns"])
            made.argtypes = [type_of(parameter["type"]) for parameter in entry["parameters"]]
            setattr(self, function, made)
        return self.__dict__[name]


library = _Library()


def parsed(said: str | bytes) -> dict[str, Any]:
    """A JSON object."""
    found: dict[str, Any] = json.loads(said)
    return found


def invalid(text: str) -> InvalidArgument:
    error = InvalidArgument(text)
    error.status = "MERCER_INVALID_ARGUMENT"
    return error


def terminated(data: bytes) -> bytes:
    """Bytes of a text for C, which would end it at a NUL."""
    if b"\0" in data:
        raise invalid(f"a NUL in {data!r}, expected text without")
    return data


def encoded(name: str, given: Any) -> bytes:
    """Bytes of the text that an argument has to be."""
    if not isinstance(given, str):
        raise invalid(f"{name} = {given!r}, expected a text")
    return terminated(given.encode())


def whole(name: str, given: Any, least: int = -2**63, most: int = 2**63 - 1) -> int:
    """An integer that C takes, where ctypes would drop its upper bits."""
    try:
        number = operator.index(given)
    except TypeError:
        number = None
    if number is None or not least <= number <= most:
        raise invalid(f"{name} = {given!r}, expected an integer from {least} to {most}")
    return number


def chosen(enum: str, name: str, word: str) -> int:
    """The number that an argument's word stands for."""
    words = words_of(enum)
    if word not in words:
        raise invalid(f"{name} = {word!r}, expected one of {', '.join(words)}")
    return words[word]


def make(name: str) -> Any:
    """A struct of the C API, all zeros but its size."""
    kind = structs["mercer_" + name]
    return kind(struct_size=ctypes.sizeof(kind))


raised = threading.local()  # .kept: by a function of a mercer.Custom that served a call on this thread


CLASSES = {"context": "Context", "kernel": "Kernel", "map": "Map", "model": "Model", "rows_sums": "RowsSums", "statistics": "Statistics",
           "ridge": "Ridge", "attention": "Attention", "custom": "Custom"}
VERBS = {"create": "", "from_spec": "", "fit": "", "read": ".load", "write": ".save"}
SPELT = {"attention_error": "attention_error", "codes_hamming": "hamming", "codes_kernel": "Kernel.of_distances", "context_error": "MercerError",
         "kernel_gram": "Kernel", "model_set_metadata": "Model.metadata", "model_text": "Model", "prediction_score": "score",
         "ridge_weights": "ridge_weights", "statistics_get": "Statistics.sums", "statistics_set": "Statistics.replace"}


def spelt(name: str) -> str:
    """What mercer_NAME is called in this package."""
    noun = next((noun for noun in CLASSES if name.startswith(noun + "_")), None)
    if name in SPELT or noun is None:
        return SPELT.get(name, name)
    verb = name[len(noun) + 1:]
    return CLASSES[noun] + VERBS.get(verb, "." + verb)


def of_python(said: str) -> str:
    """A sentence of the library in the words of this package: functions, fields of its structs, sizes of matrices, NULL."""
    said = re.sub(r"\bmercer_(\w+)", lambda met: f"mercer.{spelt(met[1])}" if met[0] in API["functions"] else met[0], said)
    said = re.sub(r"\b(?:data|options|tokens|what)->(?=\w)", "", said)
    said = re.sub(r"\b([A-Z]|predictions)\.([nd])(?= = )", lambda met: f"{met[1]}.shape[{'nd'.index(met[2])}]", said)
    return re.sub(r'(?<!")\bNULL\b(?!")', "None", said)


def warn(words: str, category: type[Warning] = FitWarning) -> None:
    """A warning of whoever called this package."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == __package__:
        frame, level = frame.f_back, level + 1
    warnings.warn(words, category, stacklevel=level)


def call(name: str, *arguments: Any) -> None:
    """mercer_NAME(arguments), whose failure is an exception."""
    status = getattr(library, "mercer_" + name)(*arguments)
    if status:
        word, kept = library.mercer_status_name(status).decode(), raised.__dict__.pop("kept", None)
        if kept is not None and word == "MERCER_CALLBACK":
            raise kept
        error = KINDS.get(word, MercerError)(of_python(library.mercer_last_error().decode()))
        error.status, error.fields = word, json.loads(filled("context_error", None, b"fields")[:-1].decode(errors="replace"))
        raise error


def new(name: str, *arguments: Any) -> ctypes.c_void_p:
    """The handle that mercer_NAME makes."""
    handle = ctypes.c_void_p()
    call(name, *arguments, ctypes.byref(handle))
    return handle


def filled(name: str, *arguments: Any) -> bytes:
    """The bytes that mercer_NAME writes into a buffer of the size it asks for."""
    needed = ctypes.c_int64()
    call(name, *arguments, None, 0, ctypes.byref(needed))
    buffer = ctypes.create_string_buffer(needed.value)
    call(name, *arguments, buffer, needed, None)
    return buffer.raw


def text(name: str, *arguments: Any) -> str:
    return filled(name, *arguments)[:-1].decode()
