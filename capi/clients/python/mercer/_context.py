# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""How long calls run."""
import contextlib
import ctypes
import threading

from ._api import MercerError, call, callbacks, invalid, library, make, new


_here = threading.local()  # .context: whose call runs on this thread


class _Total(ctypes.c_int64):
    """An argument of the callback, by whose end unread is known that a signal's handler raised as the callback began, before its try:
    ctypes only prints that, and what C is then answered is chance."""

    read = False

    def __del__(self):
        context = getattr(_here, "context", None)
        if not self.read and context is not None:
            context._raised = KeyboardInterrupt()


_Callback = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_int64, _Total)


class Context:
    """Limits and progress of the calls that are given it, one at a time. threads: of the library's own loops, 0: all cores.
    memory_cap: bytes, 0: no cap. progress(done, total): called now and then; what it raises ends the call and is raised by it,
    so that Ctrl-C ends a call, too, with or without it, as KeyboardInterrupt; so do other handlers of signals that raise, mostly as
    that. Without one given, every long call has a context of its own."""

    def __init__(self, threads=0, memory_cap=0, progress=None):
        self._progress, self._raised, self._asked, self._busy = progress, None, False, threading.Lock()
        self._callback = _Callback(self._report)
        options = make("context_options")
        options.threads, options.memory_cap, options.progress = threads, memory_cap, ctypes.cast(self._callback, callbacks["mercer_progress"])
        self.handle = new("context_create", ctypes.byref(options))

    def _report(self, _, done, total):
        try:
            total.read = True
            if self._raised is None and self._progress is not None:
                self._progress(done, total.value)
            return int(self._raised is not None)
        except BaseException as raised:  # nothing may unwind through C
            self._raised = raised
            return 1

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
