"""One run: bring it up, load it, break it, heal it, wait for the end, and gather what is left."""

import asyncio
import time
from collections import Counter
from collections.abc import Callable
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import httpx

from tests.chaos.background import in_background
from tests.chaos.checker import Violation, check
from tests.chaos.checker.lives import lives_of
from tests.chaos.checker.locks import CALM_AFTER_SECONDS
from tests.chaos.evidence import Evidence
from tests.chaos.faults import Scene
from tests.chaos.figures import Figure, complaints, figures, log_lines
from tests.chaos.follower import Follower
from tests.chaos.gathering import gather_documents, gather_graphs, gather_remains, gather_tables
from tests.chaos.history import HistoryWriter, read_history
from tests.chaos.marks import read_marks
from tests.chaos.nemesis import EVERY_SECONDS, Nemesis, schedule
from tests.chaos.strangers import Strangers
from tests.chaos.supervisor import Installation, Told, installation
from tests.chaos.terms import RARE_FAILPOINTS, Failpoints, Terms
from tests.chaos.watcher import Look, Watcher
from tests.chaos.workload import CLIENTS, Workload

START_SECONDS: Final = 60.0
CALM_SECONDS: Final = CALM_AFTER_SECONDS + 6.0
END_SECONDS: Final = 120.0
# The longest wait that is nobody's fault is that of a retry behind a slow task.
QUIET_SECONDS: Final = 15.0
CATCH_UP_SECONDS: Final = 20.0


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run is made of; the same plan strikes and asks the same."""

    seed: int
    nemesis_seconds: float
    mutant: str | None = None
    faults: tuple[str, ...] = ()
    """The kinds of faults that fall; all of them unless named."""
    failpoints: Failpoints = RARE_FAILPOINTS
    every_seconds: float = EVERY_SECONDS
    """How long, on average, from one fault to the next."""
    clients: int = CLIENTS
    terms: Terms = field(default_factory=Terms)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of it."""

    plan: Plan
    evidence: Evidence
    violations: list[Violation]
    figures: list[Figure]
    complaints: Counter[str]
    seconds: float


async def run_chaos(plan: Plan, folder: Path, say: Callable[[str], None] = lambda _: None) -> Outcome:
    """Carry a plan out in this folder, where logs and data stay behind."""
    began = time.monotonic()
    evidence = Evidence(terms=plan.terms, tasks={}, events=[])
    history = folder / "history.jsonl"
    told = Told(plan.seed, plan.terms, plan.failpoints, plan.mutant)
    async with installation(folder, told) as scene_of_action:
        await _all_ready(scene_of_action, START_SECONDS)
        say("the installation is up")
        await _play(plan, scene_of_action, history, evidence, say)
    members = scene_of_action.members
    evidence.deaths = [death for member in members for death in member.process.deaths]
    evidence.history = read_history(history)
    evidence.marks = read_marks(scene_of_action.marks)
    logs = [member.process.log for member in members]
    logged = [(name, at) for path in logs for name, at, _ in log_lines(path)]
    evidence.redis_lost_at = [at for name, at in logged if name == "redis.lost"]
    evidence.locks_taken_away_at = [at for name, at in logged if name in ("locks.orphaned", "task.reaped")]
    found = figures(evidence, lives_of(evidence), logs)
    return Outcome(plan, evidence, check(evidence), found, complaints(logs), time.monotonic() - began)


async def _play(plan: Plan, place: Installation, history: Path, evidence: Evidence, say: Callable[[str], None]) -> None:
    urls = [api.url for api in place.apis]
    watcher = Watcher(place.stack.database_url, place.stack.redis_url)
    follower = Follower(urls, plan.seed)
    nemesis = Nemesis(Scene(place), schedule(plan.seed, plan.nemesis_seconds, plan.faults, plan.every_seconds))
    async with AsyncExitStack() as leaving:
        writer = leaving.enter_context(HistoryWriter(history))
        workload = Workload(urls, writer, plan.seed, plan.clients)

        def tell(look: Look) -> None:
            workload.unfinished = look.unfinished
            workload.gave_up, workload.spawned = look.gave_up, look.spawned

        strangers = Strangers(urls, plan.seed)
        await workload.prepare()
        await strangers.prepare()
        await leaving.enter_async_context(in_background(watcher.run(tell)))
        await leaving.enter_async_context(in_background(follower.run()))
        working = await leaving.enter_async_context(in_background(workload.run()))
        living = await leaving.enter_async_context(in_background(strangers.run()))
        await nemesis.run()
        evidence.struck, evidence.healed_at = nemesis.struck, nemesis.healed_at
        say(f"healed after {len(nemesis.struck)} faults; {workload.acknowledged} tasks acknowledged so far")
        evidence.ready_after = await _all_ready(place, START_SECONDS)
        await asyncio.sleep(max(0.0, nemesis.healed_at + CALM_SECONDS - time.time()))
        workload.stop()
        strangers.stop()
        await working
        await living
        say(f"{workload.acknowledged} tasks acknowledged, {watcher.unfinished} still to end")
        evidence.quiet_seconds = await _until_ended(watcher)
        evidence.remains = await gather_remains(
            place.stack.database_url, place.stack.redis_url, plan.terms.lock_ttl_seconds + 4
        )
        tables = await gather_tables(place.stack.database_url)
        evidence.tasks, evidence.events, evidence.failures, evidence.counters, evidence.keys = tables
        graphs = await gather_graphs(place.stack.database_url)
        evidence.edges, evidence.spawns, evidence.dags, evidence.dag_events = graphs
        documents = await gather_documents(place.stack.database_url, urls)
        evidence.revisions, evidence.heads, evidence.chapters = documents
        last = evidence.events[-1].position if evidence.events else ""
        deadline = time.monotonic() + CATCH_UP_SECONDS
        while last not in follower.heard and time.monotonic() < deadline:
            await asyncio.sleep(0.1)
        evidence.heard, evidence.odd_of_stream = follower.heard, follower.odd
        evidence.sightings = watcher.sightings
        evidence.strangers = strangers.seen


async def _all_ready(place: Installation, within_seconds: float) -> float | None:
    """Wait until every API says that it is ready, with workers; return how long that took, or None."""
    began = time.monotonic()
    async with httpx.AsyncClient(timeout=2.5, trust_env=False) as http:
        for api in place.apis:
            while not await _is_ready(http, api.url):
                if time.monotonic() - began > within_seconds:
                    return None
                await asyncio.sleep(0.1)
    return time.monotonic() - began


async def _is_ready(http: httpx.AsyncClient, url: str) -> bool:
    with suppress(httpx.HTTPError, ValueError):
        answer = await http.get(f"{url}/api/health/ready")
        return answer.status_code == 200 and answer.json()["workers"] > 0
    return False


async def _until_ended(watcher: Watcher) -> float:
    """Wait until nothing is unfinished, or nothing has happened for long; return for how long nothing had."""
    deadline = time.monotonic() + END_SECONDS
    await asyncio.sleep(0.5)
    while watcher.unfinished and time.monotonic() < deadline:
        if time.monotonic() - watcher.moved_at > QUIET_SECONDS:
            break
        await asyncio.sleep(0.1)
    return time.monotonic() - watcher.moved_at
