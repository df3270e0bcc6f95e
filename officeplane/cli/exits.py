"""How a program ends: its exit codes, and the errors that end it early with a line for people."""

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

    def __init__(self, *lines: str) -> None:
        super().__init__(*lines)
        self.lines = lines


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
    """Run a program and exit with its code; one that stops early writes its lines to stderr."""
    try:
        program()
    except StopError as stop:
        for line in stop.lines:
            sys.stderr.write(f"{line}\n")
        sys.exit(stop.code)
    sys.exit(ExitCode.DONE)
