"""Processor time of processes on this machine, where the system tells."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Final

_PROC: Final = Path("/proc")


def seconds_of(pid: int) -> float | None:
    """Return the processor time that a process has used with those of its children that have ended, if known."""
    try:
        stat = (_PROC / str(pid) / "stat").read_text(errors="replace")
    except OSError:
        return None
    # The name before the last bracket may hold anything; user, system and the children's are fields 14 to 17.
    ticks = stat.rpartition(")")[2].split()[11:15]
    return sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")


def seconds_of_all(pids: Iterable[int], name: str) -> float | None:
    """Return the sum for those of the processes that are programs of this name; None when none is."""
    found = [seconds_of(pid) for pid in pids if _name_of(pid) == name]
    known = [seconds for seconds in found if seconds is not None]
    return sum(known) if known else None


def load() -> tuple[float, float, float]:
    """Return how many processes wanted to run, over the last 1, 5 and 15 minutes."""
    one, five, fifteen = os.getloadavg()
    return round(one, 2), round(five, 2), round(fifteen, 2)


def model() -> str | None:
    """Return what the processor calls itself, where the system tells."""
    try:
        lines = (_PROC / "cpuinfo").read_text(errors="replace").splitlines()
    except OSError:
        return None
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), None)


def _name_of(pid: int) -> str:
    try:
        return (_PROC / str(pid) / "comm").read_text(errors="replace").strip()
    except OSError:
        return ""
