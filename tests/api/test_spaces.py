"""What is of another space, or outside of what a key is narrowed to: every route answers as if it were not there."""

from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Final
from uuid import uuid4

import httpx
import pytest
from fastapi import FastAPI
from fastapi.routing import APIRoute

from officeplane.api.callers import need_of
from officeplane.domain.document import Format
from officeplane.domain.narrowing import Narrowing
from officeplane.domain.principal import Scope
from officeplane.domain.space import Space
from officeplane.formats.blank import blank
from tests.api.client import Api, Json, code_of
from tests.api.spaces import (
    Caller,
    Things,
    a_caller_with,
    a_word,
    as_they_are,
    nothing_like,
    things_of,
)
from tests.api.test_events import stream

JsonBody = Json | list[Json]
A_TASK: Final[Json] = {"taskType": "noop", "documentId": "in-new"}

BY_PATH: Final[Mapping[str, JsonBody | None]] = {
    "getTask": None,
    "explainTask": None,
    "patchTask": {"title": "Another"},
    "cancelTask": {"reason": "Not wanted"},
    "retryTask": None,
    "getDag": None,
    "addTasksToDag": {"tasks": [{"key": "two", **A_TASK}]},
    "cancelDag": None,
    "getDeadLetter": None,
    "resolveDeadLetter": {"note": "Looked at"},
    "getDocument": None,
    "getContent": None,
    "getOutline": None,
    "getText": None,
    "getNode": None,
    "findText": None,
    "getSlide": None,
    "getCells": None,
    "listSheets": None,
    "listChanges": None,
    "listComments": None,
    "listImages": None,
    "getImage": None,
    "listRevisions": None,
    "compareRevisions": None,
    "previewEdit": {"taskType": "add_chapter", "payload": {"title": "One"}},
    "revertDocument": {"toRevision": 1},
    "pauseDocument": None,
    "resumeDocument": None,
    "deleteDocument": None,
    "changeKey": {"scopes": ["read"]},
    "rotateKey": {"overlapSeconds": 60},
    "revokeKey": None,
}
"""What one thing is asked for, or told, by its id, with a body that could be taken. Those that end things come last."""

QUERIES: Final = {"findText": "?text=One", "getCells": "?sheet=One"}
"""What else has to be said besides the path."""

NOT_IN_ALL: Final = {"getNode", "getImage", "getSlide", "getCells", "listSheets"}
"""What not every document has."""

LISTS: Final = {
    "listTasks": ("/api/tasks", "task_id"),
    "listDags": ("/api/dags", "dag_id"),
    "listDeadLetters": ("/api/dead-letters", "letter_id"),
    "listDocuments": ("/api/documents", "document_id"),
    "listKeys": ("/api/keys", "key_id"),
}
"""Where there are many, and by what one is known there."""

BY_BODY: Final = {"submitTask", "submitTasks", "submitDag", "cancelTasks", "retryTasks", "resolveDeadLetters"}
"""What names things in its body."""

OTHERWISE: Final = {
    "createDocument": "what is made has a name of its own space: see the tests of names below",
    "putDocument": "likewise",
    "createKey": "what is made is in the caller's space: tests/api/test_keys.py",
    "listSpaces": "spaces have names that nobody else is told: tests/api/test_quotas.py",
    "showSpace": "likewise",
    "setQuotas": "likewise",
    "startClaim": "a claim is its agent's: tests/api/test_claims.py",
    "saveCheckpoint": "likewise",
    "completeClaim": "likewise",
    "failClaim": "likewise",
    "releaseClaim": "likewise",
    "beat": "likewise",
    "listAudit": "a space has one of its own, which nobody sees a part of: tests/api/test_audit.py",
    "declareTaskType": "a type is one for all spaces, and for whoever may do everything: tests/api/test_task_types.py",
    "removeTaskType": "likewise",
    **dict.fromkeys(
        ("listAgents", "getAgent", "putAgent", "patchAgent", "deleteAgent", "claimTasks", "listAgentClaims"),
        "agents are narrowed by their ids: tests/api/test_agents.py",
    ),
    "followEvents": "it is a stream: see the test of events below",
}
OF_THE_INSTALLATION: Final = {
    "isLive", "isReady", "getSession", "getStats", "getMetrics", "listTaskTypes", "pauseTaskType", "resumeTaskType",
    "listCircuitBreakers", "putCircuitBreaker", "resetCircuitBreaker", "openCircuitBreaker",
    "getLimits", "putLimits", "deleteLimits",
}  # fmt: skip
"""What shows and sets nothing that has an id or a document's name."""


