"""Resource limits: how much memory, processor time and how many descriptors a sandboxed child may use."""

import os
import resource
import signal
import sys
from contextlib import suppress
from functools import cache
from typing import Final

from officeplane.sandbox import kernel

MEMORY_BYTES: Final = 640 * 1024 * 1024
RECYCLED_ABOVE_BYTES: Final = 300 * 1024 * 1024
CPU_SECONDS: Final = 30
LIFETIME_CPU_SECONDS: Final = 600
"""Somebody who has taken a child over could go on computing while nothing is asked of it."""
DESCRIPTORS: Final = 16

_MOST: Final = {
    resource.RLIMIT_AS: MEMORY_BYTES,
    resource.RLIMIT_FSIZE: 0,
    resource.RLIMIT_CORE: 0,
    resource.RLIMIT_NOFILE: DESCRIPTORS,
    resource.RLIMIT_NPROC: 0,
    resource.RLIMIT_MEMLOCK: 0,
}


def impose() -> None:
    """Have the kernel refuse this process more memory, processes, growing files, or more than a few descriptors."""
    if sys.platform == "linux":
        _sizes()
        # Unhandled, it would pass by the first process of a namespace.
        kernel.exit_on(signal.SIGXCPU)
    for kind, most in _MOST.items():
        resource.setrlimit(kind, (most, most))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, LIFETIME_CPU_SECONDS))


def allow_more_time() -> None:
    """Give the next request its own share of the processor; past it the process ends."""
    limit = min(int(_used_seconds()) + CPU_SECONDS, LIFETIME_CPU_SECONDS)
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_CPU, (limit, LIFETIME_CPU_SECONDS))


def is_worn() -> bool:
    """Tell whether this process has grown or computed so much that a fresh one should take its place."""
    if _used_seconds() > LIFETIME_CPU_SECONDS - CPU_SECONDS:
        return True
    if sys.platform != "linux":
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss > RECYCLED_ABOVE_BYTES
    return int(os.pread(_sizes(), 100, 0).split()[1]) * os.sysconf("SC_PAGE_SIZE") > RECYCLED_ABOVE_BYTES


def _used_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


@cache
def _sizes() -> int:
    """Return a descriptor of what the system says of this process's memory, opened while it still may be."""
    return os.open("/proc/self/statm", os.O_RDONLY | os.O_CLOEXEC)
