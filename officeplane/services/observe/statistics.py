"""Statistics: how much waits, runs and has ended, for people and for Prometheus.

Who may control the default space sees the whole: every space, and the workers.
Everybody else sees his own space as if it were an installation, without what it
runs on: that all spaces have in common, and it names hosts.
"""

from dataclasses import dataclass
from typing import Final

from officeplane.dispatch.doorbell import Doorbell
from officeplane.domain.principal import EVERYTHING, Principal
from officeplane.domain.space import DEFAULT
from officeplane.handlers.catalogue import Catalogue
from officeplane.services.observe.machinery import Machinery
from officeplane.services.observe.metrics import Snapshot, exposed
from officeplane.store import observations, statistics, workers
from officeplane.store.connection import Ledger
from officeplane.store.statistics import Count, Shown
from officeplane.store.workers import WorkerInfo

SPACES_SHOWN: Final = 50
"""Of how many spaces metrics are told apart, besides the default one."""


@dataclass(frozen=True, slots=True)
class Stats:
    """The installation in numbers, or a space of it."""

    counts: list[Count]
    oldest_wait_seconds: float | None
    workers: list[WorkerInfo]


class Statistics:
    """Counts, read when asked for."""

    def __init__(self, ledger: Ledger, doorbell: Doorbell, catalogue: Catalogue, lease_seconds: float) -> None:
        self._ledger = ledger
        self._doorbell = doorbell
        self._catalogue = catalogue
        self._lease_seconds = lease_seconds

    async def stats(self, caller: Principal) -> Stats:
        """Return counts by state and tier, the oldest wait and, for those who see the whole, the live workers."""
        sight = EVERYTHING if caller.sees_the_whole else caller.sight
        waits = await statistics.oldest_waits_seconds(self._ledger, Shown(sight))
        return Stats(
            await statistics.counts(self._ledger, sight),
            max(waits.values(), default=None),
            await workers.alive(self._ledger, self._lease_seconds) if caller.sees_the_whole else [],
        )

    async def metrics(self, caller: Principal) -> str:
        """Return the same for Prometheus, without a look at what has ended long ago."""
        if not caller.sees_the_whole:
            return exposed(await self._snapshot(caller, Shown(caller.sight, [caller.space])))
        spaces = await statistics.largest_spaces(self._ledger, SPACES_SHOWN)
        return exposed(await self._snapshot(caller, Shown(EVERYTHING, spaces))) + exposed(
            Machinery(
                self._catalogue.types,
                await observations.totals(self._ledger),
                await workers.alive(self._ledger, self._lease_seconds),
                self._doorbell.availability.available,
            )
        )

    async def _snapshot(self, caller: Principal, shown: Shown) -> Snapshot:
        types = {name: known for name, known in self._catalogue.types.items() if caller.sees_type(name)}
        return Snapshot(
            types,
            [name for name, known in types.items() if not known.has_breaker],
            shown.sight.space or DEFAULT,
            shown.spaces,
            await statistics.unfinished_counts(self._ledger, shown),
            await statistics.oldest_waits_seconds(self._ledger, shown),
            await statistics.counters(self._ledger, shown),
            await statistics.unresolved_letters(self._ledger, shown),
            await statistics.unsettled_dags(self._ledger, shown),
            await statistics.held_types(self._ledger, shown),
        )
