"""Health, numbers, and how the API stands without its database."""

import asyncio

import asyncpg
import pytest
from prometheus_client.parser import text_string_to_metric_families

from officeplane.api.problems import STATUSES
from officeplane.config import Settings
from officeplane.domain import errors
from officeplane.edits.all_edits import all_edits
from officeplane.store.migrate import migrate
from tests.api.client import Api, client_of, code_of, running, state_in
from tests.conftest import NewDatabase
from tests.fault_proxy import fault_proxy
from tests.support import eventually


async def test_a_process_that_answers_is_alive(api: Api) -> None:
    response = await api.get("/api/health/live")

    assert (response.status_code, response.json()) == (200, {"status": "ok"})


async def test_a_whole_installation_is_ready(api: Api) -> None:
    response = await api.get("/api/health/ready")

    assert response.status_code == 200
    assert response.json() == {"status": "ok", "postgres": "up", "redis": "up", "dispatch": "redis", "workers": 0}


async def test_live_workers_are_counted(new_database: NewDatabase, redis_url: str) -> None:
    settings = await an_installation(new_database, redis_url)
    await beat(settings, "alive", silent_seconds=0)
    await beat(settings, "gone", silent_seconds=settings.lease_seconds + 1)

    async with running(settings) as app, client_of(app) as client:
        ready = (await client.get("/api/health/ready")).json()
        stats = (await client.get("/api/stats")).json()

    assert ready["workers"] == 1
    (worker,) = stats["workers"]
    assert worker.pop("lastSeenAt").endswith("Z")
    assert worker == {"id": "alive", "host": "here", "pid": 7, "concurrency": 3, "running": 2, "blocked": None}


async def test_without_redis_it_is_ready_and_takes_tasks(new_database: NewDatabase) -> None:
    settings = await an_installation(new_database, "redis://127.0.0.1:1/0")

    async with running(settings) as app, client_of(app) as client:
        ready = await client.get("/api/health/ready")
        submitted = await client.post("/api/tasks", json={"taskType": "noop"})

    assert (ready.status_code, ready.json()["status"]) == (200, "degraded")
    assert (ready.json()["redis"], ready.json()["dispatch"]) == ("down", "polling")
    assert submitted.status_code == 201


async def test_started_without_postgres_it_says_so_and_recovers_by_itself(
    new_database: NewDatabase, redis_url: str
) -> None:
    settings = await an_installation(new_database, redis_url)
    async with fault_proxy(settings.database_url) as proxy:
        through = settings.model_copy(update={"database_url": proxy.url(settings.database_url)})
        await proxy.refuse()
        async with running(through) as app, client_of(app) as client:
            refused = await client.post("/api/tasks", json={"taskType": "noop"})
            live = await client.get("/api/health/live")
            ready = await client.get("/api/health/ready")
            stream = await client.get("/api/events")

            await proxy.heal()

            await eventually(lambda: state_in(app).runtime)
            assert (await client.post("/api/tasks", json={"taskType": "noop"})).status_code == 201
            assert (await client.get("/api/health/ready")).status_code == 200
    assert code_of(refused) == code_of(stream) == (503, "database_unavailable")
    assert refused.headers["Retry-After"] == "1"
    assert live.status_code == 200
    assert (ready.status_code, ready.json()["status"], ready.json()["postgres"]) == (503, "unavailable", "down")
    assert ready.headers["Retry-After"] == "1"


async def test_when_postgres_goes_it_says_so_and_when_it_is_back_it_goes_on(
    new_database: NewDatabase, redis_url: str
) -> None:
    settings = await an_installation(new_database, redis_url)
    async with fault_proxy(settings.database_url) as proxy:
        through = settings.model_copy(update={"database_url": proxy.url(settings.database_url)})
        async with running(through) as app, client_of(app) as client:
            task = (await client.post("/api/tasks", json={"taskType": "noop"})).json()
            await proxy.refuse()

            refused = [
                await client.post("/api/tasks", json={"taskType": "noop"}),
                await client.get(f"/api/tasks/{task['id']}"),
                await client.get("/api/tasks"),
                await client.post(f"/api/tasks/{task['id']}/cancel"),
                await client.post(f"/api/tasks/{task['id']}/retry"),
                await client.get(f"/api/tasks/{task['id']}/explain"),
                await client.get("/api/stats"),
                await client.get("/metrics"),
            ]
            ready = await client.get("/api/health/ready")
            await proxy.heal()

            async def answers() -> bool:
                return (await client.get(f"/api/tasks/{task['id']}")).status_code == 200

            await eventually(answers)
    assert {code_of(response) for response in refused} == {(503, "database_unavailable")}
    assert all(response.headers["Retry-After"] == "1" for response in refused)
    # Where the database is, is not for callers to know.
    assert not any("127.0.0.1" in response.text for response in refused)
    assert (ready.status_code, ready.json()["postgres"]) == (503, "down")


