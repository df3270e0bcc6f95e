"""`officeplane keys` on the database: whoever reaches that cannot lock himself out."""

import getpass
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from rich.console import Console

from officeplane.cli.exits import UsageError
from officeplane.cli.keys.showing import key_table
from officeplane.cli.spans import seconds_in
from officeplane.domain.api_key import ApiKey, digest_of, is_key_text
from officeplane.domain.ids import KeyId
from officeplane.domain.narrowing import Narrowing
from officeplane.domain.principal import Scope
from officeplane.domain.space import Space
from officeplane.store import api_keys
from officeplane.store.migrate import migrate
from tests.cli.conftest import Ended, Officeplane
from tests.conftest import NewDatabase
from tests.kept import a_ledger

Env = Mapping[str, str]
NOW = datetime(2030, 1, 1, tzinfo=UTC)
KEY = ApiKey(
    id=KeyId("01900000-0000-7000-8000-000000000001"),
    name="bot",
    shown="opk_abcd",
    scopes=frozenset({Scope.READ, Scope.EDIT}),
    created_by="local:ann",
    created_at=NOW - timedelta(days=3),
    expires_at=NOW + timedelta(days=27),
    last_used_at=NOW - timedelta(minutes=5),
)


@pytest.fixture(scope="module")
async def env(new_database: NewDatabase) -> Env:
    """The environment of a migrated database without an API."""
    url = await new_database()
    await migrate(url)
    return {"OFFICEPLANE_DATABASE_URL": url}


async def works(env: Env, text: str) -> bool:
    async with a_ledger(env["OFFICEPLANE_DATABASE_URL"]) as ledger:
        return await api_keys.of_digest(ledger, digest_of(text)) is not None


async def state(officeplane: Officeplane, env: Env, name: str) -> list[str]:
    listed = (await officeplane("keys", "list", "--json", env=env)).objects
    return [str(key["state"]) for key in listed if key["name"] == name]


def text_of(ended: Ended) -> str:
    """The key that was printed: a line of stdout, and nothing else."""
    assert ended.code == 0, ended.err
    (line,) = ended.out.splitlines()
    assert is_key_text(line)
    assert line not in ended.err
    return line


async def test_a_key_is_printed_alone_so_that_a_shell_can_take_it(officeplane: Officeplane, env: Env) -> None:
    ended = await officeplane("keys", "create", "alone", "--scope", "read", "--scope", "edit", env=env)

    assert await works(env, text_of(ended))
    assert "alone (edit, read)" in ended.err
    assert "shown this once" in ended.err


async def test_whoever_makes_a_key_is_known_by_the_name_that_the_machine_has_for_him(
    officeplane: Officeplane, env: Env
) -> None:
    made = (await officeplane("keys", "create", "whose", "--scope", "admin", "--json", env=env)).object

    assert is_key_text(str(made["key"]))
    assert made["createdBy"] == f"local:{getpass.getuser()}"
    assert (made["name"], made["scopes"], made["state"], made["expiresAt"]) == ("whose", ["admin"], "works", None)


async def test_a_key_expires_after_the_time_that_it_is_given(officeplane: Officeplane, env: Env) -> None:
    made = (
        await officeplane("keys", "create", "guest", "--scope", "read", "--expires", "30d", "--json", env=env)
    ).object

    ahead = datetime.fromisoformat(str(made["expiresAt"])) - datetime.now(UTC)
    assert timedelta(days=29, hours=23) < ahead <= timedelta(days=30)


async def test_a_list_tells_what_is_known_of_keys_and_nothing_by_which_one_could_be_used(
    officeplane: Officeplane, env: Env
) -> None:
    text = text_of(await officeplane("keys", "create", "listed", "--scope", "read", env=env))

    table = await officeplane("keys", "list", env=env)
    as_json = await officeplane("keys", "list", "--json", env=env)

    (line,) = [line for line in table.out.splitlines() if " listed " in line]
    assert " works " in line
    assert " read " in line
    assert text[:8] in line
    for ended in (table, as_json):
        assert ended.code == 0
        assert text[8:] not in ended.out
        assert digest_of(text).hex() not in ended.out


async def test_a_key_is_replaced_by_its_name_and_the_old_one_works_on_for_a_day(
    officeplane: Officeplane, env: Env
) -> None:
    old = text_of(await officeplane("keys", "create", "rotated", "--scope", "edit", env=env))

    new = text_of(await officeplane("keys", "rotate", "rotated", env=env))

    assert new != old
    assert (await works(env, old), await works(env, new)) == (True, True)
    assert await state(officeplane, env, "rotated") == ["replaced", "works"]


async def test_a_key_is_replaced_by_its_id_and_at_once_if_that_is_asked_for(officeplane: Officeplane, env: Env) -> None:
    old = (await officeplane("keys", "create", "at-once", "--scope", "edit", "--json", env=env)).object

    new = text_of(await officeplane("keys", "rotate", str(old["id"]), "--overlap", "0", env=env))

    assert (await works(env, str(old["key"])), await works(env, new)) == (False, True)
    assert await state(officeplane, env, "at-once") == ["expired", "works"]


