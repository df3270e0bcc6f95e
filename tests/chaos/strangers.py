"""Strangers: two spaces beside the one that is tried, and keys that come and go, while everything is broken.

Each space has a word of its own in all that it submits. Whoever reads what the other
has submitted, in whatever answer, has found a hole; so has a key that is answered a
second after its revocation was. And each space has a warden, who may see what was done
and which keys there are, and a guest, who may read what is of one document: it is told
of no other, whose name only begins like that, and changes nothing.
"""

import asyncio
import json
import random
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

import httpx

from tests.chaos.belongings import CONCEALED, DOCUMENT, PAUSED, TYPE, Belongings
from tests.chaos.sightings import SPACES, THRESHOLDS, Sightings, other_than, word_of
from tests.chaos.terms import PREPARE_SECONDS

DEAD_SECONDS: Final = 1.0
ANSWER_SECONDS: Final = 3.0
_PAUSE_SECONDS: Final = 0.15
_SCOPES: Final = ["read", "edit", "control"]
_OF_GUESTS: Final = {"scopes": ["read"], "documents": [DOCUMENT]}
_OF_WARDENS: Final = {"scopes": ["admin"]}
_BREAKERS: Final = {"north": TYPE, "south": "chaos.work"}
"""Of which type each space sets the breaker: of one type, a list that has both shows one of them."""
_LISTS: Final = ("tasks", "documents", "documents?paused=true", "dags", "dead-letters", "circuit-breakers", "stats")
_LISTS_OF_WARDENS: Final = ("audit", "keys")


