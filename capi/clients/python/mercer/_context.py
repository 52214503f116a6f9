# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""How long calls run."""
import contextlib
import ctypes

from ._api import MercerError, call, callbacks, library, make, new


class Context:
    """Limits and progress of the calls that are given it, one at a time. threads: of the library's own loops, 0: all cores.
    memory_cap: bytes, 0: no cap. progress(done, total): called now and then; what it raises ends the call and is raised by it,
    so that Ctrl-C ends a call, too, with or without it. Without one given, every long call has a context of its own."""

    def __init__(self, threads=0, memory_cap=0, progress=None):
        self._progress, self._raised = progress, None
        self._callback = callbacks["mercer_progress"](self._report)
        options = make("context_options")
        options.threads, options.memory_cap, options.progress = threads, memory_cap, self._callback
        self.handle = new("context_create", ctypes.byref(options))

    def _report(self, _, done, total):
        try:
            if self._progress is not None:
                self._progress(done, total)
            return 0
        except BaseException as raised:  # nothing may unwind through C
            self._raised = raised
            return 1

    def cancel(self):
        """Ends the running call soon; from any thread."""
        call("context_cancel", self.handle, 1)

    @contextlib.contextmanager
    def running(self):
        """Raises what the callback raised."""
        self._raised = None
        try:
            yield self.handle
        except MercerError:
            if self._raised is not None:
                raise self._raised from None
            raise
        if self._raised is not None:  # work was finished all the same
            raise self._raised

    def __del__(self):
        if getattr(self, "handle", None) is not None:
            library.mercer_context_free(self.handle)
