"""Marks: what handlers really did, written by themselves to one file that nobody rewrites.

Times are of the monotonic clock, which on one machine is the same for all
processes. A line is one `write` to a file opened for appending, so lines of
different processes do not mix.
"""

import os
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final, Literal, TypeAlias, cast

MARKS_VARIABLE: Final = "CHAOS_MARKS"

Moment: TypeAlias = Literal["start", "end", "exit"]


@dataclass(frozen=True, slots=True)
class Mark:
    """One moment of one attempt's handler."""

    moment: Moment
    task_id: str
    attempt: int
    at: float
    pid: int


@cache
def _descriptor() -> int:
    return os.open(os.environ[MARKS_VARIABLE], os.O_WRONLY | os.O_APPEND)


def mark(moment: Moment, task_id: str, attempt: int) -> None:
    """Write down that this moment has come."""
    line = f"{moment} {task_id} {attempt} {time.monotonic():.6f} {os.getpid()}\n"
    os.write(_descriptor(), line.encode())


def read_marks(path: Path) -> list[Mark]:
    """Return all marks in the order of writing."""
    found: list[Mark] = []
    for line in path.read_text().splitlines():
        moment, task_id, attempt, at, pid = line.split()
        found.append(Mark(cast("Moment", moment), task_id, int(attempt), float(at), int(pid)))
    return found
