"""The audit over HTTP: every route that changes anything leaves one row, in the transaction of the change."""

import json
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any, Final
from uuid import uuid4

import asyncpg
import httpx
import pytest
from fastapi import FastAPI
from fastapi.routing import APIRoute

from officeplane.domain.audit import Action
from officeplane.domain.document import Format
from officeplane.domain.narrowing import Narrowing
from officeplane.domain.principal import LOCAL, Scope
from officeplane.formats.blank import blank
from officeplane.services.access.api_keys import new_key_text
from officeplane.services.access.sessions import new_token
from officeplane.services.agents.claiming import Ask
from officeplane.store.connection import Connection
from tests.api.client import UNKNOWN_ID, Api, Json, a_key, code_of, json_of, runtime_of, stranger_to
from tests.api.spaces import a_caller_with

ADDRESS: Final = "203.0.113.7"
SECRET: Final = "what-nobody-is-to-read"
CHAPTER: Final = {"title": SECRET}
AN_AGENT: Final = {"capabilities": [], "taskTypes": ["code"], "maxConcurrentTasks": 1}


@dataclass(frozen=True, slots=True)
class Wish:
    """A request that changes something, and what becomes of it in the audit: its action and what that was done to."""

    method: str
    path: str
    action: Action | None
    about: str | None
    """None: what the answer tells the id of."""
    body: object = None
    content: bytes | None = None

    async def asked(self, client: httpx.AsyncClient, path: str | None = None) -> httpx.Response:
        target = self.path if path is None else path
        if self.content is not None:
            return await client.request(self.method, target, content=self.content)
        return await client.request(self.method, target, json=self.body)


async def a_task(api: Api, **fields: object) -> str:
    return str((await api.submit(**fields))["id"])


async def a_failed_task(api: Api, message: str = "It broke.") -> str:
    task_id = await a_task(api)
    await api.fail(task_id, message)
    return task_id


async def a_document(api: Api) -> str:
    name = f"doc-{str(uuid4())[:8]}"
    response = await api.post("/api/documents", {"id": name, "format": "docx", "title": SECRET})
    assert response.status_code == 201, response.text
    return name


async def a_dag(api: Api) -> str:
    response = await api.post("/api/dags", {"tasks": [{"key": "a", "taskType": "noop"}]})
    return str(json_of(response)["id"])


async def a_made_key(api: Api) -> str:
    return str(json_of(await api.post("/api/keys", {"name": f"bot-{uuid4()}", "scopes": ["read"]}))["id"])


async def submit_task(api: Api) -> Wish:
    body = {"taskType": "add_chapter", "documentId": await a_document(api), "payload": CHAPTER}
    return Wish("POST", "/api/tasks", Action.SUBMIT_TASK, None, body)


async def submit_tasks(_: Api) -> Wish:
    return Wish("POST", "/api/tasks/bulk", Action.SUBMIT_TASK, None, [{"taskType": "noop"}] * 3)


async def cancel_tasks(api: Api) -> Wish:
    tag = str(uuid4())
    task_id = await a_task(api, tags=[tag])
    return Wish("POST", "/api/tasks/cancel", Action.CANCEL_TASKS, task_id, {"tag": tag})


async def retry_tasks(api: Api) -> Wish:
    tag = str(uuid4())
    task_id = await a_task(api, tags=[tag])
    await api.fail(task_id)
    return Wish("POST", "/api/tasks/retry", Action.RETRY_TASKS, task_id, {"tag": tag})


async def patch_task(api: Api) -> Wish:
    task_id = await a_task(api)
    return Wish("PATCH", f"/api/tasks/{task_id}", Action.PATCH_TASK, task_id, {"priority": 3, "tags": ["x"]})


async def cancel_task(api: Api) -> Wish:
    task_id = await a_task(api)
    return Wish("POST", f"/api/tasks/{task_id}/cancel", Action.CANCEL_TASK, task_id)


async def retry_task(api: Api) -> Wish:
    task_id = await a_failed_task(api)
    return Wish("POST", f"/api/tasks/{task_id}/retry", Action.RETRY_TASK, task_id)


async def submit_dag(_: Api) -> Wish:
    body = {"tasks": [{"key": "a", "taskType": "noop"}, {"key": "b", "taskType": "noop", "dependsOn": ["a"]}]}
    return Wish("POST", "/api/dags", Action.SUBMIT_DAG, None, body)


