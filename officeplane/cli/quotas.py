"""Quotas as they are typed: `maxDocuments=1000`, `maxBytes=none`."""

from collections.abc import Iterable
from typing import Final

from pydantic.alias_generators import to_camel

from officeplane.cli.exits import UsageError
from officeplane.domain.quota import NAMES

_NAMES: Final = {to_camel(name): name for name in NAMES}
_LARGEST: Final = 2**53


def quotas_in(given: Iterable[str]) -> dict[str, int | None]:
    """Return the quotas that are named, each with its limit or None."""
    return dict(map(_quota_in, given))


def _quota_in(text: str) -> tuple[str, int | None]:
    name, _, value = text.partition("=")
    if name not in _NAMES:
        raise UsageError(f"{text!r} is no quota: there are {', '.join(_NAMES)}, each with =NUMBER or =none.")
    if value == "none":
        return _NAMES[name], None
    if not (value.isascii() and value.isdecimal()) or int(value) > _LARGEST:
        raise UsageError(f"{name} is to be a number, or none to lift it; not {value!r}.")
    return _NAMES[name], int(value)
