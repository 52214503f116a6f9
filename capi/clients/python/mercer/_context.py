# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""How long calls run, and what C calls back."""
from __future__ import annotations

import atexit
import contextlib
import ctypes
import json
import sys
import threading
from typing import Any, Callable, Iterator

import numpy as np

from ._api import MercerError, call, callbacks, invalid, library, make, new, whole
from ._types import Sum


_here = threading.local()  # .context: whose call runs on this thread
_named = "<function mercer_answers at"  # what a callback is called by sys.unraisablehook


def callback(context: Context, name: str, body: Callable[..., object], always: bool = False) -> Any:
    """What C calls as mercer_NAME: body, of the arguments after the first, which ends the call by False. What it raises is kept, ends the call and is raised by it.
    always: also after another has raised."""
    kind = callbacks["mercer_" + name]

    def mercer_answers(user: Any, *arguments: Any) -> int:
        try:
            stops = (always or context._raised is None) and body(*arguments) is False
            return int(stops or (context._raised is not None and not always))
        except BaseException as raised:  # nothing may unwind through C
            if context._raised is None:
                context._raised = raised
            return 1

    mercer_answers.__qualname__ = mercer_answers.__name__
    return kind(mercer_answers)


@contextlib.contextmanager
def _keeping() -> Iterator[None]:
    """Keeps what a signal's handler raises as a callback begins or ends, out of its try: ctypes hands that to sys.unraisablehook, what C
    is then answered is chance, and the next callback ends the call. Handlers run on the main thread, where calls nest."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = sys.unraisablehook

    def keep(met: Any) -> None:
        context = getattr(_here, "context", None)
        if context is None or _named not in f"{met.object!r} {met.err_msg}":
            before(met)
        elif context._raised is None:
            context._raised = met.exc_value

    sys.unraisablehook = keep
    try:
        yield
    finally:
        if sys.unraisablehook is keep:
            sys.unraisablehook = before


def summing(context: Context, body: Callable[..., object]) -> Any:
    """The callback that has an array added up over processes, in place or by what body returns; of a process that fails, too, which tells
    the others."""
    def add(n: int, address: int) -> None:
        place = np.ctypeslib.as_array((ctypes.c_double * n).from_address(address))
        numbers = place.copy()  # which body may keep
        made: Any = body(numbers)
        if made is not None and np.shape(made) != numbers.shape:
            raise invalid(f"sum returned {type(made).__name__} of shape {np.shape(made)}, expected {n} numbers, or None of sums in place")
        place[:] = numbers if made is None else made

    return callback(context, "source_sum", add, always=True)


def put(options: Any, field: str, name: str, made: Any) -> None:
    """The callback into a field of a struct."""
    setattr(options, field, ctypes.cast(made, callbacks["mercer_" + name]))


class Context:
    """Limits and progress of the calls that are given it, one at a time. Without one, every long call has a context of its own. It cannot
    be copied or pickled.

    Parameters
    ----------
    threads : int
        Of the library's own loops, 0: all cores.
    memory_cap : int
        Bytes, 0: no cap.
    progress : callable, optional
        ``progress(done, total)`` is called now and then; False, as nothing else that it returns, cancels the call.
    trial : callable, optional
        Called with each finished trial of a search, a dict as in report["trials"], with its "seconds".

    Notes
    -----
    What these raise ends the call and is raised by it. So Ctrl-C ends a call, with or without them, as does whatever the handler of another
    signal raises.
    """

    def __init__(self, threads: int = 0, memory_cap: int = 0, progress: Callable[[int, int], object] | None = None,
                 trial: Callable[[dict[str, Any]], object] | None = None) -> None:
        for name, value in (("progress", progress), ("trial", trial)):
            if value is not None and not callable(value):
                raise invalid(f"{name} = {value!r}, expected a function")
        self._given = {"threads": threads, "memory_cap": memory_cap, "progress": progress, "trial": trial}
        self._raised: BaseException | None = None
        self._busy = threading.Lock()
        options = make("context_options")
        options.threads, options.memory_cap = whole("threads", threads, most=2**31 - 1), whole("memory_cap", memory_cap)
        self._progress = callback(self, "progress", progress or (lambda done, total: None))  # even then, for signals
        self._trial = callback(self, "trial", lambda text: trial(json.loads(text)) if trial else None)
        put(options, "progress", "progress", self._progress)
        if trial is not None:
            put(options, "trial", "trial", self._trial)
        self.handle = new("context_create", ctypes.byref(options))

    def __repr__(self) -> str:
        return f"Context({', '.join(f'{name}={value!r}' for name, value in self._given.items() if value)})"

    def cancel(self) -> None:
        """Ends the running call soon, or the next one; from any thread."""
        call("context_cancel", self.handle, 1)

    @property
    def threads_used(self) -> int:
        """Threads that worked in the last call's loops, at most."""
        used = ctypes.c_int32()
        call("context_threads_used", self.handle, ctypes.byref(used))
        return used.value

    @contextlib.contextmanager
    def running(self) -> Iterator[Any]:
        """Raises what a callback raised."""
        if not self._busy.acquire(blocking=False):  # before anything of the running call is touched
            raise invalid("mercer.Context: context is used by another call, expected one call at a time")
        self._raised, outer, _here.context = None, getattr(_here, "context", None), self
        _called.add(self)
        try:
            with _keeping():
                yield self.handle
            raised = self._raised  # work was finished all the same
        except MercerError as error:
            raised = self._raised or error
        finally:
            _here.context = outer
            _called.discard(self)
            self._busy.release()
        if raised is not None:
            raise raised

    def __reduce__(self) -> Any:
        raise TypeError("a mercer.Context belongs to its process and cannot be copied or pickled, expected another of the same arguments")

    def __del__(self) -> None:
        if getattr(self, "handle", None) is not None:
            library.mercer_context_free(self.handle)


_called: set[Context] = set()  # contexts whose calls run


@atexit.register
def _end_calls() -> None:
    """A daemon thread cannot come back from C once the interpreter ends: its call is cancelled and waited for while it can."""
    for context in list(_called):
        context.cancel()
        context._busy.acquire(timeout=10)


def given_or_new(context: Context | None) -> Context:
    """The context given, or else a new one."""
    if not isinstance(context, (Context, type(None))):
        raise invalid(f"context = {context!r}, expected a mercer.Context")
    return context or Context()
