"""Who calls with a key, as every process knows it within a second."""

import asyncio
import time
from datetime import UTC, datetime, timedelta

import pytest
from structlog.testing import capture_logs

from officeplane.domain.errors import DatabaseUnavailableError
from officeplane.domain.principal import LOCAL, Kind, Principal, Scope
from officeplane.services.access import authentication
from officeplane.services.access.api_keys import MadeKey, new_key_text
from officeplane.services.access.authentication import Authentication
from officeplane.store import api_keys, connection
from officeplane.store.api_keys import Working
from officeplane.store.connection import Executor
from tests.fault_proxy import FaultProxy
from tests.services.conftest import AnotherBench
from tests.support import eventually, stopwatch
from tests.workbench import Workbench


async def a_key(bench: Workbench, *scopes: Scope, name: str = "bot", expires_in: float | None = None) -> MadeKey:
    expires_at = None if expires_in is None else datetime.now(UTC) + timedelta(seconds=expires_in)
    return await bench.runtime.api_keys.create(LOCAL, name, scopes or [Scope.READ], expires_at)


async def refused(by: Authentication, text: str) -> bool:
    return await by.principal_of(text) is None


async def test_who_calls_is_known_by_the_key(bench: Workbench) -> None:
    made = await a_key(bench, Scope.READ, Scope.EDIT)

    caller = await bench.runtime.authentication.principal_of(made.text)

    assert caller == Principal("key:bot", Kind.KEY, frozenset({Scope.READ, Scope.EDIT}))


async def test_nobody_is_known_by_a_key_that_was_never_made(bench: Workbench) -> None:
    await a_key(bench)

    assert await refused(bench.runtime.authentication, new_key_text())


async def test_a_key_that_was_made_elsewhere_works_at_once(bench: Workbench, another_bench: AnotherBench) -> None:
    async with another_bench() as other:
        assert await refused(other.runtime.authentication, new_key_text())

        made = await a_key(bench)

        assert not await refused(other.runtime.authentication, made.text)


async def test_a_key_that_was_revoked_is_dead_within_a_second_in_another_process(
    bench: Workbench, another_bench: AnotherBench
) -> None:
    made = await a_key(bench)
    async with another_bench(redis_url="") as other:
        assert not await refused(other.runtime.authentication, made.text)

        await bench.runtime.api_keys.revoke(LOCAL, made.key.id)

        with stopwatch() as seconds:
            await eventually(lambda: refused(other.runtime.authentication, made.text))
            assert seconds() < 1


async def test_a_key_that_was_replaced_without_an_overlap_is_dead_within_a_second(
    bench: Workbench, another_bench: AnotherBench
) -> None:
    made = await a_key(bench)
    async with another_bench() as other:
        assert not await refused(other.runtime.authentication, made.text)

        await bench.runtime.api_keys.rotate(LOCAL, made.key.id, 0)

        with stopwatch() as seconds:
            await eventually(lambda: refused(other.runtime.authentication, made.text))
            assert seconds() < 1


async def test_a_key_is_dead_when_it_expires_although_it_was_known(bench: Workbench) -> None:
    made = await a_key(bench, expires_in=4)
    knowing = bench.runtime.authentication
    assert not await refused(knowing, made.text)

    await eventually(lambda: refused(knowing, made.text))

    # It was the time that ended it: nothing else has changed, so nothing was forgotten.
    assert made.key.expires_at is not None
    assert made.key.expires_at <= datetime.now(UTC)


