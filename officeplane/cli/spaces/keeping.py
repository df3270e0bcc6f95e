"""What `officeplane spaces` does on the ledger."""

from collections.abc import Sequence
from dataclasses import replace

from officeplane.cli.keys.keeping import me, on_ledger
from officeplane.cli.quotas import quotas_in
from officeplane.domain.quota import Quotas
from officeplane.domain.space import Space
from officeplane.services.access.spaces import Spaces, Usage
from officeplane.store.connection import Ledger


def every() -> dict[Space, Quotas]:
    """Return all spaces with their quotas."""
    return on_ledger(lambda ledger: Spaces(ledger).every(me()))


def shown(name: str) -> tuple[Quotas, Usage]:
    """Return what a space may use, and what it uses."""
    return on_ledger(lambda ledger: Spaces(ledger).show(me(), name))


def changed(name: str, given: Sequence[str]) -> tuple[Quotas, Usage]:
    """Change some quotas of a space, and return what it may use now, and what it uses."""
    wanted = quotas_in(given)

    async def change(ledger: Ledger) -> tuple[Quotas, Usage]:
        spaces = Spaces(ledger)
        known, _ = await spaces.show(me(), name)
        await spaces.set(me(), name, replace(known, **wanted))
        return await spaces.show(me(), name)

    return on_ledger(change)
