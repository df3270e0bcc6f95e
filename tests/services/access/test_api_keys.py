"""Keys: made, found, replaced and revoked by those who may."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import asyncpg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from officeplane.domain.api_key import ADMIN_NAME, KeyState, digest_of
from officeplane.domain.errors import (
    ApiKeyExistsError,
    ApiKeyNotFoundError,
    ForbiddenError,
    InvalidRequestError,
    OutsideError,
)
from officeplane.domain.narrowing import NOT_NARROWED, Narrowing
from officeplane.domain.principal import LOCAL, Kind, Principal, Scope
from officeplane.domain.space import Space
from officeplane.services.access.api_keys import ApiKeys, KeyChanges, MadeKey, new_key_text
from officeplane.store import api_keys
from tests.callers import a_caller
from tests.services.conftest import AnotherBench
from tests.workbench import Workbench

EDITOR = Principal("key:editor", Kind.KEY, frozenset({Scope.READ, Scope.EDIT}))
ADMIN = Principal("key:admin", Kind.KEY, frozenset({Scope.ADMIN}))


@pytest.fixture
def keys(bench: Workbench) -> ApiKeys:
    return bench.runtime.api_keys


async def works(bench: Workbench, made: MadeKey | str) -> bool:
    """Whether anybody gets in with it, for somebody who has never heard of it."""
    text = made if isinstance(made, str) else made.text
    rows = await bench.execute(
        "SELECT FROM api_keys WHERE digest = $1 AND revoked_at IS NULL "
        "AND (expires_at IS NULL OR expires_at > clock_timestamp())",
        digest_of(text),
    )
    return bool(rows)


async def names(keys: ApiKeys) -> list[str]:
    return [key.name for key in await keys.page(LOCAL, None, 100)]


def in_seconds(seconds: float) -> datetime:
    return datetime.now(UTC) + timedelta(seconds=seconds)


async def test_of_a_key_that_is_made_nothing_is_kept_by_which_it_could_be_used(bench: Workbench, keys: ApiKeys) -> None:
    made = await keys.create(LOCAL, "bot", [Scope.READ, Scope.EDIT])

    assert (made.key.name, made.key.scopes, made.key.created_by) == (
        "bot",
        frozenset({Scope.READ, Scope.EDIT}),
        "local",
    )
    assert made.text.startswith(made.key.shown)
    assert await keys.page(LOCAL, None, 10) == [made.key]
    (row,) = await bench.execute("SELECT api_keys::text AS everything FROM api_keys")
    assert made.text[len(made.key.shown) :] not in row["everything"]


async def test_a_key_gives_no_scope_that_it_has_not(keys: ApiKeys) -> None:
    with pytest.raises(ForbiddenError) as refused:
        await keys.create(EDITOR, "bot", [Scope.READ, Scope.CONTROL])

    assert str(refused.value) == "This needs the scope 'control', which key:editor has not."
    assert refused.value.facts == {"scope": Scope.CONTROL}
    assert await names(keys) == []
    await keys.create(EDITOR, "bot", [Scope.READ])
    await keys.create(ADMIN, "operator", [Scope.CONTROL])


async def test_a_key_is_not_replaced_by_who_has_not_its_scopes(bench: Workbench, keys: ApiKeys) -> None:
    made = await keys.create(ADMIN, "operator", [Scope.CONTROL])

    with pytest.raises(ForbiddenError):
        await keys.rotate(EDITOR, made.key.id, 0)

    assert await works(bench, made)
    assert await keys.page(LOCAL, None, 10) == [made.key]


@pytest.mark.parametrize(
    ("name", "scopes", "expires_at", "field"),
    [
        ("no name", [Scope.READ], None, "name"),
        ("opk_0000", [Scope.READ], None, "name"),
        ("bot", [], None, "scopes"),
        ("bot", [Scope.READ], datetime(2020, 1, 1, tzinfo=UTC), "expiresAt"),
    ],
)
async def test_a_key_that_makes_no_sense_is_refused(
    keys: ApiKeys, name: str, scopes: list[Scope], expires_at: datetime | None, field: str
) -> None:
    with pytest.raises(InvalidRequestError) as refused:
        await keys.create(LOCAL, name, scopes, expires_at)

    assert [error.field for error in refused.value.errors] == [field]
    assert await names(keys) == []


async def test_two_keys_that_work_do_not_share_a_name(keys: ApiKeys) -> None:
    first = await keys.create(LOCAL, "bot", [Scope.READ])

    with pytest.raises(ApiKeyExistsError):
        await keys.create(LOCAL, "bot", [Scope.READ])

    await keys.revoke(LOCAL, first.key.id)
    second = await keys.create(LOCAL, "bot", [Scope.READ])
    assert await keys.page(LOCAL, None, 10) == [await keys.find(LOCAL, first.key.id), second.key]


async def test_of_many_who_make_a_key_of_one_name_at_once_one_does(keys: ApiKeys) -> None:
    made = await asyncio.gather(*(keys.create(LOCAL, "bot", [Scope.READ]) for _ in range(8)), return_exceptions=True)

    assert [type(one) for one in made if not isinstance(one, MadeKey)] == [ApiKeyExistsError] * 7


async def test_a_key_that_is_replaced_works_beside_its_successor_for_a_while(bench: Workbench, keys: ApiKeys) -> None:
    old = await keys.create(LOCAL, "bot", [Scope.EDIT], in_seconds(9_000))

    new = await keys.rotate(LOCAL, old.key.id, 3_600)

    replaced = await keys.find(LOCAL, old.key.id)
    assert (new.key.name, new.key.scopes, new.key.expires_at) == ("bot", old.key.scopes, old.key.expires_at)
    assert (await works(bench, old), await works(bench, new)) == (True, True)
    assert (replaced.replaced_by, replaced.state(datetime.now(UTC))) == (new.key.id, KeyState.REPLACED)
    assert replaced.expires_at is not None
    assert abs((replaced.expires_at - in_seconds(3_600)).total_seconds()) < 60


async def test_replaced_without_an_overlap_a_key_works_no_more(bench: Workbench, keys: ApiKeys) -> None:
    old = await keys.create(LOCAL, "bot", [Scope.EDIT])

    new = await keys.rotate(LOCAL, old.key.id, 0)

    assert (await works(bench, old), await works(bench, new)) == (False, True)


async def test_an_overlap_does_not_prolong_a_key(keys: ApiKeys) -> None:
    old = await keys.create(LOCAL, "bot", [Scope.EDIT], in_seconds(60))

    await keys.rotate(LOCAL, old.key.id, 3_600)

    assert (await keys.find(LOCAL, old.key.id)).expires_at == old.key.expires_at


async def test_a_key_is_replaced_once(keys: ApiKeys) -> None:
    old = await keys.create(LOCAL, "bot", [Scope.EDIT])

    tried = await asyncio.gather(*(keys.rotate(LOCAL, old.key.id) for _ in range(5)), return_exceptions=True)

    assert [type(one) for one in tried if not isinstance(one, MadeKey)] == [ApiKeyNotFoundError] * 4
    assert await names(keys) == ["bot", "bot"]


async def test_what_was_revoked_or_has_expired_is_not_replaced(bench: Workbench, keys: ApiKeys) -> None:
    revoked = await keys.create(LOCAL, "one", [Scope.READ])
    expired = await keys.create(LOCAL, "two", [Scope.READ], in_seconds(3_600))
    await keys.revoke(LOCAL, revoked.key.id)
    await bench.execute("UPDATE api_keys SET expires_at = clock_timestamp() WHERE name = 'two'")

    for made in (revoked, expired):
        with pytest.raises(ApiKeyNotFoundError):
            await keys.rotate(LOCAL, made.key.id)

    assert await names(keys) == ["one", "two"]


async def test_a_key_is_found_by_its_id_and_by_its_name(keys: ApiKeys) -> None:
    old = await keys.create(LOCAL, "bot", [Scope.READ])
    new = await keys.rotate(LOCAL, old.key.id)

    assert (await keys.find(LOCAL, "bot")).id == new.key.id
    assert (await keys.find(LOCAL, old.key.id)).id == old.key.id
    for unknown in ("nobody", "00000000-0000-0000-0000-000000000001", "{}"):
        with pytest.raises(ApiKeyNotFoundError):
            await keys.find(LOCAL, unknown)


async def test_with_a_name_the_key_that_was_replaced_is_revoked_too(bench: Workbench, keys: ApiKeys) -> None:
    old = await keys.create(LOCAL, "bot", [Scope.READ])
    new = await keys.rotate(LOCAL, old.key.id)
    other = await keys.create(LOCAL, "other", [Scope.READ])

    revoked = await keys.revoke_all(LOCAL, "bot")

    assert {key.id for key in revoked} == {old.key.id, new.key.id}
    assert [await works(bench, made) for made in (old, new, other)] == [False, False, True]
    with pytest.raises(ApiKeyNotFoundError):
        await keys.revoke_all(LOCAL, "bot")


async def test_with_an_id_that_key_alone_is_revoked_and_once_is_enough(bench: Workbench, keys: ApiKeys) -> None:
    old = await keys.create(LOCAL, "bot", [Scope.READ])
    new = await keys.rotate(LOCAL, old.key.id)

    first = await keys.revoke_all(LOCAL, old.key.id)
    second = await keys.revoke_all(LOCAL, old.key.id)

    assert first == second
    assert [await works(bench, made) for made in (old, new)] == [False, True]


async def test_pages_follow_each_other(keys: ApiKeys) -> None:
    made = [(await keys.create(LOCAL, f"bot-{n}", [Scope.READ])).key for n in range(5)]

    first = await keys.page(LOCAL, None, 3)
    second = await keys.page(LOCAL, first[-1].id, 3)

    assert first + second == made


async def test_only_a_key_that_works_and_makes_others_counts_as_one_of_an_admin(
    bench: Workbench, keys: ApiKeys
) -> None:
    await keys.create(LOCAL, "reader", [Scope.READ])
    assert not await api_keys.has_admin(bench.runtime.ledger)

    admin = await keys.create(LOCAL, "boss", [Scope.ADMIN])
    assert await api_keys.has_admin(bench.runtime.ledger)

    await keys.revoke(LOCAL, admin.key.id)
    assert not await api_keys.has_admin(bench.runtime.ledger)


async def test_a_text_that_was_made_elsewhere_works_from_then_on(bench: Workbench, keys: ApiKeys) -> None:
    text = new_key_text()

    for _ in range(2):
        assert await keys.admit(LOCAL, ADMIN_NAME, {Scope.ADMIN}, text)

    assert await works(bench, text)
    assert [(key.name, key.scopes) for key in await keys.page(LOCAL, None, 10)] == [
        (ADMIN_NAME, frozenset({Scope.ADMIN}))
    ]


async def test_another_text_takes_the_place_of_the_one_before(bench: Workbench, keys: ApiKeys) -> None:
    old, new = new_key_text(), new_key_text()
    await keys.admit(LOCAL, ADMIN_NAME, {Scope.ADMIN}, old)

    assert await keys.admit(LOCAL, ADMIN_NAME, {Scope.ADMIN}, new)

    assert (await works(bench, old), await works(bench, new)) == (False, True)


async def test_a_text_that_was_revoked_is_not_let_in_again_and_revokes_nobody(bench: Workbench, keys: ApiKeys) -> None:
    old, new = new_key_text(), new_key_text()
    await keys.admit(LOCAL, ADMIN_NAME, {Scope.ADMIN}, old)
    await keys.admit(LOCAL, ADMIN_NAME, {Scope.ADMIN}, new)

    assert not await keys.admit(LOCAL, ADMIN_NAME, {Scope.ADMIN}, old)

    assert (await works(bench, old), await works(bench, new)) == (False, True)


async def test_processes_that_start_at_once_with_one_text_all_find_that_it_works(
    keys: ApiKeys, another_bench: AnotherBench
) -> None:
    text = new_key_text()
    async with another_bench() as other:
        both = (keys, other.runtime.api_keys)
        admitted = await asyncio.gather(
            *(each.admit(LOCAL, ADMIN_NAME, {Scope.ADMIN}, text) for each in both for _ in range(3))
        )

    assert admitted == [True] * 6
    assert await names(keys) == [ADMIN_NAME]


async def test_every_change_that_matters_raises_the_version_and_a_use_does_not(bench: Workbench, keys: ApiKeys) -> None:
    async def version() -> int:
        (row,) = await bench.execute("SELECT version FROM api_keys_version")
        return int(row["version"])

    seen = [await version()]
    made = await keys.create(LOCAL, "bot", [Scope.READ])
    seen.append(await version())
    new = await keys.rotate(LOCAL, made.key.id)
    seen.append(await version())
    await keys.change(LOCAL, new.key.id, {"name": "robot"})
    seen.append(await version())
    for statement in (
        "UPDATE api_keys SET documents = '{a}'",
        "UPDATE api_keys SET task_types = '{a}'",
        "UPDATE api_keys SET agents = '{a}'",
        "UPDATE api_keys SET most_urgent = 1",
    ):
        await bench.execute(statement)
        seen.append(await version())
    await keys.revoke(LOCAL, new.key.id)
    seen.append(await version())
    await bench.execute("UPDATE api_keys SET last_used_at = now()")

    assert seen == sorted(set(seen))
    assert await version() == seen[-1]


async def test_the_database_refuses_two_keys_of_one_name_and_a_key_without_scopes(
    bench: Workbench, keys: ApiKeys
) -> None:
    await keys.create(LOCAL, "bot", [Scope.READ])
    copied = (
        "INSERT INTO api_keys (id, name, digest, shown, scopes, created_by) "
        "SELECT gen_random_uuid(), {}, {}, shown, {}, 'x' FROM api_keys"
    )

    for name, digest, scopes in (
        ("name", "sha256('another')", "scopes"),
        ("'other'", "digest", "scopes"),
        ("'other'", "sha256('another')", "'{}'"),
        ("'other'", "'short'", "scopes"),
    ):
        with pytest.raises(asyncpg.IntegrityConstraintViolationError):
            await bench.execute(copied.format(name, digest, scopes))


LEGAL = Space("legal")


def of_legal(*scopes: Scope, only: Narrowing = NOT_NARROWED) -> Principal:
    return a_caller(
        *scopes,
        space="legal",
        documents=only.documents,
        task_types=only.task_types,
        most_urgent=only.most_urgent,
        agents=only.agents,
    )


async def test_a_key_is_kept_with_its_space_and_what_it_is_narrowed_to_also_when_it_is_replaced(
    bench: Workbench, keys: ApiKeys
) -> None:
    only = Narrowing(("plan-*", "-"), ("noop",), 50, ("writer-*",))

    made = await keys.create(LOCAL, "bot", [Scope.AGENT], space="legal", narrowing=only)
    new = await keys.rotate(LOCAL, made.key.id)

    for one in (made, new):
        assert (one.key.space, one.key.narrowing) == (LEGAL, only)
        assert await bench.runtime.authentication.principal_of(one.text) == Principal(
            "key:bot", Kind.KEY, frozenset({Scope.AGENT}), LEGAL, ("plan-*", "-"), ("noop",), 50, ("writer-*",)
        )


@pytest.mark.parametrize(
    ("only", "wanted"),
    [
        (Narrowing(documents=("a*",)), Narrowing()),
        (Narrowing(documents=("a*",)), Narrowing(documents=("a*", "-"))),
        (Narrowing(task_types=("noop",)), Narrowing(task_types=("noop", "sleep"))),
        (Narrowing(agents=("writer",)), Narrowing(agents=("writer*",))),
        (Narrowing(most_urgent=50), Narrowing(most_urgent=49)),
    ],
)
async def test_a_key_gives_nothing_that_it_is_narrowed_from(keys: ApiKeys, only: Narrowing, wanted: Narrowing) -> None:
    narrowed = of_legal(Scope.ADMIN, only=only)

    with pytest.raises(OutsideError):
        await keys.create(narrowed, "bot", [Scope.READ], narrowing=wanted)
    given = await keys.create(narrowed, "bot", [Scope.READ], narrowing=only)
    wide = await keys.create(of_legal(Scope.ADMIN), "wide", [Scope.READ], narrowing=wanted)

    assert [key.name for key in await keys.page(LOCAL, None, 10)] == ["bot", "wide"]
    assert [key.name for key in await keys.page(narrowed, None, 10)] == ["bot"]
    with pytest.raises(OutsideError):
        await keys.change(
            narrowed,
            given.key.id,
            {
                "documents": wanted.documents,
                "task_types": wanted.task_types,
                "agents": wanted.agents,
                "most_urgent": wanted.most_urgent,
            },
        )
    for refused in (
        keys.rotate(narrowed, wide.key.id),
        keys.revoke(narrowed, wide.key.id),
        keys.change(narrowed, wide.key.id, {"name": "mine"}),
        keys.find(narrowed, wide.key.id),
        keys.revoke_all(narrowed, "wide", "legal"),
    ):
        with pytest.raises(ApiKeyNotFoundError):
            await refused
    assert await keys.page(LOCAL, None, 10) == [given.key, wide.key]


async def test_only_who_may_do_everything_in_the_default_space_makes_keys_of_others(keys: ApiKeys) -> None:
    for giver in (of_legal(Scope.ADMIN), a_caller(Scope.ADMIN, documents=("*", "-")), a_caller(Scope.READ)):
        with pytest.raises(OutsideError):
            await keys.create(giver, "bot", [Scope.READ], space="sales", narrowing=giver.narrowing)
    with pytest.raises(OutsideError):
        await keys.create(of_legal(Scope.ADMIN), "bot", [Scope.READ], space="default")

    own = await keys.create(of_legal(Scope.ADMIN), "bot", [Scope.READ])
    others = await keys.create(ADMIN, "bot", [Scope.READ], space="sales")

    assert (own.key.space, others.key.space) == ("legal", "sales")


async def test_an_admin_of_a_space_has_to_do_with_its_keys_only_and_one_of_the_default_space_with_all(
    keys: ApiKeys,
) -> None:
    made = {space: (await keys.create(LOCAL, "bot", [Scope.READ], space=space)).key for space in ("default", "legal")}
    admin, theirs = of_legal(Scope.ADMIN), made["default"].id

    assert await keys.page(admin, None, 10) == [made["legal"]]
    assert await keys.page(admin, None, 10, space="default") == []
    assert await keys.page(LOCAL, None, 10) == list(made.values())
    assert await keys.page(LOCAL, None, 10, space="legal") == [made["legal"]]
    for refused in (
        keys.find(admin, theirs),
        keys.find(admin, "bot", "default"),
        keys.rotate(admin, theirs),
        keys.change(admin, theirs, {"name": "mine"}),
        keys.revoke(admin, theirs),
        keys.revoke_all(admin, theirs),
        keys.revoke_all(admin, "bot", "default"),
    ):
        with pytest.raises(ApiKeyNotFoundError):
            await refused
    assert [key.revoked_at for key in await keys.page(LOCAL, None, 10)] == [None, None]
    assert (await keys.revoke(LOCAL, made["legal"].id)).revoked_at is not None
    assert (await keys.find(LOCAL, theirs)).revoked_at is None


async def test_a_name_is_of_its_space(keys: ApiKeys) -> None:
    here = await keys.create(LOCAL, "bot", [Scope.READ])
    there = await keys.create(LOCAL, "bot", [Scope.READ], space="legal")

    assert (await keys.find(LOCAL, "bot")).id == here.key.id
    assert (await keys.find(LOCAL, "bot", "legal")).id == there.key.id
    with pytest.raises(ApiKeyExistsError):
        await keys.create(LOCAL, "bot", [Scope.READ], space="legal")
    await keys.revoke_all(LOCAL, "bot")
    assert (await keys.find(LOCAL, "bot", "legal")).revoked_at is None


async def test_a_text_that_was_made_elsewhere_takes_no_place_in_another_space(keys: ApiKeys) -> None:
    there = await keys.create(LOCAL, ADMIN_NAME, [Scope.ADMIN], space="legal")

    assert await keys.admit(LOCAL, ADMIN_NAME, {Scope.ADMIN}, new_key_text())

    assert (await keys.find(LOCAL, there.key.id)).revoked_at is None


async def test_an_admin_of_another_space_is_none_of_the_installation(bench: Workbench, keys: ApiKeys) -> None:
    await keys.create(LOCAL, "boss", [Scope.ADMIN], space="legal")

    assert not await api_keys.has_admin(bench.runtime.ledger)


@pytest.mark.parametrize("space", ["", "Legal", "a/b", "-a", "a" * 64, "legal\n", "é"])
async def test_what_is_no_name_of_a_space_is_refused(bench: Workbench, keys: ApiKeys, space: str) -> None:
    if space:
        with pytest.raises(InvalidRequestError) as refused:
            await keys.create(LOCAL, "bot", [Scope.READ], space=space)
        assert [error.field for error in refused.value.errors] == ["space"]
    await keys.create(LOCAL, "bot", [Scope.READ])
    with pytest.raises(asyncpg.CheckViolationError):
        await bench.execute("UPDATE api_keys SET space = $1", space)


async def test_a_key_is_changed_in_what_is_named_and_keeps_the_rest(bench: Workbench, keys: ApiKeys) -> None:
    made = await keys.create(LOCAL, "bot", [Scope.READ], in_seconds(60), narrowing=Narrowing(documents=("a*",)))

    first = await keys.change(LOCAL, made.key.id, {"name": "robot", "task_types": ("noop",)})
    second = await keys.change(LOCAL, made.key.id, {"documents": None, "expires_at": None, "scopes": [Scope.EDIT]})

    assert first == replace(made.key, name="robot", narrowing=Narrowing(("a*",), ("noop",)))
    assert second == replace(
        first, expires_at=None, scopes=frozenset({Scope.EDIT}), narrowing=Narrowing(task_types=("noop",))
    )
    assert await works(bench, made)


async def test_a_key_is_changed_to_nothing_that_could_not_be_made(keys: ApiKeys) -> None:
    made = await keys.create(LOCAL, "bot", [Scope.READ])
    await keys.create(LOCAL, "other", [Scope.READ])
    await keys.create(LOCAL, "elsewhere", [Scope.READ], space="legal")

    with pytest.raises(ApiKeyExistsError):
        await keys.change(LOCAL, made.key.id, {"name": "other"})
    with pytest.raises(ForbiddenError):
        await keys.change(EDITOR, made.key.id, {"scopes": [Scope.CONTROL]})
    for wrong in (
        KeyChanges(name="no name"),
        KeyChanges(scopes=[]),
        KeyChanges(documents=()),
        KeyChanges(expires_at=datetime(2020, 1, 1, tzinfo=UTC)),
    ):
        with pytest.raises(InvalidRequestError):
            await keys.change(LOCAL, made.key.id, wrong)

    assert await keys.find(LOCAL, made.key.id) == made.key
    assert (await keys.change(LOCAL, made.key.id, {"name": "elsewhere"})).name == "elsewhere"


async def test_what_was_revoked_or_replaced_is_not_changed(keys: ApiKeys) -> None:
    revoked = await keys.create(LOCAL, "one", [Scope.READ])
    replaced = await keys.create(LOCAL, "two", [Scope.READ])
    await keys.revoke(LOCAL, revoked.key.id)
    await keys.rotate(LOCAL, replaced.key.id)

    for made in (revoked, replaced):
        with pytest.raises(ApiKeyNotFoundError):
            await keys.change(LOCAL, made.key.id, {"name": "three"})


async def test_of_many_keys_that_are_given_one_name_at_once_one_has_it(keys: ApiKeys) -> None:
    made = [await keys.create(LOCAL, f"bot-{n}", [Scope.READ]) for n in range(4)]

    tried = await asyncio.gather(
        *(keys.change(LOCAL, one.key.id, {"name": "bot"}) for one in made),
        *(keys.create(LOCAL, "bot", [Scope.READ]) for _ in range(4)),
        return_exceptions=True,
    )

    assert [type(one) for one in tried if isinstance(one, BaseException)] == [ApiKeyExistsError] * 7


ENTRIES = st.one_of(st.sampled_from(["-", "*"]), st.from_regex(r"[ab_.][ab_.]{0,2}\*?", fullmatch=True))
LISTS = st.one_of(st.none(), st.lists(ENTRIES, min_size=1, max_size=3).map(tuple))
NARROWINGS = st.builds(
    Narrowing,
    LISTS,
    st.one_of(st.none(), st.lists(ENTRIES.filter(lambda one: one != "-"), min_size=1, max_size=2).map(tuple)),
    st.integers(0, 2),
    LISTS.map(lambda found: None if found is None else tuple(one for one in found if one != "-") or None),
)


@given(outer=NARROWINGS, inner=NARROWINGS)
@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_an_admin_sees_the_keys_that_it_could_give(
    bench: Workbench, keys: ApiKeys, outer: Narrowing, inner: Narrowing
) -> None:
    key = (await keys.create(LOCAL, f"bot-{uuid4()}", [Scope.READ], space="legal")).key
    await api_keys.change(bench.runtime.ledger, replace(key, narrowing=inner))

    is_seen = await api_keys.fetch(bench.runtime.ledger, of_legal(Scope.ADMIN, only=outer), key.id) is not None

    assert is_seen == (inner.beyond(outer) is None)
