"""The world of workers: they reserve, start, renew and settle with the kernel, and remember what they claimed."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, cast

from officeplane.domain.failure import Failure, FailureKind
from officeplane.domain.ids import TaskId, WorkerId
from officeplane.domain.lifecycle import CLAIMABLE, FINAL
from officeplane.domain.outcome import Failed, HandedBack, Outcome, Succeeded
from officeplane.domain.task import ClaimedTask
from officeplane.services.settle.judgement import EndedAttempt
from officeplane.store.claims import Claimant
from tests.model.deeds import cancelling, lease_over, reaping, retry_due
from tests.model.laws import EVERYWHERE
from tests.model.rows import Fact, Tables, short
from tests.model.steps import Deed, Law, Shift, Site
from tests.workbench import Workbench

LEASE_SECONDS: Final = 30.0
NAMES: Final = ("A", "B")


@dataclass(frozen=True)
class Workers:
    """Two workers, a task, the reaper, and somebody who cancels."""

    name: str
    story: str
    claims_max: int = 2
    """After how many claims nobody makes another: so the world stays small."""
    processes: int = 1
    laws: Sequence[Law] = EVERYWHERE
    _claimed: dict[str, ClaimedTask] = field(default_factory=dict[str, ClaimedTask])

    async def build(self, bench: Workbench) -> None:
        """Submit the task."""
        await bench.a_task("noop", max_retries=1)

    def deeds(self, tables: Tables, told: frozenset[str]) -> Sequence[Deed]:
        """Return what can be begun."""
        (row,) = tables["tasks"]
        deeds: list[Deed] = []
        if row["state"] in CLAIMABLE and row["attempt"] < self.claims_max:
            # Workers are alike: it does not matter which of them is the first.
            deeds += [self._claiming(who, row) for who in (NAMES if row["attempt"] else NAMES[:1])]
        for holding in sorted(told):
            deeds += _verbs(holding[0], self._claimed[holding])
        if row["lease_until"] is not None:
            deeds.append(reaping())
        return deeds if row["state"] in FINAL else [*deeds, cancelling(row)]

    def shifts(self, tables: Tables) -> Sequence[Shift]:
        """Return how time may pass."""
        return [lease_over(0), retry_due(0)]

    def _claiming(self, who: str, row: Fact) -> Deed:
        claimant = Claimant(WorkerId(f"worker:{who}"), LEASE_SECONDS, ["noop"], may_take_suspect=True, reserves=True)

        async def claim(site: Site) -> object:
            return (await site.runtime.claims.follow_hints(claimant, [TaskId(row["id"])])).claimed

        def hears(answer: object) -> str | None:
            found = cast("list[ClaimedTask]", answer) if isinstance(answer, list) else []
            if not found:
                return None
            self._claimed.setdefault(holding := f"{who} {found[0].claim_id}", found[0])
            return holding

        return Deed(who, f"claims {short(row['id'])}", claim, told=hears)


def _verbs(who: str, task: ClaimedTask) -> list[Deed]:
    claim = short(task.claim_id)
    why = Failure(FailureKind.ERROR, "it went wrong")

    async def start(site: Site) -> object:
        return await site.runtime.claims.start(task)

    async def renew(site: Site) -> object:
        return await site.worker.leases.renew([(task.id, task.claim_id)], LEASE_SECONDS)

    def settling(what: str, outcome: Outcome) -> Deed:
        async def settle(site: Site) -> object:
            (how,) = await site.runtime.settlements.settle([EndedAttempt(task, outcome)], counted_by=who)
            return how

        return Deed(who, f"{what} {claim}", settle, about=task.claim_id)

    return [
        Deed(who, f"starts {claim}", start, about=task.claim_id),
        Deed(who, f"renews {claim}", renew, about=task.claim_id),
        settling("completes", Succeeded(f'{{"by": "{task.claim_id}"}}')),
        settling("fails", Failed(why)),
        settling("hands back", HandedBack()),
    ]