async def add_to_dag(api: Api) -> Wish:
    dag_id = await a_dag(api)
    return Wish(
        "POST", f"/api/dags/{dag_id}/tasks", Action.ADD_TO_DAG, dag_id, {"tasks": [{"key": "z", "taskType": "noop"}]}
    )


async def cancel_dag(api: Api) -> Wish:
    dag_id = await a_dag(api)
    return Wish("POST", f"/api/dags/{dag_id}/cancel", Action.CANCEL_DAG, dag_id)


async def create_document(_: Api) -> Wish:
    body = {"id": f"doc-{str(uuid4())[:8]}", "format": "docx", "title": SECRET}
    return Wish("POST", "/api/documents", Action.CREATE_DOCUMENT, str(body["id"]), body)


async def put_document(_: Api) -> Wish:
    name = f"doc-{str(uuid4())[:8]}"
    content = blank(Format.DOCX, SECRET)
    return Wish("PUT", f"/api/documents/{name}", Action.UPLOAD_DOCUMENT, name, content=content)


async def delete_document(api: Api) -> Wish:
    name = await a_document(api)
    # What waits for it goes with it, by nobody's deed.
    await a_task(api, documentId=name)
    return Wish("DELETE", f"/api/documents/{name}", Action.DELETE_DOCUMENT, name)


async def revert_document(api: Api) -> Wish:
    name = await a_document(api)
    return Wish("POST", f"/api/documents/{name}/revert", Action.REVERT_DOCUMENT, name, {"toRevision": 1})


async def preview_edit(api: Api) -> Wish:
    name = await a_document(api)
    return Wish("POST", f"/api/documents/{name}/preview", None, None, {"taskType": "add_chapter", "payload": CHAPTER})


async def pause_document(api: Api) -> Wish:
    name = await a_document(api)
    return Wish("POST", f"/api/documents/{name}/pause", Action.PAUSE_DOCUMENT, name)


async def resume_document(api: Api) -> Wish:
    name = await a_document(api)
    await api.post(f"/api/documents/{name}/pause")
    return Wish("POST", f"/api/documents/{name}/resume", Action.RESUME_DOCUMENT, name)


async def declare_type(_: Api) -> Wish:
    name = f"type-{uuid4()}"
    return Wish("PUT", f"/api/task-types/{name}", Action.DECLARE_TYPE, name, {"title": "Say it again"})


async def remove_type(api: Api) -> Wish:
    name = f"type-{uuid4()}"
    await api.client.put(f"/api/task-types/{name}", json={"title": "Say it again"})
    return Wish("DELETE", f"/api/task-types/{name}", Action.REMOVE_TYPE, name)


async def pause_type(_: Api) -> Wish:
    return Wish("POST", "/api/task-types/sleep/pause", Action.PAUSE_TYPE, "sleep")


async def resume_type(_: Api) -> Wish:
    return Wish("POST", "/api/task-types/sleep/resume", Action.RESUME_TYPE, "sleep")


async def set_breaker(_: Api) -> Wish:
    return Wish("PUT", "/api/circuit-breakers/sleep", Action.SET_BREAKER, "sleep", {"failureThreshold": 3})


async def open_breaker(_: Api) -> Wish:
    return Wish("POST", "/api/circuit-breakers/sleep/open", Action.OPEN_BREAKER, "sleep")


async def reset_breaker(_: Api) -> Wish:
    return Wish("POST", "/api/circuit-breakers/sleep/reset", Action.RESET_BREAKER, "sleep")


async def set_limits(_: Api) -> Wish:
    return Wish("PUT", "/api/limits/sleep", Action.SET_LIMITS, "sleep", {"concurrency": 4})


async def lift_limits(_: Api) -> Wish:
    return Wish("DELETE", "/api/limits/sleep", Action.LIFT_LIMITS, "sleep")


async def resolve_letter(api: Api) -> Wish:
    task_id = await a_failed_task(api)
    body: Json = {"resolution": "modify_and_retry", "payload": {}, "note": "so be it"}
    return Wish("POST", f"/api/dead-letters/{task_id}/resolve", Action.RESOLVE_LETTER, task_id, body)