@dataclass(frozen=True, slots=True)
class Operation:
    """One route."""

    id: str
    method: str
    path: str
    need: Scope | None

    def path_to(self, things: Things) -> str:
        """The path to one of these things."""
        task_id = things.letter_id if "dead-letters" in self.path else things.task_id
        query = "?from=1&to=1" if self.id == "compareRevisions" else ""
        known = {"dag_id": things.dag_id, "document_id": things.document_id, "key_id": things.key_id}
        known |= {"node_id": "a-node", "slide_id": "a-slide"}
        return self.path.format(task_id=task_id, **known) + query


@dataclass(frozen=True, slots=True)
class World:
    """What a caller could ask for: its own, and beside each thing that it does not see, one that is not there."""

    caller: Caller
    own: Things
    unseen: Mapping[str, tuple[Things, Things]]


def operations_of(app: FastAPI) -> Iterator[Operation]:
    for route in app.routes:
        if isinstance(route, APIRoute) and route.include_in_schema:
            for method in route.methods or ():
                need = need_of(route.endpoint)
                yield Operation(
                    route.operation_id or route.name, method, route.path, need if isinstance(need, Scope) else None
                )


def test_every_route_has_a_place_in_the_table(app: FastAPI) -> None:
    places = [*BY_PATH, *LISTS, *BY_BODY, *OTHERWISE, *OF_THE_INSTALLATION]

    assert sorted(places) == sorted(operation.id for operation in operations_of(app))


@pytest.fixture(params=["legal", "default"])
def space(request: pytest.FixtureRequest) -> Space:
    """The space that the callers are of."""
    return Space(request.param)


@pytest.fixture(params=[*Scope, None], ids=lambda scope: scope or "all")
async def world(api: Api, space: Space, request: pytest.FixtureRequest) -> AsyncIterator[World]:
    """What a caller with one scope could ask for, or one with all."""
    async with a_world(api, space, list(Scope) if request.param is None else [request.param]) as found:
        yield found


@pytest.fixture
async def whole(api: Api, space: Space) -> AsyncIterator[World]:
    """What a caller with all scopes could ask for."""
    async with a_world(api, space, list(Scope)) as found:
        yield found


@asynccontextmanager
async def a_world(api: Api, space: Space, scopes: Sequence[Scope]) -> AsyncGenerator[World]:
    """A caller with scopes in a space, what is its own, and what is not."""
    async with a_caller_with(api, *scopes, space=space) as caller:
        me = caller.principal
        other, third = (Space(name) for name in ("default", "legal", "sales") if name != space)
        theirs = await things_of(api, replace(me, space=other))
        of_a_third = await things_of(api, replace(me, space=third))
        outside = await things_of(api, me, "out-", only=Narrowing(("*", "-"), ("*",)))
        # Of documents there is no type: this one could be seen.
        of_a_type = replace(await things_of(api, me, "in-", "sleep", only=Narrowing()), document_id=outside.document_id)
        yield World(
            caller,
            await things_of(api, me),
            {
                "another space's": (theirs, nothing_like(theirs)),
                "a third space's": (of_a_third, nothing_like(of_a_third)),
                "outside by its document": (outside, nothing_like(outside, "out-")),
                "outside by its type": (of_a_type, nothing_like(of_a_type, "out-")),
            },
        )


async def said(client: httpx.AsyncClient, method: str, path: str, body: JsonBody | None) -> httpx.Response:
    return await client.request(method, path, json=body)


def same(one: httpx.Response, of: Things, other: httpx.Response, of_nothing: Things) -> bool:
    """Whether two answers are the same but for the ids in them."""
    heads = [{**answer.headers, "content-length": ""} for answer in (one, other)]
    return (one.status_code, of.hidden_in(one.text), heads[0]) == (
        other.status_code,
        of_nothing.hidden_in(other.text),
        heads[1],
    )


