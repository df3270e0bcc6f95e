"""Agents over HTTP: registered, held back, removed, and given what waits for them."""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from uuid import uuid4

import httpx
import pytest

from officeplane.api.cursors import cursor_after
from officeplane.domain.failure import Failure, FailureKind
from officeplane.domain.narrowing import Narrowing
from officeplane.domain.outcome import Failed
from officeplane.domain.principal import LOCAL, Scope
from officeplane.services.settle.judgement import EndedAttempt
from tests.api.client import Api, Json, code_of, fields_of, json_of, runtime_of
from tests.api.spaces import Caller, a_caller_with, rows_of
from tests.support import eventually

pytestmark = pytest.mark.usefixtures("nothing_for_agents")

SAID: Json = {"capabilities": [], "taskTypes": ["code"], "maxConcurrentTasks": 5}


@pytest.fixture
async def capability(api: Api) -> str:
    """A capability that no task of any other test asks for."""
    return f"c{uuid4()}"


@pytest.fixture
async def agent(api: Api, capability: str) -> str:
    """An agent that gets what its test submits, and nothing else."""
    return await an_agent(api.client, capabilities=[capability])


async def an_agent(client: httpx.AsyncClient, **said: object) -> str:
    name = f"agent-{uuid4()}"
    answer = await client.put(f"/api/agents/{name}", json={**SAID, **said})
    assert answer.status_code == 201, answer.text
    return name


async def a_task(api: Api, capability: str, **fields: object) -> str:
    task = await api.submit(taskType="code", payload={"goal": "It works."}, requiredCapabilities=[capability], **fields)
    return str(task["id"])


async def claimed(client: httpx.AsyncClient, agent: str, key: str | None = None, **asked: object) -> Json:
    heads = {} if key is None else {"Idempotency-Key": key}
    answer = await client.post(f"/api/agents/{agent}/claim", json=asked, headers=heads)
    assert answer.status_code == 200, answer.text
    return json_of(answer)


@asynccontextmanager
async def somebody(api: Api, *scopes: Scope, agents: tuple[str, ...] | None = None) -> AsyncGenerator[Caller]:
    async with a_caller_with(api, *scopes, space="default", narrowing=Narrowing(agents=agents)) as caller:
        yield caller


async def test_an_agent_is_registered_shown_and_replaced(api: Api) -> None:
    name = f"agent-{uuid4()}"
    said = {
        "type": "claude",
        "title": "Reviewer",
        "capabilities": ["security", "python", "python"],
        "taskTypes": ["review", "test"],
        "models": ["large", "small"],
        "maxConcurrentTasks": 2,
        "version": "1.4",
        "heartbeatSeconds": 10,
        "startSeconds": 60,
    }

    first = await api.client.put(f"/api/agents/{name}", json=said)
    second = await api.client.put(f"/api/agents/{name}", json=SAID)

    assert (first.status_code, second.status_code) == (201, 200)
    shown = json_of(first)
    assert {field: shown[field] for field in said} == {**said, "capabilities": ["python", "security"]}
    assert {field: shown[field] for field in ("id", "status", "heldBy", "currentTasks", "today", "registeredBy")} == {
        "id": name,
        "status": "active",
        "heldBy": None,
        "currentTasks": 0,
        "today": {"claims": 0, "completed": 0, "failed": 0, "costUsd": None},
        "registeredBy": "local",
    }
    replaced = json_of(await api.get(f"/api/agents/{name}"))
    assert replaced == json_of(second)
    assert (replaced["type"], replaced["models"], replaced["startSeconds"]) == (None, [], 30)
    assert replaced["heartbeatSeconds"] == 30


@pytest.mark.parametrize(
    ("said", "code", "field", "told"),
    [
        ({"taskTypes": ["reviev"]}, "unknown_task_type", "taskTypes.0", "did you mean 'review'"),
        ({"taskTypes": ["code", "noop"]}, "invalid_request", "taskTypes.1", "Workers do the tasks of type 'noop'"),
        ({"taskTypes": ["add_section"]}, "invalid_request", "taskTypes.0", "Workers do"),
        ({"taskTypes": []}, "invalid_request", "taskTypes", ""),
        ({"capabilities": ["Not So"]}, "invalid_request", "capabilities.0", ""),
        ({"maxConcurrentTasks": 0}, "invalid_request", "maxConcurrentTasks", ""),
        ({"maxConcurrentTasks": 1_001}, "invalid_request", "maxConcurrentTasks", ""),
        ({"heartbeatSeconds": 46}, "invalid_request", "heartbeatSeconds", "at most 45"),
        ({"status": "active"}, "invalid_request", "status", ""),
    ],
)
async def test_what_an_agent_cannot_say_is_refused_and_nothing_is_stored(
    api: Api, said: Json, code: str, field: str, told: str
) -> None:
    name = f"agent-{uuid4()}"

    answer = await api.client.put(f"/api/agents/{name}", json={**SAID, **said})

    assert code_of(answer) == (422, code)
    assert field in fields_of(answer)
    assert told in answer.text
    assert code_of(await api.get(f"/api/agents/{name}")) == (404, "agent_not_found")


