"""Landlock: a process gives up every file but a few to read, run or write, TCP, and signals to processes outside.

It needs no privileges, and Linux 5.13 or newer; later kernels can take more, of which all is taken.
"""

import os
import stat
import struct
from collections.abc import Iterable
from contextlib import suppress
from typing import Final

from officeplane.sandbox.kernel import call

_CREATE, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_ASK_VERSION: Final = 1
_PATH_BENEATH: Final = 1
_RUN, _WRITE_FILE, _READ_FILE, _READ_FOLDER = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_MAKE_SOCKETS: Final = 1 << 9
_MAKE_ODD: Final = 1 << 6 | 1 << 11 | 1 << 12
"""To make devices and symbolic links."""
_OF_FILES: Final = _RUN | _WRITE_FILE | _READ_FILE | 1 << 14
"""The rights that a file can have; all others are over folders."""
_FILE_RIGHTS: Final = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
"""How many rights over files a version knows: each is a bit, and the later ones were added above the others."""
_TCP_SINCE, _TCP = 4, 0b11
_SCOPES_SINCE, _SCOPES = 6, 0b11
"""To connect to nobody's abstract socket, and to signal nobody, outside."""


def version() -> int:
    """Return how much the kernel can take away by Landlock; 0: nothing."""
    try:
        return call(_CREATE, None, 0, _ASK_VERSION)
    except OSError:
        return 0


def restrict(
    readable: Iterable[str],
    *,
    runnable: Iterable[str] = (),
    writable: Iterable[str] = (),
    for_sockets: Iterable[str] = (),
) -> None:
    """Leave this process these folders and files to read, those to run or to write, and places for sockets.

    It may gain no privileges any more.
    """
    known = version()
    all_rights = (1 << _FILE_RIGHTS[min(known, max(_FILE_RIGHTS))]) - 1
    handled = struct.pack(
        "=QQQ",
        all_rights,
        _TCP if known >= _TCP_SINCE else 0,
        _SCOPES if known >= _SCOPES_SINCE else 0,
    )
    # An older kernel takes a longer description, too, if what it does not know is zero.
    rules = call(_CREATE, handled, len(handled), 0)
    try:
        for places, rights in (
            (readable, _READ_FILE | _READ_FOLDER),
            (runnable, _RUN | _READ_FILE | _READ_FOLDER),
            (writable, all_rights & ~_RUN & ~_MAKE_ODD),
            (for_sockets, _MAKE_SOCKETS),
        ):
            for place in places:
                # What is not there, or closed to this user, is nothing to read from.
                with suppress(FileNotFoundError, PermissionError):
                    _allow(rules, place, rights)
        call(_RESTRICT_SELF, rules, 0)
    finally:
        os.close(rules)


def _allow(rules: int, path: str, rights: int) -> None:
    place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        is_folder = stat.S_ISDIR(os.fstat(place).st_mode)
        call(_ADD_RULE, rules, _PATH_BENEATH, struct.pack("=Qi", rights if is_folder else rights & _OF_FILES, place), 0)
    finally:
        os.close(place)
