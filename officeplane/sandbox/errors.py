"""What can go wrong with a sandboxed child besides what it refuses."""

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
        if not os.WIFSIGNALED(status):
            return cls("the process that had the document open ended by itself")
        killed_by = signal.Signals(os.WTERMSIG(status))
        return cls(f"the process that had the document open was ended by {killed_by.name}", killed_by)


class SandboxError(Exception):
    """The child met something that nobody thought of; its log line has the stack."""


class NotConfinedError(SandboxError):
    """The child is not held as it has to be here, and was not given anything."""

    def __init__(self, missing: Confinement) -> None:
        super().__init__(f"no file is opened without {named(missing)}, which OFFICEPLANE_SANDBOX=require asks for")
