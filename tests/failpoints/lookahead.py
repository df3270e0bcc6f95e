"""A lane of edits, most of them done before their turn, while whoever does them crashes in the midst of it."""

import os
import random
import signal
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Final

from officeplane.domain.document import Format
from officeplane.domain.principal import LOCAL
from officeplane.failpoints import CRASH_STATUS
from tests.failpoints.cases import Kind
from tests.failpoints.crashes import DOCUMENT
from tests.failpoints.site import END_SECONDS, Site, lapse
from tests.forks import Fork
from tests.sandbox.processes import children_of
from tests.support import eventually

# A lane is left after 32 tasks, and entered again for the others.
EDITS: Final = 40
KILLS_MIN: Final = 4
AHEAD_MIN: Final = 4
_CHANCE: Final = 0.3

NOT_PASSED: Final = {
    "after_insert": "a client's",
    "after_ring": "a client's",
    "cancel_written": "a client's",
    "after_cancel": "a client's",
    "after_reopen": "a client's",
    "between_settle_and_roll_up": "an edit that is done ahead is in no batch",
    "between_settle_and_release": "nobody waits for one",
    "before_commit": "edits done ahead are settled by one statement",
    "promote_marked": "nothing waits for its time",
    "hand_back": "who is in a lane has no hints in hand",
}
_LEFT: Final = ("before_release", 1)
# Edits done ahead are mostly first settled by a lane's third settlement: a first crash is after that, another before
# the next such settlement.
_IN_LANE: Final = {"before_release": (1,), "after_release": (1,), "before_settle": (4, 3), "after_settle": (4, 3)}
_BEFORE: Final = {
    "after_pop": _LEFT,
    "after_resolve": _LEFT,
    "after_lock": _LEFT,
    "after_claim": _LEFT,
    "sweep_marked": _LEFT,
    "orphan_released": _LEFT,
    "before_renewal": ("before_settle", 4),
    "reap_read": ("before_settle", 4),
    "reap_settled": ("before_settle", 4),
}
"""Where, and at which pass, another worker crashes before, so that some edits end ahead before these points."""
_SLOWLY: Final = "before_settle=pause:0.1"
# Leases run out when a case says so, and not because a busy machine stands still for a while.
_LEASE_SECONDS: Final = "120"


@dataclass(frozen=True, slots=True)
class LaneCase:
    """What happens in the midst of a lane: crashes at a point, a database gone at some, a child that is killed."""

    points: tuple[str, ...]
    action: str = "crash"

    @property
    def name(self) -> str:
        """What its test is called."""
        return self.points[0]


CRASHES: Final = (
    "after_pop", "after_resolve", "after_lock", "after_claim", "handler_start", "handler_end", "before_settle",
    "after_settle", "after_ready_rung", "before_continue", "after_continue", "before_release", "after_release",
    "before_renewal", "sweep_marked", "orphan_released", "reap_read", "reap_settled",
)  # fmt: skip


async def run_lane_case(site: Site, case: LaneCase, folder: Path) -> None:
    """Let a lane of edits be done in spite of it, and check what comes of it."""
    await site.clear(folder)
    await site.bench(Kind.EDIT).runtime.documents.create(LOCAL, DOCUMENT, Format.DOCX, None, None)
    lane = _Lane(site, case)
    try:
        await lane.submit()
        match case.action:
            case "crash":
                await lane.with_crashes()
            case "kill":
                await lane.with_kills()
            case _:
                await lane.worker(",".join(f"{point}={case.action}" for point in case.points))
        await lane.check()
    finally:
        await site.end_all()


@dataclass(slots=True)
class _Lane:
    site: Site
    case: LaneCase
    names: list[str] = field(default_factory=list)
    blows: int = 0

    async def submit(self) -> None:
        """Ask for so many edits at once."""
        names = [f"chapter {len(self.names) + number:02}" for number in range(EDITS)]
        self.names += names
        await self.site.bench(Kind.EDIT).submit_many(
            {"task_type": "add_chapter", "document_id": DOCUMENT, "title": name, "payload": {"title": name}}
            for name in names
        )

    async def worker(self, failpoint: str = "", *, seed: int = 0) -> Fork:
        """Start a worker for the lane."""
        return await self.site.worker(Kind.EDIT, failpoint, seed=seed, LEASE_SECONDS=_LEASE_SECONDS)

    async def with_crashes(self) -> None:
        """Crash workers one after the other, then let one do what is left."""
        (point,) = self.case.points
        if point in _BEFORE:
            before, passes = _BEFORE[point]
            await self._crash(f"{before}=crash@{_CHANCE}", passes)
            if point == "sweep_marked":
                await self.site.forget_rings(is_retry=False)
            await self._crash(f"{point}=crash,{_SLOWLY}" if point == "before_renewal" else f"{point}=crash")
        else:
            for passes in _IN_LANE.get(point, (4,)):
                await self._crash(f"{point}=crash@{_CHANCE}", passes)
        await self.worker()

    async def _crash(self, failpoint: str, passes: int = 1) -> None:
        worker = await self.worker(failpoint, seed=_seed_for(passes))
        status = await worker.ended()
        assert status == CRASH_STATUS, worker.words
        self.blows += 1
        await lapse(self.site.bench(Kind.EDIT))

    async def with_kills(self) -> None:
        """Kill the sandboxed child whenever the lane has gone on, until it was often enough alive."""
        worker = await self.worker(_SLOWLY)
        while self.blows < KILLS_MIN:
            while left := await self._unfinished():
                self.blows += _kill_children(worker)

                async def goes_on(before: int = left) -> bool:
                    return await self._unfinished() < before

                await eventually(goes_on, within=END_SECONDS, what="the next edit")
            if self.blows < KILLS_MIN:
                await self.submit()

    async def check(self) -> None:
        """Assert that each edit was done once, in its turn, by legal steps, and that nothing is left in the way."""
        await self.site.all_final()
        ended_ahead = await self.site.ended_ahead()
        (failures,) = await self.site.bench(Kind.EDIT).execute("SELECT count(*) AS n FROM task_failures")
        await self.site.lanes_are_free(Kind.EDIT, {DOCUMENT})
        await self.site.check(dict.fromkeys(self.names, "COMPLETED"), are_marked=False)
        await self.site.check_document(DOCUMENT, self.names)
        # Whatever dies takes one attempt with it, and none of the edits that were done behind that.
        assert failures["n"] <= self.blows
        assert len(ended_ahead) >= AHEAD_MIN

    async def _unfinished(self) -> int:
        (row,) = await self.site.bench(Kind.EDIT).execute("SELECT count(*) AS n FROM tasks WHERE finished_at IS NULL")
        return int(row["n"])


def _seed_for(passes: int) -> int:
    """Return the seed of dice that fall at this pass for the first time."""
    for seed in count():
        dice = random.Random(seed)
        if [dice.random() < _CHANCE for _ in range(passes)] == [*[False] * (passes - 1), True]:
            return seed
    raise AssertionError


def _kill_children(worker: Fork) -> int:
    killed = 0
    for nursery in children_of(worker.pid):
        for child in children_of(nursery):
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
                killed += 1
    return killed
