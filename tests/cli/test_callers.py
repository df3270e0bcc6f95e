"""Whom a server that starts lets in: nobody from elsewhere can do anything by an oversight."""

import asyncio
from collections.abc import Mapping
from pathlib import Path

import httpx
import pytest

from officeplane.cli.admin_key import keep_admin_key
from officeplane.cli.callers import check_callers, listens_beyond
from officeplane.cli.exits import RefusedError
from officeplane.config import Settings
from officeplane.domain.api_key import digest_of
from officeplane.domain.principal import LOCAL, Scope
from officeplane.local import ADMIN_KEY
from officeplane.server import create_app
from officeplane.services.access.api_keys import ApiKeys, new_key_text
from officeplane.services.access.oidc import OidcSettingError
from officeplane.store import api_keys
from officeplane.store.migrate import migrate
from tests.cli.conftest import Officeplane, Start
from tests.conftest import NewDatabase
from tests.fault_proxy import fault_proxy
from tests.kept import a_ledger
from tests.support import eventually

BEYOND = "0.0.0.0"  # noqa: S104 - nobody gets to it
PROMPT = 60


@pytest.fixture
async def database(new_database: NewDatabase) -> str:
    """A migrated database with no key in it."""
    url = await new_database()
    await migrate(url)
    return url


async def check(database: str, **settings: str) -> None:
    given = Settings.model_validate({"database_url": database, "host": BEYOND, **settings})
    await asyncio.to_thread(check_callers, given)


async def works(database: str, text: str) -> bool:
    async with a_ledger(database) as ledger:
        return await api_keys.of_digest(ledger, digest_of(text)) is not None


@pytest.mark.parametrize("host", [BEYOND, "::", "", "10.0.0.7", "office.example", "::ffff:10.0.0.7"])
def test_others_reach_what_listens_on_more_than_the_loopback(host: str) -> None:
    assert listens_beyond(Settings(host=host))


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.2", "localhost", "LOCALHOST", "::1", "[::1]"])
def test_nobody_else_reaches_what_listens_on_the_loopback(host: str) -> None:
    assert not listens_beyond(Settings(host=host))


async def test_serve_does_not_listen_beyond_this_machine_while_nobody_could_be_let_in(
    officeplane: Officeplane, database: str
) -> None:
    ended = await officeplane(
        "serve", "--host", BEYOND, "--port", "0", env={"OFFICEPLANE_DATABASE_URL": database}, within=PROMPT
    )

    assert ended.code == 1
    assert "\n  officeplane keys create NAME --scope admin\n" in ended.err
    assert "OFFICEPLANE_ADMIN_KEY" in ended.err
    assert "serve.listening" not in ended.err


async def test_a_key_that_may_not_make_others_is_not_enough(database: str) -> None:
    async with a_ledger(database) as ledger:
        await ApiKeys(ledger).create(LOCAL, "bot", [Scope.EDIT])

    with pytest.raises(RefusedError):
        await check(database)


async def test_it_may_listen_once_somebody_can_make_keys(database: str) -> None:
    async with a_ledger(database) as ledger:
        await ApiKeys(ledger).create(LOCAL, "boss", [Scope.ADMIN])

    await check(database)


async def test_it_may_listen_with_a_key_of_its_environment_and_where_everybody_or_nobody_is_asked(
    database: str,
) -> None:
    await check(database, admin_key=new_key_text())
    await check(database, auth="required")
    await check(database, auth="off")
    await check(database, host="127.0.0.1")


async def test_it_may_listen_before_its_database_can_be_asked(database: str) -> None:
    async with fault_proxy(database) as away:
        await away.refuse()

        await check(away.url(database))


async def test_whoever_turns_keys_off_is_told_in_the_log(start: Start, database: str) -> None:
    env = {"OFFICEPLANE_DATABASE_URL": database, "OFFICEPLANE_AUTH": "off", "OFFICEPLANE_PORT": "0"}
    async with start("serve", env=env) as serve:
        await eventually(lambda: serve.address, within=PROMPT)

        assert "auth.off" in serve.err.read_text()


async def test_where_everybody_is_asked_a_command_needs_a_key_that_works_and_has_the_scope(
    officeplane: Officeplane, start: Start, database: str
) -> None:
    env = {"OFFICEPLANE_DATABASE_URL": database, "OFFICEPLANE_AUTH": "required", "OFFICEPLANE_PORT": "0"}
    made = await officeplane("keys", "create", "reader", "--scope", "read", env=env)
    async with start("serve", env=env) as serve:
        await eventually(lambda: is_ready(serve.address), within=PROMPT)
        without = {**env, "OFFICEPLANE_URL": serve.address}
        with_key = {**without, "OFFICEPLANE_KEY": made.out.strip()}

        nobody = await officeplane("tasks", "list", env=without)
        reader = await officeplane("tasks", "list", env=with_key)
        writer = await officeplane("tasks", "submit", "noop", env=with_key)

        await officeplane("keys", "revoke", "reader", env=env)

        async def is_out() -> bool:
            ended = await officeplane("tasks", "list", env=with_key)
            return ended.code == 1 and "The key is that of OFFICEPLANE_KEY" in ended.err

        await eventually(is_out, within=PROMPT)
    assert (nobody.code, reader.code, writer.code) == (1, 0, 1)
    assert "Set OFFICEPLANE_KEY" in nobody.err
    assert "--scope edit" in writer.err


