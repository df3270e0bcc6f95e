"""Demands: every demand is a row of the ledger, looked up once in the life of a process.

It is looked up before the transaction that stores its task, and not in it: a
number is then good for whoever asks next, also if that transaction fails, and
nobody waits for a row that another submission has not committed yet. A demand
that no task has in the end does no harm.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from officeplane.domain.demand import Demand
from officeplane.domain.task import NewTask
from officeplane.services.submit.intake import Intake
from officeplane.store import demands
from officeplane.store.connection import Ledger

KNOWN_MAX: Final = 10_000


class Demands:
    """What a process knows of the numbers of demands."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._known: dict[Demand, int] = {}

    async def numbered(self, intakes: Sequence[Intake]) -> Sequence[Intake]:
        """Return what is about to be stored with the numbers of what it asks of agents."""
        wanted = {demand for intake in intakes for demand in intake.demands}
        if not wanted:
            return intakes
        numbers = {demand: self._known[demand] for demand in wanted & self._known.keys()}
        if missing := wanted - numbers.keys():
            found = await demands.intern(self._ledger, missing)
            numbers |= found
            if len(self._known) > KNOWN_MAX:
                self._known.clear()
            self._known |= found
        return [
            intake._replace(rows=tuple(_numbered(row, numbers) for row in intake.rows)) if intake.demands else intake
            for intake in intakes
        ]


def _numbered(row: NewTask, numbers: Mapping[Demand, int]) -> NewTask:
    return row if row.demand is None else row._replace(demand=row.demand._replace(id=numbers[row.demand]))
