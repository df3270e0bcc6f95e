"""Namespaces: a child is forked into a network, shared memory and processes of its own, with nothing in them.

It needs no privileges where user namespaces may be had, which most containers refuse.
Inside, the child is the first process: whatever it should ever start ends with it, and
no signal that it has no handler for ends it, but what the kernel does not take back.
"""

import ctypes
import os
import platform
import signal
from functools import cache
from typing import Final

_NEW_IPC, _NEW_USER, _NEW_PID, _NEW_NETWORK = 0x08000000, 0x10000000, 0x20000000, 0x40000000
_CLONE: Final = {"x86_64": 56, "aarch64": 220}


def fork() -> tuple[int, bool]:
    """Fork as `os.fork` does; tell also whether the child has namespaces of its own, which may be refused."""
    try:
        return _cloned(_NEW_USER | _NEW_PID | _NEW_NETWORK | _NEW_IPC), True
    except OSError:
        return os.fork(), False


def _cloned(namespaces: int) -> int:
    """Fork into namespaces: a process cannot enter a fresh PID namespace, only be born in it."""
    clone = _CLONE.get(platform.machine())
    if clone is None or os.uname().sysname != "Linux":
        raise OSError
    arguments = [ctypes.c_long(one) for one in (clone, namespaces | signal.SIGCHLD, 0, 0, 0, 0)]
    syscall = _libc().syscall
    # As `os.fork` does: what the interpreter knows of its threads and locks is to be right in both.
    ctypes.pythonapi.PyOS_BeforeFork()
    child = int(syscall(*arguments))
    error = ctypes.get_errno()
    if child == 0:
        ctypes.pythonapi.PyOS_AfterFork_Child()
        return 0
    ctypes.pythonapi.PyOS_AfterFork_Parent()
    if child < 0:
        raise OSError(error, os.strerror(error))
    return child


@cache
def _libc() -> ctypes.PyDLL:
    # One that does not let go of the interpreter's lock, which nobody could give back in the child.
    libc = ctypes.PyDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    return libc
