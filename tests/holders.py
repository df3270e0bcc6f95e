"""Holders for tests: agents that do with their claims what agents do over HTTP."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from officeplane.domain.agent import AgentStatus, Registration
from officeplane.domain.agent_claim import Answer
from officeplane.domain.encoding import json_of
from officeplane.domain.failure import Failure, FailureKind
from officeplane.domain.ids import AgentId, ClaimId
from officeplane.domain.principal import LOCAL
from officeplane.domain.space import bare
from officeplane.domain.spending import Spending
from officeplane.domain.task import Task
from officeplane.services.agents.agent_claims import ClaimVerbs, Release
from officeplane.services.agents.completion import Completion
from officeplane.services.agents.heartbeats import Beat, Heard
from tests.agents import take
from tests.workbench import Workbench

WORK: Final[Mapping[str, Any]] = {
    "task_type": "code",
    "payload": {"goal": "The tests are green."},
    "require_decision_report": False,
}
"""A task that agents do."""
REPORT: Final = '{"summary": "It was easy.", "decisions": []}'
NOTHING: Final = Spending()


@dataclass(frozen=True, slots=True)
class Agent:
    """An agent of the default space, by the hands of a bench."""

    bench: Workbench
    id: AgentId

    @property
    def _claims(self) -> ClaimVerbs:
        return self.bench.runtime.claim_verbs

    async def claim(self, task: Task, *, start: bool = False) -> ClaimId:
        """Claim the one task that there is for it."""
        (claimed,) = await take(self.bench, bare(self.id), starts=start)
        assert claimed.task.id == task.id
        return claimed.id

    async def start(self, claim_id: ClaimId) -> Answer:
        """Begin."""
        return await self._claims.start(LOCAL, claim_id)

    async def checkpoint(self, claim_id: ClaimId, value: object, spent: Spending = NOTHING) -> Answer:
        """Keep what was reached."""
        return await self._claims.checkpoint(LOCAL, claim_id, json_of(value), spent)

    async def complete(
        self, claim_id: ClaimId, result: object = None, spent: Spending = NOTHING, report: str | None = None
    ) -> Answer:
        """Hand in a result."""
        done = Completion(None if result is None else json_of(result), report_json=report)
        return await self._claims.complete(LOCAL, claim_id, done, spent)

    async def edit(self, claim_id: ClaimId, *edits: tuple[str, object]) -> Answer:
        """Hand in edits."""
        done = Completion(edits=tuple((kind, json_of(payload)) for kind, payload in edits))
        return await self._claims.complete(LOCAL, claim_id, done, NOTHING)

    async def fail(
        self,
        claim_id: ClaimId,
        kind: FailureKind = FailureKind.ERROR,
        spent: Spending = NOTHING,
        *,
        retryable: bool = True,
        retry_after: float | None = None,
    ) -> Answer:
        """Say that it went wrong."""
        failure = Failure(kind, "it went wrong", retry_after=retry_after, may_be_retried=retryable)
        return await self._claims.fail(LOCAL, claim_id, failure, spent)

    async def release(
        self, claim_id: ClaimId, reason: str = "no time", after_seconds: float = 0, checkpoint: object = None
    ) -> Answer:
        """Give it back."""
        kept = None if checkpoint is None else json_of(checkpoint)
        return await self._claims.release(LOCAL, claim_id, Release(reason, after_seconds, kept), NOTHING)

    async def beat(self, *claim_ids: ClaimId, spent: Spending = NOTHING, progress: object = None) -> Heard:
        """Say that it goes on with these."""
        told = None if progress is None else json_of(progress)
        beats = [Beat(claim_id, told, spent) for claim_id in claim_ids]
        return await self.bench.runtime.heartbeats.beat(LOCAL, bare(self.id), beats)

    async def set_status(self, status: AgentStatus) -> None:
        """Let a person say whether it claims."""
        await self.bench.runtime.agents.set_status(LOCAL, bare(self.id), status)

    async def row(self) -> dict[str, Any]:
        """What the ledger knows of it."""
        (row,) = await self.bench.execute("SELECT * FROM agents WHERE id = $1", self.id)
        return row


async def a_holder(bench: Workbench, name: str = "reader", **said: Any) -> Agent:
    """Register an agent; what is not said is as little as possible."""
    given: dict[str, Any] = {
        "kind": None, "title": None, "capabilities": (), "task_types": (WORK["task_type"],), "models": (),
        "max_concurrent_tasks": 100, "version": None, "heartbeat_seconds": None, "start_seconds": 30.0,
    }  # fmt: skip
    day, _ = await bench.runtime.agents.register(LOCAL, name, Registration(**{**given, **said}))
    return Agent(bench, day.agent.id)


async def work(bench: Workbench, **options: Any) -> Task:
    """Submit a task that agents do."""
    given: dict[str, Any] = {**WORK, **options}
    return await bench.a_task(**given)


async def claim_row(bench: Workbench, claim_id: ClaimId) -> dict[str, Any]:
    """What is left of a claim."""
    (row,) = await bench.execute(
        "SELECT *, tokens::text AS tokens, answer::text AS answer, late_result::text AS late_result"
        " FROM agent_claims WHERE claim_id = $1::uuid",
        claim_id,
    )
    return row
