"""Who has logged in: for how long, in every process, and what ends it."""

import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from officeplane.domain.api_key import ApiKey
from officeplane.domain.ids import KeyId
from officeplane.domain.principal import LOCAL, Kind, Principal, Scope
from officeplane.domain.session import SESSIONS_MAX, Login, Session
from officeplane.domain.space import Space
from officeplane.services.access import sessions
from officeplane.services.access.api_keys import MadeKey
from officeplane.services.access.sessions import Person, Sessions, new_token
from tests.fault_proxy import FaultProxy
from tests.services.conftest import AnotherBench
from tests.support import eventually, stopwatch
from tests.workbench import Workbench

READER = frozenset({Scope.READ})


@pytest.fixture
def looking(monkeypatch: pytest.MonkeyPatch) -> None:
    """The ledger is asked each time, where a test is not about how often it is."""
    monkeypatch.setattr(sessions, "KNOWN_SECONDS", 0.0)


@pytest.fixture
def people(bench: Workbench) -> Sessions:
    return bench.runtime.sessions


async def a_key(bench: Workbench, *scopes: Scope, expires_in: float | None = None) -> MadeKey:
    expires_at = None if expires_in is None else datetime.now(UTC) + timedelta(seconds=expires_in)
    return await bench.runtime.api_keys.create(LOCAL, "ann", scopes or [Scope.READ], expires_at)


async def with_key(bench: Workbench, made: MadeKey) -> str:
    token = await bench.runtime.sessions.begin_with_key(made.text)
    assert token is not None
    return token


async def found(people: Sessions, token: str) -> Person:
    person = await people.person_of(token)
    assert person is not None
    return person


async def has_ended(people: Sessions, token: str) -> bool:
    return await people.person_of(token) is None


async def let_pass(bench: Workbench, *, since_seen: float = 0, since_created: float = 0) -> None:
    """Have sessions begun, and been used last, so many seconds ago."""
    await bench.execute(
        "UPDATE sessions SET seen_at = seen_at - make_interval(secs => $1),"
        " created_at = created_at - make_interval(secs => $2)",
        since_seen,
        since_created,
    )


async def test_who_has_logged_in_is_known_by_the_token_and_the_token_is_nowhere(
    bench: Workbench, people: Sessions
) -> None:
    token = await people.begin("248289", Login.OIDC, frozenset({Scope.READ, Scope.EDIT}))

    person = await found(people, token)

    assert person.principal == Principal("person:oidc:248289", Kind.PERSON, frozenset({Scope.READ, Scope.EDIT}))
    (row,) = await bench.execute("SELECT sessions::text AS everything FROM sessions")
    assert token not in row["everything"]
    assert await has_ended(people, new_token())


async def test_whoever_logs_in_with_a_key_may_do_what_the_key_may(bench: Workbench, people: Sessions) -> None:
    made = await a_key(bench, Scope.READ, Scope.CONTROL)

    person = await found(people, await with_key(bench, made))

    assert person.principal == Principal("person:key:ann", Kind.PERSON, made.key.scopes)


def test_a_session_carries_everything_of_its_keys_principal_but_the_name() -> None:
    bounded = Principal("key:ann", Kind.KEY, READER, Space("acme"), ("plan*",), ("noop",), 30)

    class Bounded(ApiKey):
        """A key that is narrowed."""

        @property
        def principal(self) -> Principal:
            return bounded

    now = datetime.now(UTC)
    session = Session("ann", Login.KEY, frozenset(), KeyId("1"), now, now)

    principal = session.principal(Bounded(KeyId("1"), "ann", "opk_0000", READER, "local", now))

    assert principal == replace(bounded, id="person:key:ann", kind=Kind.PERSON)


async def test_a_key_that_does_not_work_begins_nothing(bench: Workbench, people: Sessions) -> None:
    made = await a_key(bench)
    await bench.runtime.api_keys.revoke(LOCAL, made.key.id)

    assert await people.begin_with_key(made.text) is None
    assert await bench.execute("SELECT FROM sessions") == []


async def test_a_session_ends_with_its_key_within_a_second_in_another_process(
    bench: Workbench, another_bench: AnotherBench
) -> None:
    made = await a_key(bench)
    token = await with_key(bench, made)
    async with another_bench(redis_url="") as other:
        assert not await has_ended(other.runtime.sessions, token)

        await bench.runtime.api_keys.revoke(LOCAL, made.key.id)

        with stopwatch() as seconds:
            await eventually(lambda: has_ended(other.runtime.sessions, token))
            assert seconds() < 1


async def test_a_session_ends_when_its_key_expires_and_says_so(bench: Workbench, people: Sessions) -> None:
    made = await a_key(bench, expires_in=4)
    token = await with_key(bench, made)
    assert (await found(people, token)).ends_at == made.key.expires_at

    await eventually(lambda: has_ended(people, token))

    assert made.key.expires_at is not None
    assert made.key.expires_at <= datetime.now(UTC)


