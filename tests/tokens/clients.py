"""Clients: they ask, hang up, ask again, cancel, and wait for what they asked for."""

import asyncio
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any, Final

import httpx

from tests.tokens.orders import Order, Orders

AT_ONCE: Final = 6
_PATIENCE_SECONDS: Final = 60.0
_AGAIN_SECONDS: Final = 0.02
_BUSY: Final = frozenset({"idempotency_in_progress", "overloaded", "database_unavailable"})


@dataclass(slots=True)
class Notes:
    """What the clients know of each order."""

    accepted: dict[int, str] = field(default_factory=dict[int, str])
    ended: dict[str, str] = field(default_factory=dict[str, str])
    cancelled: set[str] = field(default_factory=set[str])
    doubtful: int = 0
    replayed: int = 0


class Client:
    """One of several callers, with some orders on their way at a time."""

    def __init__(self, urls: list[str], notes: Notes, seed: int) -> None:
        self._urls = urls
        self._notes = notes
        self._dice = Random(seed)
        self._http = httpx.AsyncClient(timeout=40)

    async def run(self, orders: Orders, is_enough: Callable[[], bool]) -> None:
        """Go on until it is enough; what was asked for is waited for."""
        waiting = deque[str]()
        while not is_enough():
            order = orders.next()
            if order.is_based_on_head:
                document = await self._asked("GET", f"/api/documents/{order.subject.document_id}")
                order.body |= {"baseRevision": document["revision"], "onConflict": "reject"}
            waiting.append(await self._submitted(order))
            if order.is_cancelled:
                victim = self._dice.choice(waiting)
                self._notes.cancelled.add(victim)
                await self._asked("POST", f"/api/tasks/{victim}/cancel", fine=(200, 202, 409))
            if len(waiting) > AT_ONCE:
                await self._wait_for(waiting.popleft())
        for task_id in waiting:
            await self._wait_for(task_id)

    async def aclose(self) -> None:
        """Close its connections."""
        await self._http.aclose()

    async def _submitted(self, order: Order) -> str:
        if order.hangs_up:
            # It may have arrived or not; only asking again with the same key tells.
            self._notes.doubtful += 1
            hurry = self._dice.uniform(0.002, 0.03)
            try:
                async with asyncio.timeout(hurry):
                    await self._once("POST", "/api/tasks", order)
            except (TimeoutError, httpx.TransportError):
                pass
        task = await self._asked("POST", "/api/tasks", order, fine=(200, 201))
        task_id = str(task["id"])
        assert self._notes.accepted.setdefault(order.number, task_id) == task_id
        return task_id

    async def _wait_for(self, task_id: str) -> None:
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while True:
            task = await self._asked("GET", f"/api/tasks/{task_id}?wait=5")
            if task["finishedAt"] is not None:
                self._notes.ended[task_id] = str(task["state"])
                return
            assert time.monotonic() < deadline, f"not final within {_PATIENCE_SECONDS:g} s: {task}"

    async def _asked(
        self, method: str, path: str, order: Order | None = None, fine: tuple[int, ...] = (200,)
    ) -> dict[str, Any]:
        """Return an answer, from whichever server gives one."""
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while True:
            assert time.monotonic() < deadline, f"no answer to {method} {path}"
            try:
                answer = await self._once(method, path, order)
            except httpx.TransportError:
                self._notes.doubtful += order is not None
            else:
                if answer.status_code in fine:
                    self._notes.replayed += "Idempotency-Replayed" in answer.headers
                    return dict(answer.json())
                assert answer.json().get("code") in _BUSY, answer.text
            await asyncio.sleep(_AGAIN_SECONDS)

    async def _once(self, method: str, path: str, order: Order | None) -> httpx.Response:
        headers = {} if order is None else {"Idempotency-Key": order.key}
        body = None if order is None else order.body
        return await self._http.request(method, self._dice.choice(self._urls) + path, json=body, headers=headers)
