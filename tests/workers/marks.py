"""Marks: what handlers did and when, as lines of one file that every process appends to.

A handler can also be made to wait at a gate, so that a test decides how long it runs.
"""

import os
import time
from pathlib import Path
from typing import NamedTuple

from tests.support import eventually

_PAUSE_SECONDS = 0.01


class Mark(NamedTuple):
    """One thing that a handler did; `at` is in nanoseconds of the machine's own clock, equal in all processes."""

    at: int
    pid: int
    what: str
    name: str
    attempt: int


class Marks:
    """The marks and gates of one test, in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._log = folder / "marks"

    def leave(self, what: str, name: str, attempt: int = 0, *, pid: int | None = None) -> None:
        """Append a mark; lines of several processes do not mix."""
        line = f"{time.monotonic_ns()} {os.getpid() if pid is None else pid} {what} {name} {attempt}\n"
        descriptor = os.open(self._log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            os.write(descriptor, line.encode())
        finally:
            os.close(descriptor)

    def all(self) -> list[Mark]:
        """Return every mark in the order in which they were left."""
        if not self._log.exists():
            return []
        lines = [line.split() for line in self._log.read_text().splitlines()]
        return [Mark(int(at), int(pid), what, name, int(attempt)) for at, pid, what, name, attempt in lines]

    def of(self, name: str) -> list[str]:
        """Return what was done under a name, in order."""
        return [mark.what for mark in self.all() if mark.name == name]

    def find(self, what: str, name: str, attempt: int | None = None) -> Mark | None:
        """Return the first such mark, if there is one."""
        fits = (m for m in self.all() if (m.what, m.name) == (what, name) and attempt in (None, m.attempt))
        return next(fits, None)

    async def seen(self, what: str, name: str, attempt: int | None = None, *, within: float = 20) -> Mark:
        """Return a mark as soon as it is there."""
        return await eventually(
            lambda: self.find(what, name, attempt), within=within, what=f"the mark {what!r} of {name!r}"
        )

    def open_gate(self, name: str) -> None:
        """Let the handlers of this name go on."""
        self._gate(name).touch()

    def open_all_gates(self) -> None:
        """Let every handler go on, those that are still to come too."""
        self._gate("").touch()

    def gate_is_open(self, name: str) -> bool:
        """Whether the handlers of this name may go on."""
        return self._gate(name).exists() or self._gate("").exists()

    def wait_at_gate(self, name: str) -> None:
        """Block until the gate is open: for handlers that have a process to themselves."""
        while not self.gate_is_open(name):
            time.sleep(_PAUSE_SECONDS)

    def _gate(self, name: str) -> Path:
        return self.folder / f"gate-{name}"


def is_running(pid: int) -> bool:
    """Whether a process runs; one that has ended and waits for its parent does not."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"
