"""Resource limits: how much memory, processor time and how many descriptors a sandboxed child may use."""

import os
import resource
import sys
from contextlib import suppress
from functools import cache
from typing import Final

MEMORY_BYTES: Final = 640 * 1024 * 1024
RECYCLED_ABOVE_BYTES: Final = 300 * 1024 * 1024
CPU_SECONDS: Final = 30
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
    for kind, most in _MOST.items():
        resource.setrlimit(kind, (most, most))


def allow_more_time() -> None:
    """Give the next request its own share of the processor; past it the kernel ends the process."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    limit = int(used.ru_utime + used.ru_stime) + CPU_SECONDS
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.RLIM_INFINITY))


def is_too_big() -> bool:
    """Tell whether this process has grown so much that a fresh one should take its place."""
    if sys.platform != "linux":
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss > RECYCLED_ABOVE_BYTES
    return int(os.pread(_sizes(), 100, 0).split()[1]) * os.sysconf("SC_PAGE_SIZE") > RECYCLED_ABOVE_BYTES


@cache
def _sizes() -> int:
    """Return a descriptor of what the system says of this process's memory, opened while it still may be."""
    return os.open("/proc/self/statm", os.O_RDONLY | os.O_CLOEXEC)
