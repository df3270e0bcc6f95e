"""The kernel, asked directly: what the standard library has no names for, through the C library."""

import ctypes
import os
import struct
from functools import cache
from typing import Final

_PR_SET_DUMPABLE: Final = 4
_CAPABILITIES_VERSION: Final = 0x20080522
_NO_CAPABILITIES: Final = bytes(2 * 3 * 4)


@cache
def _libc() -> ctypes.CDLL:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    return libc


def call(number: int, *arguments: int | bytes | ctypes.Array[ctypes.c_char] | None) -> int:
    """Return what a system call gives back; raise `OSError` when it is refused."""
    # A Python integer would be passed as 32 bits, and a call looks at 64.
    given = [ctypes.c_long(argument) if isinstance(argument, int) else argument for argument in arguments]
    answer = int(_libc().syscall(ctypes.c_long(number), *given))
    return answer if answer != -1 else _refused()


def prctl(option: int, value: int) -> None:
    """Set something of this process; raise `OSError` when it is refused."""
    zero = ctypes.c_ulong(0)
    if _libc().prctl(option, ctypes.c_ulong(value), zero, zero, zero) != 0:
        _refused()


def drop_capabilities() -> None:
    """Give up what root may, and what the first in a namespace may there."""
    if _libc().capset(struct.pack("=Ii", _CAPABILITIES_VERSION, 0), _NO_CAPABILITIES) != 0:
        _refused()


def hide_memory() -> None:
    """Keep other processes of the same user out of this one's memory, environment and descriptors; no core dumps."""
    if hasattr(_libc(), "prctl"):
        prctl(_PR_SET_DUMPABLE, 0)


def exit_on(signum: int) -> None:
    """Have a signal end this process, with its number as the status, in whatever machine code it finds it."""
    libc = _libc()
    libc.signal.restype = ctypes.c_void_p
    if libc.signal(signum, libc["_exit"]) == ctypes.c_void_p(-1).value:
        _refused()


def _refused() -> int:
    error = ctypes.get_errno()
    raise OSError(error, os.strerror(error))
