"""A day of an installation with secrets everywhere, honest and hostile, and not one of them in any log."""

import asyncio
import json
import secrets
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import httpx
import pytest

from officeplane.domain.api_key import key_text
from officeplane.store.migrate import migrate
from officeplane.store.roles import admit_app
from tests.conftest import NewDatabase, as_role
from tests.fault_proxy import fault_proxy
from tests.forks import Forks
from tests.journeys.processes import NOT_KEPT, SHORT_LEASE, Process, Server, processes
from tests.logs import found_in
from tests.receiver import receiving
from tests.support import eventually

REMARKS: Final = {
    *("serve.listening", "worker.started", "handler.failed", "child.died", "task.unstorable", "task.reaped"),
    *("caller.refused", "alert.not_sent", "alert.sent", "redis.lost", "redis.regained"),
}
"""What has to be in the logs by the end of the day, or it was not one."""


class Secrets:
    """Words that nobody else has, each known by what it is."""

    def __init__(self) -> None:
        self.words: dict[str, str] = {}

    def __call__(self, what: str) -> str:
        return self.words.setdefault(what, f"secret{secrets.token_hex(12)}")


async def test_a_whole_day_leaves_no_secret_in_any_log(
    new_database: NewDatabase,
    redis_url: str,
    forks: Forks,
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    secret = Secrets()
    database = await new_database()
    await migrate(database)
    app = as_role(database, f"app_{secrets.token_hex(4)}", secret("database password"))
    await admit_app(database, app)
    secret.words["redis password"] = urlsplit(redis_url).password or ""
    secret.words["owner's password"] = urlsplit(database).password or ""

    async with receiving() as receiver, fault_proxy(app) as postgres, fault_proxy(redis_url) as redis:
        alert_url = receiver.url.replace("//", f"//ann:{secret('alert password')}@", 1) + f"?token={secret('token')}"
        async with processes(
            tmp_path,
            database_url=postgres.url(app),
            redis_url=redis.url(redis_url),
            key_prefix=f"secrets-{secrets.token_hex(4)}",
            forks=forks,
        ) as started:
            admin = secret.words["admin key"] = key_text(secrets.token_hex(15))
            api = await started.serve(AUTH="required", ADMIN_KEY=admin, LOG_LEVEL="debug")
            workers = [
                await started.worker(LOG_LEVEL="debug", ALERT_URL=alert_url, LEASE_SECONDS=SHORT_LEASE)
                for _ in range(2)
            ]
            try:
                async with httpx.AsyncClient(
                    base_url=api.url, headers=bearer(admin), timeout=60, limits=NOT_KEPT
                ) as caller:
                    made = await caller.post("/api/keys", json={"name": "reader", "scopes": ["read"]})
                    secret.words["reader's key"] = made.json()["key"]
                    receiver.status = 500
                    await honest_work(caller, secret)
                    await failing_work(caller, secret)
                    await refused_requests(caller, secret)
                    await wrong_keys(api, secret)
                    await eventually(lambda: said(started_logs(tmp_path), "alert.not_sent"), within=60)
                    receiver.status = 200
                    await lost_servers(caller, secret, postgres, redis)
                    await a_dead_worker(caller, secret, workers[0])
                    await eventually(lambda: receiver.told and said(started_logs(tmp_path), "alert.sent"), within=60)
                assert await api.process.stop() == 0
                assert await workers[1].stop() == 0
            finally:
                await api.aclose()

    assert {one for one in REMARKS if not said(started_logs(tmp_path), one)} == set()
    servers = tmp_path_factory.getbasetemp().glob("stack*/*.log")
    logs = {log.name: log.read_text(errors="replace") for log in (*started_logs(tmp_path), *servers)}
    assert {"postgres.log", "valkey.log"} < logs.keys()
    assert found_in(logs, secret.words) == []


def test_a_secret_is_found_however_it_is_written() -> None:
    assert found_in({"a.log": "url=postgresql://a:p%40ss@b"}, {"password": "p@ss"}) == [("a.log", "password")]
    assert found_in({"a.log": '{"event": "sch\\u00f6n"}'}, {"text": "schön"}) == [("a.log", "text")]


async def honest_work(caller: httpx.AsyncClient, secret: Secrets) -> None:
    """Tasks, a batch with a reference, a document with edits, and everything read again."""
    said = await submitted(caller, "test.say", payload={"said": secret("payload text")}, title=secret("title"))
    first = {"key": "a", "taskType": "test.say", "payload": {"said": secret("result of a child")}}
    second = {"key": "b", "taskType": "test.say", "payload": {"said": {"$ref": "a.said"}}}
    batch = (await caller.post("/api/tasks", json={"children": [first, second]})).json()
    await caller.post("/api/documents", json={"id": "plan", "format": "docx", "title": secret("title of a document")})
    section = {"title": secret("heading"), "content": secret("text of a document")}
    edit = await submitted(caller, "add_section", documentId="plan", payload=section)
    for task in (said, batch, edit):
        assert (await final(caller, task))["state"] == "COMPLETED"
    texts = [(await caller.get(f"/api/documents/plan/{what}")).text for what in ("text", "outline", "diff?from=1&to=2")]
    assert all(secret("text of a document") in text for text in (texts[0], texts[2]))
    await caller.put("/api/documents/other", content=secret("text of a file that is none").encode())
    await caller.post("/api/documents/plan/preview", json={"taskType": "add_section", "payload": section})


async def failing_work(caller: httpx.AsyncClient, secret: Secrets) -> None:
    """Handlers that fail, die and give back what cannot be kept; edits that are refused."""
    failing = [
        await submitted(caller, "test.fail", payload={"times": 9}, title=secret("title of a failure"), maxRetries=0),
        await submitted(caller, "test.die", payload={"what": "exit"}, maxRetries=0),
        await submitted(caller, "test.return", payload={"what": "nul"}, maxRetries=0),
        await submitted(
            caller,
            "replace_text",
            documentId="plan",
            payload={"find": secret("text that is sought"), "replace": "x", "expectedCount": 1},
        ),
        await submitted(
            caller, "add_section", documentId="plan", baseRevision=1, payload={"title": secret("title in conflict")}
        ),
    ]
    for task in failing:
        assert (await final(caller, task))["state"] == "FAILED"


async def refused_requests(caller: httpx.AsyncClient, secret: Secrets) -> None:
    """Bodies, queries and headers that are wrong, with a secret in each."""
    bodies: list[dict[str, object]] = [
        {"taskType": "test.say", "payload": {"said": secret("payload beside a wrong name")}, secret("wrong name"): 1},
        {"taskType": secret("unknown type"), "payload": {}},
        {"taskType": "add_section", "documentId": "plan", "payload": {"title": {"no": secret("wrong payload")}}},
        {"taskType": "test.say", "payload": {"said": f"{secret('unstorable')}\x00"}},
        {"taskType": "test.say", "payload": {"said": f"{secret('half a pair')}\ud800"}},
    ]
    for body in bodies:
        answer = await caller.post("/api/tasks", content=json.dumps(body), headers={"Content-Type": "application/json"})
        assert 400 <= answer.status_code < 500, answer.text
    for path in (
        f"/api/tasks?cursor={secret('cursor')}",
        f"/api/stats?key={secret('key in a query')}",
        "/api/tasks?tag=%ff",
    ):
        await caller.get(path)
    await caller.get("/api/events", headers={"Last-Event-ID": secret("event id")}, params={"taskId": "no"})
    await caller.post("/api/tasks", json={"taskType": "noop"}, headers={"Idempotency-Key": secret("idempotency key")})
    await caller.post("/api/tasks", json={"taskType": "sleep"}, headers={"Idempotency-Key": secret("idempotency key")})


async def wrong_keys(api: Server, secret: Secrets) -> None:
    """Keys that are none, one without the scope, and one that is revoked."""
    secret.words["wrong key"] = secret.words["admin key"][:-1] + ("0" if secret.words["admin key"][-1] != "0" else "1")
    async with httpx.AsyncClient(base_url=api.url, timeout=60, limits=NOT_KEPT) as stranger:
        for given in (bearer(secret.words["wrong key"]), {"Authorization": f"Basic {secret('basic')}"}, {}):
            assert (await stranger.get("/api/stats", headers=given)).status_code in {401, 429}
        reader = bearer(secret.words["reader's key"])
        refused = await stranger.post("/api/tasks", json={"payload": secret("refused payload")}, headers=reader)
        assert refused.status_code == 403
        await stranger.get("/api/stats", headers={"Cookie": f"session={secret('cookie')}"})


async def lost_servers(caller: httpx.AsyncClient, secret: Secrets, postgres: Any, redis: Any) -> None:
    """Postgres and Redis go away for a moment, each while something is asked for."""
    body = {"taskType": "test.say", "payload": {"said": secret("payload while a server is away")}}
    for away in (redis, postgres):
        await away.refuse()
        away.cut()
        statuses = {(await caller.post("/api/tasks", json=body)).status_code for _ in range(3)}
        assert statuses <= ({201} if away is redis else {503})
        await asyncio.gather(
            *(caller.get(f"/api/{path}") for path in ("stats", "tasks", "health/ready", "documents/plan"))
        )
        await away.heal()

        async def is_back() -> bool:
            ready = await caller.get("/api/health/ready")
            return ready.status_code == 200 and ready.json()["status"] == "ok"

        await eventually(is_back, within=60, what="ready")


async def a_dead_worker(caller: httpx.AsyncClient, secret: Secrets, victim: Process) -> None:
    """A worker is killed with a task in hand, which another runs to its end."""
    sleep = [
        await submitted(caller, "sleep", payload={"seconds": 3}, title=secret("title of a victim")) for _ in range(6)
    ]

    async def is_running() -> bool:
        found = [await final(caller, task, wait=0) for task in sleep]
        return any(
            task["workerId"] and f":{victim.pid}:" in task["workerId"] for task in found if not task["finishedAt"]
        )

    await eventually(is_running, within=30, what="a task in the victim's hands")
    await victim.kill()
    for task in sleep:
        assert (await final(caller, task))["state"] == "COMPLETED"


async def submitted(caller: httpx.AsyncClient, task_type: str, **fields: Any) -> dict[str, Any]:
    answer = await caller.post("/api/tasks", json={"taskType": task_type, **fields})
    assert answer.status_code == 201, answer.text
    return dict(answer.json())


async def final(caller: httpx.AsyncClient, task: dict[str, Any], *, wait: int = 40) -> dict[str, Any]:
    return dict((await caller.get(f"/api/tasks/{task['id']}", params={"wait": wait})).json())


def bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


def started_logs(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.log"))


def said(logs: list[Path], remark: str) -> bool:
    return any(f'"event": "{remark}"' in log.read_text() for log in logs)