async def test_an_answer_from_before_a_revocation_is_not_remembered_after_it(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(authentication, "LOOK_SECONDS", 0.0)
    made = await a_key(bench)
    knowing, read, arrives = bench.runtime.authentication, asyncio.Event(), asyncio.Event()
    as_it_is = api_keys.of_digest

    async def slowly(executor: Executor, digest: bytes) -> Working | None:
        found = await as_it_is(executor, digest)
        read.set()
        await arrives.wait()
        return found

    monkeypatch.setattr(api_keys, "of_digest", slowly)
    asking = asyncio.create_task(knowing.principal_of(made.text))
    await read.wait()
    monkeypatch.setattr(api_keys, "of_digest", as_it_is)
    await bench.runtime.api_keys.revoke(LOCAL, made.key.id)
    # Somebody else calls meanwhile: the change is noticed.
    assert await refused(knowing, made.text)

    arrives.set()
    await asking

    assert await refused(knowing, made.text)


async def test_what_is_known_is_not_asked_for_again(
    bench: Workbench, another_bench: AnotherBench, postgres_proxy: FaultProxy, database_url: str
) -> None:
    made = await a_key(bench)
    async with another_bench(database_url=postgres_proxy.url(database_url)) as other:
        knowing = other.runtime.authentication
        began = time.monotonic()
        for _ in range(1_000):
            assert await knowing.principal_of(made.text) is not None

        looks = postgres_proxy.count(b"api_keys_version")
        assert postgres_proxy.count(b"extract(epoch FROM expires_at") <= 2
        assert looks <= 2 + (time.monotonic() - began) / authentication.LOOK_SECONDS


@pytest.mark.parametrize(
    "text", ["", "opk_", "x" * 10_000, "opk_" + "0" * 36, "opk_" + "é" * 36, "Basic YTpi", "opk_" + "\0" * 36]
)
async def test_rubbish_never_reaches_postgres(
    another_bench: AnotherBench, postgres_proxy: FaultProxy, database_url: str, text: str
) -> None:
    async with another_bench(database_url=postgres_proxy.url(database_url)) as bench:
        await postgres_proxy.refuse()

        assert await refused(bench.runtime.authentication, text)


async def test_nobody_is_let_in_while_postgres_cannot_be_asked(
    bench: Workbench, another_bench: AnotherBench, postgres_proxy: FaultProxy, database_url: str
) -> None:
    made = await a_key(bench)
    async with another_bench(database_url=postgres_proxy.url(database_url)) as other:
        knowing = other.runtime.authentication
        assert not await refused(knowing, made.text)
        await postgres_proxy.refuse()

        async def nobody_can_tell() -> bool:
            try:
                await knowing.principal_of(made.text)
            except DatabaseUnavailableError:
                return True
            return False

        # What was found a moment before holds for half a second.
        await eventually(nobody_can_tell)
        with pytest.raises(DatabaseUnavailableError):
            await knowing.principal_of(new_key_text())

        await postgres_proxy.heal()
        await eventually(lambda: let_in(knowing, made.text))


async def test_many_who_wait_for_a_postgres_that_is_silent_wait_no_longer_than_one(
    bench: Workbench,
    another_bench: AnotherBench,
    postgres_proxy: FaultProxy,
    database_url: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for patience in ("CONNECT_SECONDS", "ACQUIRE_SECONDS", "COMMAND_SECONDS"):
        monkeypatch.setattr(connection, patience, 1.0)
    made = await a_key(bench)
    async with another_bench(database_url=postgres_proxy.url(database_url)) as other:
        knowing = other.runtime.authentication
        postgres_proxy.hold()

        waiting = [knowing.principal_of(made.text) for _ in range(50)]
        with stopwatch() as seconds:
            ended = await asyncio.gather(*waiting, return_exceptions=True)

            assert seconds() < 20
        assert [type(one) for one in ended] == [DatabaseUnavailableError] * 50
        await postgres_proxy.heal()


async def let_in(by: Authentication, text: str) -> bool:
    try:
        return not await refused(by, text)
    except DatabaseUnavailableError:
        return False


async def test_when_a_key_was_used_last_is_written(bench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(authentication, "USES_SECONDS", 0.01)
    used, unused = await a_key(bench), await a_key(bench, name="other")
    before = await bench.clock()

    await bench.runtime.authentication.principal_of(used.text)

    async def written() -> bool:
        return (await bench.runtime.api_keys.find(LOCAL, used.key.id)).last_used_at is not None

    await eventually(written)
    at = (await bench.runtime.api_keys.find(LOCAL, used.key.id)).last_used_at
    assert at is not None
    assert abs((at - before).total_seconds()) < 60
    assert (await bench.runtime.api_keys.find(LOCAL, unused.key.id)).last_used_at is None


async def test_a_use_that_could_not_be_written_is_written_later(
    bench: Workbench,
    another_bench: AnotherBench,
    postgres_proxy: FaultProxy,
    database_url: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(authentication, "USES_SECONDS", 0.01)
    made = await a_key(bench)

    async def written() -> bool:
        return (await bench.runtime.api_keys.find(LOCAL, made.key.id)).last_used_at is not None

    async with another_bench(database_url=postgres_proxy.url(database_url)) as other:
        await other.runtime.authentication.principal_of(made.text)
        await eventually(written)
        await bench.execute("UPDATE api_keys SET last_used_at = NULL")
        # From now on it is known without a look.
        monkeypatch.setattr(authentication, "LOOK_SECONDS", 3_600.0)
        await postgres_proxy.refuse()

        with capture_logs() as logs:
            assert not await refused(other.runtime.authentication, made.text)
            await eventually(lambda: "api_keys.uses_not_noted" in [log["event"] for log in logs])

        await postgres_proxy.heal()
        await eventually(written)


async def test_more_keys_than_are_remembered_work_all_the_same(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(authentication, "KNOWN_MAX", 2)
    made = [await a_key(bench, name=f"bot-{n}") for n in range(5)]

    callers = [await bench.runtime.authentication.principal_of(key.text) for key in made * 2]

    assert [caller.id for caller in callers if caller] == [f"key:bot-{n}" for n in range(5)] * 2


async def test_what_a_key_may_do_is_known_within_a_second_of_its_change_in_another_process(
    bench: Workbench, another_bench: AnotherBench
) -> None:
    made = await a_key(bench)
    async with another_bench(redis_url="") as other:
        assert not await refused(other.runtime.authentication, made.text)

        await bench.runtime.api_keys.change(LOCAL, made.key.id, {"documents": ("plan",), "agents": ("ann",)})

        async def is_known() -> bool:
            caller = await other.runtime.authentication.principal_of(made.text)
            return caller is not None and (caller.documents, caller.agents) == (("plan",), ("ann",))

        with stopwatch() as seconds:
            await eventually(is_known)
            assert seconds() < 1