async def test_a_registration_makes_an_agent_active_again_unless_a_person_has_paused_it(api: Api) -> None:
    name = await an_agent(api.client)
    path = f"/api/agents/{name}"
    async with somebody(api, Scope.AGENT) as itself, somebody(api, Scope.CONTROL) as person:
        drained = json_of(await itself.client.patch(path, json={"status": "draining"}))
        registered = json_of(await itself.client.put(path, json=SAID))
        paused = json_of(await person.client.patch(path, json={"status": "paused"}))
        again = json_of(await itself.client.put(path, json=SAID))
        refused = await itself.client.patch(path, json={"status": "active"})
        resumed = json_of(await person.client.patch(path, json={"status": "active"}))

    states = [(one["status"], one["heldBy"]) for one in (drained, registered, paused, again, resumed)]
    assert states == [
        ("draining", "agent"),
        ("active", None),
        ("paused", "person"),
        ("paused", "person"),
        ("active", None),
    ]
    assert code_of(refused) == (403, "forbidden")


async def test_who_is_neither_an_agent_nor_controls_them_may_only_look(api: Api) -> None:
    name = await an_agent(api.client)
    async with somebody(api, Scope.READ, Scope.EDIT) as reader:
        assert (await reader.client.get(f"/api/agents/{name}")).status_code == 200
        for answer in (
            await reader.client.patch(f"/api/agents/{name}", json={"status": "paused"}),
            await reader.client.delete(f"/api/agents/{name}"),
            await reader.client.put(f"/api/agents/{name}", json=SAID),
            await reader.client.post(f"/api/agents/{name}/claim", json={}),
            await reader.client.get(f"/api/agents/{name}/claims"),
        ):
            assert code_of(answer) == (403, "forbidden")

    assert json_of(await api.get(f"/api/agents/{name}"))["status"] == "active"


async def test_an_agent_that_is_silent_for_a_lease_is_offline_until_it_is_heard_of(api: Api, agent: str) -> None:
    silent = "UPDATE agents SET last_seen_at = last_seen_at - interval '91 seconds' WHERE id = $1"
    await rows_of(api, silent, agent)
    assert json_of(await api.get(f"/api/agents/{agent}"))["status"] == "offline"

    await claimed(api.client, agent)

    assert json_of(await api.get(f"/api/agents/{agent}"))["status"] == "active"
    await rows_of(api, silent, agent)
    await api.client.patch(f"/api/agents/{agent}", json={"status": "paused"})
    assert json_of(await api.get(f"/api/agents/{agent}"))["status"] == "paused"


async def test_an_agent_that_holds_claims_cannot_be_removed(api: Api, agent: str, capability: str) -> None:
    task_id = await a_task(api, capability)
    await claimed(api.client, agent)

    busy = await api.client.delete(f"/api/agents/{agent}")
    (claim,) = await runtime_of(api.app).claiming.held(LOCAL, agent)
    await runtime_of(api.app).claims.start(claim.task)
    await api.end(claim.task)
    removed = await api.client.delete(f"/api/agents/{agent}")

    assert code_of(busy) == (409, "agent_busy")
    assert "holds 1 claim;" in busy.json()["detail"]
    assert removed.status_code == 204
    assert code_of(await api.get(f"/api/agents/{agent}")) == (404, "agent_not_found")
    assert (await api.task(task_id))["state"] == "COMPLETED"


async def test_agents_are_listed_by_their_ids_page_by_page(api: Api) -> None:
    prefix = f"list-{uuid4()}"
    names = [f"{prefix}-{n}" for n in range(3)]
    async with somebody(api, Scope.AGENT, Scope.READ, agents=(f"{prefix}*",)) as caller:
        for name in reversed(names):
            await caller.client.put(f"/api/agents/{name}", json=SAID)

        first = await caller.client.get("/api/agents?limit=2")
        second = await caller.client.get(first.links["next"]["url"])
        wrong = [
            await caller.client.get("/api/agents", params={"cursor": cursor})
            for cursor in ("/etc", names[0], cursor_after(5))
        ]

    assert [[one["id"] for one in page.json()] for page in (first, second)] == [names[:2], names[2:]]
    assert "next" not in second.links
    assert [code_of(answer) for answer in wrong] == [(400, "invalid_cursor")] * 3


