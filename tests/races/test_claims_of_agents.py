"""Two at one claim of an agent: whatever comes first, it ends once, is answered alike again, and is paid in full."""

from collections.abc import Awaitable, Callable, Sequence
from itertools import combinations_with_replacement, pairwise
from typing import Any, Final

import pytest

from officeplane.domain.agent import Registration
from officeplane.domain.agent_claim import Answer, ClaimEndedError, ClaimSettledError
from officeplane.domain.errors import DagEndedError, IllegalStateError
from officeplane.domain.failure import Failure, FailureKind
from officeplane.domain.ids import ClaimId, TaskId
from officeplane.domain.lifecycle import TaskState, is_legal
from officeplane.domain.principal import LOCAL
from officeplane.domain.request import DagRequest
from officeplane.domain.spending import Spending
from officeplane.services.agents.agent_claims import ClaimVerbs, Release
from officeplane.services.agents.claiming import Ask
from officeplane.services.agents.completion import Completion
from officeplane.services.agents.heartbeats import Beat
from tests.races.arena import Act, Arena, Gate, Round, Who
from tests.workbench import Workbench

ROUNDS: Final = 3
COSTS: Final[dict[Who, int]] = {"first": 3, "second": 5}
HELD: Final[dict[TaskId, ClaimId]] = {}
"""The claims that are raced for, by their tasks."""
ENDS: Final = {"complete": "complete", "complete late": "complete", "fail": "fail", "release": "release"}
BOOKS: Final = {"beat", "complete", "complete late", "fail"}

Do = Callable[[ClaimVerbs, ClaimId, Spending], Awaitable[Answer]]


def _verb(name: str, do: Do) -> Act:
    async def action(_arena: Arena, round_: Round, who: Who) -> str:
        return await _said(do, round_, who)

    return Act(name, action)


async def _said(do: Do, round_: Round, who: Who) -> str:
    claim_id = HELD[round_.target]
    try:
        answer = await do(round_.actor(who).runtime.claim_verbs, claim_id, Spending(COSTS[who]))
    except ClaimSettledError:
        return "settled"
    except ClaimEndedError:
        return "lost"
    return "goes on" if answer.state is None else answer.state


def _failure() -> Failure:
    return Failure(FailureKind.ERROR, "it went wrong")


DO: Final[dict[str, Do]] = {
    "start": lambda verbs, claim_id, _: verbs.start(LOCAL, claim_id),
    "complete": lambda verbs, claim_id, spent: verbs.complete(LOCAL, claim_id, Completion("1"), spent),
    "complete late": lambda verbs, claim_id, spent: verbs.complete(LOCAL, claim_id, Completion("1"), spent),
    "fail": lambda verbs, claim_id, spent: verbs.fail(LOCAL, claim_id, _failure(), spent),
    "release": lambda verbs, claim_id, _: verbs.release(LOCAL, claim_id, Release("no time"), Spending()),
}


async def _beat(_arena: Arena, round_: Round, who: Who) -> str:
    beat = Beat(HELD[round_.target], None, Spending(COSTS[who]))
    await round_.actor(who).runtime.heartbeats.beat(LOCAL, "reader", [beat])
    return "done"


async def _cancel(_arena: Arena, round_: Round, who: Who) -> str:
    try:
        await round_.actor(who).runtime.cancellation.cancel(LOCAL, round_.target, None)
    except IllegalStateError:
        return "refused"
    return "accepted"


async def _cancel_dag(_arena: Arena, round_: Round, who: Who) -> str:
    dag_id = round_.tasks[0].dag_id
    assert dag_id is not None
    try:
        await round_.actor(who).runtime.dags.cancel(LOCAL, dag_id, None)
    except DagEndedError:
        return "refused"
    return "accepted"


async def _claim(_arena: Arena, round_: Round, who: Who) -> str:
    taken = await round_.actor(who).runtime.claiming.take(LOCAL, "writer", Ask(starts=True))
    return "something" if taken.claims else "nothing"


async def _lapse(_arena: Arena, wave: Sequence[Round], who: Who) -> str:
    await wave[0].actor(who).worker.redelivery.reap()
    return "done"


ACTS: Final = {
    **{name: _verb(name, do) for name, do in DO.items()},
    "beat": Act("beat", _beat),
    "cancel": Act("cancel", _cancel),
    "cancel its DAG": Act("cancel its DAG", _cancel_dag),
    "claim": Act("claim", _claim),
    "lapse": Act("lapse", wave_action=_lapse),
}


