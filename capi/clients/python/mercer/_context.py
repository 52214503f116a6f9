# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""How long calls run, and what C calls back."""
import contextlib
import ctypes
import json
import threading

import numpy as np

from ._api import MercerError, call, callbacks, invalid, library, make, new


_here = threading.local()  # .context: whose call runs on this thread


class _User(ctypes.c_void_p):
    """First argument of callbacks, by whose end unread is known that a signal's handler raised as a callback began, before its try:
    ctypes only prints that, and what C is then answered is chance."""

    read = False

    def __del__(self):
        context = getattr(_here, "context", None)
        if not self.read and context is not None:
            context._raised = KeyboardInterrupt()


def callback(context, name, body):
    """What C calls as mercer_NAME: body, of the arguments after the first. What it raises is kept, ends the call and is raised by it."""
    kind = callbacks["mercer_" + name]

    def answer(user, *arguments):
        try:
            user.read = True
            if context._raised is None:
                body(*arguments)
            return int(context._raised is not None)
        except BaseException as raised:  # nothing may unwind through C
            context._raised = raised
            return 1

    return ctypes.CFUNCTYPE(kind._restype_, _User, *kind._argtypes_[1:])(answer)


def summing(context, body):
    """The callback that has an array added up over processes."""
    return callback(context, "source_sum", lambda n, numbers: body(np.ctypeslib.as_array((ctypes.c_double * n).from_address(numbers))))


def put(options, field, name, made):
    """The callback into a field of a struct."""
    setattr(options, field, ctypes.cast(made, callbacks["mercer_" + name]))


class Context:
    """Limits and progress of the calls that are given it, one at a time. threads: of the library's own loops, 0: all cores.
    memory_cap: bytes, 0: no cap. progress(done, total): called now and then. trial(dict): called with each finished trial of a search,
    as in report["trials"], with its "seconds". What these raise ends the call and is raised by it, so that Ctrl-C ends a call, too,
    with or without them, as KeyboardInterrupt; so do other handlers of signals that raise, mostly as that. Without one given, every
    long call has a context of its own."""

    def __init__(self, threads=0, memory_cap=0, progress=None, trial=None):
        self._given = {"threads": threads, "memory_cap": memory_cap, "progress": progress, "trial": trial}
        self._raised, self._asked, self._busy = None, False, threading.Lock()
        options = make("context_options")
        options.threads, options.memory_cap = threads, memory_cap
        self._progress = callback(self, "progress", progress or (lambda done, total: None))  # even then, for signals
        self._trial = callback(self, "trial", lambda text: trial(json.loads(text)))
        put(options, "progress", "progress", self._progress)
        if trial is not None:
            put(options, "trial", "trial", self._trial)
        self.handle = new("context_create", ctypes.byref(options))

    def __repr__(self):
        return f"Context({', '.join(f'{name}={value!r}' for name, value in self._given.items() if value)})"

    def cancel(self):
        """Ends the running call soon, or the next one; from any thread."""
        self._asked = True
        call("context_cancel", self.handle, 1)

    @contextlib.contextmanager
    def running(self):
        """Raises what the callback raised. A call that stopped though nobody asked for it was stopped by a signal, too."""
        if not self._busy.acquire(blocking=False):  # before anything of the running call is touched
            raise invalid("mercer.Context: context is used by another call, expected one call at a time")
        self._raised, outer, _here.context = None, getattr(_here, "context", None), self
        try:
            yield self.handle
            raised = self._raised  # work was finished all the same
        except MercerError as error:
            interrupted = error.status == "MERCER_CANCELLED" and not self._asked
            raised = self._raised or (KeyboardInterrupt() if interrupted else error)
        finally:
            self._asked, _here.context = False, outer
            self._busy.release()
        if raised is not None:
            raise raised

    def __del__(self):
        if getattr(self, "handle", None) is not None:
            library.mercer_context_free(self.handle)