async def test_what_is_not_seen_is_answered_as_what_is_not_there_and_stays_as_it_is(
    api: Api, app: FastAPI, world: World
) -> None:
    caller = world.caller
    found = {operation.id: operation for operation in operations_of(app)}
    before = [await as_they_are(api, things) for things, _ in world.unseen.values()]

    for name, body in BY_PATH.items():
        operation = found[name]
        assert operation.need is not None
        for which, (things, nothing) in world.unseen.items():
            query = QUERIES.get(name, "")
            one = await said(caller.client, operation.method, operation.path_to(things) + query, body)
            other = await said(caller.client, operation.method, operation.path_to(nothing) + query, body)
            assert same(one, things, other, nothing), (name, which, one.text, other.text)
            assert one.status_code == (404 if caller.principal.may(operation.need) else 403), (name, which, one.text)
        if name in NOT_IN_ALL:
            continue
        own = await said(caller.client, operation.method, operation.path_to(world.own), body)
        assert (own.status_code in {403, 404}) == (not caller.principal.may(operation.need)), (name, own.text)

    assert [await as_they_are(api, things) for things, _ in world.unseen.values()] == before


async def test_lists_hold_nothing_of_what_is_not_seen(api: Api, whole: World) -> None:
    for things in (whole.own, *(things for things, _ in whole.unseen.values())):
        await have_paused(api, things)

    for path, known_by in LISTS.values():
        for query in ({}, {"paused": "true"}) if known_by == "document_id" else ({},):
            answer = await whole.caller.client.get(path, params={"limit": "500", **query})
            assert answer.status_code == 200
            assert getattr(whole.own, known_by) in answer.text, (path, query)
            for which, (things, _) in whole.unseen.items():
                # A lane is its document's, whatever the types of the tasks in it.
                lane = () if which == "outside by its type" else (things.taken_up,)
                shown = [one for one in (*things.names, *lane) if one in answer.text]
                assert shown == [], (path, query, which)


async def have_paused(api: Api, things: Things) -> None:
    """Have the lanes of things paused, by somebody who may."""
    wide = Narrowing()
    async with a_caller_with(api, Scope.CONTROL, space=things.space, narrowing=wide) as somebody:
        for name in {things.document_id, things.taken_up}:
            answer = await somebody.client.post(f"/api/documents/{name}/pause")
            assert answer.status_code == 200, answer.text


async def test_filters_that_name_what_is_not_seen_find_nothing(whole: World) -> None:
    for which, (things, _) in whole.unseen.items():
        for path, query in (
            ("/api/tasks", {"documentId": things.taken_up}),
            ("/api/tasks", {"parentId": things.task_id}),
            ("/api/dead-letters", {"fingerprint": things.fingerprint}),
            ("/api/keys", {"space": "sales"}),
        ):
            answer = await whole.caller.client.get(path, params=query)
            assert (answer.status_code, answer.json()) == (200, []), (which, path, query)


async def test_whoever_names_what_is_not_seen_is_answered_as_if_it_were_not_there(api: Api, whole: World) -> None:
    before = [await as_they_are(api, things) for things, _ in whole.unseen.values()]
    task: Json = {"taskType": "noop", "documentId": "in-new"}

    def bodies(of: Things) -> list[tuple[str, JsonBody]]:
        waiting: Json = {**task, "dependsOn": [of.task_id]}
        return [
            ("/api/tasks", waiting),
            ("/api/tasks", {**waiting, "dependsOn": [of.letter_id]}),
            ("/api/tasks", {**waiting, "payload": {"a": {"$ref": f"{of.task_id}.b"}}}),
            ("/api/tasks", {"documentId": "in-new", "children": [{"taskType": "noop"}, waiting]}),
            ("/api/tasks/bulk", [task, waiting]),
            ("/api/dags", {"tasks": [{"key": "one", **waiting}]}),
            (f"/api/dags/{whole.own.dag_id}/tasks", {"tasks": [{"key": f"k-{of.task_id}", **waiting}]}),
            ("/api/tasks/cancel", {"documentId": of.taken_up}),
            ("/api/tasks/cancel", {"parentId": of.task_id}),
            ("/api/tasks/retry", {"documentId": of.document_id}),
            ("/api/dead-letters/resolve", {"fingerprint": of.fingerprint, "resolution": "retry"}),
        ]

    for which, (things, nothing) in whole.unseen.items():
        for (path, body), (_, other_body) in zip(bodies(things), bodies(nothing), strict=True):
            one = await whole.caller.client.post(path, json=body)
            other = await whole.caller.client.post(path, json=other_body)
            assert same(one, things, other, nothing), (which, path, body, one.text, other.text)
            assert one.status_code in {404, 422} or one.json() == {"changed": 0, "next": None}, (which, path, one.text)

    assert [await as_they_are(api, things) for things, _ in whole.unseen.values()] == before


