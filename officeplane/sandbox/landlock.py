"""Landlock: a process gives up every file but a few folders to read, TCP, and signals to processes outside.

It needs no privileges, and Linux 5.13 or newer; later kernels can take more, of which all is taken.
"""

import os
import struct
from collections.abc import Iterable
from contextlib import suppress
from typing import Final

from officeplane.sandbox.kernel import call

_CREATE, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_ASK_VERSION: Final = 1
_PATH_BENEATH: Final = 1
_READ_FILE, _READ_FOLDER = 1 << 2, 1 << 3
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


def restrict(readable: Iterable[str]) -> None:
    """Leave this process nothing but reading in these folders; it may gain no privileges any more."""
    known = version()
    handled = struct.pack(
        "=QQQ",
        (1 << _FILE_RIGHTS[min(known, max(_FILE_RIGHTS))]) - 1,
        _TCP if known >= _TCP_SINCE else 0,
        _SCOPES if known >= _SCOPES_SINCE else 0,
    )
    # An older kernel takes a longer description, too, if what it does not know is zero.
    rules = call(_CREATE, handled, len(handled), 0)
    try:
        for folder in readable:
            # A folder that is not there, or closed to this user, is nothing to read from.
            with suppress(FileNotFoundError, PermissionError, NotADirectoryError):
                _allow(rules, folder)
        call(_RESTRICT_SELF, rules, 0)
    finally:
        os.close(rules)


def _allow(rules: int, folder: str) -> None:
    place = os.open(folder, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        call(_ADD_RULE, rules, _PATH_BENEATH, struct.pack("=Qi", _READ_FILE | _READ_FOLDER, place), 0)
    finally:
        os.close(place)