async def arranged(arena: Arena, names: tuple[str, str]) -> list[Round]:
    """Have an agent hold a task in each round, as far along as what is raced for needs it."""
    wave = await arena.rounds(ROUNDS)
    bench = wave[0].first
    for name in ("reader", "writer"):
        said: dict[str, Any] = {
            "kind": None, "title": None, "capabilities": (), "task_types": ("code",), "models": (),
            "max_concurrent_tasks": 1_000, "version": None, "heartbeat_seconds": None, "start_seconds": 30.0,
        }  # fmt: skip
        await bench.runtime.agents.register(LOCAL, name, Registration(**said))
    await bench.execute("DELETE FROM tasks")
    await bench.execute("DELETE FROM events")
    await bench.execute("UPDATE agents SET lapses_in_row = 0")
    HELD.clear()
    rounds = [await _a_round(bench, one) for one in wave]
    for one in rounds:
        (claim,) = (await bench.runtime.claiming.take(LOCAL, "reader", Ask(starts="start" not in names))).claims
        HELD[claim.task.id] = claim.id
        assert claim.task.id == one.target
    if "start" not in names:
        await bench.runtime.heartbeats.beat(LOCAL, "reader", [Beat(claim_id) for claim_id in HELD.values()])
    if {"lapse", "complete late"} & set(names):
        await bench.execute("UPDATE tasks SET lease_until = now() - interval '1 second' WHERE lease_until IS NOT NULL")
    if "complete late" in names:
        await bench.worker.redelivery.reap()
        await bench.execute("UPDATE agent_claims SET beaten_at = now() - interval '1 minute'")
    return rounds


async def _a_round(bench: Workbench, round_: Round) -> Round:
    request = DagRequest.model_validate(
        {"tasks": [{"key": "a", "taskType": "code", "payload": {"goal": "One"}, "documentId": round_.document_id,
                    "requireDecisionReport": False, "retry": {"strategy": "immediate"}}]}
    )  # fmt: skip
    dag_id, _ = await bench.runtime.dags.submit(LOCAL, request)
    (row,) = await bench.execute("SELECT id::text FROM tasks WHERE dag_id = $1::uuid", dag_id)
    task = (await bench.details(row["id"])).task
    return Round((task,), round_.first, round_.second, task.id)


PAIRS: Final = [
    pair for pair in combinations_with_replacement(ACTS, 2) if not {"complete", "complete late"} <= set(pair)
]


@pytest.mark.parametrize("gate", [Gate.ROW, Gate.TABLE], ids=lambda gate: gate.name.lower())
@pytest.mark.parametrize("pair", PAIRS, ids=" and ".join)
async def test_two_at_one_claim_leave_it_ended_once_and_paid_for(
    arena: Arena, pair: tuple[str, str], gate: Gate
) -> None:
    for ahead in ("first", "second") if pair[0] != pair[1] else ("first",):
        await arena.clear()
        wave = await arranged(arena, pair)

        got = await arena.race(wave, (ACTS[pair[0]], ACTS[pair[1]]), gate, ahead)

        for place, round_ in enumerate(wave):
            told = list(zip(pair, [column[place] for column in got], strict=True))
            await assert_whole(round_, told)
        await arena.clear()


async def assert_whole(round_: Round, told: Sequence[tuple[str, str]]) -> None:
    """Check what is left of one claim against what those at it were told."""
    bench, claim_id = round_.first, HELD[round_.target]
    (row,) = await bench.execute(
        "SELECT c.verb, c.answer ->> 'state' AS answered, c.ended_as, c.ended_at IS NULL AS is_open, c.cost_micros,"
        " t.state, t.claim_id = c.claim_id AND t.lease_until IS NOT NULL AS holds, t.result::text AS result"
        " FROM agent_claims c JOIN tasks t ON t.id = c.task_id WHERE c.claim_id = $1::uuid",
        claim_id,
    )
    assert row["is_open"] == bool(row["holds"]), (told, row)
    won = {(ENDS[name], got) for name, got in told if name in ENDS and got in TaskState.__members__}
    assert len(won) <= 1, told
    assert won == ({(row["verb"], row["answered"])} if row["verb"] else set()), (told, row)
    if won:
        assert row["ended_as"] == row["answered"]
    assert not (("cancel", "accepted") in told and row["state"] != "CANCELLED"), (told, row)
    costs = [COSTS[who] for who, (name, _) in zip(COSTS, told, strict=True) if name in BOOKS]
    assert row["cost_micros"] == (max(costs) if costs else None), (told, row)
    assert (row["result"] is not None) == (row["state"] == "COMPLETED"), (told, row)
    steps = [kind.partition(".")[2].upper() for kind in await bench.events(round_.tasks[0])]
    steps = [step for step in steps if step in TaskState.__members__]
    for before, then in pairwise(steps):
        assert is_legal(TaskState(before), TaskState(then)), steps
    assert steps[-1] == row["state"]
    for place, (name, got) in enumerate(told):
        if name in ENDS and (ENDS[name], got) in won:
            who: Who = "first" if place == 0 else "second"
            assert await _said(DO[name], round_, who) == got
    (opened,) = await bench.execute(
        "SELECT count(*) AS n FROM agent_claims c FULL JOIN (SELECT * FROM tasks WHERE lease_until IS NOT NULL) t"
        " ON t.claim_id = c.claim_id WHERE (c.ended_at IS NULL) <> (t.id IS NOT NULL)"
    )
    assert opened["n"] == 0
