"""The stack: data is found again, and nothing but an empty folder is needed."""

import os
import signal
import stat
from pathlib import Path
from urllib.parse import urlsplit

import asyncpg
import pytest
from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import AuthenticationError
from structlog.testing import capture_logs

from officeplane.embedded.errors import EmbeddedError
from officeplane.embedded.processes import is_alive, living_in
from officeplane.embedded.server import ServerProcess
from officeplane.embedded.stack import EmbeddedStack, embedded_stack
from tests.embedded.conftest import StartParent
from tests.support import eventually

NOBODY = 65534


async def remember(stack: EmbeddedStack, word: str) -> None:
    connection = await asyncpg.connect(stack.database_url)
    await connection.execute("CREATE TABLE IF NOT EXISTS remembered (word text)")
    await connection.execute("INSERT INTO remembered VALUES ($1)", word)
    await connection.close()
    async with redis_at(stack.redis_url) as redis:
        await redis.rpush("remembered", word)


async def in_postgres(database_url: str) -> list[str]:
    connection = await asyncpg.connect(database_url)
    try:
        return [row["word"] for row in await connection.fetch("SELECT word FROM remembered")]
    finally:
        await connection.close()


async def in_valkey(redis_url: str) -> list[bytes | str]:
    async with redis_at(redis_url) as redis:
        return await redis.lrange("remembered", 0, -1)


def redis_at(redis_url: str) -> Redis:
    url = urlsplit(redis_url)
    return Redis(port=url.port or 0, password=url.password, decode_responses=True, retry=Retry(NoBackoff(), 0))


async def test_a_stack_finds_its_data_and_its_ports_again(tmp_path: Path) -> None:
    async with embedded_stack(tmp_path) as first:
        await remember(first, "kept")
        urls = first.database_url, first.redis_url

    async with embedded_stack(tmp_path) as second:
        assert (second.database_url, second.redis_url) == urls
        assert await in_postgres(second.database_url) == ["kept"]
        assert await in_valkey(second.redis_url) == ["kept"]


async def test_leaving_the_stack_leaves_no_process(tmp_path: Path) -> None:
    async with embedded_stack(tmp_path, durable=False) as stack:
        pids = [stack.postgres.pid, stack.valkey.pid, stack.watchdog.pid]

    assert [pid for pid in pids if is_alive(pid)] == []
    assert living_in(tmp_path / "postgres", frozenset({"postgres"})) == []


async def test_a_folder_closed_to_others_is_enough(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)

    async with embedded_stack(closed / "data", durable=False):
        pass

    assert stat.S_IMODE(closed.stat().st_mode) == 0o700
    assert stat.S_IMODE((closed / "data").stat().st_mode) == 0o700


async def test_whoever_is_superuser_of_the_database_writes_no_file_of_root(open_folder: Path) -> None:
    precious = open_folder / "precious"
    precious.write_text("kept")

    async with embedded_stack(open_folder / "data", durable=False) as stack:
        runs_as = Path(f"/proc/{stack.postgres.pid}").stat().st_uid
        connection = await asyncpg.connect(stack.database_url)
        if not os.geteuid():
            with pytest.raises(asyncpg.InsufficientPrivilegeError):
                await connection.execute(f"COPY (SELECT 'lost') TO '{precious}'")
        await connection.close()

    assert runs_as == (os.geteuid() or NOBODY)
    assert precious.read_text() == "kept"
    assert not (open_folder / "data").stat().st_mode & 0o067


async def test_data_goes_on_whether_nobody_gets_to_its_folder_or_not(open_folder: Path) -> None:
    way = open_folder / "way"
    way.mkdir()
    owners: list[int] = []

    for mode in (0o700, 0o755, 0o700):
        way.chmod(mode)
        async with embedded_stack(way / "data", durable=False) as stack:
            await remember(stack, "kept")
            owners.append((way / "data" / "postgres" / "PG_VERSION").stat().st_uid)
            assert set(await in_postgres(stack.database_url)) == {"kept"}

    assert owners == [os.geteuid(), os.geteuid() or NOBODY, os.geteuid()]


async def test_a_data_folder_that_was_open_to_others_is_closed(open_folder: Path) -> None:
    async with embedded_stack(open_folder / "data", durable=False):
        pass
    (open_folder / "data").chmod(0o777)

    async with embedded_stack(open_folder / "data", durable=False):
        assert not (open_folder / "data").stat().st_mode & 0o067


async def test_a_folder_with_other_things_in_it_is_left_as_it_is_and_told_of(open_folder: Path) -> None:
    shared = open_folder / "shared"
    shared.mkdir()
    (shared / "somebody's").touch()

    with capture_logs() as logs:
        async with embedded_stack(shared, durable=False):
            pass

    assert stat.S_IMODE(shared.stat().st_mode) == 0o755
    (told,) = [entry for entry in logs if entry["event"] == "data_dir.open_to_others"]
    assert told["folder"] == str(shared)