async def test_what_is_done_with_many_is_done_with_what_is_seen(api: Api, whole: World) -> None:
    before = [await as_they_are(api, things) for things, _ in whole.unseen.values()]

    cancelled = await whole.caller.client.post("/api/tasks/cancel", json={"state": ["QUEUED", "PENDING", "RUNNING"]})
    retried = await whole.caller.client.post("/api/tasks/retry", json={"state": ["FAILED", "CANCELLED"]})

    assert cancelled.json()["changed"] >= 2
    assert retried.json()["changed"] >= 2
    assert [await as_they_are(api, things) for things, _ in whole.unseen.values()] == before


@pytest.mark.parametrize("name", ["out-new", "default-is-not-it"])
async def test_a_document_outside_is_not_made_whether_it_is_there_or_not(whole: World, name: str) -> None:
    things, _ = whole.unseen["outside by its document"]
    file = blank(Format.DOCX, "Mine")
    for document_id in (name, things.document_id):
        put = await whole.caller.client.put(f"/api/documents/{document_id}", content=file)
        made = await whole.caller.client.post("/api/documents", json={"id": document_id, "format": "docx"})
        assert (code_of(put), code_of(made)) == ((403, "forbidden"), (403, "forbidden"))
    assert code_of(await whole.caller.client.post("/api/documents", json={"format": "docx"})) == (403, "forbidden")


async def test_documents_of_one_name_are_two_in_two_spaces(api: Api) -> None:
    name = f"in-{uuid4()}"
    async with (
        a_caller_with(api, *Scope, space="legal") as one,
        a_caller_with(api, *Scope, space="sales") as other,
        a_caller_with(api, *Scope, space="default") as third,
    ):
        files = [blank(Format.DOCX, "One"), blank(Format.XLSX, "Other"), blank(Format.PPTX, "Third")]
        for caller, file in zip((one, other, third), files, strict=True):
            answer = await caller.client.put(f"/api/documents/{name}", content=file)
            assert (answer.status_code, answer.json()["id"], answer.json()["revision"]) == (201, name, 1)
        for caller, file in zip((one, other, third), files, strict=True):
            assert (await caller.client.get(f"/api/documents/{name}/content")).content == file
        await one.client.post(f"/api/documents/{name}/pause")
        await other.client.delete(f"/api/documents/{name}")

        shown = [(await caller.client.get(f"/api/documents/{name}")) for caller in (one, other, third)]

    assert [answer.status_code for answer in shown] == [200, 404, 200]
    assert [shown[0].json()["paused"], shown[2].json()["paused"]] == [True, False]


async def test_an_idempotency_key_is_of_its_space(api: Api) -> None:
    key = str(uuid4())
    async with a_caller_with(api, *Scope, space="legal") as one, a_caller_with(api, *Scope, space="sales") as other:
        answers = [
            await caller.client.post(path, json=body, headers={"Idempotency-Key": f"{key} {path}"})
            for caller in (one, other, one)
            for path, body in (
                ("/api/tasks", {"taskType": "noop", "documentId": "in-a" if caller is one else "in-b"}),
                ("/api/dags", {"tasks": [{"key": "k", "taskType": "noop", "documentId": "in-a"}]}),
            )
        ]
        differing = await other.client.post(
            "/api/tasks",
            json={"taskType": "noop", "documentId": "in-c"},
            headers={"Idempotency-Key": f"{key} /api/tasks"},
        )

    assert [answer.status_code for answer in answers] == [201, 201, 201, 201, 200, 200]
    ids = [answer.json()["id"] for answer in answers]
    assert ids[:2] == ids[4:]
    assert len(set(ids)) == 4
    assert code_of(differing) == (422, "idempotency_mismatch")
    assert repr(f"{key} /api/tasks") in differing.json()["detail"]


