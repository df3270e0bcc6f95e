"""Who is let in: every route beside every kind of caller, what is local, and what becomes of wrong keys."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Final
from uuid import uuid4

import httpx
import pytest
from fastapi import APIRouter, FastAPI
from fastapi.routing import APIRoute

from officeplane.api.callers import ANY_SCOPE, Need, UndeclaredScopeError, need_of
from officeplane.api.requests import StrictRoute
from officeplane.api.session_cookie import NAME
from officeplane.api.wrong_keys import FAILURES_MAX
from officeplane.config import Settings
from officeplane.domain.ids import TaskId
from officeplane.domain.principal import LOCAL, Principal, Scope
from officeplane.domain.session import Login
from officeplane.domain.task import TaskDetails
from officeplane.services.access.api_keys import new_key_text
from officeplane.services.observe.long_poll import LongPoll
from tests.api.client import a_key, code_of, revoke_key, running, runtime_of, served, state_in, stranger_to
from tests.support import eventually, stopwatch

FILLED: Final[Mapping[str, str]] = {
    "task_id": "01890a5d-ac96-774b-bcce-b302099a8057",
    "dag_id": "01890a5d-ac96-774b-bcce-b302099a8057",
    "key_id": "01890a5d-ac96-774b-bcce-b302099a8057",
    "document_id": "none-such",
    "task_type": "none.such",
    "node_id": "page-1",
    "slide_id": "slide-1",
    "name": "nobody",
    "agent_id": "nobody",
    "claim_id": "01890a5d-ac96-774b-bcce-b302099a8057",
}
OPEN: Final = {"/api/health/live", "/api/health/ready"}
REFUSED: Final = {401, 403}


@pytest.fixture(scope="module")
async def ending_app(api_settings: Settings) -> AsyncIterator[FastAPI]:
    """An application whose streams and long waits end at once."""
    async with running(api_settings) as started:
        state_in(started).stopping.set()
        yield started


def routes_of(app: FastAPI) -> Iterator[tuple[str, str, Need | None]]:
    for route in app.routes:
        if isinstance(route, APIRoute) and route.include_in_schema:
            for method in route.methods or ():
                yield method, route.path.format(**FILLED), need_of(route.endpoint)


async def a_session(app: FastAPI, *scopes: Scope) -> str:
    """The cookie of somebody who has logged in and has these scopes."""
    token = await runtime_of(app).sessions.begin(f"person-{uuid4()}", Login.LINK, frozenset(scopes))
    return f"{NAME}={token}"


async def status_of(client: httpx.AsyncClient, method: str, path: str) -> int:
    # What is let in stumbles over this body, and does nothing.
    body = None if method in {"GET", "DELETE"} else b"["
    headers = {} if body is None else {"Content-Type": "application/json"}
    return (await client.request(method, path, content=body, headers=headers)).status_code


async def test_every_route_is_for_those_who_have_its_scope_and_for_nobody_else(ending_app: FastAPI) -> None:
    sessions = {scope: await a_session(ending_app, scope) for scope in Scope}
    keys = {scope: await a_key(ending_app, scope) for scope in Scope}
    revoked = await a_key(ending_app, *Scope)
    await revoke_key(ending_app, revoked)
    routes = list(routes_of(ending_app))
    assert len(routes) > 40

    for method, path, need in routes:
        async with stranger_to(ending_app) as nobody, stranger_to(ending_app, revoked) as late:
            assert need is not None or path in OPEN
            assert ((await status_of(nobody, method, path)) == 401) == (need is not None), (method, path)
            if need is not None:
                # Wrong ones come so quickly here that some are not looked at.
                assert await status_of(late, method, path) in {401, 429}, (method, path)
        for scope, key in keys.items():
            async with stranger_to(ending_app, key) as caller:
                status = await status_of(caller, method, path)
            is_let_in = need in {None, ANY_SCOPE} or scope in {need, Scope.ADMIN}
            assert (status not in REFUSED) == is_let_in, (method, path, scope, status)
            assert is_let_in or status == 403, (method, path, scope, status)
            async with stranger_to(ending_app) as person:
                person.headers.update({"Cookie": sessions[scope], "Sec-Fetch-Site": "same-origin"})
                assert (await status_of(person, method, path) not in REFUSED) == is_let_in, (method, path, scope)


def test_a_route_that_does_not_say_whom_it_is_for_is_no_route() -> None:
    router = APIRouter(route_class=StrictRoute)

    with pytest.raises(UndeclaredScopeError, match="needs @needs"):

        @router.get("/api/undeclared")
        async def undeclared() -> None:
            """Do nothing."""


async def test_who_is_refused_is_told_the_scope_before_anything_else_of_the_request_is_looked_at(app: FastAPI) -> None:
    async with stranger_to(app, await a_key(app, Scope.READ)) as reader:
        answer = await reader.post("/api/tasks?nonsense=1", content=b"not json")
        shown = await reader.post(f"/api/tasks/{uuid4()}/cancel")

    assert code_of(answer) == (403, "forbidden")
    assert answer.json()["scope"] == "edit"
    assert code_of(shown) == (403, "forbidden")


@pytest.mark.parametrize("name", ["Forwarded", "X-Forwarded-For", "X-Forwarded-Proto", "X-Real-IP", "Via"])
@pytest.mark.parametrize("value", ["", "127.0.0.1"])
async def test_what_a_proxy_has_passed_on_is_not_local(client: httpx.AsyncClient, name: str, value: str) -> None:
    assert code_of(await client.get("/api/stats", headers={name: value})) == (401, "unauthenticated")


@pytest.mark.parametrize(
    ("address", "host", "status"),
    [
        ("127.0.0.1", "localhost:8001", 200),
        ("127.8.9.1", "127.0.0.1", 200),
        ("::1", "[::1]:8001", 200),
        ("::ffff:127.0.0.1", "localhost", 200),
        ("203.0.113.7", "localhost", 401),
        ("127.0.0.1", "office.example", 401),
        ("::ffff:203.0.113.7", "localhost", 401),
    ],
)
async def test_local_is_who_calls_from_this_machine_by_a_name_of_it(
    api_settings: Settings, address: str, host: str, status: int
) -> None:
    settings = api_settings.model_copy(update={"allowed_hosts": ("office.example",)})
    async with running(settings) as app, stranger_to(app, address=address) as caller:
        assert (await caller.get("/api/stats", headers={"Host": host})).status_code == status


async def test_where_it_is_required_nobody_is_local(api_settings: Settings) -> None:
    settings = api_settings.model_copy(update={"auth": "required"})
    async with running(settings) as app, stranger_to(app, address="127.0.0.1") as caller:
        assert code_of(await caller.get("/api/stats")) == (401, "unauthenticated")
        assert (await caller.get("/api/health/ready")).status_code == 200
        assert (await caller.get("/openapi.json")).status_code == 200
        key = await a_key(app, Scope.READ)
        assert (await caller.get("/api/stats", headers={"Authorization": f"bearer {key}"})).status_code == 200


async def test_where_it_is_off_nobody_is_asked(api_settings: Settings) -> None:
    settings = api_settings.model_copy(update={"auth": "off"})
    async with running(settings) as app, stranger_to(app, new_key_text()) as caller:
        assert (await caller.get("/api/stats")).status_code == 200


@pytest.mark.parametrize(
    "authorization",
    [b"Bearer", b"Bearer ", b"Bearer opk_nothing", b"Basic YTpi", b"opk_", "Bearer opk_ö".encode()],
)
async def test_a_wrong_key_is_refused_even_on_this_machine(api_settings: Settings, authorization: bytes) -> None:
    async with running(api_settings) as app, stranger_to(app, address="127.0.0.1") as caller:
        answer = await caller.get("/api/stats", headers=[(b"Authorization", authorization)])

    assert code_of(answer) == (401, "unauthenticated")
    assert answer.headers["WWW-Authenticate"].startswith("Bearer")


async def test_two_keys_are_none(app: FastAPI) -> None:
    key = await a_key(app, Scope.READ)
    async with stranger_to(app) as caller:
        twice = [("Authorization", f"Bearer {key}"), ("Authorization", f"Bearer {key}")]
        assert code_of(await caller.get("/api/stats", headers=twice)) == (401, "unauthenticated")


async def test_who_guesses_is_told_to_wait_and_whose_key_works_is_not(api_settings: Settings) -> None:
    async with running(api_settings) as app:
        key = await a_key(app, Scope.READ)
        async with stranger_to(app) as caller:
            right = {"Authorization": f"Bearer {key}"}
            assert (await caller.get("/api/stats", headers=right)).status_code == 200
            statuses: list[int] = []
            # On a slow machine a second may end between two guesses, and the count with it.
            while 429 not in statuses[-FAILURES_MAX:] and len(statuses) < 100 * FAILURES_MAX:
                wrong = {"Authorization": f"Bearer {new_key_text()}"}
                statuses.append((await caller.get("/api/stats", headers=wrong)).status_code)
            assert set(statuses) == {401, 429}
            assert (await caller.get("/api/stats", headers=right)).status_code == 200
            assert (await caller.get("/api/health/live")).status_code == 200


async def test_a_revoked_key_is_dead_in_another_process_within_a_second(api_settings: Settings) -> None:
    async with running(api_settings) as one, running(api_settings) as other:
        key = await a_key(one, Scope.READ)
        async with stranger_to(other, key) as caller:
            assert (await caller.get("/api/stats")).status_code == 200
            await revoke_key(one, key)

            async def is_dead() -> bool:
                return (await caller.get("/api/stats")).status_code == 401

            with stopwatch() as seconds:
                await eventually(is_dead)
                # The second is what the code promises; the rest is for machines that are slow.
                assert seconds() < 5


async def test_the_stream_of_a_reader_whose_key_is_revoked_ends(api_settings: Settings) -> None:
    async with running(api_settings) as app, served(app) as url:
        key = await a_key(app, Scope.READ)
        async with (
            httpx.AsyncClient(timeout=30) as client,
            client.stream("GET", f"{url}/api/events", headers={"Authorization": f"Bearer {key}"}) as stream,
        ):
            lines = stream.aiter_lines()
            assert await anext(lines) == ": connected"
            await revoke_key(app, key)
            assert not [line async for line in lines if line.startswith("data")]


async def test_a_wait_of_a_caller_whose_key_is_revoked_tells_nothing(
    api_settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    wait, is_let_in = LongPoll.wait, asyncio.Event()

    async def noted(self: LongPoll, caller: Principal, task_id: TaskId, seconds: float) -> TaskDetails:
        is_let_in.set()
        return await wait(self, caller, task_id, seconds)

    monkeypatch.setattr(LongPoll, "wait", noted)
    async with running(api_settings) as app:
        key = await a_key(app, Scope.READ, Scope.EDIT)
        async with stranger_to(app, key) as caller:
            task = (await caller.post("/api/tasks", json={"taskType": "noop"})).json()
            waiting = asyncio.create_task(caller.get(f"/api/tasks/{task['id']}", params={"wait": 30}))
            await is_let_in.wait()
            await revoke_key(app, key)

            async def is_dead() -> bool:
                return (await caller.get("/api/stats")).status_code == 401

            await eventually(is_dead)
            # There would be something to tell.
            await runtime_of(app).cancellation.cancel(LOCAL, task["id"], None)
            assert (await waiting).status_code == 401


async def test_what_is_refused_is_counted(api_settings: Settings) -> None:
    async with running(api_settings) as app:
        key = await a_key(app, Scope.READ)
        watchful = await a_key(app, Scope.READ, Scope.CONTROL)
        async with stranger_to(app, key) as reader, stranger_to(app, new_key_text()) as guesser:
            assert (await reader.post("/api/tasks", json={})).status_code == 403
            assert (await guesser.get("/api/stats")).status_code == 401
            assert "officeplane_refused" not in (await reader.get("/metrics")).text
        async with stranger_to(app, watchful) as operator:
            told = (await operator.get("/metrics")).text

    assert "officeplane_authentication_failures_total 1.0" in told
    assert 'officeplane_refused_total{scope="edit"} 1.0' in told
    assert 'officeplane_refused_total{scope="control"} 0.0' in told
