"""`migrate`, `serve`, `worker` and `doctor` as an operator meets them."""

import asyncio
import json
import secrets
import signal
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import httpx
import pytest

from tests.cli.conftest import OBJECTS, Background, Ended, Officeplane, Plane, Start
from tests.conftest import NewDatabase, as_role
from tests.support import eventually, stopwatch

AWAY = {"OFFICEPLANE_DATABASE_URL": "postgresql://me:secret@127.0.0.1:9/plane"}
BODY = b'{"taskType": "noop"}'


async def test_migrate_says_what_it_applied_and_is_safe_to_repeat(
    program: Officeplane, new_database: NewDatabase
) -> None:
    env = {"OFFICEPLANE_DATABASE_URL": await new_database()}

    first = await program("migrate", env=env)
    second = await program("migrate", env=env)
    third = await program("migrate", "--json", env=env)

    assert first.out.splitlines()[0] == "applied 0001_tasks"
    assert second.out == "nothing to do\n"
    assert json.loads(third.out) == []
    assert [first.code, second.code, third.code] == [0, 0, 0]


async def test_migrate_makes_a_role_for_the_processes_that_cannot_change_the_schema(
    officeplane: Officeplane, new_database: NewDatabase
) -> None:
    owner = await new_database()
    app = as_role(owner, f"app_{secrets.token_hex(4)}", "word")
    env = {"OFFICEPLANE_OWNER_URL": owner, "OFFICEPLANE_DATABASE_URL": app}

    migrated = await officeplane("migrate", env=env)
    as_app = await officeplane("doctor", "--json", env=env)
    as_owner = await officeplane("doctor", "--json", env={"OFFICEPLANE_DATABASE_URL": owner})
    the_same = await officeplane("migrate", env={**env, "OFFICEPLANE_DATABASE_URL": owner})

    assert migrated.code == 0, migrated.err
    assert verdict_of(as_app, "database role") == "ok"
    assert verdict_of(as_owner, "database role") == "warning"
    assert (the_same.code, "the same role" in the_same.err) == (1, True)


async def test_serve_stops_at_once_although_somebody_follows_its_events(start: Start, plane: Plane) -> None:
    async with start("serve", "--port", "0", env=plane.env) as serve:
        url = await eventually(lambda: serve.address, within=60)
        async with httpx.AsyncClient(timeout=30) as client, client.stream("GET", f"{url}/api/events") as response:
            with stopwatch() as seconds:
                assert await serve.stop() == 0
                assert seconds() < 5
            # The stream was ended, not cut: reading it to its end raises nothing.
            assert response.status_code == 200
            async for _ in response.aiter_bytes():
                pass
        assert "Traceback" not in serve.err.read_text()


async def test_serve_answers_what_was_asked_before_it_stops(start: Start, plane: Plane) -> None:
    async with start("serve", "--port", "0", env=plane.env) as serve, half_asked(serve) as (reader, writer):
        serve.process.send_signal(signal.SIGTERM)
        await eventually(lambda: no_longer_listens(serve))

        writer.write(BODY)

        assert (await reader.readline()).startswith(b"HTTP/1.1 201 ")
        assert await serve.stop() == 0


async def test_a_second_signal_ends_serve_at_once(start: Start, plane: Plane) -> None:
    async with start("serve", "--port", "0", env=plane.env) as serve, half_asked(serve):
        serve.process.send_signal(signal.SIGTERM)
        await eventually(lambda: no_longer_listens(serve))

        with stopwatch() as seconds:
            serve.process.send_signal(signal.SIGTERM)
            assert await serve.process.wait() == 0
            assert seconds() < 2

        assert "Traceback" not in serve.err.read_text()


async def test_a_worker_stops_with_0(start: Start, plane: Plane) -> None:
    async with start("worker", env=plane.env) as worker:
        await eventually(lambda: "worker.started" in worker.err.read_text(), within=60)

        assert await worker.stop() == 0


@pytest.mark.parametrize("command", ["serve", "worker"])
async def test_handlers_that_cannot_be_loaded_end_it_with_2(
    officeplane: Officeplane, plane: Plane, command: str
) -> None:
    ended = await officeplane(command, env={**plane.env, "OFFICEPLANE_HANDLERS": "no.such.module"})

    assert ended.code == 2
    assert ended.err == "The handlers cannot be loaded: No module named 'no'\n"


async def test_a_worker_without_its_database_ends_with_3(officeplane: Officeplane) -> None:
    ended = await officeplane("worker", env=AWAY)

    assert ended.code == 3
    assert "127.0.0.1:9" in ended.err
    assert "secret" not in ended.err
    assert len(ended.err.splitlines()) == 1


