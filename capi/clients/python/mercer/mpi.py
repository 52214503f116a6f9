# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""Models of rows that the processes of an mpi4py communicator share, by libmercer_mpi.

    model = mercer.mpi.fit(X, y, {"map": {"features": 1024}})  # X, y: the rows of this process; the same model in each
"""
import ctypes

import numpy as np
from mpi4py import MPI

from ._api import KINDS, MercerError, constants, invalid, library, opened
from ._model import Model

_BLOCK = 4096  # rows
_COMM = ctypes.c_void_p if MPI._sizeof(MPI.Comm) == ctypes.sizeof(ctypes.c_void_p) else ctypes.c_int


class _All(ctypes.Structure):
    """mercer_mpi of mercer/mpi.h."""

    _fields_ = [("struct_size", ctypes.c_uint32), ("state", ctypes.c_int32), ("comm", _COMM), ("sums", ctypes.c_int64),
                ("numbers", ctypes.c_int64), ("bytes", ctypes.c_int64), ("error", ctypes.c_char * 1024)]


library.mercer_version  # loads libmercer, on which the other stands
_mpi = opened("mercer_mpi")
_mpi.mercer_mpi_sum.argtypes = [ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p]
_mpi.mercer_mpi_agree.argtypes = [ctypes.c_void_p, ctypes.c_int32, ctypes.c_char_p]


class Sum:
    """The processes of a communicator, MPI.COMM_WORLD if None: sum(numbers) is what `sum` of Model and RowsSums.reduce asks for. It adds in
    place, in a fixed order, so that as many processes get the same bits again. sums, numbers, bytes: what was added up and has come so far."""

    def __init__(self, comm=None):
        if not isinstance(comm, (MPI.Comm, type(None))):
            raise invalid(f"comm = {comm!r}, expected a communicator of mpi4py")
        self.comm = MPI.COMM_WORLD if comm is None else comm
        self._all = _All(struct_size=ctypes.sizeof(_All), comm=_COMM.from_address(MPI._addressof(self.comm)).value)

    sums, numbers, bytes = (property(lambda self, name=name: getattr(self._all, name)) for name in ("sums", "numbers", "bytes"))

    def __call__(self, numbers):
        if numbers.dtype != np.float64 or numbers.ndim != 1 or not numbers.flags.c_contiguous or not numbers.flags.writeable:
            raise invalid(f"numbers is a {numbers.dtype} array of shape {numbers.shape}, expected doubles in a row that may be written")
        if _mpi.mercer_mpi_sum(ctypes.byref(self._all), len(numbers), numbers.ctypes.data):
            raise self._error("MERCER_IO")

    def agree(self, failure=None):
        """In all processes, after what may fail in one: raises unless each gives None. What a process gives it raises itself, the others
        an error that names its rank; so none waits for it."""
        word = "MERCER_OK" if failure is None else getattr(failure, "status", "") or "MERCER_IO"
        said = None if failure is None else f"{type(failure).__name__}: {failure}".encode().replace(b"\0", b"?")
        agreed = _mpi.mercer_mpi_agree(ctypes.byref(self._all), constants[word], said)
        if agreed == constants["MERCER_OK"]:
            return
        error = self._error(library.mercer_status_name(agreed).decode())
        raise failure if failure is not None and str(error).startswith(f"rank {self.comm.rank}: ") else error from None

    def _error(self, status):
        error = KINDS.get(status, MercerError)(self._all.error.decode(errors="replace"))
        error.status = status
        return error


def _blocks(X, Y, weights):
    """Blocks of rows in memory, at least one, which tells the columns."""
    parts = [part if part is None or hasattr(part, "tocsr") else np.asarray(part) for part in (X, Y, weights)]
    parts = [part.tocsr() if hasattr(part, "tocsr") else part for part in parts]
    if X is None or any(part is not None and part.shape[:1] != parts[0].shape[:1] for part in parts):
        raise invalid("X is None or differs from Y or weights in its number of rows, expected the rows of this process")
    for first in range(0, max(parts[0].shape[0], 1), _BLOCK):
        rows = [None if part is None else part[first:first + _BLOCK] for part in parts]
        yield rows[:2] if weights is None else rows


def fit(X=None, Y=None, spec=None, weights=None, map=None, context=None, *, source=None, comm=None):
    """The Model of the rows of all processes, in each; all call it with the same spec and map, and rows X, Y, weights of their own or a
    source of them (as of Model). A process without rows gives arrays of none. Weights are given in all or in none.
    comm: MPI.COMM_WORLD if None. Where a process fails the others raise an error with its rank."""
    total, model, failure = Sum(comm), None, None
    try:
        if source is not None and not (X is None and Y is None and weights is None):
            raise invalid("X, Y or weights with source, expected one of both")
        opens = source if source is not None else lambda: _blocks(X, Y, weights)
        model = Model({} if spec is None else spec, map=map, context=context, source=opens, sum=total)
    except BaseException as raised:  # the others learn of it
        failure = raised
    total.agree(failure)
    return model