async def test_a_server_that_can_never_work_does_not_start(api_settings: Settings) -> None:
    settings = api_settings.model_copy(update={"handlers": ("no.such.module",)})

    with pytest.raises(ModuleNotFoundError):
        async with running(settings):
            pass


async def test_a_surprise_is_a_problem_without_a_stack(new_database: NewDatabase, redis_url: str) -> None:
    settings = await an_installation(new_database, redis_url)
    await execute(settings, "ALTER TABLE tasks RENAME TO gone")

    async with running(settings) as app, client_of(app) as client:
        response = await client.get("/api/tasks")

    assert code_of(response) == (500, "internal_error")
    # The server closes the connection after it, and whoever would take it up again has to know.
    assert response.headers["Connection"] == "close"
    assert "gone" not in response.text
    assert "Traceback" not in response.text


async def test_stats_count_by_state_and_priority(new_database: NewDatabase, redis_url: str) -> None:
    settings = await an_installation(new_database, redis_url)
    async with running(settings) as app, client_of(app) as client:
        empty = (await client.get("/api/stats")).json()
        for priority in ("HIGH", "HIGH", "BACKGROUND"):
            await client.post("/api/tasks", json={"taskType": "noop", "priority": priority})
        await client.post("/api/tasks", json={"taskType": "noop", "runAt": "2100-01-01T00:00:00Z"})

        stats = (await client.get("/api/stats")).json()

    assert empty == {"states": {}, "priorities": {}, "counts": {}, "oldestWaitSeconds": None, "workers": []}
    assert stats["states"] == {"QUEUED": 3, "PENDING": 1}
    assert stats["priorities"] == {"HIGH": 2, "LOW": 1, "NORMAL": 1}
    assert stats["counts"] == {"QUEUED": {"HIGH": 2, "LOW": 1}, "PENDING": {"NORMAL": 1}}
    assert stats["oldestWaitSeconds"] >= 0


async def test_metrics_are_text_that_prometheus_reads(api: Api) -> None:
    await api.submit()

    response = await api.get("/metrics")

    assert response.headers["Content-Type"].startswith("text/plain; version=0.0.4")
    families = {family.name for family in text_string_to_metric_families(response.text)}
    assert "officeplane_task_queue_depth" in families
    assert all(name.startswith("officeplane_") for name in families)


async def test_task_types_are_listed_with_the_schemas_of_their_payloads(api: Api) -> None:
    types = {found["name"]: found for found in (await api.get("/api/task-types")).json()}

    of_agents = {"code", "research", "review", "test", "deploy", "synthesis", "orchestrate", "judge"}
    assert set(types) == {"batch_edit", "noop", "sleep", "revert", "upload", *all_edits(), *of_agents}
    fields = {"name", "title", "executor", "formats", "payloadSchema", "resultSchema", "defaults"}
    assert all(set(found) == fields for found in types.values())
    assert {name for name, found in types.items() if found["executor"] == "agent"} == of_agents
    assert all(found["executor"] in {"agent", "worker"} for found in types.values())
    assert types["sleep"]["payloadSchema"]["required"] == ["seconds"]
    assert types["sleep"]["formats"] == []
    assert types["replace_text"]["formats"] == ["docx", "xlsx", "pptx"]
    assert types["edit_page"]["payloadSchema"]["required"] == ["pageId", "content"]


def test_every_refusal_of_the_domain_has_a_status() -> None:
    def below(kind: type[errors.OfficePlaneError]) -> set[type[errors.OfficePlaneError]]:
        return {kind}.union(*(below(inner) for inner in kind.__subclasses__()))

    codes = {kind.code for kind in below(errors.OfficePlaneError) if kind.__module__ == errors.__name__}

    assert codes - {errors.OfficePlaneError.code} <= set(STATUSES)


async def an_installation(new_database: NewDatabase, redis_url: str) -> Settings:
    """Settings of an installation of the test's own."""
    database_url = await new_database()
    await migrate(database_url)
    return Settings(database_url=database_url, redis_url=redis_url, key_prefix="api-operation-tests")


async def beat(settings: Settings, worker_id: str, *, silent_seconds: float) -> None:
    await execute(
        settings,
        "INSERT INTO workers (id, host, pid, concurrency, running, task_types, last_seen_at)"
        " VALUES ($1, 'here', 7, 3, 2, '{noop}', clock_timestamp() - make_interval(secs => $2))",
        worker_id,
        silent_seconds,
    )


async def execute(settings: Settings, statement: str, *values: object) -> None:
    async with asyncio.timeout(10):
        connection = await asyncpg.connect(settings.database_url)
        try:
            await connection.execute(statement, *values)
        finally:
            await connection.close()