async def resolve_letters(api: Api) -> Wish:
    # Numbers are no difference between failures.
    task_id = await a_failed_task(api, "".join(chr(97 + int(digit, 16)) for digit in uuid4().hex))
    letter = json_of(await api.get(f"/api/dead-letters/{task_id}"))
    body = {"fingerprint": letter["fingerprint"], "resolution": "cancel"}
    return Wish("POST", "/api/dead-letters/resolve", Action.RESOLVE_LETTERS, task_id, body)


async def create_key(_: Api) -> Wish:
    return Wish("POST", "/api/keys", Action.CREATE_KEY, None, {"name": f"bot-{uuid4()}", "scopes": ["read"]})


async def change_key(api: Api) -> Wish:
    key_id = await a_made_key(api)
    return Wish("PATCH", f"/api/keys/{key_id}", Action.CHANGE_KEY, key_id, {"documents": ["plan-*"]})


async def rotate_key(api: Api) -> Wish:
    key_id = await a_made_key(api)
    return Wish("POST", f"/api/keys/{key_id}/rotate", Action.ROTATE_KEY, key_id)


async def revoke_key(api: Api) -> Wish:
    key_id = await a_made_key(api)
    return Wish("DELETE", f"/api/keys/{key_id}", Action.REVOKE_KEY, key_id)


async def set_quotas(_: Api) -> Wish:
    return Wish("PUT", "/api/spaces/default", Action.LIMIT_SPACE, "default", {"maxDocuments": None})


async def an_agent(api: Api) -> str:
    name = f"agent-{uuid4()}"
    assert (await api.client.put(f"/api/agents/{name}", json=AN_AGENT)).status_code == 201
    return name


async def put_agent(_: Api) -> Wish:
    name = f"agent-{uuid4()}"
    return Wish("PUT", f"/api/agents/{name}", Action.REGISTER_AGENT, name, AN_AGENT)


async def patch_agent(api: Api) -> Wish:
    name = await an_agent(api)
    return Wish("PATCH", f"/api/agents/{name}", Action.CHANGE_AGENT, name, {"status": "paused"})


async def delete_agent(api: Api) -> Wish:
    name = await an_agent(api)
    return Wish("DELETE", f"/api/agents/{name}", Action.DELETE_AGENT, name)


async def claim_tasks(api: Api) -> Wish:
    name = await an_agent(api)
    await a_task(api, taskType="code", payload={"goal": SECRET})
    return Wish("POST", f"/api/agents/{name}/claim", Action.CLAIM_TASKS, name, {"max": 1})


async def a_claim(api: Api) -> tuple[str, str]:
    """The name of an agent, and a claim that it holds."""
    name = await an_agent(api)
    await a_task(api, taskType="code", payload={"goal": SECRET})
    (claim,) = (await runtime_of(api.app).claiming.take(LOCAL, name, Ask())).claims
    return name, claim.id


async def start_claim(api: Api) -> Wish:
    _, claim_id = await a_claim(api)
    return Wish("POST", f"/api/claims/{claim_id}/start", None, None, {})


async def save_checkpoint(api: Api) -> Wish:
    _, claim_id = await a_claim(api)
    return Wish("POST", f"/api/claims/{claim_id}/checkpoint", None, None, {"value": SECRET})


async def beat(api: Api) -> Wish:
    name, claim_id = await a_claim(api)
    return Wish("POST", f"/api/agents/{name}/heartbeat", None, None, {"claims": [{"claimId": claim_id}]})


async def complete_claim(api: Api) -> Wish:
    _, claim_id = await a_claim(api)
    body: Json = {"result": SECRET, "decisionReport": {"summary": SECRET, "decisions": []}}
    return Wish("POST", f"/api/claims/{claim_id}/complete", Action.COMPLETE_CLAIM, claim_id, body)


async def fail_claim(api: Api) -> Wish:
    _, claim_id = await a_claim(api)
    body = {"kind": "permanent", "message": SECRET}
    return Wish("POST", f"/api/claims/{claim_id}/fail", Action.FAIL_CLAIM, claim_id, body)


async def release_claim(api: Api) -> Wish:
    _, claim_id = await a_claim(api)
    return Wish("POST", f"/api/claims/{claim_id}/release", Action.RELEASE_CLAIM, claim_id, {"reason": SECRET})