async def test_whoever_revokes_a_name_leaves_no_key_of_it_behind(officeplane: Officeplane, env: Env) -> None:
    old = text_of(await officeplane("keys", "create", "leaked", "--scope", "edit", env=env))
    new = text_of(await officeplane("keys", "rotate", "leaked", env=env))

    ended = await officeplane("keys", "revoke", "leaked", env=env)

    assert ended.code == 0
    assert ended.out.count("is revoked") == 2
    assert (await works(env, old), await works(env, new)) == (False, False)
    assert await state(officeplane, env, "leaked") == ["revoked", "revoked"]
    again = await officeplane("keys", "create", "leaked", "--scope", "edit", env=env)
    assert await works(env, text_of(again))


async def test_a_name_that_is_taken_is_refused(officeplane: Officeplane, env: Env) -> None:
    await officeplane("keys", "create", "taken", "--scope", "read", env=env)

    ended = await officeplane("keys", "create", "taken", "--scope", "read", env=env)
    as_json = await officeplane("keys", "create", "taken", "--scope", "read", "--json", env=env)

    assert (ended.code, ended.out) == (1, "")
    assert ended.err == "There is a key 'taken' already: rotate it, revoke it, or take another name.\n"
    assert '"code": "key_exists"' in as_json.err


async def test_a_key_is_made_for_a_space_and_for_some_of_it_only(officeplane: Officeplane, env: Env) -> None:
    ended = await officeplane(
        *("keys", "create", "narrowed", "--scope", "edit", "--space", "legal", "--document", "contract-*"),
        *("--document", "-", "--task-type", "noop", "--max-priority", "normal", "--agent", "writer-*"),
        env=env,
    )

    assert await works(env, text_of(ended))
    said = " ".join(ended.err.split())
    assert (
        "(edit in space legal, only documents contract-* -; types noop; agents writer-*; no more urgent than 50)"
        in said
    )
    (shown,) = (await officeplane("keys", "list", "--space", "legal", "--json", env=env)).objects
    told = ("name", "space", "documents", "taskTypes", "maxPriority", "agents")
    assert [shown[name] for name in told] == ["narrowed", "legal", ["contract-*", "-"], ["noop"], 50, ["writer-*"]]


async def test_a_key_is_changed_by_its_name_in_what_is_said(officeplane: Officeplane, env: Env) -> None:
    await officeplane(*("keys", "create", "before", "--scope", "read", "--space", "sales", "--document", "a"), env=env)

    ended = await officeplane(
        *("keys", "update", "before", "--space", "sales", "--name", "after", "--document", "*"),
        *("--scope", "edit", "--task-type", "noop", "--expires", "1d", "--json"),
        env=env,
    )
    as_text = await officeplane("keys", "update", str(ended.object["id"]), "--max-priority", "70", env=env)

    told = ("name", "space", "scopes", "documents", "taskTypes")
    assert [ended.object[name] for name in told] == ["after", "sales", ["edit"], None, ["noop"]]
    assert ended.object["expiresAt"] is not None
    assert " may: edit in space sales, only types noop; no more urgent than 70" in " ".join(as_text.out.split())


async def test_a_name_of_another_space_is_not_meant(officeplane: Officeplane, env: Env) -> None:
    there = text_of(await officeplane("keys", "create", "there", "--scope", "read", "--space", "far", env=env))

    for command in ("rotate", "revoke", "update"):
        options = ("--name", "x") if command == "update" else ()
        ended = await officeplane("keys", command, "there", *options, env=env)
        assert (ended.code, ended.err) == (1, "There is no key 'there' that works.\n")

    assert await works(env, there)
    assert (await officeplane("keys", "revoke", "there", "--space", "far", env=env)).code == 0
    assert not await works(env, there)


@pytest.mark.parametrize("command", ["rotate", "revoke"])
async def test_a_key_that_is_not_there_is_refused_by_the_name_that_was_typed(
    officeplane: Officeplane, env: Env, command: str
) -> None:
    await officeplane("keys", "create", f"gone-{command}", "--scope", "read", env=env)
    await officeplane("keys", "revoke", f"gone-{command}", env=env)

    ended = await officeplane("keys", command, f"gone-{command}", env=env)

    assert (ended.code, ended.out) == (1, "")
    assert ended.err == f"There is no key 'gone-{command}' that works.\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ("create", "bot"),
        ("create", "bot", "--scope", "everything"),
        ("create", "a b", "--scope", "read"),
        ("create", "opk_bot", "--scope", "read"),
        ("create", "bot", "--scope", "read", "--expires", "soon"),
        ("create", "bot", "--scope", "read", "--expires", "0"),
        ("create", "bot", "--scope", "read", "--expires", "1000000d"),
        ("create", "bot", "--scope", "read", "--space", "a/b"),
        ("create", "bot", "--scope", "read", "--document", "a/b"),
        ("create", "bot", "--scope", "read", "--max-priority", "101"),
        ("create", "bot", "--scope", "read", "--max-priority", "soon"),
        ("update", "bot"),
        ("rotate", "bot", "--overlap", "-1d"),
        ("revoke",),
    ],
)
async def test_a_key_that_makes_no_sense_ends_with_2(
    officeplane: Officeplane, env: Env, arguments: tuple[str, ...]
) -> None:
    ended = await officeplane("keys", *arguments, env=env)

    assert (ended.code, ended.out) == (2, "")
    assert ended.err
    assert "Traceback" not in ended.err
    assert await state(officeplane, env, "bot") == []


