"""The world of agents: they claim over any API process, vanish, come back, and repeat whatever they said.

An agent here has no manners. Each may at any moment speak of any claim that it ever had, with any verb:
so whoever has not heard an answer, or has a twin, or comes hours late, does nothing that is not tried.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final

from officeplane.domain.agent import Registration
from officeplane.domain.failure import Failure, FailureKind
from officeplane.domain.ids import ClaimId
from officeplane.domain.lifecycle import CLAIMABLE, FINAL
from officeplane.domain.principal import LOCAL
from officeplane.domain.spending import Spending
from officeplane.services.agents.agent_claims import DECLINED, Release
from officeplane.services.agents.claiming import Ask
from officeplane.services.agents.completion import Completion
from officeplane.services.agents.heartbeats import Beat
from tests.holders import WORK
from tests.model.deeds import cancelling, decline_forgotten, lease_over, reaping, retry_due, time_up
from tests.model.laws import EVERYWHERE
from tests.model.laws_of_agents import OF_AGENTS
from tests.model.rows import Fact, Tables, short
from tests.model.steps import Deed, Law, Shift, Site
from tests.workbench import Workbench

VERBS: Final = ("start", "beat", "complete", "fail", "decline")
COSTS: Final = {"beat": 1, "fail": 2, "complete": 3, "decline": 2}
TIMEOUT_SECONDS: Final = 1800.0
NAMES: Final = ("A", "B")


@dataclass(frozen=True)
class Agents:
    """Two agents, some tasks, any number of API processes, the reaper, and somebody who cancels."""

    name: str
    story: str
    tasks: int = 1
    document_id: str | None = None
    max_retries: int = 1
    claims_max: int = 2
    """After how many claims nobody makes another: so the world stays small."""
    verbs: Sequence[str] = VERBS
    left: Sequence[str] = (*VERBS, "reap")
    """In the midst of which of them, or of reaping, a process may be put aside."""
    starts: bool = False
    """Whether what is claimed runs at once."""
    costs: bool = False
    cancels: bool = True
    times_out: bool = False
    processes: int = 1
    yields: bool = False
    """Whether the lane goes on while a retry of the first task waits."""

    @property
    def laws(self) -> Sequence[Law]:
        """What must hold."""
        return (*EVERYWHERE, *OF_AGENTS)

    async def build(self, bench: Workbench) -> None:
        """Register the agents and submit the tasks."""
        said = Registration(
            kind=None, title=None, capabilities=(), task_types=("code",), models=(), max_concurrent_tasks=1,
            version=None, heartbeat_seconds=None, start_seconds=30.0,
        )  # fmt: skip
        for name in NAMES:
            await bench.runtime.agents.register(LOCAL, name, said)
        for number in range(self.tasks):
            options = {"on_retry": "yield"} if self.yields and number == 0 else {}
            await bench.a_task(
                **WORK,
                document_id=self.document_id,
                max_retries=self.max_retries,
                timeout_seconds=TIMEOUT_SECONDS,
                **options,
            )

    def deeds(self, tables: Tables, told: frozenset[str]) -> Sequence[Deed]:
        """Return what can be begun."""
        deeds: list[Deed] = []
        begun = sum(row["attempt"] for row in tables["tasks"])
        may_claim = begun < self.claims_max and any(row["state"] in CLAIMABLE for row in tables["tasks"])
        for name in NAMES:
            # Agents are alike: it does not matter which of them is the first.
            if may_claim and (begun or name == NAMES[0]):
                deeds.append(self._claiming(name, f"k{begun + 1}"))
            deeds += [self._claiming(name, row["key"]) for row in tables["agent_claim_keys"] if row["agent_id"] == name]
        deeds += [self._speaking(row, verb) for row in tables["agent_claims"] for verb in self.verbs]
        if any(row["lease_until"] is not None for row in tables["tasks"]):
            deeds.append(reaping(is_left="reap" in self.left))
        if self.cancels:
            deeds += [cancelling(row) for row in tables["tasks"] if row["state"] not in FINAL]
        return deeds

    def shifts(self, tables: Tables) -> Sequence[Shift]:
        """Return how time may pass."""
        shifts: list[Shift] = [decline_forgotten()] if "decline" in self.verbs else []
        for number in range(len(tables["tasks"])):
            shifts += [lease_over(number), retry_due(number)]
            if self.times_out:
                shifts.append(time_up(number))
        return shifts

    def _claiming(self, name: str, key: str) -> Deed:
        async def claim(site: Site) -> object:
            taken = await site.runtime.claiming.take(LOCAL, name, Ask(starts=self.starts, key=key))
            return tuple(claim.id for claim in taken.claims)

        return Deed(name, f"claims under {key}", claim, key=key)

    def _speaking(self, claim: Fact, verb: str) -> Deed:
        claim_id = ClaimId(claim["claim_id"])
        spent = Spending(COSTS.get(verb)) if self.costs else Spending()
        run = _speak(claim["agent_id"], claim_id, verb, spent)
        return Deed(
            claim["agent_id"],
            f"{verb}s {short(claim_id)}",
            run,
            claim_id,
            verb,
            spent.cost_micros,
            is_left=verb in self.left,
        )


def _speak(name: str, claim_id: ClaimId, verb: str, spent: Spending) -> Callable[[Site], Awaitable[object]]:
    async def speak(site: Site) -> object:
        verbs = site.runtime.claim_verbs
        match verb:
            case "start":
                return await verbs.start(LOCAL, claim_id)
            case "beat":
                return await site.runtime.heartbeats.beat(LOCAL, name, [Beat(claim_id, spent=spent)])
            case "complete":
                return await verbs.complete(LOCAL, claim_id, Completion(f'{{"by": "{claim_id}"}}'), spent)
            case "fail":
                return await verbs.fail(LOCAL, claim_id, Failure(FailureKind.ERROR, "it went wrong"), spent)
            case _:
                return await verbs.release(LOCAL, claim_id, Release(DECLINED), spent)

    return speak
