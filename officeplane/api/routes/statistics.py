"""`/api/stats`: how much waits, runs and has ended, and who works."""

from fastapi import APIRouter, Request
from starlette.responses import Response

from officeplane.api.callers import needs, principal_of
from officeplane.api.openapi import refusals
from officeplane.api.requests import StrictRoute
from officeplane.api.state import runtime_of
from officeplane.api.views import TIER_NAMES, TierName, Time, View, json_answer
from officeplane.domain.lifecycle import TaskState
from officeplane.domain.principal import Scope
from officeplane.services.observe.statistics import Stats
from officeplane.store.workers import WorkerInfo

router = APIRouter(prefix="/api/stats", tags=["operation"], route_class=StrictRoute)


class BlockedView(View):
    """What keeps the event loop of a worker from turning."""

    seconds: float
    task_id: str | None
    task_type: str | None
    at: str


class WorkerView(View):
    """One live worker process."""

    id: str
    host: str
    pid: int
    concurrency: int
    running: int
    last_seen_at: Time
    blocked: BlockedView | None


class StatsView(View):
    """The installation, or the caller's space, in numbers; a state or priority without tasks is left out."""

    states: dict[TaskState, int]
    priorities: dict[TierName, int]
    counts: dict[TaskState, dict[TierName, int]]
    oldest_wait_seconds: float | None
    workers: tuple[WorkerView, ...]


@router.get(
    "", operation_id="getStats", summary="Count tasks and workers", response_model=StatsView, responses=refusals()
)
@needs(Scope.READ)
async def stats(request: Request) -> Response:
    """Return counts by state and priority, and the longest wait of a runnable task, in the caller's space.

    Who has `control` in the default space sees those of all spaces, and the live workers.
    """
    return json_answer(_view(await runtime_of(request).statistics.stats(principal_of(request))))


def _view(stats: Stats) -> StatsView:
    counts: dict[TaskState, dict[TierName, int]] = {}
    priorities: dict[TierName, int] = {}
    for count in stats.counts:
        tier = TIER_NAMES[count.tier]
        counts.setdefault(count.state, {})[tier] = count.count
        priorities[tier] = priorities.get(tier, 0) + count.count
    return StatsView(
        states={state: sum(tiers.values()) for state, tiers in counts.items()},
        priorities=priorities,
        counts=counts,
        oldest_wait_seconds=stats.oldest_wait_seconds,
        workers=tuple(map(_worker_view, stats.workers)),
    )


def _worker_view(worker: WorkerInfo) -> WorkerView:
    return WorkerView(
        id=worker.id,
        host=worker.host,
        pid=worker.pid,
        concurrency=worker.concurrency,
        running=worker.running,
        last_seen_at=worker.last_seen_at,
        blocked=None if worker.blocked is None else BlockedView(**worker.blocked._asdict()),
    )
