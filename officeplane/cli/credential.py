"""The key that the command line calls with: one that it was given, or that of the installation here."""

import os
from dataclasses import dataclass, field
from typing import Final

import httpx

from officeplane.cli.exits import UsageError
from officeplane.domain.api_key import is_key_text
from officeplane.embedded.installation import is_in_use
from officeplane.local import local_installation

VARIABLE: Final = "OFFICEPLANE_KEY"
_MAKE: Final = "`officeplane keys create NAME --scope {scope}`, typed where the database can be reached, makes one."


@dataclass(frozen=True, slots=True)
class Credential:
    """A key, and where it was found."""

    key: str = field(repr=False)
    place: str


def credential_for(url: httpx.URL) -> Credential | None:
    """Return the key to call an API with; that of the installation here is for that installation alone."""
    if given := os.environ.get(VARIABLE, "").strip():
        if not is_key_text(given):
            raise UsageError(
                f"{VARIABLE} is not a key: one looks like opk_..., and none of its characters may be missing."
            )
        return Credential(given, VARIABLE)
    local = local_installation()
    if local is None or _origin(httpx.URL(local.url)) != _origin(url):
        return None
    if not is_in_use(local.data_dir):
        # Whoever listens there by now is somebody else.
        return None
    key = local.admin_key()
    return None if key is None or not is_key_text(key) else Credential(key, str(local.admin_key_path))


def advice(code: str, scope: str, credential: Credential | None) -> str | None:
    """Return what to do about a refusal, if it is for want of a key or of a scope."""
    match code, credential:
        case "unauthenticated", None:
            return f"Set {VARIABLE} to a key; they are made where the database can be reached."
        case "unauthenticated", Credential(place=place):
            return f"The key is that of {place}: `officeplane keys list` tells which work. {_MAKE.format(scope='read')}"
        case "forbidden", _ if scope:
            return f"Set {VARIABLE} to a key that has it; {_MAKE.format(scope=scope)}"
        case _:
            return None


def _origin(url: httpx.URL) -> tuple[str, str, int | None]:
    return url.scheme, url.host, url.port
