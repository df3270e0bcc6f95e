"""Tasks as tables and lines for a terminal; pure, so that tests need no terminal and no server."""

from collections.abc import Iterable, Mapping
from datetime import datetime

from pydantic import JsonValue
from rich.console import RenderableType
from rich.text import Text

from officeplane.cli.answers import Event, Explanation, Failure, Task
from officeplane.cli.tables import Row, lay_out
from officeplane.cli.texts import age, compact, one_line, printable, rfc3339, span
from officeplane.domain.lifecycle import TaskState
from officeplane.domain.priority import Tier

STYLES = {
    TaskState.PENDING: "dim",
    TaskState.QUEUED: "cyan",
    TaskState.CLAIMED: "blue",
    TaskState.RUNNING: "bold blue",
    TaskState.VALIDATING: "blue",
    TaskState.RETRYING: "yellow",
    TaskState.COMPLETED: "green",
    TaskState.FAILED: "bold red",
    TaskState.TIMEOUT: "red",
    TaskState.CANCELLED: "magenta",
}


def state_text(state: str) -> Text:
    """Colour a state; one that this version does not know stays plain."""
    return Text(state, style=STYLES[TaskState(state)] if state in STYLES else "")


def task_table(tasks: Iterable[Task], now: datetime, width: int) -> RenderableType:
    """Lay out tasks a line each."""
    rows: list[Row] = [
        {
            "id": task.id,
            "type": task.task_type,
            "state": state_text(task.state),
            "priority": "" if task.priority == Tier.NORMAL.name else task.priority,
            "document": task.document_id or "",
            "attempt": str(task.attempt) if task.attempt > 1 else "",
            "created": age(task.created_at, now),
            "note": note(task),
        }
        for task in tasks
    ]
    return lay_out(rows, width, expendable=("priority", "attempt", "note", "created", "document", "type"))


def note(task: Task) -> str:
    """Say the one thing worth knowing beside the state."""
    if task.cancel_requested_at is not None and not task.is_final:
        return "cancel requested"
    if task.child_counts:
        return counts(task.child_counts)
    if task.error is not None and not task.is_completed:
        return one_line(f"{task.error.kind}: {task.error.message}" if task.error.message else task.error.kind)
    if task.progress is not None and not task.is_final:
        return progress(task.progress)
    return one_line(task.title or "")


def counts(numbers: Mapping[str, int]) -> str:
    """Say how many there are of each, leaving out what there is none of."""
    return ", ".join(f"{number} {name.lower()}" for name, number in numbers.items() if number)


def progress(value: JsonValue) -> str:
    """Say how far a task is, whatever its handler reported."""
    match value:
        case {"fraction": float() | int() as fraction, **more}:
            said = more.get("message") or more.get("note")
            return one_line(f"{fraction:.0%} {said or ''}".rstrip())
        case float() | int() if not isinstance(value, bool):
            return f"{value:.0%}"
        case str():
            return one_line(value)
        case _:
            return one_line(compact(value))


def failure_table(failures: Iterable[Failure], now: datetime, width: int) -> RenderableType:
    """Lay out the failed attempts of a task."""
    rows: list[Row] = [
        {
            "attempt": str(failure.attempt),
            "kind": failure.kind,
            "started": age(failure.started_at, now),
            "took": "" if failure.duration_seconds is None else span(failure.duration_seconds),
            "worker": failure.worker_id or "",
            "message": printable(failure.message),
        }
        for failure in failures
    ]
    return lay_out(rows, width, expendable=("worker", "took"))


def event_table(events: Iterable[Event], now: datetime, width: int) -> RenderableType:
    """Lay out events a line each."""
    rows: list[Row] = [
        {
            "id": event.task_id or "",
            "event": event.type,
            "document": event.document_id or "",
            "at": age(event.at, now),
        }
        for event in events
    ]
    return lay_out(rows, width, expendable=("document", "at"))


def change_line(what: Task | Event) -> Text:
    """Say on one line what a task is now, or what happened."""
    if isinstance(what, Event):
        time = "" if what.at is None else rfc3339(what.at)
        parts = [time, what.type, what.task_id or "", what.document_id or ""]
    else:
        attempt = f"attempt {what.attempt}" if what.attempt > 1 else ""
        parts = [what.id, what.task_type, what.state, attempt, note(what)]
    return Text("  ".join(part for part in parts if part))


def explanation_lines(explanation: Explanation) -> list[Text]:
    """Say whether a task may run, and each reason why not."""
    head = Text("runnable", style="green") if explanation.runnable else Text("not runnable", style="yellow")
    return [
        head,
        *(Text(printable(f"  {reason.code}: {reason.detail}".rstrip(": "))) for reason in explanation.reasons),
    ]
