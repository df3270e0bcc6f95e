"""Errors of a sandboxed child itself, besides what it refuses."""

import os
import signal

from officeplane.sandbox.confinement import Confinement, named


class ChildDiedError(Exception):
    """The child ended while it had the request, or was ended for what it did; `killed_by` is the signal, if any."""

    def __init__(self, message: str, killed_by: signal.Signals | None = None) -> None:
        super().__init__(message)
        self.killed_by = killed_by

    @classmethod
    def of(cls, status: int) -> "ChildDiedError":
        """Return what is told of a child that ended with this status."""
        if os.WIFEXITED(status) and os.WEXITSTATUS(status) == signal.SIGXCPU:
            return cls("the process that had the document open computed for longer than it may", signal.SIGXCPU)
        if not os.WIFSIGNALED(status):
            return cls("the process that had the document open ended by itself")
        killed_by = signal.Signals(os.WTERMSIG(status))
        return cls(f"the process that had the document open was ended by {killed_by.name}", killed_by)


class SandboxError(Exception):
    """The child met an error that nobody expected; the stack is in the log."""


class NotConfinedError(SandboxError):
    """The child is not confined as it has to be here; no document was given to it."""

    def __init__(self, missing: Confinement) -> None:
        super().__init__(f"no file is opened without {named(missing)}, which OFFICEPLANE_SANDBOX=require asks for")
