"""Strangers: two spaces beside the one that is tried, and keys that come and go, while everything is broken.

Each space has a word of its own in all that it submits. Whoever reads what the other
has submitted, in whatever answer, has found a hole; so has a key that is answered a
second after its revocation was. And each space has a guest, who may read what is of
one document: it is told of no other, whose name only begins like that, and changes
nothing.
"""

import asyncio
import json
import random
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

import httpx

TYPE: Final = "chaos.stranger"
SPACES: Final = ("north", "south")
DOCUMENT: Final = "the-same"
CONCEALED: Final = "the-same-too"
DEAD_SECONDS: Final = 1.0
ANSWER_SECONDS: Final = 3.0
_PAUSE_SECONDS: Final = 0.15
_SCOPES: Final = ["read", "edit", "control"]
_OF_GUESTS: Final = {"scopes": ["read"], "documents": [DOCUMENT]}
_LISTS: Final = ("tasks", "documents", "dags", "dead-letters", "circuit-breakers", "stats")


@dataclass(slots=True)
class Sightings:
    """What nobody should ever have seen."""

    across: list[str] = field(default_factory=list[str])
    """Something of one space that was seen in the other."""
    revived: list[str] = field(default_factory=list[str])
    """Something that a revoked key was given."""
    beyond: list[str] = field(default_factory=list[str])
    """Something that a guest saw, or was let do, beyond what its key is for."""
    looks: int = 0
    """How often somebody looked."""
    revocations: int = 0
    """How many keys were revoked, and tried again."""


class Strangers:
    """Callers of two spaces, and one who revokes keys."""

    def __init__(self, urls: Sequence[str], seed: int) -> None:
        self.seen = Sightings()
        self._urls = urls
        self._dice = random.Random(f"strangers {seed}")
        self._keys: dict[str, str] = {}
        self._ids: dict[str, list[str]] = {space: [] for space in SPACES}
        self._heard: dict[str, set[str]] = {space: set() for space in SPACES}
        self._stopping = asyncio.Event()

    def stop(self) -> None:
        """Submit nothing new."""
        self._stopping.set()

    async def prepare(self) -> None:
        """Make both spaces, while nothing is wrong yet."""
        async with self._client() as http:
            for space in SPACES:
                self._keys[space] = (await self._made(http, space, space))["key"]
                self._keys[_guest_of(space)] = (await self._made(http, "guest", space, **_OF_GUESTS))["key"]
                for name, title in ((DOCUMENT, word_of(space)), (CONCEALED, _concealed_in(space))):
                    document = {"id": name, "format": "docx", "title": title}
                    answer = await http.post(self._url("documents"), json=document, headers=self._head(space))
                    answer.raise_for_status()

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
        for space, other in (SPACES, SPACES[::-1]):
            told = self._heard[space] & set(self._ids[other])
            self.seen.across += [f"the stream told {space} of task {task_id} of {other}" for task_id in told]

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
            while True:
                with suppress(httpx.HTTPError):
                    async with http.stream("GET", self._url("events"), headers=self._head(space)) as answer:
                        async for line in answer.aiter_lines():
                            if line.startswith("data:"):
                                self._heard[space].add(str(json.loads(line[5:])["taskId"]))
                await asyncio.sleep(_PAUSE_SECONDS)

    async def _submit(self, http: httpx.AsyncClient, space: str) -> None:
        place = self._dice.choice((DOCUMENT, CONCEALED, None))
        word = _concealed_in(space) if place == CONCEALED else word_of(space)
        body: dict[str, Any] = {
            "taskType": TYPE,
            "title": word,
            "payload": {"word": word, "fails": self._dice.random() < 0.2},
            "maxRetries": 0,
            # The same in both spaces, and not the same for all that.
            "idempotencyKey": f"key {self._dice.randrange(10_000)}",
        }
        if place is not None:
            body["documentId"] = place
        answer = await http.post(self._url("tasks"), json=body, headers=self._head(space))
        self._judge(space, "POST /api/tasks", answer)
        if answer.status_code in (200, 201):
            self._ids[space].append(str(answer.json()["id"]))

    async def _be_guest(self, http: httpx.AsyncClient, space: str) -> None:
        head = self._head(_guest_of(space))
        known = [f"tasks/{task_id}" for task_id in self._ids[space][-20:]]
        path = self._dice.choice([*_LISTS, f"documents/{CONCEALED}", f"documents/{CONCEALED}/text", *known])
        answer = await http.get(self._url(path), headers=head)
        self.seen.looks += 1
        if _concealed_in(space) in answer.text:
            self.seen.beyond.append(f"GET /api/{path} told a guest of {space} of {CONCEALED}: {answer.text[:200]}")
        body = {"taskType": TYPE, "documentId": DOCUMENT, "payload": {"word": word_of(space), "fails": False}}
        answer = await http.post(self._url("tasks"), json=body, headers=head)
        if answer.status_code < 400:
            self.seen.beyond.append(f"POST /api/tasks let a guest of {space} in: {answer.status_code}")

    async def _look(self, http: httpx.AsyncClient, space: str) -> None:
        other = next(one for one in SPACES if one != space)
        paths = [self._dice.choice(_LISTS), f"documents/{DOCUMENT}", f"documents/{DOCUMENT}/text"]
        if self._ids[other]:
            task_id = self._dice.choice(self._ids[other][-20:])
            paths += [f"tasks/{task_id}", f"dead-letters/{task_id}", f"tasks/{task_id}/explain"]
        path = self._dice.choice(paths)
        answer = await http.get(self._url(path), headers=self._head(space))
        self._judge(space, f"GET /api/{path}", answer)

    def _judge(self, space: str, what: str, answer: httpx.Response) -> None:
        self.seen.looks += 1
        for other in SPACES:
            if other != space and word_of(other) in answer.text:
                self.seen.across.append(f"{what} told {space} of {other}: {answer.text[:200]}")

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

    def _client(self) -> httpx.AsyncClient:
        return httpx.AsyncClient(timeout=ANSWER_SECONDS, trust_env=False)

    def _url(self, path: str) -> str:
        return f"{self._dice.choice(self._urls)}/api/{path}"

    def _head(self, space: str) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._keys[space]}"}


def word_of(space: str) -> str:
    """Return what stands in everything of a space and in nothing else."""
    return f"secret-of-{space}"


def _concealed_in(space: str) -> str:
    """Return what stands in everything of a space that its guest does not see."""
    return f"concealed-{word_of(space)}"


def _guest_of(space: str) -> str:
    return f"guest of {space}"