async def test_the_key_of_the_environment_works_when_serve_does(start: Start, database: str) -> None:
    text = new_key_text()
    env = {"OFFICEPLANE_DATABASE_URL": database, "OFFICEPLANE_ADMIN_KEY": text, "OFFICEPLANE_PORT": "0"}
    async with start("serve", env=env) as serve:
        await eventually(lambda: is_ready(serve.address), within=PROMPT)

        assert await works(database, text)
        assert text not in serve.err.read_text() + serve.out.read_text()
    async with a_ledger(database) as ledger:
        (key,) = await ApiKeys(ledger).page(LOCAL, None, 10)
    assert (key.name, key.scopes, key.created_by) == ("admin", frozenset({Scope.ADMIN}), "environment")


async def test_the_key_of_the_environment_works_when_its_database_comes_later(start: Start, database: str) -> None:
    text = new_key_text()
    async with fault_proxy(database) as late:
        await late.refuse()
        env = {"OFFICEPLANE_DATABASE_URL": late.url(database), "OFFICEPLANE_ADMIN_KEY": text, "OFFICEPLANE_PORT": "0"}
        async with start("serve", env=env) as serve:
            await eventually(lambda: serve.address, within=PROMPT)
            assert not await works(database, text)

            await late.heal()

            await eventually(lambda: is_ready(serve.address), within=PROMPT)
            assert await works(database, text)


async def test_another_key_in_the_environment_takes_the_place_of_the_one_before(start: Start, database: str) -> None:
    old, new = new_key_text(), new_key_text()
    for text in (old, new):
        env = {"OFFICEPLANE_DATABASE_URL": database, "OFFICEPLANE_ADMIN_KEY": text, "OFFICEPLANE_PORT": "0"}
        async with start("serve", env=env) as serve:
            await eventually(lambda: is_ready(serve.address), within=PROMPT)

    assert (await works(database, old), await works(database, new)) == (False, True)


async def test_a_key_that_was_revoked_does_not_come_back_with_a_restart(start: Start, database: str) -> None:
    text = new_key_text()
    async with a_ledger(database) as ledger:
        await ApiKeys(ledger).admit(LOCAL, "admin", {Scope.ADMIN}, text)
        await ApiKeys(ledger).revoke_all(LOCAL, "admin")
    env = {"OFFICEPLANE_DATABASE_URL": database, "OFFICEPLANE_ADMIN_KEY": text, "OFFICEPLANE_PORT": "0"}

    async with start("serve", env=env) as serve:
        await eventually(lambda: is_ready(serve.address), within=PROMPT)

        assert "admin_key.refused" in serve.err.read_text()
        assert not await works(database, text)


async def test_serve_does_not_start_while_everybody_could_log_in_whom_a_provider_knows(
    officeplane: Officeplane, database: str
) -> None:
    env = {
        "OFFICEPLANE_DATABASE_URL": database,
        "OFFICEPLANE_OIDC_ISSUER": "https://login.example",
        "OFFICEPLANE_OIDC_CLIENT_ID": "office",
        "OFFICEPLANE_OIDC_CLIENT_SECRET": "s3cret",
    }
    for command in ("serve", "up"):
        ended = await officeplane(command, "--port", "1", env=env, within=PROMPT)

        assert ended.code == 2
        assert ended.err.startswith("OFFICEPLANE_OIDC_ALLOW: ")
        assert "s3cret" not in ended.err


def test_a_server_that_is_not_started_by_a_command_needs_the_list_too() -> None:
    with pytest.raises(OidcSettingError, match="OFFICEPLANE_OIDC_ALLOW"):
        create_app(Settings(oidc_issuer="https://login.example", oidc_client_id="office"))


def test_the_secret_that_a_provider_knows_is_in_no_word_about_the_settings() -> None:
    given = Settings(oidc_client_secret="s3cret")

    assert "s3cret" not in f"{given!r} {given}"


def test_the_key_of_the_environment_is_in_no_word_about_the_settings() -> None:
    text = new_key_text()

    assert text not in f"{Settings(admin_key=text)!r} {Settings(admin_key=text)}"


async def test_the_key_of_the_environment_is_that_of_the_owners_file_too(database: str, tmp_path: Path) -> None:
    path, given = tmp_path / ADMIN_KEY, new_key_text()
    await keep_admin_key(database, path)
    found = path.read_text().strip()

    await keep_admin_key(database, path, given)
    await keep_admin_key(database, path)

    assert path.read_text() == f"{given}\n"
    assert (await works(database, found), await works(database, given)) == (False, True)


async def test_what_a_file_has_that_is_no_key_is_replaced(database: str, tmp_path: Path) -> None:
    path = tmp_path / ADMIN_KEY
    path.write_bytes(b"\xff nonsense")

    await keep_admin_key(database, path)

    assert await works(database, path.read_text().strip())


@pytest.mark.parametrize(
    "env", [{"OFFICEPLANE_ADMIN_KEY": "opk_secret"}, {"OFFICEPLANE_AUTH": "perhaps"}], ids=["key", "auth"]
)
async def test_what_is_no_key_and_no_way_to_ask_for_one_is_named(
    officeplane: Officeplane, env: Mapping[str, str]
) -> None:
    ended = await officeplane("serve", env=env)

    assert ended.code == 2
    assert ended.err.startswith(f"{next(iter(env))}: ")
    assert "secret" not in ended.err


async def is_ready(url: str) -> bool:
    if not url:
        return False
    async with httpx.AsyncClient(trust_env=False, timeout=30) as client:
        return (await client.get(f"{url}/api/health/ready")).status_code == 200
