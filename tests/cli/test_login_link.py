"""`officeplane login-link` on the database: whoever reaches that can let somebody log in."""

import getpass
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from officeplane.domain.api_key import digest_of
from officeplane.domain.principal import Scope
from officeplane.services.access.api_keys import new_key_text
from officeplane.store import login_links
from officeplane.store.login_links import Spent
from officeplane.store.migrate import migrate
from tests.cli.conftest import Officeplane, Start
from tests.conftest import NewDatabase
from tests.kept import a_ledger
from tests.support import eventually

Env = Mapping[str, str]


@pytest.fixture(scope="module")
async def env(new_database: NewDatabase) -> Env:
    """The environment of a migrated database without an API."""
    url = await new_database()
    await migrate(url)
    return {"OFFICEPLANE_DATABASE_URL": url}


async def spent(env: Env, link: str) -> Spent | None:
    """What the link that was printed is good for."""
    parts = urlsplit(link)
    (token,) = parse_qs(parts.query)["token"]
    assert parts.path == "/login"
    async with a_ledger(env["OFFICEPLANE_DATABASE_URL"]) as ledger:
        return await login_links.spend(ledger, digest_of(token))


async def test_a_link_is_printed_alone_and_is_good_for_everything(officeplane: Officeplane, env: Env) -> None:
    ended = await officeplane("login-link", env={**env, "OFFICEPLANE_URL": "https://office.example/"})

    assert ended.code == 0, ended.err
    (link,) = ended.out.splitlines()
    assert link.startswith("https://office.example/login?token=")
    assert link not in ended.err
    assert "admin" in ended.err
    assert await spent(env, link) == Spent(frozenset({Scope.ADMIN}), f"local:{getpass.getuser()}")
    assert await spent(env, link) is None


async def test_a_link_is_good_for_what_it_is_made_for(officeplane: Officeplane, env: Env) -> None:
    made = (await officeplane("login-link", "--scope", "read", "--scope", "edit", "--json", env=env)).object

    assert made["scopes"] == ["edit", "read"]
    ahead = datetime.fromisoformat(str(made["expiresAt"])) - datetime.now(UTC)
    assert timedelta(minutes=14) < ahead <= timedelta(minutes=15)
    found = await spent(env, str(made["url"]))
    assert found is not None
    assert found.scopes == {Scope.READ, Scope.EDIT}


async def test_what_one_logs_in_with_is_in_no_log_of_the_server(
    officeplane: Officeplane, start: Start, env: Env
) -> None:
    settings = {**env, "OFFICEPLANE_PORT": "0", "OFFICEPLANE_LOG_LEVEL": "debug"}
    async with start("serve", env=settings) as serve:
        url = await eventually(lambda: serve.address, within=60)
        link = str((await officeplane("login-link", "--url", url, "--json", env=env)).object["url"])
        key = (await officeplane("keys", "create", "typed", "--scope", "read", env=env)).out.strip()
        (token,) = parse_qs(urlsplit(link).query)["token"]
        wrong = new_key_text()
        async with httpx.AsyncClient(base_url=url, headers={"Origin": url}, timeout=30) as browser:
            assert (await browser.get(link)).status_code == 200
            assert (await browser.get(f"{link}&next=%ff%00")).status_code == 200
            cookies: list[str] = []
            for typed in ({"token": token}, {"key": key}):
                assert (await browser.post("/login", data=typed)).status_code == 303
                cookies.append(browser.cookies["officeplane_session"])
            assert (await browser.get("/api/session")).json()["id"] == "person:key:typed"
            for typed in ({"token": token}, {"key": wrong}):
                assert (await browser.post("/login", data=typed)).status_code == 401
            assert (await browser.get("/api/tasks", params={"token": token})).status_code == 422
        assert await serve.stop() == 0
        said = serve.err.read_text() + serve.out.read_text()

    assert "serve.listening" in said
    for secret in (token, key, wrong, *cookies):
        assert secret not in said
