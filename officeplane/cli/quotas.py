"""Quotas as they are typed: `maxDocuments=1000`, `maxBytes=none`."""

from collections.abc import Iterable
from typing import Final

from officeplane.cli.exits import UsageError
from officeplane.domain.quota import OUTSIDE

_LARGEST: Final = 2**53


def quotas_in(given: Iterable[str]) -> dict[str, int | None]:
    """Return the quotas that are named, each with its limit or None."""
    return dict(map(_quota_in, given))


def _quota_in(text: str) -> tuple[str, int | None]:
    name, _, value = text.partition("=")
    if name not in OUTSIDE:
        raise UsageError(f"{text!r} is no quota: there are {', '.join(OUTSIDE)}, each with =NUMBER or =none.")
    if value == "none":
        return OUTSIDE[name], None
    if not (value.isascii() and value.isdecimal()) or int(value) > _LARGEST:
        raise UsageError(f"{name} is to be a number, or none to lift it; not {value!r}.")
    return OUTSIDE[name], int(value)
