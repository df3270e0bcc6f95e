"""The audit, as those read it who answer for a space."""

from officeplane.domain.audit import Audited, AuditFilter
from officeplane.domain.errors import OutsideError
from officeplane.domain.principal import Principal
from officeplane.domain.space import Space
from officeplane.store import audit
from officeplane.store.connection import Ledger
from officeplane.store.tasks import END_OF_TIME


class Audit:
    """What callers have changed."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    async def page(
        self, caller: Principal, space: Space | None, wanted: AuditFilter, before: int | None, limit: int
    ) -> list[Audited]:
        """Return the latest deeds that fit, below the sequence number of the last page's last.

        They are those of the caller's own space; whoever runs the installation may name any.
        """
        if caller.sight.is_narrowed:
            # Who has done what is told of whole spaces: a part of it would leave out what matters.
            raise OutsideError(caller.id, "audit", caller.space)
        if space not in (None, caller.space) and not caller.is_operator:
            raise OutsideError(caller.id, "space", space or "")
        return await audit.page(
            self._ledger,
            caller.space if space is None else space,
            wanted,
            before=END_OF_TIME if before is None else before,
            limit=limit,
        )