async def test_a_key_is_generated_without_any_database(officeplane: Officeplane) -> None:
    texts = {text_of(await officeplane("keys", "generate")) for _ in range(2)}

    assert len(texts) == 2


@pytest.mark.parametrize("arguments", [("list",), ("create", "bot", "--scope", "read"), ("revoke", "bot")])
async def test_keys_without_their_database_end_as_all_commands_do(
    officeplane: Officeplane, arguments: tuple[str, ...]
) -> None:
    unnamed = await officeplane("keys", *arguments)
    away = await officeplane(
        "keys", *arguments, env={"OFFICEPLANE_DATABASE_URL": "postgresql://me:secret@127.0.0.1:9/plane"}
    )

    assert unnamed.code == 2
    assert unnamed.err.startswith("OFFICEPLANE_DATABASE_URL is not set.\n")
    assert away.code == 3
    assert "127.0.0.1:9" in away.err
    assert "secret" not in away.err


async def test_keys_of_a_database_that_has_none_yet_are_for_migrate(
    officeplane: Officeplane, new_database: NewDatabase
) -> None:
    ended = await officeplane("keys", "list", env={"OFFICEPLANE_DATABASE_URL": await new_database()})

    assert ended.code == 1
    assert "officeplane migrate" in ended.err


def test_a_table_of_keys_says_when_each_was_made_used_and_ends() -> None:
    console = Console(width=200, no_color=True)
    with console.capture() as capture:
        console.print(key_table([KEY], NOW, 200))

    for word in (KEY.id, "bot", "works", "edit, read", "opk_abcd…", "3 d ago", "in 27 d", "5 min ago"):
        assert word in capture.get()


@pytest.mark.parametrize(
    ("given", "seconds"), [("90s", 90), ("15m", 900), ("12h", 43_200), ("30d", 2_592_000), ("0", 0)]
)
def test_a_span_of_time_is_a_number_and_a_unit(given: str, seconds: float) -> None:
    assert seconds_in("--expires", given) == seconds


@pytest.mark.parametrize("given", ["", "30", "d", "1.5d", "-1d", "1 d", "1y", "１d", "100000d"])
def test_what_is_no_span_of_time_is_refused_with_the_option_it_was_given_to(given: str) -> None:
    with pytest.raises(UsageError) as refused:
        seconds_in("--expires", given)

    assert str(refused.value).startswith("--expires: ")


@pytest.mark.parametrize("width", [80, 120, 200])
def test_a_table_of_narrowed_keys_fits_its_window_and_loses_nothing(width: int) -> None:
    only = Narrowing(("contract-*", "-"), ("noop", "billing.*"), 50, ("writer-*",))
    keys = [KEY, replace(KEY, space=Space("legal"), narrowing=only, scopes=frozenset(Scope))]
    console = Console(width=width, no_color=True)
    with console.capture() as capture:
        console.print(key_table(keys, NOW, width))

    lines = capture.get().splitlines()
    assert max(map(len, lines)) <= width
    said = " ".join(" ".join(lines).split())
    assert "legal" in said
    for word in ("contract-*", "billing.*", "writer-*", "no more urgent", "50"):
        assert word in said


async def test_a_key_has_quotas_of_which_those_that_are_named_are_changed(officeplane: Officeplane, env: Env) -> None:
    quotas = ("--quota", "maxWaitingTasks=10", "--quota", "maxBytes=1000")
    await officeplane(*("keys", "create", "thrifty", "--scope", "edit"), *quotas, env=env)

    as_text = await officeplane("keys", "update", "thrifty", "--quota", "maxBytes=none", env=env)
    ended = await officeplane("keys", "update", "thrifty", "--quota", "maxDocuments=3", "--json", env=env)
    wrong = await officeplane("keys", "update", "thrifty", "--quota", "maxWaits", env=env)

    assert "only maxWaitingTasks 10" in as_text.out
    told = ended.object["quotas"]
    assert isinstance(told, dict)
    assert {name: limit for name, limit in told.items() if limit is not None} == {
        "maxWaitingTasks": 10,
        "maxDocuments": 3,
    }
    assert wrong.code == 2
    assert "maxWaits is to be a number" in wrong.err
