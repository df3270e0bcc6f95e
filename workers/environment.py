"""The environment of a plain handler's process: what every program needs, and what the installation names."""

from collections.abc import Iterable, Mapping
from typing import Final

GIVEN: Final = (
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "LC_*",
    "TZ",
    "TMPDIR",
    "PYTHON*",
    "VIRTUAL_ENV",
    "LD_LIBRARY_PATH",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
)
"""No proxies: their URLs may hold passwords."""
WITHHELD: Final = frozenset(
    {
        "OFFICEPLANE_DATABASE_URL",
        "OFFICEPLANE_OWNER_URL",
        "OFFICEPLANE_REDIS_URL",
        "OFFICEPLANE_ALERT_URL",
        "OFFICEPLANE_ADMIN_KEY",
        "OFFICEPLANE_OIDC_CLIENT_SECRET",
    }
)
"""Ours, and given to no handler, whatever is named."""


def handler_environment(environ: Mapping[str, str], named: Iterable[str]) -> dict[str, str]:
    """Return those variables that a plain handler is given; a name that ends in `*` stands for all that begin so."""
    patterns = (*GIVEN, *named)
    return {
        name: value
        for name, value in environ.items()
        if name not in WITHHELD and any(_is_meant(name, pattern) for pattern in patterns)
    }


def _is_meant(name: str, pattern: str) -> bool:
    return name.startswith(pattern[:-1]) if pattern.endswith("*") else name == pattern
