"""Limits: what a sandboxed child may use, and what is taken away from it before it opens anything."""

import ctypes
import os
import resource
import signal
import sys
from contextlib import suppress
from typing import Final

MEMORY_BYTES: Final = 640 * 1024 * 1024
RECYCLED_ABOVE_BYTES: Final = 300 * 1024 * 1024
CPU_SECONDS: Final = 30
DESCRIPTORS: Final = 16

_PR_SET_PDEATHSIG: Final = 1
_PR_SET_NO_NEW_PRIVS: Final = 38
_CLONE_NEWNET: Final = 0x40000000
_CLONE_NEWUSER: Final = 0x10000000


def confine() -> None:
    """Give up memory without bound, files, privileges and, where the system allows it, the network."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_NOFILE, (DESCRIPTORS, DESCRIPTORS))
    if sys.platform != "linux":
        return
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    # A namespace with no network in it. Not every host lets an ordinary user have one.
    libc.unshare(_CLONE_NEWUSER | _CLONE_NEWNET)


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
    with open("/proc/self/statm", encoding="ascii") as sizes:  # noqa: PTH123 - one read, every time
        return int(sizes.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") > RECYCLED_ABOVE_BYTES