@pytest.mark.usefixtures("looking")
async def test_a_session_goes_on_with_a_key_that_was_replaced_for_as_long_as_that_works(
    bench: Workbench, people: Sessions
) -> None:
    made = await a_key(bench)
    token = await with_key(bench, made)

    await bench.runtime.api_keys.rotate(LOCAL, made.key.id, 3_600)
    assert not await has_ended(people, token)

    await bench.runtime.api_keys.revoke(LOCAL, made.key.id)
    assert await has_ended(people, token)


async def test_who_logs_out_is_out_at_once_here_and_within_a_second_elsewhere(
    people: Sessions, another_bench: AnotherBench
) -> None:
    token, others = await people.begin("ann", Login.LINK, READER), await people.begin("bob", Login.LINK, READER)
    async with another_bench() as other:
        assert not await has_ended(people, token)
        assert not await has_ended(other.runtime.sessions, token)

        await people.end(token)

        assert await has_ended(people, token)
        with stopwatch() as seconds:
            await eventually(lambda: has_ended(other.runtime.sessions, token))
            assert seconds() < 1
    assert not await has_ended(people, others)


@pytest.mark.parametrize(
    ("since_seen", "since_created", "expected"),
    [
        (11.9 * 3600, 0, False),
        (12.1 * 3600, 0, True),
        (0, 6.9 * 86400, False),
        (0, 7.1 * 86400, True),
    ],
)
async def test_a_session_ends_twelve_hours_after_its_last_use_and_after_a_week(
    bench: Workbench, people: Sessions, since_seen: float, since_created: float, expected: bool
) -> None:
    token = await people.begin("ann", Login.LINK, READER)
    await let_pass(bench, since_seen=since_seen, since_created=since_created)

    assert await has_ended(people, token) is expected


@pytest.mark.usefixtures("looking")
async def test_who_uses_a_session_keeps_it_and_who_only_listens_does_not(bench: Workbench, people: Sessions) -> None:
    token = await people.begin("ann", Login.LINK, READER)
    await let_pass(bench, since_seen=11 * 3600)

    await people.person_of(token, is_there=False)
    listening = await found(people, token)
    used = await found(people, token)

    assert listening.ends_at - datetime.now(UTC) < timedelta(hours=2)
    assert used.ends_at - datetime.now(UTC) > timedelta(hours=11)


async def test_a_use_is_noted_though_somebody_who_listens_has_just_looked(
    bench: Workbench, people: Sessions, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions, "KNOWN_SECONDS", 3_600.0)
    token = await people.begin("ann", Login.LINK, READER)
    await let_pass(bench, since_seen=3_600)

    await people.person_of(token, is_there=False)
    await people.person_of(token)

    (row,) = await bench.execute("SELECT clock_timestamp() - seen_at AS ago FROM sessions")
    assert row["ago"] < timedelta(minutes=1)


async def test_a_use_is_written_once_a_minute_and_looked_up_twice_a_second(
    bench: Workbench, another_bench: AnotherBench, postgres_proxy: FaultProxy, database_url: str
) -> None:
    token = await bench.runtime.sessions.begin("ann", Login.LINK, READER)
    await let_pass(bench, since_seen=61)
    async with another_bench(database_url=postgres_proxy.url(database_url)) as other:
        began = time.monotonic()
        for _ in range(500):
            assert not await has_ended(other.runtime.sessions, token)

        assert postgres_proxy.count(b"UPDATE sessions") == 1
        # What is known grows old while the machine stands still, too.
        assert postgres_proxy.count(b"is_to_be_noted") <= 2 + (time.monotonic() - began) / sessions.KNOWN_SECONDS


@pytest.mark.parametrize(
    "token", ["", "x", "x" * 42, "x" * 44, "x" * 10_000, "é" * 43, "x" * 42 + "\0", "x" * 42 + "'"]
)
async def test_rubbish_never_reaches_postgres(
    another_bench: AnotherBench, postgres_proxy: FaultProxy, database_url: str, token: str
) -> None:
    async with another_bench(database_url=postgres_proxy.url(database_url)) as bench:
        await postgres_proxy.refuse()

        assert await has_ended(bench.runtime.sessions, token)


async def test_somebody_has_a_hundred_sessions_and_a_further_one_takes_the_place_of_the_oldest(
    bench: Workbench, people: Sessions
) -> None:
    other = await people.begin("ann", Login.OIDC, READER)
    tokens = [await people.begin("ann", Login.LINK, READER) for _ in range(SESSIONS_MAX + 1)]

    assert await has_ended(people, tokens[0])
    assert not await has_ended(people, tokens[1])
    assert not await has_ended(people, other)
    (row,) = await bench.execute("SELECT count(*) AS kept FROM sessions WHERE login = 'link'")
    assert row["kept"] == SESSIONS_MAX


async def test_more_sessions_than_are_remembered_go_on_all_the_same(
    people: Sessions, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions, "KNOWN_MAX", 2)
    tokens = [await people.begin(f"ann-{n}", Login.LINK, READER) for n in range(5)]

    callers = [(await found(people, token)).principal.id for token in tokens * 2]

    assert callers == [f"person:link:ann-{n}" for n in range(5)] * 2
