"""Where somebody is led after logging in: nowhere but to this server."""

import re
from typing import Final

HOME: Final = "/"
_LENGTH_MAX: Final = 2_000
# Browsers take `//host` and `/\host` for other servers, and leave out tabs and line ends before they look.
_OURS: Final = re.compile(r"/(?!/)[!-\[\]-~]*")


def local_path(asked: str | None) -> str:
    """Return a path of this server as it was asked for; the front page in the place of anything else."""
    is_ours = asked is not None and len(asked) <= _LENGTH_MAX and _OURS.fullmatch(asked) is not None
    return asked if asked is not None and is_ours else HOME
