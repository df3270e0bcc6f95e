"""Cores: how much can be computed at once here, which is not how many processors the machine has."""

import os
import sys
from math import ceil
from pathlib import Path
from typing import Final

_CGROUPS: Final = Path("/sys/fs/cgroup")
_MEMBERSHIP: Final = Path("/proc/self/cgroup")


def cores(cgroups: Path = _CGROUPS, membership: Path = _MEMBERSHIP) -> int:
    """Return how many processors this process may use: those it is bound to, within its groups' quotas."""
    allowed = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
    return max(1, min([allowed, *(ceil(quota) for quota in _quotas(cgroups, membership))]))


def _quotas(cgroups: Path, membership: Path) -> list[float]:
    """Return how many processors' time each group around this process may take; none where nothing is said."""
    try:
        groups = [line.split(":", 2) for line in membership.read_text(encoding="utf-8").splitlines()]
    except (OSError, ValueError):
        return []
    found: list[float] = []
    for _, controllers, path in groups:
        if not controllers:
            found += [quota for place in _around(cgroups, path) if (quota := _second(place)) is not None]
        elif "cpu" in controllers.split(","):
            roots = (cgroups / "cpu", cgroups / controllers)
            found += [q for root in roots for place in _around(root, path) if (q := _first(place)) is not None]
    return found


def _around(root: Path, path: str) -> list[Path]:
    """Return a group and those it is in. In a container its own is often the root, whatever it is called outside."""
    inner = root / path.strip("/")
    return [inner, *(parent for parent in inner.parents if parent.is_relative_to(root))]


def _second(place: Path) -> float | None:
    """Return the quota of a group of the second version: `max 100000`, or `150000 100000`."""
    match _words(place / "cpu.max"):
        case [quota, period] if quota != "max":
            return _ratio(quota, period)
        case _:
            return None


def _first(place: Path) -> float | None:
    """Return the quota of a group of the first version; -1 is none."""
    match [*_words(place / "cpu.cfs_quota_us"), *_words(place / "cpu.cfs_period_us")]:
        case [quota, period] if quota != "-1":
            return _ratio(quota, period)
        case _:
            return None


def _ratio(quota: str, period: str) -> float | None:
    try:
        return int(quota) / int(period)
    except (ValueError, ZeroDivisionError):
        return None


def _words(file: Path) -> list[str]:
    try:
        return file.read_text(encoding="utf-8").split()
    except (OSError, ValueError):
        return []
