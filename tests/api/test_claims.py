"""What agents do with their claims over HTTP: answers, refusals, and money to the last digit."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any, Final
from uuid import uuid4

import httpx
import pytest

from officeplane.domain.agent import Registration
from officeplane.domain.narrowing import NOT_NARROWED, Narrowing
from officeplane.domain.principal import Scope
from officeplane.services.agents.claiming import Ask
from tests.api.client import UNKNOWN_ID, Api, Json, code_of, fields_of, json_of, runtime_of
from tests.api.spaces import Caller, a_caller_with, rows_of

pytestmark = pytest.mark.usefixtures("nothing_for_agents")

WORK: Final[Json] = {"taskType": "code", "payload": {"goal": "It works."}, "requireDecisionReport": False}
BODIES: Final[dict[str, Json]] = {
    "start": {},
    "checkpoint": {"value": {"page": 1}},
    "complete": {"result": 1},
    "fail": {"kind": "error", "message": "it went wrong"},
    "release": {"reason": "no time"},
}
WRONG: Final[list[tuple[str, Json, str]]] = [
    ("checkpoint", {"value": 1, "costUsd": -0.01}, "costUsd"),
    ("checkpoint", {"value": 1, "costUsd": "0.01"}, "costUsd"),
    ("checkpoint", {"value": 1, "costUsd": True}, "costUsd"),
    ("checkpoint", {"value": 1, "costUsd": 1_000_001}, "costUsd"),
    ("checkpoint", {"value": 1, "tokens": {"inputs": 1}}, "tokens.inputs"),
    ("checkpoint", {"value": 1, "tokens": {"input": -1}}, "tokens.input"),
    ("checkpoint", {"value": 1, "tokens": {"input": 1.5}}, "tokens.input"),
    ("checkpoint", {}, "value"),
    ("checkpoint", {"value": None}, ""),
    ("checkpoint", {"value": "x" * 256 * 1024}, ""),
    ("complete", {"result": 1, "edits": [{"taskType": "add_chapter"}]}, ""),
    ("complete", {"edits": []}, "edits"),
    ("complete", {"decisionReport": {"summary": "x"}}, "decisionReport.decisions"),
    ("complete", {"decisionReport": {"summary": "x", "decisions": [{}]}}, "decisionReport.decisions.0.what"),
    ("fail", {"kind": "crash", "message": "x"}, "kind"),
    ("fail", {"kind": "error"}, "message"),
    ("fail", {"kind": "error", "message": "x", "retryAfterSeconds": -1}, "retryAfterSeconds"),
    ("release", {}, "reason"),
    ("release", {"reason": "x", "notBefore": "tomorrow"}, "notBefore"),
    ("start", {"value": 1}, "value"),
]
every_verb = pytest.mark.parametrize("verb", BODIES)


@dataclass(frozen=True, slots=True)
class Hand:
    """An agent in a space of its own, which nothing else of these tests is in."""

    api: Api
    caller: Caller

    @property
    def client(self) -> httpx.AsyncClient:
        """Who it calls as."""
        return self.caller.client

    async def submit(self, **fields: object) -> str:
        """Submit a task that only it can do."""
        answer = await self.client.post("/api/tasks", json={**WORK, **fields})
        assert answer.status_code == 201, answer.text
        return str(json_of(answer)["id"])

    async def claim(self, **fields: object) -> tuple[str, str]:
        """Submit a task and claim it; return the claim and the task."""
        task_id = await self.submit(**fields)
        taken = await runtime_of(self.api.app).claiming.take(self.caller.principal, "reader", Ask())
        (claim,) = taken.claims
        assert claim.task.id == task_id
        return claim.id, task_id

    async def do(self, claim_id: str, verb: str, **more: object) -> httpx.Response:
        """Use a verb, with a body that would do."""
        return await self.client.post(f"/api/claims/{claim_id}/{verb}", json={**BODIES[verb], **more})

    async def raw(self, claim_id: str, verb: str, text: str) -> httpx.Response:
        """Use a verb with a body to the letter."""
        heads = {"Content-Type": "application/json"}
        return await self.client.post(f"/api/claims/{claim_id}/{verb}", content=text, headers=heads)

    async def beat(self, **body: object) -> httpx.Response:
        """Say that it is there."""
        return await self.client.post("/api/agents/reader/heartbeat", json=body)

    async def task(self, task_id: str) -> Json:
        """Return a task as it is shown to it."""
        answer = await self.client.get(f"/api/tasks/{task_id}")
        assert answer.status_code == 200, answer.text
        return json_of(answer)

    async def micros(self, claim_id: str) -> int | None:
        """Return what is booked."""
        (row,) = await rows_of(self.api, "SELECT cost_micros FROM agent_claims WHERE claim_id = $1::uuid", claim_id)
        micros: int | None = row["cost_micros"]
        return micros


@pytest.fixture
async def hand(api: Api) -> AsyncIterator[Hand]:
    """An agent with a key that may do everything."""
    space = f"of-{uuid4().hex[:12]}"
    async with a_caller_with(api, *Scope, space=space, narrowing=NOT_NARROWED) as caller:
        said: dict[str, Any] = {
            "kind": None, "title": None, "capabilities": (), "task_types": ("code",), "models": (),
            "max_concurrent_tasks": 100, "version": None, "heartbeat_seconds": None, "start_seconds": 30.0,
        }  # fmt: skip
        await runtime_of(api.app).agents.register(caller.principal, "reader", Registration(**said))
        yield Hand(api, caller)


async def test_a_claim_is_started_kept_and_completed(hand: Hand) -> None:
    claim_id, task_id = await hand.claim()

    started = await hand.do(claim_id, "start")
    kept = await hand.do(claim_id, "checkpoint")
    beaten = await hand.beat(claims=[{"claimId": claim_id, "progress": {"page": 2}}])
    running = await hand.task(task_id)
    done = await hand.do(claim_id, "complete", costUsd=0.5, tokens={"input": 3, "cachedInput": 4})

    for answer in (started, kept):
        body = json_of(answer)
        assert body.pop("leaseUntil") > running["claimedAt"]
        assert body == {"directive": "continue", "reason": None, "heartbeatSeconds": 30.0, "reservedUsd": None}
    (claim,) = json_of(beaten).pop("claims")
    assert claim.pop("leaseUntil") > running["claimedAt"]
    assert claim == {"claimId": claim_id, "directive": "continue", "reason": None, "reservedUsd": None}
    assert json_of(done) == {
        "directive": "continue",
        "reason": None,
        "leaseUntil": None,
        "heartbeatSeconds": 30.0,
        "reservedUsd": None,
        "state": "COMPLETED",
        "late": False,
    }
    assert (running["state"], running["agentId"], running["workerId"], running["costUsd"]) == (
        "RUNNING",
        "reader",
        None,
        None,
    )
    shown = await hand.task(task_id)
    assert (shown["result"], shown["costUsd"], shown["tokens"]) == (1, 0.5, {"input": 3, "cachedInput": 4})
    assert (await hand.do(claim_id, "complete")).json() == done.json()


@every_verb
async def test_a_claim_that_is_nobodys_or_anothers_is_not_found(api: Api, hand: Hand, verb: str) -> None:
    claim_id, task_id = await hand.claim()
    space = hand.caller.principal.space
    others = (
        a_caller_with(api, *Scope, space="default", narrowing=NOT_NARROWED),
        a_caller_with(api, *Scope, space=space, narrowing=Narrowing(agents=("writer", "read"))),
    )
    told: set[str] = set()
    for stranger in others:
        async with stranger as caller:
            for named in (claim_id, UNKNOWN_ID):
                answer = await caller.client.post(
                    f"/api/claims/{named}/{verb}", json={**BODIES[verb], **({} if verb == "start" else {"costUsd": 1})}
                )
                assert code_of(answer) == (404, "claim_not_found")
                told.add(answer.text.replace(named, "ID"))

    assert len(told) == 1
    assert ((await hand.task(task_id))["state"], await hand.micros(claim_id)) == ("CLAIMED", None)
    assert code_of(await hand.do("no-id", verb)) == (404, "claim_not_found")


@pytest.mark.parametrize("scope", [scope for scope in Scope if scope not in {Scope.AGENT, Scope.ADMIN}])
async def test_only_those_with_the_scope_of_agents_hold_claims(api: Api, hand: Hand, scope: Scope) -> None:
    claim_id, _ = await hand.claim()
    async with a_caller_with(api, scope, space=hand.caller.principal.space, narrowing=NOT_NARROWED) as caller:
        answers = [
            await caller.client.post(f"/api/claims/{claim_id}/{verb}", json=body) for verb, body in BODIES.items()
        ]
        answers.append(await caller.client.post("/api/agents/reader/heartbeat", json={}))

    assert [code_of(answer) for answer in answers] == [(403, "forbidden")] * 6


async def test_a_beat_for_an_agent_that_is_not_there_is_refused_alike(api: Api, hand: Hand) -> None:
    space = hand.caller.principal.space
    async with a_caller_with(api, *Scope, space=space, narrowing=Narrowing(agents=("writer",))) as caller:
        answers = [
            await caller.client.post("/api/agents/reader/heartbeat", json={}),
            await caller.client.post("/api/agents/writer/heartbeat", json={}),
        ]

    assert [code_of(answer) for answer in answers] == [(404, "agent_not_found")] * 2


async def test_who_comes_too_late_is_told_why_and_in_which_state_the_task_is(hand: Hand) -> None:
    settled, _ = await hand.claim()
    await hand.do(settled, "fail", retryable=False)
    lost, task_id = await hand.claim()
    await hand.client.post(f"/api/tasks/{task_id}/cancel")

    refused = await hand.do(settled, "complete", costUsd=0.25)
    gone = await hand.do(lost, "checkpoint", costUsd=0.125)
    told = await hand.beat(claims=[{"claimId": settled}, {"claimId": lost}, {"claimId": "who"}])

    assert code_of(refused) == (409, "claim_settled")
    assert (refused.json()["verb"], refused.json()["state"]) == ("fail", "FAILED")
    assert code_of(gone) == (409, "claim_lost")
    assert (gone.json()["reason"], gone.json()["state"]) == ("cancelled", "CANCELLED")
    assert [await hand.micros(one) for one in (settled, lost)] == [250_000, 125_000]
    assert [(one["directive"], one["reason"]) for one in told.json()["claims"]] == [
        ("cancel", "claim_settled"),
        ("cancel", "cancelled"),
        ("cancel", "claim_not_found"),
    ]


@pytest.mark.parametrize(
    ("spelled", "micros"),
    [
        ("0", 0),
        ("0.1", 100_000),
        ("3", 3_000_000),
        ("1e-7", 1),
        ("1e-300", 1),
        ("0.0000010000000000000000000000000000000000000001", 2),
        ("0.29", 290_000),
        ("4.35", 4_350_000),
        ("1.1e0", 1_100_000),
        ("123456.789012", 123_456_789_012),
        ("999999.9999999", 1_000_000_000_000),
    ],
)
async def test_money_is_booked_as_it_is_written_and_rounded_up_once(hand: Hand, spelled: str, micros: int) -> None:
    claim_id, task_id = await hand.claim()

    for _ in range(3):
        answer = await hand.raw(claim_id, "checkpoint", f'{{"value": 1, "costUsd": {spelled}}}')
        assert answer.status_code == 200, answer.text

    assert await hand.micros(claim_id) == micros
    assert f"{(await hand.task(task_id))['costUsd']:.6f}" == f"{micros // 10**6}.{micros % 10**6:06}"


async def test_what_many_repeats_tell_of_many_claims_adds_up_exactly(hand: Hand) -> None:
    spelled = [f"0.{digits}" for digits in ("1", "01", "000001", "3333333", "7", "123456789")]
    claims = [await hand.claim() for _ in spelled]
    for text in spelled[:2] + spelled[::-1]:
        for (claim_id, _), most in zip(claims, spelled, strict=True):
            if float(text) <= float(most):
                await hand.raw(claim_id, "checkpoint", f'{{"value": 1, "costUsd": {text}}}')
    for claim_id, _ in claims:
        await hand.do(claim_id, "complete")
        await hand.do(claim_id, "complete")

    booked = [await hand.micros(claim_id) for claim_id, _ in claims]
    assert booked == [100_000, 10_000, 1, 333_334, 700_000, 123_457]


@pytest.mark.parametrize(("verb", "body", "field"), WRONG)
async def test_a_body_that_is_wrong_does_nothing(hand: Hand, verb: str, body: Json, field: str) -> None:
    claim_id, task_id = await hand.claim()

    answer = await hand.client.post(f"/api/claims/{claim_id}/{verb}", json=body)

    assert code_of(answer) == (422, "invalid_request"), answer.text
    assert fields_of(answer)[0] == field
    assert (await hand.task(task_id))["state"] == "CLAIMED"


async def test_artifacts_are_for_a_later_version(hand: Hand) -> None:
    claim_id, _ = await hand.claim()

    assert code_of(await hand.do(claim_id, "complete", artifacts=[])) == (422, "not_supported_yet")


async def test_a_large_result_of_many_values_is_taken(hand: Hand) -> None:
    claim_id, task_id = await hand.claim()
    result = {"rows": [[index, 0.1] for index in range(20_000)]}

    assert (await hand.do(claim_id, "complete", result=result)).status_code == 200

    assert (await hand.task(task_id))["result"] == result


async def test_what_does_not_fit_is_refused_with_its_fields_and_the_claim_stands(hand: Hand) -> None:
    claim_id, task_id = await hand.claim(requireDecisionReport=True)

    answer = await hand.do(claim_id, "complete", costUsd=0.5)

    assert code_of(answer) == (422, "decision_report_required")
    assert fields_of(answer) == ["decisionReport"]
    report = {"summary": "Easy.", "decisions": [{"what": "Nothing", "why": "It worked"}], "followUps": ["Rest"]}
    assert (await hand.do(claim_id, "complete", decisionReport=report)).json()["state"] == "COMPLETED"
    shown = await hand.task(task_id)
    assert (shown["decisionReport"], shown["costUsd"]) == (report, 0.5)


async def test_edits_that_cannot_be_done_are_refused(hand: Hand) -> None:
    claim_id, task_id = await hand.claim()

    answer = await hand.client.post(f"/api/claims/{claim_id}/complete", json={"edits": [{"taskType": "add_chapter"}]})

    assert code_of(answer) == (422, "invalid_edit")
    assert (await hand.task(task_id))["state"] == "RUNNING"


async def test_a_failed_attempt_is_shown_with_its_agent_and_what_it_cost(hand: Hand) -> None:
    claim_id, task_id = await hand.claim()
    await hand.do(claim_id, "fail", costUsd=0.75, tokens={"output": 9}, retryAfterSeconds=1_000)

    (failure,) = (await hand.task(task_id))["failures"]

    assert (failure["agentId"], failure["workerId"], failure["costUsd"]) == ("reader", None, 0.75)
    assert (failure["tokens"], failure["model"], failure["lateResult"]) == ({"output": 9}, None, None)


async def test_what_is_given_back_until_later_waits_until_then(hand: Hand) -> None:
    claim_id, task_id = await hand.claim()

    answer = await hand.do(claim_id, "release", notBefore="2999-01-01T00:00:00Z")

    assert answer.json()["state"] == "RETRYING"
    assert (await hand.task(task_id))["runAt"] > "2998"


async def test_a_beat_that_waits_is_answered_when_a_task_is_cancelled(hand: Hand) -> None:
    claim_id, task_id = await hand.claim()
    waiting = asyncio.create_task(hand.beat(claims=[{"claimId": claim_id}], waitSeconds=60))
    await hand.client.post(f"/api/tasks/{task_id}/cancel")

    async with asyncio.timeout(20):
        told = json_of(await waiting)

    assert (told["claims"][0]["directive"], told["claims"][0]["reason"]) == ("cancel", "cancelled")


async def test_a_claim_is_named_once_in_a_beat(hand: Hand) -> None:
    answer = await hand.beat(claims=[{"claimId": "one"}, {"claimId": "one"}])

    assert code_of(answer) == (422, "invalid_request")


async def test_a_cancelled_task_of_an_agent_is_answered_as_cancelled(hand: Hand) -> None:
    _, task_id = await hand.claim()

    answer = await hand.client.post(f"/api/tasks/{task_id}/cancel")

    assert (answer.status_code, answer.json()["state"]) == (200, "CANCELLED")