async def test_no_more_agents_are_registered_than_a_space_may_have(api: Api) -> None:
    async with a_caller_with(api, *Scope, space="few", narrowing=Narrowing()) as caller:
        assert (await api.client.put("/api/spaces/few", json={"maxAgents": 1})).status_code == 200
        first, second = await an_agent(caller.client), f"agent-{uuid4()}"

        refused = await caller.client.put(f"/api/agents/{second}", json=SAID)
        again = await caller.client.put(f"/api/agents/{first}", json=SAID)

    assert (code_of(refused), refused.json()["quota"]) == ((429, "overloaded"), "maxAgents")
    assert again.status_code == 200


BY_PATH: Mapping[str, tuple[str, str, Json | None]] = {
    "getAgent": ("GET", "", None),
    "patchAgent": ("PATCH", "", {"status": "paused"}),
    "claimTasks": ("POST", "/claim", {}),
    "listAgentClaims": ("GET", "/claims", None),
    "deleteAgent": ("DELETE", "", None),
}


@pytest.mark.parametrize("operation", BY_PATH)
async def test_another_spaces_agent_and_one_that_a_key_is_not_for_are_answered_as_if_they_were_not_there(
    api: Api, operation: str
) -> None:
    method, rest, body = BY_PATH[operation]
    ours, nothing = await an_agent(api.client), f"agent-{uuid4()}"
    async with (
        a_caller_with(api, *Scope, space="elsewhere", narrowing=Narrowing()) as elsewhere,
        somebody(api, *Scope, agents=("other-*",)) as other,
    ):
        for caller in (elsewhere, other):
            one = await caller.client.request(method, f"/api/agents/{ours}{rest}", json=body)
            another = await caller.client.request(method, f"/api/agents/{nothing}{rest}", json=body)
            assert code_of(one) == (404, "agent_not_found")
            assert one.text.replace(ours, "") == another.text.replace(nothing, "")
            listed = [one["id"] for one in (await caller.client.get("/api/agents?limit=500")).json()]
            assert ours not in listed

    assert json_of(await api.get(f"/api/agents/{ours}"))["status"] == "active"


async def test_a_key_registers_no_agent_that_it_is_not_for(api: Api) -> None:
    name = f"agent-{uuid4()}"
    async with somebody(api, Scope.AGENT, agents=("other-*",)) as other:
        assert code_of(await other.client.put(f"/api/agents/{name}", json=SAID)) == (404, "agent_not_found")

    assert code_of(await api.get(f"/api/agents/{name}")) == (404, "agent_not_found")


async def test_an_agent_of_another_space_may_have_the_same_name(api: Api, agent: str, capability: str) -> None:
    task_id = await a_task(api, capability)
    async with a_caller_with(api, *Scope, space="elsewhere", narrowing=Narrowing()) as elsewhere:
        said = {**SAID, "capabilities": [capability]}
        assert (await elsewhere.client.put(f"/api/agents/{agent}", json=said)).status_code == 201

        assert (await claimed(elsewhere.client, agent))["claims"] == []

    (claim,) = (await claimed(api.client, agent))["claims"]
    assert claim["task"]["id"] == task_id


async def test_a_claim_tells_all_that_an_agent_needs(api: Api, agent: str, capability: str) -> None:
    task_id = await a_task(api, capability, documentId=f"d{uuid4()}", maxRetries=3)

    answer = await claimed(api.client, agent)

    (claim,) = answer["claims"]
    assert answer.keys() == {"claims", "directive", "retryAfterSeconds", "skipped"}
    assert (answer["directive"], answer["retryAfterSeconds"]) == ("continue", None)
    assert answer["skipped"] == dict.fromkeys(("capability", "budget", "model", "paused", "excluded"), False)
    assert claim.keys() == {
        *("claimId", "task", "checkpoint", "previousAttempts", "model"),
        *("leaseUntil", "heartbeatSeconds", "reservedUsd"),
    }
    assert (claim["task"]["id"], claim["task"]["state"], claim["task"]["attempt"]) == (task_id, "CLAIMED", 1)
    assert claim["task"]["payload"] == {"goal": "It works."}
    assert (claim["checkpoint"], claim["previousAttempts"], claim["reservedUsd"]) == (None, [], None)
    assert claim["heartbeatSeconds"] == 30
    shown = json_of(await api.get(f"/api/agents/{agent}"))
    assert (shown["currentTasks"], shown["today"]["claims"]) == (1, 1)