async def test_a_folder_of_somebody_else_is_not_used_and_nothing_in_it_followed(open_folder: Path) -> None:
    precious = open_folder / "precious"
    precious.mkdir()
    (precious / "PG_VERSION").write_text("kept")
    theirs = open_folder / "theirs"
    theirs.mkdir()
    # What these lead to would be emptied, and given to whom Postgres runs as.
    (theirs / "lock").symlink_to(precious / "PG_VERSION")
    (theirs / "postgres").symlink_to(precious)
    if os.geteuid():
        theirs = Path("/")
    else:
        os.chown(theirs, NOBODY, NOBODY)

    with pytest.raises(EmbeddedError, match=f"{theirs} belongs to (nobody|root): run as that user"):
        async with embedded_stack(theirs, durable=False):
            pass

    assert (precious / "PG_VERSION").read_text() == "kept"
    assert [path.stat().st_uid for path in (precious, precious / "PG_VERSION")] == [os.geteuid()] * 2


async def test_secrets_can_be_read_by_their_owner_alone(tmp_path: Path) -> None:
    async with embedded_stack(tmp_path, durable=False) as stack:
        private = [tmp_path / "installation.json", tmp_path / "valkey" / "valkey.conf", stack.postgres.log]

        assert [stat.S_IMODE(path.stat().st_mode) for path in private] == [0o600] * 3
        assert "password" not in repr(stack)
        assert not list(tmp_path.glob("*.password*"))


async def test_servers_want_a_password(stack: EmbeddedStack) -> None:
    with pytest.raises(asyncpg.InvalidPasswordError):
        await asyncpg.connect(f"postgresql://officeplane:wrong@127.0.0.1:{stack.postgres.port}/officeplane")
    async with redis_at(f"redis://:wrong@127.0.0.1:{stack.valkey.port}/0") as redis:
        with pytest.raises(AuthenticationError):
            await redis.get("anything")


async def test_data_that_is_kept_is_flushed(tmp_path: Path) -> None:
    async with embedded_stack(tmp_path) as stack:
        connection = await asyncpg.connect(stack.database_url)
        settings = [await connection.fetchval(f"SHOW {name}") for name in ("fsync", "synchronous_commit")]
        await connection.close()

    assert settings == ["on", "on"]


async def test_given_ports_are_used(tmp_path: Path) -> None:
    async with embedded_stack(tmp_path / "one", durable=False) as one:
        ports = one.postgres.port, one.valkey.port

    async with embedded_stack(tmp_path / "two", durable=False, postgres_port=ports[0], valkey_port=ports[1]) as two:
        assert (two.postgres.port, two.valkey.port) == ports


async def test_a_given_port_that_is_taken_is_named(stack: EmbeddedStack, tmp_path: Path) -> None:
    with pytest.raises(EmbeddedError, match=f"port {stack.valkey.port} for Postgres is in use"):
        async with embedded_stack(tmp_path, durable=False, postgres_port=stack.valkey.port):
            pass


@pytest.mark.parametrize("name", ["postgres", "valkey"])
async def test_a_killed_server_comes_back_on_its_port_with_its_data(tmp_path: Path, name: str) -> None:
    async with embedded_stack(tmp_path) as stack:
        await remember(stack, "kept")
        server: ServerProcess = getattr(stack, name)
        before = server.pid

        await server.kill()
        assert not server.running
        await server.start()

        assert server.pid != before
        assert await in_postgres(stack.database_url) == ["kept"]
        assert await in_valkey(stack.redis_url) == ["kept"]


async def test_a_postmaster_killed_by_somebody_else_can_be_started_again(tmp_path: Path) -> None:
    async with embedded_stack(tmp_path) as stack:
        await remember(stack, "kept")
        os.kill(stack.postgres.pid, signal.SIGKILL)
        await eventually(lambda: not stack.postgres.running)

        await stack.postgres.start()

        assert await in_postgres(stack.database_url) == ["kept"]


@pytest.mark.parametrize("stranger", ["this very process", "nobody"])
async def test_a_stale_pid_file_is_no_hindrance(tmp_path: Path, stranger: str) -> None:
    async with embedded_stack(tmp_path, durable=False) as stack:
        pid_file = tmp_path / "postgres" / "postmaster.pid"
        left_behind = pid_file.read_text().splitlines()
    left_behind[0] = str(os.getpid() if stranger == "this very process" else 2**22 - 1)
    pid_file.write_text("\n".join(left_behind) + "\n")

    async with embedded_stack(tmp_path, durable=False) as stack:
        assert stack.postgres.running


async def test_a_second_start_on_the_same_data_is_refused_in_one_line(a_parent: StartParent, tmp_path: Path) -> None:
    first = a_parent(tmp_path)

    with pytest.raises(EmbeddedError) as refusal:
        async with embedded_stack(tmp_path, durable=False):
            pass

    assert (
        str(refusal.value)
        == f"{tmp_path} is in use by another officeplane (process {first.process.pid}): stop it first"
    )
    assert is_alive(first.postgres)


async def test_an_installation_that_cannot_be_read_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "installation.json").write_text("{")

    with pytest.raises(EmbeddedError, match="cannot be understood"):
        async with embedded_stack(tmp_path, durable=False):
            pass

    assert (tmp_path / "installation.json").read_text() == "{"