WISHES: Final[Mapping[str, Callable[[Api], Awaitable[Wish]]]] = {
    "submitTask": submit_task,
    "submitTasks": submit_tasks,
    "cancelTasks": cancel_tasks,
    "retryTasks": retry_tasks,
    "patchTask": patch_task,
    "cancelTask": cancel_task,
    "retryTask": retry_task,
    "submitDag": submit_dag,
    "addTasksToDag": add_to_dag,
    "cancelDag": cancel_dag,
    "createDocument": create_document,
    "putDocument": put_document,
    "deleteDocument": delete_document,
    "revertDocument": revert_document,
    "previewEdit": preview_edit,
    "pauseDocument": pause_document,
    "resumeDocument": resume_document,
    "declareTaskType": declare_type,
    "removeTaskType": remove_type,
    "pauseTaskType": pause_type,
    "resumeTaskType": resume_type,
    "putCircuitBreaker": set_breaker,
    "openCircuitBreaker": open_breaker,
    "resetCircuitBreaker": reset_breaker,
    "putLimits": set_limits,
    "deleteLimits": lift_limits,
    "resolveDeadLetter": resolve_letter,
    "resolveDeadLetters": resolve_letters,
    "createKey": create_key,
    "changeKey": change_key,
    "rotateKey": rotate_key,
    "revokeKey": revoke_key,
    "setQuotas": set_quotas,
    "putAgent": put_agent,
    "patchAgent": patch_agent,
    "deleteAgent": delete_agent,
    "claimTasks": claim_tasks,
    "startClaim": start_claim,
    "saveCheckpoint": save_checkpoint,
    "beat": beat,
    "completeClaim": complete_claim,
    "failClaim": fail_claim,
    "releaseClaim": release_claim,
}
"""For every operation that is no GET, how it is asked for so that it succeeds; nothing changes with a preview."""
GOES_ON: Final = {"previewEdit", "startClaim", "saveCheckpoint", "beat"}
"""No deeds: nothing changes with a preview, and the rest is how the work goes that was claimed."""
ENDS: Final = {"completeClaim", "failClaim", "releaseClaim"}
"""Before these end anything, their agent has been heard of, and that stays."""
OF_BROWSERS: Final = {"log_in", "log_out"}
"""Forms of pages: who sends them is known by no key. See the tests of sessions below."""
LEAVES_NO_ROW_BEHIND: Final = {"resumeDocument", "deleteAgent"}
"""What these change is that a row is gone, or nothing: no other row tells in which transaction."""


@pytest.fixture
async def ledger(api: Api) -> AsyncIterator[Connection]:
    """A connection of the test's own."""
    connection = await asyncpg.connect(api.settings.database_url)
    try:
        yield connection
        # Other tests look at all types there are.
        for row in await connection.fetch("SELECT name FROM task_types"):
            await api.client.delete(f"/api/task-types/{row['name']}")
    finally:
        await connection.close()


@pytest.fixture
async def admin(app: FastAPI) -> AsyncIterator[httpx.AsyncClient]:
    """Somebody who calls from elsewhere with a key that may do everything."""
    async with stranger_to(app, await a_key(app, Scope.ADMIN), address=ADDRESS) as client:
        yield client


async def audited(ledger: Connection, after: int) -> list[dict[str, Any]]:
    rows = await ledger.fetch(
        "SELECT *, xmin::text AS transaction, audit::text AS said FROM audit WHERE seq > $1 ORDER BY seq", after
    )
    return [dict(row) for row in rows]


async def last(ledger: Connection) -> int:
    return int(await ledger.fetchval("SELECT coalesce(max(seq), 0) FROM audit"))


async def tables(ledger: Connection) -> list[str]:
    rows = await ledger.fetch("SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'audit'")
    return [row["tablename"] for row in rows]


