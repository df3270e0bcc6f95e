"""What `officeplane spaces` does on the ledger."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from pydantic.alias_generators import to_camel

from officeplane.cli.exits import UsageError
from officeplane.cli.keys.keeping import me, on_ledger
from officeplane.domain.quota import NAMES, Quotas
from officeplane.domain.space import Space
from officeplane.services.access.spaces import Spaces, Usage
from officeplane.store.connection import Ledger

_NAMES: Final = {to_camel(name): name for name in NAMES}
_LARGEST: Final = 2**53


def every() -> dict[Space, Quotas]:
    """Return all spaces with their quotas."""
    return on_ledger(lambda ledger: Spaces(ledger).every(me()))


def shown(name: str) -> tuple[Quotas, Usage]:
    """Return what a space may use, and what it uses."""
    return on_ledger(lambda ledger: Spaces(ledger).show(me(), name))


def changed(name: str, given: Sequence[str]) -> tuple[Quotas, Usage]:
    """Change some quotas of a space, and return what it may use now, and what it uses."""
    wanted = dict(map(_quota_in, given))

    async def change(ledger: Ledger) -> tuple[Quotas, Usage]:
        spaces = Spaces(ledger)
        known, _ = await spaces.show(me(), name)
        await spaces.set(me(), name, replace(known, **wanted))
        return await spaces.show(me(), name)

    return on_ledger(change)


def _quota_in(text: str) -> tuple[str, int | None]:
    name, _, value = text.partition("=")
    if name not in _NAMES:
        raise UsageError(f"{text!r} is no quota: there are {', '.join(_NAMES)}, each with =NUMBER or =none.")
    if value == "none":
        return _NAMES[name], None
    if not (value.isascii() and value.isdecimal()) or int(value) > _LARGEST:
        raise UsageError(f"{name} is to be a number, or none to lift it; not {value!r}.")
    return _NAMES[name], int(value)