class Strangers:
    """Callers of two spaces, and one who revokes keys."""

    def __init__(self, urls: Sequence[str], seed: int) -> None:
        self.seen = Sightings()
        self._urls = urls
        self._dice = random.Random(f"strangers {seed}")
        self._keys: dict[str, str] = {}
        self._belongings = {space: Belongings(space) for space in SPACES}
        self._heard: dict[str, set[str]] = {space: set() for space in SPACES}
        self._stopping = asyncio.Event()

    def stop(self) -> None:
        """Submit nothing new."""
        self._stopping.set()

    async def prepare(self) -> None:
        """Make both spaces, while nothing is wrong yet."""
        async with self._client(PREPARE_SECONDS) as http:
            for space in SPACES:
                self._keys[space] = (await self._made(http, word_of(space), space))["key"]
                self._keys[_guest_of(space)] = (await self._made(http, "guest", space, **_OF_GUESTS))["key"]
                self._keys[_warden_of(space)] = (await self._made(http, "warden", space, **_OF_WARDENS))["key"]
                for name in (DOCUMENT, CONCEALED, PAUSED):
                    document = {"id": name, "format": "docx", "title": self._belongings[space].word(name)}
                    (await self._post(http, space, "documents", document)).raise_for_status()
                (await self._post(http, space, f"documents/{PAUSED}/pause", {})).raise_for_status()
                threshold = {"failureThreshold": THRESHOLDS[space]}
                url = self._url(f"circuit-breakers/{_BREAKERS[space]}")
                (await http.put(url, json=threshold, headers=self._head(space))).raise_for_status()

    async def run(self) -> None:
        """Submit and look until stopped."""
        async with asyncio.TaskGroup() as all_of_them:
            following = [all_of_them.create_task(self._follow(space)) for space in SPACES]
            for space in SPACES:
                all_of_them.create_task(self._live_in(space))
            all_of_them.create_task(self._revoke_keys())
            await self._stopping.wait()
            for one in following:
                one.cancel()
        for space in SPACES:
            theirs = self._belongings[other_than(space)]
            self.seen.judge_heard(space, self._heard[space], {*theirs.tasks, *theirs.dags})

    async def _live_in(self, space: str) -> None:
        async with self._client() as http:
            while not self._stopping.is_set():
                with suppress(httpx.HTTPError, ValueError):
                    await self._submit(http, space)
                    await self._look(http, space)
                    await self._be_guest(http, space)
                await asyncio.sleep(self._dice.uniform(0, _PAUSE_SECONDS))

    async def _follow(self, space: str) -> None:
        timeout = httpx.Timeout(20.0, connect=ANSWER_SECONDS)
        async with httpx.AsyncClient(timeout=timeout, trust_env=False) as http:
            while not self._stopping.is_set():
                with suppress(httpx.HTTPError):
                    async with http.stream("GET", self._url("events"), headers=self._head(space)) as answer:
                        async for line in answer.aiter_lines():
                            if line.startswith("data:"):
                                told = json.loads(line[5:])
                                self._heard[space] |= {str(told["taskId"]), str(told.get("dagId"))}
                await asyncio.sleep(_PAUSE_SECONDS)

    async def _submit(self, http: httpx.AsyncClient, space: str) -> None:
        path, body = self._belongings[space].wish(self._dice)
        answer = await self._post(http, space, path, body)
        if answer.status_code in (200, 201):
            self._belongings[space].keep(body, answer.json())

    async def _be_guest(self, http: httpx.AsyncClient, space: str) -> None:
        known = self._belongings[space].paths(self._dice)
        path = self._dice.choice([*_LISTS, f"documents/{CONCEALED}", f"documents/{CONCEALED}/text", *known])
        head = self._head(_guest_of(space))
        answer = await http.get(self._url(path), headers=head)
        self.seen.judge_guest(space, f"GET /api/{path}", answer.text)
        body = {"taskType": TYPE, "documentId": DOCUMENT, "payload": {"word": word_of(space), "fails": False}}
        # In vain; if it is not, that is another fault than one task too many in the space.
        self._belongings[space].asked += 1
        answer = await http.post(self._url("tasks"), json=body, headers=head)
        if answer.status_code < 400:
            self.seen.beyond.append(f"POST /api/tasks let a guest of {space} in: {answer.status_code}")

    async def _look(self, http: httpx.AsyncClient, space: str) -> None:
        theirs = self._belongings[other_than(space)].paths(self._dice)
        of_space = [*_LISTS, f"documents/{DOCUMENT}", f"documents/{DOCUMENT}/text", *theirs]
        path = self._dice.choice([*of_space, *_LISTS_OF_WARDENS])
        who = space if path in of_space else _warden_of(space)
        answer = await http.get(self._url(path), headers=self._head(who))
        self.seen.judge(space, f"GET /api/{path}", answer.text)
        if path == "stats" and answer.status_code == 200:
            self.seen.judge_figures(space, sum(answer.json()["states"].values()), self._belongings[space].asked)

    async def _revoke_keys(self) -> None:
        """Make a key, use it, revoke it, and see that it is dead a second later."""
        async with self._client() as http:
            number = 0
            while not self._stopping.is_set():
                number += 1
                with suppress(httpx.HTTPError, ValueError, KeyError):
                    made = await self._made(http, f"short-lived-{number}", self._dice.choice(SPACES))
                    head = {"Authorization": f"Bearer {made['key']}"}
                    for url in self._urls:
                        with suppress(httpx.HTTPError):
                            await http.get(f"{url}/api/tasks", params={"limit": "1"}, headers=head)
                    gone = await http.delete(self._url(f"keys/{made['id']}"))
                    if gone.status_code == 200:
                        await self._try_the_dead(http, head, time.monotonic())
                await asyncio.sleep(self._dice.uniform(0, _PAUSE_SECONDS))

    async def _try_the_dead(self, http: httpx.AsyncClient, head: Mapping[str, str], revoked_at: float) -> None:
        await asyncio.sleep(DEAD_SECONDS)
        for url in self._urls:
            with suppress(httpx.HTTPError):
                answer = await http.get(f"{url}/api/tasks", params={"limit": "1"}, headers=head)
                if answer.status_code < 400:
                    late = time.monotonic() - revoked_at
                    self.seen.revived.append(f"{answer.status_code} {late:.2f} s after its revocation")
        self.seen.revocations += 1

    async def _made(self, http: httpx.AsyncClient, name: str, space: str, **narrowing: object) -> dict[str, str]:
        body = {"name": name, "space": space, "scopes": _SCOPES, **narrowing}
        answer = await http.post(self._url("keys"), json=body)
        answer.raise_for_status()
        made: dict[str, str] = answer.json()
        return made

    async def _post(self, http: httpx.AsyncClient, space: str, path: str, body: Mapping[str, Any]) -> httpx.Response:
        answer = await http.post(self._url(path), json=body, headers=self._head(space))
        self.seen.judge(space, f"POST /api/{path}", answer.text)
        return answer

    def _client(self, answer_seconds: float = ANSWER_SECONDS) -> httpx.AsyncClient:
        return httpx.AsyncClient(timeout=answer_seconds, trust_env=False)

    def _url(self, path: str) -> str:
        return f"{self._dice.choice(self._urls)}/api/{path}"

    def _head(self, space: str) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._keys[space]}"}


def _guest_of(space: str) -> str:
    return f"guest of {space}"


def _warden_of(space: str) -> str:
    return f"warden of {space}"