@asynccontextmanager
async def a_broken_audit(ledger: Connection) -> AsyncGenerator[None]:
    """Have no row come into the audit; the fault comes at the very end of a transaction, when everything is written."""
    await ledger.execute(
        """CREATE FUNCTION break_audit() RETURNS trigger LANGUAGE plpgsql AS
           'BEGIN RAISE EXCEPTION ''broken'' USING ERRCODE = ''data_exception''; END';
           CREATE CONSTRAINT TRIGGER broken AFTER INSERT ON audit DEFERRABLE INITIALLY DEFERRED
           FOR EACH ROW EXECUTE FUNCTION break_audit()"""
    )
    try:
        yield
    finally:
        await ledger.execute("DROP TRIGGER broken ON audit; DROP FUNCTION break_audit()")


async def everything(ledger: Connection) -> dict[str, str]:
    """Return what stands for all that there is in each table."""
    # When keys were used last is noted now and then.
    row = "(to_jsonb(t) - 'last_used_at')::text"
    query = f"SELECT coalesce(md5(string_agg({row}, ',' ORDER BY {row})), '') FROM {{}} t"  # noqa: S608
    return {name: await ledger.fetchval(query.format(name)) for name in [*await tables(ledger), "audit"]}


def ids_in(told: Json | list[Json]) -> object:
    return [one["id"] for one in told] if isinstance(told, list) else told["id"]


def operations(app: FastAPI) -> dict[str, APIRoute]:
    return {
        route.operation_id or route.name: route
        for route in app.routes
        if isinstance(route, APIRoute) and not (route.methods or set()) & {"GET", "HEAD"}
    }


def test_every_operation_that_is_no_get_is_tried_here(app: FastAPI) -> None:
    assert operations(app).keys() == {*WISHES, *OF_BROWSERS}


@pytest.mark.parametrize("operation", WISHES)
async def test_a_change_leaves_one_row_in_its_own_transaction_that_tells_whose_it_was(
    api: Api, admin: httpx.AsyncClient, ledger: Connection, operation: str
) -> None:
    wish = await WISHES[operation](api)
    before = await last(ledger)

    answer = await wish.asked(admin)

    assert answer.is_success, answer.text
    rows = await audited(ledger, before)
    if wish.action is None:
        assert rows == []
        return
    (row,) = rows
    key_id = await ledger.fetchval("SELECT id FROM api_keys WHERE 'key:' || name = $1", row["caller"])
    assert (row["kind"], row["address"], row["key_id"], row["space"]) == ("key", ADDRESS, key_id, "default")
    assert row["action"] == wish.action
    done_to = wish.about or ids_in(answer.json())
    task_ids = [str(one) for one in row["task_ids"] or ()]
    assert done_to in (row["target"], task_ids, *task_ids)
    assert SECRET not in row["said"]
    assert "opk_" not in row["said"]
    if operation not in LEAVES_NO_ROW_BEHIND:
        together = [
            name
            for name in await tables(ledger)
            if await ledger.fetchval(
                f"SELECT EXISTS (SELECT FROM {name} WHERE xmin::text = $1)",  # noqa: S608
                row["transaction"],
            )
        ]
        assert together, "what was changed was changed in another transaction"


@pytest.mark.parametrize("operation", sorted(ENDS))
async def test_an_end_that_cannot_be_kept_in_the_audit_is_none(
    api: Api, admin: httpx.AsyncClient, ledger: Connection, operation: str
) -> None:
    wish = await WISHES[operation](api)

    async with a_broken_audit(ledger):
        assert (await wish.asked(admin)).is_error

    assert await ledger.fetchval("SELECT ended_at FROM agent_claims WHERE claim_id = $1::uuid", wish.about) is None
    assert (await wish.asked(admin)).is_success


@pytest.mark.parametrize("operation", [name for name in WISHES if name not in GOES_ON | ENDS])
async def test_what_cannot_be_kept_in_the_audit_is_not_done(
    api: Api, admin: httpx.AsyncClient, ledger: Connection, operation: str
) -> None:
    wish = await WISHES[operation](api)
    async with a_broken_audit(ledger):
        before = await everything(ledger)
        answer = await wish.asked(admin)
        after = await everything(ledger)

    assert answer.is_error, answer.text
    assert after == before