async def test_serve_may_be_there_before_its_database(start: Start) -> None:
    async with start("serve", "--port", "0", env=AWAY) as serve:
        url = await eventually(lambda: serve.address, within=60)
        async with httpx.AsyncClient(timeout=30) as client:
            assert (await client.get(f"{url}/api/health/ready")).status_code == 503

        assert await serve.stop() == 0


@pytest.mark.parametrize("command", ["serve", "worker", "migrate"])
async def test_a_wrong_password_ends_it_with_3(officeplane: Officeplane, database_url: str, command: str) -> None:
    scheme, rest = database_url.split("://")
    user, host = rest.split(":", 1)[0], rest.rpartition("@")[2]
    env = {"OFFICEPLANE_DATABASE_URL": f"{scheme}://{user}:wrong@{host}", "OFFICEPLANE_PORT": "0"}

    ended = await officeplane(command, env=env)

    assert ended.code == 3
    assert "password authentication failed" in ended.err
    assert len(ended.err.splitlines()) == 1


async def test_doctor_finds_nothing_but_the_test_servers_haste(program: Officeplane, plane: Plane) -> None:
    async def found() -> Ended | None:
        # A worker that this machine has kept waiting for three seconds leads the chores again as soon as it goes on.
        ended = await program("doctor", "--json", env=plane.env)
        # The tests' Postgres does not flush.
        return ended if problems(ended) == {"durability"} else None

    assert (await eventually(found)).code == 1


async def test_missing_migrations_are_found(officeplane: Officeplane, plane: Plane, new_database: NewDatabase) -> None:
    env = {**plane.env, "OFFICEPLANE_DATABASE_URL": await new_database()}

    doctor = await officeplane("doctor", "--json", env=env)
    serve = await officeplane("serve", "--port", "0", env=env)
    worker = await officeplane("worker", env=env)

    assert "migrations" in problems(doctor)
    assert [serve.code, worker.code] == [1, 1]
    assert "run `officeplane migrate`" in serve.err
    assert "run `officeplane migrate`" in worker.err


async def test_doctor_finds_work_that_no_worker_knows(
    officeplane: Officeplane, start: Start, plane: Plane, new_database: NewDatabase
) -> None:
    env = {**plane.env, "OFFICEPLANE_DATABASE_URL": await new_database(), "OFFICEPLANE_KEY_PREFIX": "cli-doctor"}
    await officeplane("migrate", env=env)
    async with (
        start("serve", "--port", "0", env=env) as serve,
        start("worker", env={**env, "OFFICEPLANE_HANDLERS": ""}),
    ):
        here = {**env, "OFFICEPLANE_URL": await eventually(lambda: serve.address, within=60)}
        submitted = await officeplane("tasks", "submit", "cli.fail", env=here)
        assert submitted.code == 0

        async def found() -> bool:
            # The worker needs a moment to register and to lead the chores.
            return problems(await officeplane("doctor", "--json", env=here)) == {"durability", "task types"}

        await eventually(found)


async def test_doctor_finds_that_nobody_works(
    officeplane: Officeplane, plane: Plane, new_database: NewDatabase
) -> None:
    env = {**plane.env, "OFFICEPLANE_DATABASE_URL": await new_database()}
    await officeplane("migrate", env=env)

    ended = await officeplane("doctor", env=env)

    assert "officeplane worker" in ended.out
    assert ended.code == 1


def verdict_of(ended: Ended, check: str) -> object:
    """What the doctor thinks of one thing."""
    checks = OBJECTS.validate_python(ended.object["checks"])
    return next(one["verdict"] for one in checks if one["check"] == check)


def problems(ended: Ended) -> set[str]:
    """What the doctor called a problem."""
    checks = OBJECTS.validate_python(ended.object["checks"])
    return {str(check["check"]) for check in checks if check["verdict"] == "problem"}


@asynccontextmanager
async def half_asked(serve: Background) -> AsyncGenerator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """A connection on which the server waits for the body of a request."""
    await eventually(lambda: serve.address, within=60)
    reader, writer = await asyncio.open_connection(*host_and_port(serve))
    heads = ("POST /api/tasks HTTP/1.1", "Host: localhost", "Content-Type: application/json", "Expect: 100-continue")
    writer.write("\r\n".join([*heads, f"Content-Length: {len(BODY)}", "", ""]).encode())
    try:
        assert await reader.readline() == b"HTTP/1.1 100 Continue\r\n"
        assert await reader.readline() == b"\r\n"
        yield reader, writer
    finally:
        writer.close()


async def no_longer_listens(serve: Background) -> bool:
    try:
        _, writer = await asyncio.open_connection(*host_and_port(serve))
    except ConnectionError:
        return True
    writer.close()
    return False


def host_and_port(serve: Background) -> tuple[str, int]:
    url = httpx.URL(serve.address)
    return url.host, url.port or 0