async def test_whoever_tries_next_is_told_of_the_attempts_before(api: Api, agent: str, capability: str) -> None:
    task_id = await a_task(api, capability, maxRetries=9, models=["large"])
    await api.client.put(f"/api/agents/{agent}", json={**SAID, "capabilities": [capability], "models": ["large"]})
    for n in range(4):
        await claimed(api.client, agent)
        await fail(api, agent, f"It broke {n}.", task_id)

    (claim,) = (await claimed(api.client, agent))["claims"]

    assert claim["previousAttempts"] == [
        {
            "attempt": n + 1,
            "kind": "error",
            "message": f"It broke {n}.",
            "agentId": agent,
            "model": "large",
            "lateResult": None,
        }
        for n in (1, 2, 3)
    ]


async def fail(api: Api, agent: str, message: str, task_id: str) -> None:
    """End what an agent holds as a failure, with a retry that is due at once."""
    runtime = runtime_of(api.app)
    (claim,) = await runtime.claiming.held(LOCAL, agent)
    await runtime.claims.start(claim.task)
    failed = EndedAttempt(claim.task, Failed(Failure(FailureKind.ERROR, message)))
    await runtime.settlements.settle([failed], counted_by="test")
    await rows_of(api, "UPDATE tasks SET run_at = now() WHERE id = $1::uuid", task_id)


async def test_a_request_that_is_sent_again_under_its_key_is_answered_with_the_same_claim(
    api: Api, agent: str, capability: str
) -> None:
    await a_task(api, capability)
    await a_task(api, capability)

    first, again = [await claimed(api.client, agent, key="k") for _ in range(2)]
    held = (await api.get(f"/api/agents/{agent}/claims")).json()

    assert [one["claimId"] for one in first["claims"]] == [one["claimId"] for one in again["claims"]]
    assert [one["claimId"] for one in held] == [first["claims"][0]["claimId"]]


@pytest.mark.parametrize(
    ("asked", "field"),
    [({"max": 0}, "max"), ({"max": 33}, "max"), ({"waitSeconds": 61}, "waitSeconds"), ({"tasks": 1}, "tasks")],
)
async def test_what_cannot_be_asked_for_is_refused(api: Api, agent: str, asked: Json, field: str) -> None:
    answer = await api.client.post(f"/api/agents/{agent}/claim", json=asked)

    assert code_of(answer) == (422, "invalid_request")
    assert field in fields_of(answer)


async def test_an_agent_that_waits_gets_what_comes(api: Api, agent: str, capability: str) -> None:
    waiting = asyncio.ensure_future(claimed(api.client, agent, waitSeconds=30))
    await somebody_waits(api)

    task_id = await a_task(api, capability)

    (claim,) = (await waiting)["claims"]
    assert claim["task"]["id"] == task_id


async def test_an_agent_waits_no_longer_than_it_said_and_is_told_why_there_was_nothing(api: Api, agent: str) -> None:
    await a_task(api, f"c{uuid4()}")

    answer = await claimed(api.client, agent, waitSeconds=0.2)

    assert answer["claims"] == []
    assert answer["skipped"]["capability"]


async def test_nothing_is_claimed_for_an_agent_that_has_hung_up(
    url: str, api: Api, agent: str, capability: str
) -> None:
    async with httpx.AsyncClient(base_url=url) as client:
        waiting = asyncio.ensure_future(client.post(f"/api/agents/{agent}/claim", json={"waitSeconds": 30}, timeout=40))
        await somebody_waits(api)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
    await eventually(lambda: nobody_waits(api), what="an end of the wait")

    task_id = await a_task(api, capability)

    assert (await api.task(task_id))["state"] == "QUEUED"
    assert [one["task"]["id"] for one in (await claimed(api.client, agent))["claims"]] == [task_id]


async def test_no_more_agents_wait_than_a_space_may_have_wait(api: Api) -> None:
    async with a_caller_with(api, *Scope, space="few-waits", narrowing=Narrowing()) as caller:
        await api.client.put("/api/spaces/few-waits", json={"maxWaits": 0})
        name = await an_agent(caller.client)

        refused = await caller.client.post(f"/api/agents/{name}/claim", json={"waitSeconds": 1})

        assert (code_of(refused), refused.json()["quota"]) == ((429, "overloaded"), "maxWaits")
        assert (await claimed(caller.client, name))["claims"] == []


async def somebody_waits(api: Api) -> None:
    """Return once an agent waits."""
    await eventually(lambda: waits(api), what="an agent that waits")


async def waits(api: Api) -> bool:
    return runtime_of(api.app).waiting.count > 0


async def nobody_waits(api: Api) -> bool:
    return runtime_of(api.app).waiting.count == 0