@pytest.mark.parametrize("operation", WISHES)
async def test_what_is_refused_leaves_no_row(
    api: Api, app: FastAPI, admin: httpx.AsyncClient, ledger: Connection, operation: str
) -> None:
    wish = await WISHES[operation](api)
    route = operations(app)[operation]
    before = await last(ledger)

    answers = [await wish.asked(admin, f"{wish.path}?nonsense=1")]
    if operation != "previewEdit":
        async with stranger_to(app, await a_key(app, Scope.READ)) as reader:
            # Made just now, by this test: the key is in the audit, and what it asks for is not.
            before = await last(ledger)
            answers.append(await wish.asked(reader))
    if "{" in route.path:
        nobody = {"task_id": UNKNOWN_ID, "dag_id": UNKNOWN_ID, "key_id": UNKNOWN_ID, "document_id": "none-such"}
        nobody |= {"name": "nobody", "agent_id": "-no-name", "claim_id": UNKNOWN_ID}
        if operation in {"putDocument", "declareTaskType"}:
            nobody |= {"document_id": "-no-name", "name": "-no-name"}
        answers.append(await wish.asked(admin, route.path.format(task_type="none.such", **nobody)))

    assert [answer.is_error for answer in answers] == [True] * len(answers), [answer.text for answer in answers]
    assert await audited(ledger, before) == []


async def test_a_request_that_is_repeated_leaves_no_second_row(api: Api, ledger: Connection) -> None:
    body = {"taskType": "noop", "idempotencyKey": str(uuid4())}
    await api.post("/api/tasks", body)
    before = await last(ledger)

    again = await api.post("/api/tasks", body)

    assert again.headers["Idempotency-Replayed"] == "true"
    assert await audited(ledger, before) == []


async def page(client: httpx.AsyncClient, **query: str | int) -> list[Json]:
    response = await client.get("/api/audit", params=query)
    assert response.status_code == 200, response.text
    deeds: list[Json] = response.json()
    return deeds


async def test_the_audit_shows_who_did_what_for_whom_from_where_and_what_it_was_before(
    api: Api, admin: httpx.AsyncClient
) -> None:
    task = json_of(await admin.post("/api/tasks", json={"taskType": "noop", "onBehalfOf": "ann", "priority": 40}))
    await admin.patch(f"/api/tasks/{task['id']}", json={"priority": 3})

    patched, submitted = await page(admin, target=task["id"])

    assert submitted == {
        "id": submitted["id"],
        "at": submitted["at"],
        "space": "default",
        "by": task["createdBy"],
        "kind": "key",
        "onBehalfOf": "ann",
        "keyId": submitted["keyId"],
        "address": ADDRESS,
        "action": "task.submit",
        "target": None,
        "taskIds": [task["id"]],
        "tasks": 1,
        "before": None,
        "after": None,
    }
    assert (patched["action"], patched["before"], patched["after"]) == (
        "task.patch",
        {"priority": 40},
        {"priority": 3},
    )
    key = [one for one in (await api.get("/api/keys", limit=500)).json() if one["id"] == submitted["keyId"]]
    assert [f"key:{one['name']}" for one in key] == [task["createdBy"]]


async def test_deeds_are_found_by_every_filter_and_page_by_page(admin: httpx.AsyncClient) -> None:
    name = f"doc-{str(uuid4())[:8]}"
    await admin.post("/api/documents", json={"id": name, "format": "docx"})
    for deed in ("pause", "resume", "pause"):
        await admin.post(f"/api/documents/{name}/{deed}")
    whole = await page(admin, target=name)
    me = whole[0]["by"]

    assert [deed["action"] for deed in whole] == [
        "document.pause", "document.resume", "document.pause", "document.create",
    ]  # fmt: skip
    assert await page(admin, by=me) == whole
    assert [deed["id"] for deed in await page(admin, by=me, action="document.resume")] == [whole[1]["id"]]
    assert await page(admin, by=me, target=name, action="document.delete") == []
    assert await page(admin, by="key:nobody") == []
    assert await page(admin, by=me, until=whole[-1]["at"]) == []
    assert await page(admin, target=name, since="2100-01-01T00:00:00Z") == []
    assert await page(admin, target=name, since="2000-01-01T00:00:00Z", until="2100-01-01T00:00:00Z") == whole
    assert await page(admin, target=name, space="elsewhere") == []

    for filters in ({"target": name}, {"by": me}):
        found: list[Json] = []
        following = f"/api/audit?{next(iter(filters))}={next(iter(filters.values()))}&limit=1"
        while following:
            answer = await admin.get(following)
            found += answer.json()
            following = answer.links.get("next", {}).get("url", "")
        assert found == whole


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("action=task.eat", (422, "invalid_parameter")),
        ("since=yesterday", (422, "invalid_parameter")),
        ("since=2030-01-01T00:00:00", (422, "invalid_parameter")),
        ("space=No+Name", (422, "invalid_parameter")),
        ("cursor=x", (422, "invalid_cursor")),
        ("who=ann", (422, "invalid_parameter")),
    ],
)
async def test_what_the_audit_cannot_be_asked_is_refused(
    admin: httpx.AsyncClient, query: str, code: tuple[int, str]
) -> None:
    refused = await admin.get(f"/api/audit?{query}")

    assert code_of(refused)[1] == code[1], json.dumps(refused.json())


