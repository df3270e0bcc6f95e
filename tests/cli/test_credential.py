"""The key that commands call with: whose it is, where it goes, and what is said when it does not do."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from officeplane.embedded.installation import sole_use
from officeplane.local import ADDRESSES, ADMIN_KEY
from officeplane.services.access.api_keys import new_key_text
from tests.cli.conftest import Officeplane

NO_KEY = {"title": "Unauthenticated", "code": "unauthenticated", "detail": "This needs a key."}
NO_SCOPE = {"title": "Forbidden", "code": "forbidden", "detail": "This needs the scope 'edit'.", "scope": "edit"}
CROSS_SITE = {"title": "Forbidden", "code": "cross_site", "detail": "It came from a page of another site."}


class Api:
    """Something that listens, keeps what it hears, and gives always the same answer."""

    def __init__(self) -> None:
        self.heard: list[str] = []
        self.answer(200, [])
        self.url = ""

    def answer(self, status: int, body: object, headers: Mapping[str, str] | None = None) -> None:
        """Answer so from now on."""
        content = json.dumps(body).encode()
        heads = {"Content-Type": "application/json", "Content-Length": str(len(content)), **(headers or {})}
        lines = [f"HTTP/1.1 {status} Said", *(f"{name}: {value}" for name, value in heads.items()), "Connection: close"]
        self._said = "\r\n".join([*lines, "", ""]).encode() + content

    @property
    def keys(self) -> list[str]:
        """What came as the caller's key with each request; nothing if none did."""
        found = [
            [line.partition(": ")[2] for line in request.splitlines() if line.lower().startswith("authorization:")]
            for request in self.heard
        ]
        return ["".join(values) for values in found]

    async def listen(self) -> asyncio.Server:
        server = await asyncio.start_server(self._reply, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        return server

    async def _reply(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.heard.append((await reader.readuntil(b"\r\n\r\n")).decode())
        writer.write(self._said)
        await writer.drain()
        writer.close()


@pytest.fixture
async def api() -> AsyncIterator[Api]:
    listening = Api()
    server = await listening.listen()
    yield listening
    server.close()


@pytest.fixture
def key() -> str:
    return new_key_text()


@asynccontextmanager
async def running(folder: Path, url: str, key: str) -> AsyncGenerator[dict[str, str]]:
    """An installation of `officeplane up`, as far as a command sees it, and the environment in which it is found."""
    addresses = {"url": url, "databaseUrl": "d", "ownerUrl": "o", "redisUrl": "r"}
    (folder / ADDRESSES).write_text(json.dumps(addresses))
    (folder / ADMIN_KEY).write_text(f"{key}\n")
    async with sole_use(folder):
        yield {"OFFICEPLANE_DATA_DIR": str(folder)}


async def test_the_key_of_the_environment_is_sent(officeplane: Officeplane, api: Api, key: str) -> None:
    ended = await officeplane("tasks", "list", "--json", env={"OFFICEPLANE_URL": api.url, "OFFICEPLANE_KEY": key})

    assert ended.code == 0, ended.err
    assert api.keys == [f"Bearer {key}"]


async def test_without_any_key_none_is_sent(officeplane: Officeplane, api: Api) -> None:
    await officeplane("tasks", "list", env={"OFFICEPLANE_URL": api.url})

    assert api.keys == [""]


async def test_the_installation_here_is_called_with_its_own_key(
    officeplane: Officeplane, api: Api, key: str, tmp_path: Path
) -> None:
    async with running(tmp_path, api.url, key) as env:
        ended = await officeplane("tasks", "list", env=env)

    assert ended.code == 0, ended.err
    assert api.keys == [f"Bearer {key}"]


async def test_the_key_that_was_given_goes_before_that_of_the_installation_here(
    officeplane: Officeplane, api: Api, key: str, tmp_path: Path
) -> None:
    other = new_key_text()

    async with running(tmp_path, api.url, key) as env:
        await officeplane("tasks", "list", env={**env, "OFFICEPLANE_KEY": other})

    assert api.keys == [f"Bearer {other}"]


@pytest.mark.parametrize("there", ["http://127.0.0.1:9", "https://127.0.0.1:{port}", "http://localhost:{port}"])
async def test_the_key_of_the_installation_here_is_for_nobody_else(
    officeplane: Officeplane, api: Api, key: str, tmp_path: Path, there: str
) -> None:
    async with running(tmp_path, there.format(port=api.url.rpartition(":")[2]), key) as env:
        await officeplane("tasks", "list", env={**env, "OFFICEPLANE_URL": api.url})

    assert api.keys == [""]


async def test_who_listens_where_an_installation_was_that_is_stopped_gets_no_key(
    officeplane: Officeplane, api: Api, key: str, tmp_path: Path
) -> None:
    async with running(tmp_path, api.url, key) as env:
        pass

    ended = await officeplane("tasks", "list", env=env)

    assert ended.code == 0, ended.err
    assert api.keys == [""]


async def test_a_key_is_not_taken_elsewhere_by_whoever_it_was_sent_to(
    officeplane: Officeplane, api: Api, key: str
) -> None:
    elsewhere = Api()
    async with await elsewhere.listen():
        api.answer(307, {}, {"Location": f"{elsewhere.url}/api/tasks"})

        ended = await officeplane("tasks", "list", env={"OFFICEPLANE_URL": api.url, "OFFICEPLANE_KEY": key})

    assert ended.code == 1
    assert elsewhere.heard == []


async def test_what_is_no_key_is_named_and_not_shown_nor_sent(officeplane: Officeplane, api: Api, key: str) -> None:
    wrong = key[:-1] + ("0" if key[-1] != "0" else "1")

    ended = await officeplane("tasks", "list", env={"OFFICEPLANE_URL": api.url, "OFFICEPLANE_KEY": wrong})

    assert ended.code == 2
    assert ended.err.startswith("OFFICEPLANE_KEY is not a key")
    assert wrong not in ended.err
    assert api.heard == []


async def test_who_is_not_known_is_told_how_to_name_himself(officeplane: Officeplane, api: Api) -> None:
    api.answer(401, NO_KEY)

    ended = await officeplane("tasks", "list", env={"OFFICEPLANE_URL": api.url})

    assert ended.code == 1
    first, second = ended.err.splitlines()
    assert first == "Unauthenticated: This needs a key. (unauthenticated)"
    assert second.startswith("Set OFFICEPLANE_KEY to a key")


async def test_who_is_no_longer_known_is_told_whose_key_it_was(
    officeplane: Officeplane, api: Api, key: str, tmp_path: Path
) -> None:
    api.answer(401, NO_KEY)

    given = await officeplane("tasks", "list", env={"OFFICEPLANE_URL": api.url, "OFFICEPLANE_KEY": key})
    async with running(tmp_path, api.url, key) as env:
        found = await officeplane("tasks", "list", env=env)

    assert "The key is that of OFFICEPLANE_KEY: `officeplane keys list`" in given.err
    assert f"The key is that of {tmp_path / ADMIN_KEY}: " in found.err
    for ended in (given, found):
        assert ended.code == 1
        assert key not in ended.err


async def test_who_may_not_is_told_what_would_do(officeplane: Officeplane, api: Api, key: str) -> None:
    api.answer(403, NO_SCOPE)

    ended = await officeplane("tasks", "submit", "noop", env={"OFFICEPLANE_URL": api.url, "OFFICEPLANE_KEY": key})

    assert ended.code == 1
    assert "Set OFFICEPLANE_KEY to a key that has it; `officeplane keys create NAME --scope edit`" in ended.err


async def test_another_refusal_of_the_same_status_gets_no_such_advice(officeplane: Officeplane, api: Api) -> None:
    api.answer(403, CROSS_SITE)

    ended = await officeplane("tasks", "list", env={"OFFICEPLANE_URL": api.url})

    assert ended.err == "Forbidden: It came from a page of another site. (cross_site)\n"


async def test_programs_get_the_refusal_as_it_came(officeplane: Officeplane, api: Api) -> None:
    api.answer(401, NO_KEY)

    ended = await officeplane("tasks", "list", "--json", env={"OFFICEPLANE_URL": api.url})

    assert json.loads(ended.err) == NO_KEY


async def test_events_are_followed_with_the_key_too(officeplane: Officeplane, api: Api, key: str) -> None:
    api.answer(403, NO_SCOPE)

    ended = await officeplane(
        "tasks", "watch", "--all", "--json", env={"OFFICEPLANE_URL": api.url, "OFFICEPLANE_KEY": key}
    )

    assert ended.code == 1
    assert set(api.keys) == {f"Bearer {key}"}
