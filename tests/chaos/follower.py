"""A follower of the event stream, who must miss nothing however often it is cut off."""

import asyncio
import random
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

import httpx

SILENCE_SECONDS: Final = 20.0
AGAIN_SECONDS: Final = 0.3


class Follower:
    """Follows from its first connection on, at one API or the other."""

    def __init__(self, urls: Sequence[str], seed: int) -> None:
        self.heard: set[str] = set()
        self.odd: list[str] = []
        """Answers that no follower should ever get."""
        self._urls = urls
        self._dice = random.Random(seed)
        self._last: str | None = None

    async def run(self) -> None:
        """Follow until cancelled, going on after the last event heard."""
        timeout = httpx.Timeout(SILENCE_SECONDS, connect=2.0)
        async with httpx.AsyncClient(timeout=timeout, trust_env=False) as http:
            while True:
                with suppress(httpx.HTTPError):
                    await self._follow(http)
                await asyncio.sleep(AGAIN_SECONDS)

    async def _follow(self, http: httpx.AsyncClient) -> None:
        heads = {} if self._last is None else {"Last-Event-ID": self._last}
        async with http.stream("GET", f"{self._dice.choice(self._urls)}/api/events", headers=heads) as answer:
            if answer.status_code != 200:
                if answer.status_code != 503:
                    self.odd.append(str(answer.status_code))
                return
            fields: dict[str, str] = {}
            async for line in answer.aiter_lines():
                name, _, value = line.partition(":")
                if line:
                    fields[name] = value.strip()
                elif fields:
                    # An event counts when its blank line has come; half of one is none.
                    self._hear(fields)
                    fields = {}

    def _hear(self, fields: dict[str, str]) -> None:
        if fields.get("event") == "stream.reset":
            self.odd.append("a reset, although nothing was pruned")
        position = fields.get("id")
        if position is not None:
            self._last = position
            self.heard.add(position)