async def test_who_logs_in_and_out_leaves_a_row_for_each_that_tells_from_where(
    app: FastAPI, ledger: Connection
) -> None:
    runtime = runtime_of(app)
    key = await runtime.api_keys.create(LOCAL, f"bot-{uuid4()}", [Scope.READ])
    before = await last(ledger)

    link = await runtime.login_links.create(replace(LOCAL, on_behalf_of="ann"), [Scope.EDIT])
    for fields in ({"token": link.token}, {"key": key.text}):
        async with stranger_to(app, address=ADDRESS) as browser:
            browser.headers.update({"Origin": "http://localhost", "Sec-Fetch-Site": "same-origin"})
            assert (await browser.post("/login", data=fields)).status_code == 303
            assert (await browser.post("/logout")).status_code == 303

    ann, bot = "person:link:local:ann", f"person:key:{key.key.name}"
    rows = await audited(ledger, before)
    assert [(row["action"], row["caller"], row["kind"], row["target"], row["address"]) for row in rows] == [
        ("login-link.create", "local", "local", ann, None),
        ("session.begin", ann, "person", ann, ADDRESS),
        ("session.end", ann, "person", ann, ADDRESS),
        ("session.begin", bot, "person", bot, ADDRESS),
        ("session.end", bot, "person", bot, ADDRESS),
    ]
    assert [row["key_id"] and str(row["key_id"]) for row in rows] == [None] * 3 + [key.key.id] * 2
    for row in rows:
        assert link.token not in row["said"]
        assert key.text not in row["said"]


async def test_a_login_that_cannot_be_kept_in_the_audit_is_none_and_spends_no_link(
    app: FastAPI, ledger: Connection
) -> None:
    link = await runtime_of(app).login_links.create(LOCAL, [Scope.READ])
    async with stranger_to(app, address=ADDRESS) as browser:
        browser.headers.update({"Origin": "http://localhost", "Sec-Fetch-Site": "same-origin"})
        async with a_broken_audit(ledger):
            before = await everything(ledger)
            refused = await browser.post("/login", data={"token": link.token})
            assert await everything(ledger) == before
        let_in = await browser.post("/login", data={"token": link.token})

    assert refused.is_error
    assert let_in.status_code == 303


async def test_a_login_that_is_refused_leaves_no_row(app: FastAPI, ledger: Connection) -> None:
    before = await last(ledger)

    async with stranger_to(app, address=ADDRESS) as browser:
        browser.headers.update({"Origin": "http://localhost", "Sec-Fetch-Site": "same-origin"})
        for fields in ({"token": new_token()}, {"key": new_key_text()}, {}):
            assert (await browser.post("/login", data=fields)).is_error
        assert (await browser.post("/logout")).status_code == 303

    assert await audited(ledger, before) == []


async def test_whoever_is_of_another_space_or_narrowed_is_shown_no_audit_but_its_spaces_own(api: Api) -> None:
    name = f"doc-{str(uuid4())[:8]}"
    await api.post("/api/documents", {"id": name, "format": "docx"})

    async with (
        a_caller_with(api, Scope.ADMIN, space="legal", narrowing=Narrowing()) as other,
        a_caller_with(api, Scope.ADMIN, space="default", narrowing=Narrowing(("*",))) as narrowed,
    ):
        assert await page(other.client, target=name) == []
        assert code_of(await other.client.get("/api/audit?space=default")) == (403, "forbidden")
        assert code_of(await narrowed.client.get("/api/audit")) == (403, "forbidden")