async def test_what_does_the_same_in_another_space_is_no_twin(api: Api) -> None:
    body = {"taskType": "noop", "documentId": f"in-{uuid4()}", "dedupe": "content"}
    async with (
        a_caller_with(api, *Scope, space="legal") as one,
        a_caller_with(api, *Scope, space="sales") as other,
        a_caller_with(api, *Scope, space="default") as third,
    ):
        answers = [await caller.client.post("/api/tasks", json=body) for caller in (one, other, third, one)]

    assert [answer.status_code for answer in answers] == [201, 201, 201, 200]
    assert len({answer.json()["id"] for answer in answers}) == 3


async def test_letters_of_one_cause_are_decided_about_in_their_space(api: Api) -> None:
    message = f"It broke: {a_word()}"
    async with a_caller_with(api, *Scope, space="legal") as one, a_caller_with(api, *Scope, space="sales") as other:
        ids: list[str] = []
        for caller in (one, other):
            task = (
                await caller.client.post("/api/tasks", json={"taskType": "noop", "documentId": f"in-{uuid4()}"})
            ).json()
            await api.fail(task["id"], message)
            ids.append(task["id"])
        letter = (await one.client.get(f"/api/dead-letters/{ids[0]}")).json()
        told = (await other.client.get(f"/api/dead-letters/{ids[1]}")).json()
        assert letter["fingerprint"] == told["fingerprint"]

        done = await one.client.post(
            "/api/dead-letters/resolve", json={"fingerprint": letter["fingerprint"], "resolution": "cancel"}
        )

        assert done.json()["count"] == 1
        assert (await other.client.get(f"/api/dead-letters/{ids[1]}")).json() == told


async def test_a_place_in_a_list_of_another_space_shows_nothing_of_it(api: Api) -> None:
    async with a_caller_with(api, *Scope, space="legal") as one, a_caller_with(api, *Scope, space="sales") as other:
        tasks: dict[str, list[str]] = {"one": [], "other": []}
        for _ in range(3):
            for whose, caller in (("one", one), ("other", other)):
                answer = await caller.client.post("/api/tasks", json=A_TASK)
                tasks[whose].append(answer.json()["id"])
        page = await one.client.get("/api/tasks?limit=1")
        following = page.links["next"]["url"].replace("limit=1", "limit=2")

        theirs = await one.client.get(following)
        ours = await other.client.get(following)

    assert theirs.json()[0]["id"] == tasks["one"][1]
    assert [task["id"] for task in ours.json()] == [tasks["other"][1], tasks["other"][0]]


async def test_events_are_told_to_those_who_see_what_they_are_of(api: Api, url: str) -> None:
    async with (
        a_caller_with(api, *Scope, space="legal") as narrowed,
        a_caller_with(api, *Scope, space="legal", narrowing=Narrowing()) as one,
        a_caller_with(api, *Scope, space="sales", narrowing=Narrowing()) as other,
    ):
        async with stream(url, key=other.key) as events:
            hidden = (await one.client.post("/api/tasks", json=A_TASK)).json()["id"]
            shown = (await other.client.post("/api/tasks", json=A_TASK)).json()["id"]
            told = await events.until("task.queued", shown)
        assert hidden not in str(told)
        last = told[-1].id

        documents = ("out-new", "in-new", "in-new")
        types = ("noop", "sleep", "noop")
        submitted = [
            (
                await one.client.post(
                    "/api/tasks",
                    json={
                        "taskType": task_type,
                        "documentId": document,
                        "payload": {"seconds": 1} if task_type == "sleep" else {},
                    },
                )
            ).json()["id"]
            for document, task_type in zip(documents, types, strict=True)
        ]
        ended = (await other.client.post("/api/tasks", json=A_TASK)).json()["id"]
        for caller, mine, last_mine in (
            (narrowed, submitted[2:], submitted[2]),
            (one, submitted, submitted[2]),
            (other, [ended], ended),
        ):
            # From a place that another space's stream has given.
            async with stream(url, last, key=caller.key) as events:
                told = await events.until("task.queued", last_mine)
            assert {event.data["taskId"] for event in told} == set(mine)
            assert "/" not in "".join(str(event.data["documentId"]) for event in told)
