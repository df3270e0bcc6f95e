"""The nemesis: a schedule of faults drawn from a seed, and its execution."""

import asyncio
import random
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

from tests.chaos.faults import FAULTS, Fault, Scene, heal

EVERY_SECONDS: Final = 1.35
AT_ONCE_MAX: Final = 3
LONGEST_SECONDS: Final = 30.0


@dataclass(frozen=True, slots=True)
class Blow:
    """One fault of the schedule: when it falls, on whom, and for how long."""

    at: float
    fault: Fault
    victim: int
    seconds: float


@dataclass(slots=True)
class Struck:
    """A blow as it really fell, in wall-clock time."""

    name: str
    victim: int
    since: float
    until: float
    touches_redis: bool
    touches_postgres: bool
    pid: int | None = None


def schedule(
    seed: int, seconds: float, names: Collection[str] = (), every_seconds: float = EVERY_SECONDS
) -> list[Blow]:
    """Return the blows of a run: every kind, or those named, about as often as its weight says."""
    kinds = [fault for fault in FAULTS if not names or fault.name in names]
    dice = random.Random(seed)
    blows: list[Blow] = []
    at = 1.0
    while at < seconds:
        fault = dice.choices(kinds, [fault.weight for fault in kinds])[0]
        blows.append(Blow(at, fault, dice.randrange(60), dice.uniform(*fault.seconds)))
        at += every_seconds * dice.uniform(0.4, 1.6)
    return blows


class Nemesis:
    """Strikes by the schedule, and remembers when it really did."""

    def __init__(self, scene: Scene, blows: Sequence[Blow]) -> None:
        self.struck: list[Struck] = []
        self.healed_at = 0.0
        self._scene = scene
        self._blows = blows
        self._at_once = asyncio.Semaphore(AT_ONCE_MAX)

    async def run(self) -> None:
        """Strike every blow, at most a few at once, then heal everything."""
        began = time.monotonic()
        try:
            async with asyncio.TaskGroup() as falling:
                for blow in self._blows:
                    await asyncio.sleep(max(0.0, began + blow.at - time.monotonic()))
                    async with self._at_once:
                        pass
                    falling.create_task(self._strike(blow))
        finally:
            await heal(self._scene)
            self.healed_at = time.time()

    async def _strike(self, blow: Blow) -> None:
        async with self._at_once:
            fault = blow.fault
            struck = Struck(fault.name, blow.victim, time.time(), 0.0, fault.touches_redis, fault.touches_postgres)
            self.struck.append(struck)
            try:
                async with asyncio.timeout(LONGEST_SECONDS):
                    struck.pid = await fault.inflict(self._scene, blow.victim, blow.seconds)
            except TimeoutError:
                struck.name += " (not undone in time)"
            finally:
                struck.until = time.time()
