"""Figures: how long the installation took to go on after each kind of blow, read from the evidence afterwards."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from statistics import median
from typing import Final

from tests.chaos.checker.lives import Life, Lives
from tests.chaos.evidence import Evidence
from tests.chaos.nemesis import Struck

_HINTS_LOST: Final = frozenset({"FLUSHALL", "lists lost", "list replaced", "restart Valkey empty"})
_REDIS_GONE: Final = frozenset({"kill Valkey", "restart Valkey empty", "freeze Valkey"})
LONG_ENOUGH_SECONDS: Final = 1.0
SEEN_WITHIN_SECONDS: Final = 0.4


@dataclass(frozen=True, slots=True)
class Figure:
    """How often something was measured, and how long it took."""

    name: str
    seconds: tuple[float, ...]

    def __str__(self) -> str:
        if not self.seconds:
            return f"{self.name}: not seen"
        ordered = sorted(self.seconds)
        p95 = ordered[min(len(ordered) - 1, int(len(ordered) * 0.95))]
        spread = f"median {median(ordered):.2f} s, p95 {p95:.2f} s, max {ordered[-1]:.2f} s"
        return f"{self.name}: {len(ordered)} times, {spread}"


def figures(evidence: Evidence, lives: Lives, logs: Iterable[Path]) -> list[Figure]:
    """Return every figure of a run; other blows fall meanwhile, so the longest say little and the medians much."""
    regained = sorted(moment for path in logs for name, moment, _ in log_lines(path) if name == "redis.regained")
    blows = [blow for blow in evidence.struck if blow.until]
    back = [blow.until for blow in blows if blow.name in _REDIS_GONE]
    return [
        Figure("worker killed, its lane goes on", tuple(_after_death(evidence, lives))),
        Figure("hints lost, a waiting task runs", tuple(_after_lost_hints(blows, lives))),
        Figure("Redis gone, first claim without it", tuple(_polled(blows, lives))),
        Figure("Redis back, noticed", tuple(_next(regained, back))),
        Figure("Postgres back, next commit", tuple(_after_postgres(blows, evidence))),
        Figure("calm, from accepted to running", tuple(_calm(evidence, lives))),
    ]


def log_lines(path: Path) -> Iterator[tuple[str, float, dict[str, object]]]:
    """Yield what a process logged: the event, when, and everything about it."""
    for line in path.read_text(errors="replace").splitlines():
        if line.startswith("{"):
            try:
                entry = json.loads(line)
                yield str(entry["event"]), datetime.fromisoformat(entry["timestamp"]).timestamp(), entry
            except (ValueError, KeyError):
                continue


def complaints(logs: Iterable[Path]) -> Counter[str]:
    """Count what the processes themselves called errors, and what broke through their logs as a traceback."""
    found: Counter[str] = Counter()
    for path in logs:
        found.update(name for name, _, entry in log_lines(path) if entry.get("level") == "error")
        found["traceback"] += sum(
            line.startswith("Traceback") for line in path.read_text(errors="replace").splitlines()
        )
    return +found


def _after_death(evidence: Evidence, lives: Lives) -> Iterator[float]:
    for blow in evidence.struck:
        if blow.pid is None:
            continue
        held = {
            (seen.task_id, seen.attempt)
            for seen in evidence.sightings
            if f":{blow.pid}:" in seen.worker_id and blow.since - SEEN_WITHIN_SECONDS < seen.at < blow.since
        }
        for task_id, attempt in held:
            life = lives[task_id]
            after = [step for step in life.steps if step.attempt == attempt and step.state != "RUNNING"]
            if after and after[0].at < blow.since:
                continue
            place = life.task.document_id
            lane = [life] if place is None else [one for one in lives.values() if one.task.document_id == place]
            claims = [step.at for one in lane if one.task.runnable for step in one.entered("RUNNING")]
            yield from _next(sorted(claims), [blow.since])


def _after_lost_hints(blows: Iterable[Struck], lives: Lives) -> Iterator[float]:
    for blow in blows:
        if blow.name not in _HINTS_LOST:
            continue
        for life in _without_document(lives):
            for step, claim in _queued_and_claimed(life):
                if step < blow.since and claim > blow.until:
                    yield claim - blow.until


def _polled(blows: Iterable[Struck], lives: Lives) -> Iterator[float]:
    for blow in blows:
        if blow.name in _REDIS_GONE and blow.until - blow.since >= LONG_ENOUGH_SECONDS:
            claims = [
                claim
                for life in _without_document(lives)
                for queued, claim in _queued_and_claimed(life)
                if blow.since < queued and claim < blow.until
            ]
            if claims:
                yield min(claims) - blow.since


def _after_postgres(blows: Iterable[Struck], evidence: Evidence) -> Iterator[float]:
    commits = sorted(event.committed for event in evidence.events)
    yield from _next(commits, (blow.until for blow in blows if blow.name == "kill Postgres"))


def _calm(evidence: Evidence, lives: Lives) -> Iterator[float]:
    if evidence.healed_at is not None:
        for life in _without_document(lives):
            for queued, claim in _queued_and_claimed(life):
                if queued > evidence.healed_at + 5:
                    yield claim - queued


def _without_document(lives: Lives) -> Iterator[Life]:
    for life in lives.values():
        if life.task.document_id is None and life.task.runnable and life.task.parent_id is None:
            yield life


def _queued_and_claimed(life: Life) -> Iterator[tuple[float, float]]:
    for step, following in zip(life.steps, life.steps[1:], strict=False):
        if step.state == "QUEUED" and following.state == "RUNNING":
            yield step.committed, following.at


def _next(moments: list[float], starts: Iterable[float]) -> Iterator[float]:
    for start in starts:
        later = next((moment for moment in moments if moment > start), None)
        if later is not None:
            yield later - start


def by_kind(struck: Iterable[Struck]) -> dict[str, int]:
    """Count the blows by kind."""
    counts: defaultdict[str, int] = defaultdict(int)
    for blow in struck:
        counts[blow.name] += 1
    return dict(sorted(counts.items()))
