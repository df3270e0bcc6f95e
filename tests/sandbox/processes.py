"""Processes as the system sees them: who has which children, descriptors and environment."""

import os
from pathlib import Path

from tests.support import eventually


def children_of(pid: int) -> list[int]:
    """Return the processes that a process is the parent of, and that are not dead already."""
    found: list[int] = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, parent = stat.read_text().rpartition(")")[2].split()[:2]
        except OSError:
            continue
        if int(parent) == pid and state != "Z":
            found.append(int(stat.parent.name))
    return found


_OTHERS: set[int] = set()
_NURSERIES = (b"officeplane.sandbox.nursery", b"tests.sandbox.taken_over")


def overlook_others() -> None:
    """Look from now on only at nurseries that are not there yet: tests before this one may have left theirs open."""
    _OTHERS.clear()
    _OTHERS.update(nurseries())


def nurseries() -> list[int]:
    """Return the nurseries of this process, but for those to be overlooked."""
    found = [pid for pid in children_of(os.getpid()) if any(name in _command(pid) for name in _NURSERIES)]
    return [pid for pid in found if pid not in _OTHERS]


def born() -> list[int]:
    """Return the sandboxed children of this process."""
    return [child for nursery in nurseries() for child in children_of(nursery)]


def the_child() -> int:
    """Return the one sandboxed child of this process."""
    (child,) = born()
    return child


def is_alive(pid: int) -> bool:
    """Tell whether a process is there, and no mere corpse."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


async def gone(*pids: int) -> None:
    """Return once these processes are."""
    await eventually(lambda: not any(map(is_alive, pids)), what=f"the end of {pids}")


async def asleep(pid: int) -> None:
    """Return once a process was stopped by a signal."""
    stat = Path(f"/proc/{pid}/stat")
    await eventually(lambda: stat.read_text().rpartition(")")[2].split()[0] == "T", what="the stop")


def _command(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""
