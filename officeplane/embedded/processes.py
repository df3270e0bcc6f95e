"""Which processes live, and which belong to a server's folder.

A server is known by its program's name and its working directory, which is its own data folder. That
holds for orphans too, whatever became of pid files, and no process of somebody else's is mistaken for one.
"""

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from officeplane.embedded.errors import EmbeddedError

_PROC = Path("/proc")


def is_alive(pid: int) -> bool:
    """Whether the process still runs. A zombie does not: where nobody reaps, it stays in the table for ever."""
    if _has_proc():
        try:
            stat = (_PROC / str(pid) / "stat").read_text(errors="replace")
        except OSError:
            return False
        return stat.rpartition(")")[2].split()[0] not in {"Z", "X"}
    return any(listed == pid for listed, _ in _listed())


def living_in(folder: Path, program_names: frozenset[str]) -> list[int]:
    """The pids of such programs that run in this very folder."""
    if _has_proc():
        return [pid for pid in _pids_named(program_names) if _runs_in(pid, folder)]
    return [
        pid
        for pid, command in _listed()
        if str(folder) in command and any(name in command.partition(" ")[0] for name in program_names)
    ]


def send(pid: int, signum: signal.Signals) -> None:
    """Send a signal; a process that is gone is no error."""
    try:
        os.kill(pid, signum)
    except ProcessLookupError:
        return
    except PermissionError as error:
        message = f"process {pid} is still using the data folder and belongs to another user: stop it first"
        raise EmbeddedError(message) from error


def _has_proc() -> bool:
    return (_PROC / "self" / "stat").exists()


def _pids_named(names: frozenset[str]) -> Iterator[int]:
    for entry in os.scandir(_PROC):
        if entry.name.isdigit():
            with suppress(OSError):
                if (_PROC / entry.name / "comm").read_text(errors="replace").strip() in names:
                    yield int(entry.name)


def _runs_in(pid: int, folder: Path) -> bool:
    try:
        return (_PROC / str(pid) / "cwd").samefile(folder)
    except OSError:
        return False


def _listed() -> Iterator[tuple[int, str]]:
    listing = subprocess.run(
        ["ps", "-axww", "-o", "pid=,stat=,command="], capture_output=True, text=True, check=True
    ).stdout
    for line in listing.splitlines():
        pid, state, command = (*line.split(maxsplit=2), "")[:3]
        if not state.startswith("Z"):
            yield int(pid), command
