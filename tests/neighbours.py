"""Neighbours: processes of one user, without what root may; `python -m tests.neighbours PID` looks at another one.

It prints as JSON what came of each attempt to get at the other's secrets.
"""

import ctypes
import errno
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from subprocess import run
from typing import Final, cast

from officeplane.sandbox import kernel
from tests.sandbox.intrusion.targets import Attempt, by_name, by_number

_DROP_FROM_BOUNDS: Final = 24
_CAPABILITIES_MAX: Final = 64
_SEIZE: Final = 0x4206
_PIDFD_OPEN, _PIDFD_GETFD = 434, 438
READ: Final = "read"
REFUSED: Final = {"EPERM", "EACCES"}


def without_rights() -> None:
    """Have this process, and what it runs, be one of its user like any other, even if that is root."""
    for capability in range(_CAPABILITIES_MAX):
        # Whoever is not root has none to lose.
        with suppress(OSError):
            kernel.prctl(_DROP_FROM_BOUNDS, capability)


def seen_of(pid: int) -> Mapping[str, str]:
    """Return what came of it when a neighbour looked at a process."""
    looked = run(
        [sys.executable, "-m", "tests.neighbours", str(pid)], preexec_fn=without_rights, capture_output=True, check=True
    )
    return cast("Mapping[str, str]", json.loads(looked.stdout))


def is_closed(pid: int) -> bool:
    """Tell whether a neighbour gets at nothing of a process."""
    return set(seen_of(pid).values()) <= REFUSED


def looks(pid: int) -> Iterator[Attempt]:
    """Give what a neighbour tries."""
    for what in ("environ", "mem", "maps"):
        yield what, partial(_open, f"/proc/{pid}/{what}")
    yield "what a descriptor leads to", partial(os.readlink, f"/proc/{pid}/fd/0")
    yield "memory", partial(by_name, "process_vm_readv", pid, *_one_word(), *_one_word(), 0)
    yield "tracing", partial(by_name, "ptrace", _SEIZE, pid, None, None)
    yield "a descriptor itself", partial(_take_a_descriptor, pid)


def outcome_of(attempt: Callable[[], object]) -> str:
    """Return what came of an attempt."""
    try:
        attempt()
    except OSError as error:
        return errno.errorcode[error.errno or 0]
    return READ


def _open(path: str) -> None:
    os.close(os.open(path, os.O_RDONLY))


def _one_word() -> tuple[bytes, int]:
    return bytes(ctypes.c_void_p(ctypes.addressof(_MINE))) + bytes(ctypes.c_size_t(len(_MINE))), 1


_MINE: Final = ctypes.create_string_buffer(8)


def _take_a_descriptor(pid: int) -> None:
    holder = by_number(_PIDFD_OPEN, pid, 0)
    by_number(_PIDFD_GETFD, holder, 0, 0)


if __name__ == "__main__":
    found = {name: outcome_of(attempt) for name, attempt in looks(int(sys.argv[1]))}
    print(json.dumps(found))  # noqa: T201
