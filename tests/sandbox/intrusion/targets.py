"""Targets: what somebody who has taken over a child would like to get at, and how what he tries is written down."""

import ctypes
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

Attempt = tuple[str, Callable[[], object]]
"""What is tried, as a sentence goes on that begins with "cannot", and the deed, which raises `OSError` if refused."""

_libc: Final = ctypes.CDLL(None, use_errno=True)
_MACHINE: Final = os.uname().machine


@dataclass(frozen=True, slots=True)
class Targets:
    """Where the secrets are, who else is alive, and where one might connect to."""

    folder: str = "/"
    """The data folder, with `installation.json`, `admin.key`, a folder `inner` and a Unix socket `socket`."""
    owner: int = 0
    """The worker: it has a secret in its environment and memory, and so have its parents."""
    grandparent: int = 0
    nursery: int = 0
    sibling: int = 0
    """A child that has another document open."""
    document_at: int = 0
    """Where in the memory of the sibling that document is."""
    api: int = 0
    postgres: int = 0
    redis: int = 0
    connection: int = 0
    """The descriptor of the intruder's own socket."""


def by_number(number: int | tuple[int, int], *arguments: object) -> int:
    """Make a system call that the C library has no function for; a pair is its number on x86_64 and on aarch64."""
    if isinstance(number, tuple):
        number = number[0] if _MACHINE == "x86_64" else number[1]
    return by_name("syscall", number, *arguments)


def by_name(name: str, *arguments: object) -> int:
    """Call a function of the C library."""
    given = [ctypes.c_long(one) if isinstance(one, int) else one for one in arguments]
    answer = int(getattr(_libc, name)(*given))
    if answer == -1:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
    return answer


def by_clone(flags: int) -> None:
    """Fork by the call below `fork`; what is born ends at once."""
    if not by_number((56, 220), flags, 0, 0, 0, 0):
        os._exit(0)
