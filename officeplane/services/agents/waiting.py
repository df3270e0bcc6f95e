"""Waiting: agents for which there is nothing yet, those of one process, in memory.

While somebody waits the ledger is asked once a second, for all of them in one
statement, of what demands there is something to do. Of each demand one waiter is
woken: the one that can least of all who can it, so that those who can more are left
for what asks more, and of these the one that has looked longest ago. Whoever was
given something wakes the next, so that nobody wakes a crowd for one task. And
everybody looks from time to time without being woken.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final

import structlog

from officeplane.domain.agent import Agent, WaitingDemand, meets
from officeplane.domain.errors import DatabaseUnavailableError
from officeplane.domain.principal import Principal
from officeplane.services.agents.claiming import Ask, Claiming, Taken
from officeplane.store import offers
from officeplane.store.connection import Ledger

PROBE_SECONDS: Final = 1.0
LOOK_SECONDS: Final = 30.0
"""How long a waiter waits before it looks by itself."""
REST_SECONDS: Final = 5.0
"""Who has looked in vain lets others go first for so long: what was rung for may not be for it."""
_log = structlog.stdlib.get_logger(__name__)


@dataclass(slots=True, eq=False)
class _Waiter:
    agent: Agent
    looked_at: float
    rung_for: WaitingDemand | None = None
    woken: asyncio.Event = field(default_factory=asyncio.Event)


class Waiting:
    """The agents that wait for something to claim."""

    def __init__(self, ledger: Ledger, claiming: Claiming) -> None:
        self._ledger = ledger
        self._claiming = claiming
        self._waiters: set[_Waiter] = set()
        self._wanted = asyncio.Event()

    @property
    def count(self) -> int:
        """How many wait."""
        return len(self._waiters)

    async def claim(
        self,
        caller: Principal,
        name: str,
        ask: Ask,
        seconds: float,
        *,
        may_stay: Callable[[], Awaitable[None]],
        stopping: asyncio.Event,
    ) -> Taken:
        """Claim as soon as there is something, or return without when the time is over or the server is to stop.

        `may_stay` raises if whoever asks may do so no more. Whoever hangs up is to be cancelled: he claims nothing.
        """
        taken = await self._claiming.take(caller, name, ask)
        until = time.monotonic() + seconds
        waiter = _Waiter(taken.agent, time.monotonic())
        self._waiters.add(waiter)
        self._wanted.set()
        try:
            while not taken.is_enough and time.monotonic() < until and not stopping.is_set():
                await _first_of(waiter.woken, stopping, min(LOOK_SECONDS, until - time.monotonic()))
                await may_stay()
                taken = await self._claiming.take(caller, name, ask)
                waiter.agent, waiter.looked_at = taken.agent, time.monotonic()
                rung_for, waiter.rung_for = waiter.rung_for, None
                waiter.woken.clear()
                if taken.claims and rung_for is not None:
                    self._waiters.discard(waiter)
                    self.ring(rung_for)
            return taken
        finally:
            self._waiters.discard(waiter)

    def ring(self, demand: WaitingDemand) -> None:
        """Wake one waiter for what makes a demand. Whoever hears of it sooner than the probe does so here, too."""
        fitting = [waiter for waiter in self._waiters if waiter.rung_for is None and meets(waiter.agent, demand)]
        if fitting:
            now = time.monotonic()
            waiter = min(fitting, key=lambda it: _turn(it, now))
            waiter.rung_for = demand
            waiter.woken.set()

    async def probe(self) -> None:
        """Look once a second for whom there may be something, as long as anybody waits, until cancelled."""
        while True:
            await self._wanted.wait()
            await asyncio.sleep(PROBE_SECONDS)
            if not self._waiters:
                self._wanted.clear()
                continue
            task_types = sorted({name for waiter in self._waiters for name in waiter.agent.task_types})
            try:
                demands = await offers.demands_waiting(self._ledger, task_types)
            except DatabaseUnavailableError as error:
                _log.debug("waiting.probe_failed", error=str(error))
                continue
            for demand in demands:
                self.ring(demand)


def _turn(waiter: _Waiter, now: float) -> tuple[bool, int, float]:
    """Return what orders waiters: the first of them is woken."""
    return now - waiter.looked_at < REST_SECONDS, len(waiter.agent.capabilities), waiter.looked_at


async def _first_of(woken: asyncio.Event, stopping: asyncio.Event, seconds: float) -> None:
    waits = [asyncio.ensure_future(woken.wait()), asyncio.ensure_future(stopping.wait())]
    try:
        await asyncio.wait(waits, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waits:
            wait.cancel()
