"""Tasks as tables and lines for a terminal; pure, so that tests need no terminal and no server."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from pydantic import JsonValue
from rich import box
from rich.table import Table
from rich.text import Text

from officeplane.cli.answers import Event, Explanation, Failure, Task
from officeplane.cli.texts import age, compact, one_line, printable, rfc3339, span
from officeplane.domain.lifecycle import TaskState

ID_WIDTH = 36
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


def task_table(tasks: Iterable[Task], now: datetime) -> Table:
    """Lay out tasks a line each, ids whole."""
    table = _columns("id", "type", "state", "priority", "document", "attempt", "created", "note")
    for task in tasks:
        table.add_row(
            task.id,
            task.task_type,
            state_text(task.state),
            task.priority,
            task.document_id or "",
            attempts(task),
            age(task.created_at, now),
            note(task),
        )
    return table


def attempts(task: Task) -> str:
    """Say which execution this is, and how many of the allowed ones were charged."""
    if task.attempt == 0 or task.max_retries is None:
        return str(task.attempt or "")
    return f"{task.attempt} of {task.max_retries + 1}"


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


def failure_table(failures: Sequence[Failure], now: datetime) -> Table:
    """Lay out the failed attempts of a task."""
    table = _columns("attempt", "kind", "started", "took", "worker", "message")
    for failure in failures:
        table.add_row(
            str(failure.attempt),
            failure.kind,
            age(failure.started_at, now),
            "" if failure.duration_seconds is None else span(failure.duration_seconds),
            failure.worker_id or "",
            printable(failure.message),
        )
    return table


def event_table(events: Iterable[Event], now: datetime) -> Table:
    """Lay out events a line each."""
    table = _columns("id", "event", "state", "document", "at")
    for event in events:
        table.add_row(
            event.task_id or "",
            event.type,
            state_text(event.state or ""),
            event.document_id or "",
            age(event.at, now),
        )
    return table


def change_line(what: Task | Event) -> Text:
    """Say on one line what a task is now, or what happened."""
    if isinstance(what, Event):
        time = "" if what.at is None else rfc3339(what.at)
        parts = [time, what.type, what.task_id or "", what.document_id or ""]
    else:
        parts = [what.id, what.task_type, what.state, attempts(what), note(what)]
    return Text("  ".join(part for part in parts if part))


def explanation_lines(explanation: Explanation) -> list[Text]:
    """Say whether a task may run, and each reason why not."""
    head = Text("runnable", style="green") if explanation.runnable else Text("not runnable", style="yellow")
    return [
        head,
        *(Text(printable(f"  {reason.code}: {reason.detail}".rstrip(": "))) for reason in explanation.reasons),
    ]


def _columns(*names: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold", show_edge=False)
    for name in names:
        if name == "id":
            table.add_column(name, no_wrap=True, min_width=ID_WIDTH)
        else:
            table.add_column(name, overflow="fold")
    return table
