"""How a program ends: its exit codes, and the errors that end it early with a line for people."""

import json
import sys
from collections.abc import Callable
from enum import IntEnum
from typing import NoReturn


class ExitCode(IntEnum):
    """What scripts may rely on."""

    DONE = 0
    REFUSED = 1
    USAGE = 2
    UNREACHABLE = 3


class StopError(Exception):
    """A command that cannot go on; `run` writes its lines to stderr and exits with its code."""

    code = ExitCode.REFUSED

    problem: str | None = None
    """What the API said, as JSON, if it was the API that refused."""

    def __init__(self, *lines: str) -> None:
        super().__init__(*lines)
        self.lines = lines

    @property
    def as_json(self) -> str:
        """The same for programs, in one line."""
        return self.problem or json.dumps({"code": self.code.name.lower(), "detail": "\n".join(self.lines)})


class RefusedError(StopError):
    """What was asked for was refused, or was done and failed."""

    status: int | None = None
    """What the API answered, if it was the API that refused."""


class TryLaterError(RefusedError):
    """What was asked for cannot be had at this moment."""


class UsageError(StopError):
    """The command or its settings make no sense as given."""

    code = ExitCode.USAGE


class UnreachableError(StopError):
    """A server that the command needs does not answer."""

    code = ExitCode.UNREACHABLE


def run_to_end(program: Callable[[], object]) -> NoReturn:
    """Run a program and exit with its code; one that stops early writes its lines, or JSON if asked for, to stderr."""
    from officeplane.sandbox.kernel import hide_memory

    # Whichever it is: passwords and keys are in its environment, or will be in its memory.
    hide_memory()
    try:
        program()
    except StopError as stop:
        # Seen in the words themselves: what stops a program may stop it before a command has read its options.
        for line in (stop.as_json,) if "--json" in sys.argv else stop.lines:
            sys.stderr.write(f"{line}\n")
        sys.exit(stop.code)
    sys.exit(ExitCode.DONE)
