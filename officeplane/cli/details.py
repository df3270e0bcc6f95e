"""One task in full: its facts, its children as a tree, its failed attempts; pure like `views`."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime

from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from officeplane.cli.answers import Child, Task
from officeplane.cli.texts import age, compact, printable, rfc3339, span
from officeplane.cli.views import counts, progress, state_text


def task_details(task: Task, now: datetime, heard: str = "") -> Table:
    """Lay out what is known of a task, and when its worker was `heard` last if it runs."""
    return fact_table(_facts(task, now, heard))


def fact_table(facts: Iterable[tuple[str, str | Text]]) -> Table:
    """Lay out a fact a line; what is not known is left out."""
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in facts:
        if value:
            table.add_row(name, value)
    return table


def moment(then: datetime | None, now: datetime) -> str:
    """Say when something was, and how long ago; nothing for a time that is not known."""
    return "" if then is None else f"{rfc3339(then)}  ({age(then, now)})"


def children_tree(task: Task, families: Mapping[str, Sequence[Child]]) -> Tree:
    """Draw a batch: `families` holds the children of each parent that is known."""
    tree = Tree(_branch(Child(id=task.id, task_type=task.task_type, state=task.state, key=task.key)))
    _grow(tree, task.id, families)
    return tree


def _grow(tree: Tree, parent_id: str, families: Mapping[str, Sequence[Child]]) -> None:
    for child in families.get(parent_id, ()):
        _grow(tree.add(_branch(child)), child.id, families)


def _branch(child: Child) -> Text:
    key = f"  {printable(child.key)}" if child.key else ""
    return Text.assemble(f"{child.id}  {child.task_type}  ", state_text(child.state), key, no_wrap=True)


def _facts(task: Task, now: datetime, heard: str) -> Iterator[tuple[str, str | Text]]:
    yield "id", task.id
    yield "type", task.task_type
    yield "state", state_text(task.state)
    yield "title", printable(task.title or "")
    yield "document", task.document_id or ""
    yield "priority", _priority(task)
    yield "deadline", "" if task.deadline is None else rfc3339(task.deadline)
    yield "attempt", _attempts(task)
    yield "timeout", "" if task.timeout_seconds is None else span(task.timeout_seconds)
    yield "progress", "" if task.progress is None else progress(task.progress)
    yield "payload", printable(compact(task.payload)) if task.payload else ""
    yield "result", "" if task.result is None else printable(compact(task.result))
    yield "error", "" if task.error is None else printable(f"{task.error.kind}: {task.error.message}")
    yield "children", counts(task.child_counts or {})
    yield "parent", task.parent_id or ""
    yield "spawned by", task.spawned_by or ""
    yield "key", printable(task.key or "")
    yield "tags", printable(", ".join(task.tags))
    yield "worker", f"{task.worker_id}{heard}" if task.worker_id else ""
    yield "created by", printable(task.created_by or "")
    yield "on behalf of", printable(task.on_behalf_of or "")
    yield "created", moment(task.created_at, now)
    yield "runs at", moment(task.run_at, now) if task.run_at != task.created_at else ""
    yield "queued", moment(task.queued_at, now)
    yield "started", moment(task.started_at, now)
    yield "finished", moment(task.finished_at, now)
    yield "cancel requested", moment(task.cancel_requested_at, now)
    yield "cancel reason", printable(task.cancel_reason or "")


def _priority(task: Task) -> str:
    """Say how urgent a task was meant to be, and how urgent it has become if that is another thing."""
    if task.priority_value is None:
        return task.priority
    meant = f"{task.priority} ({task.priority_value})"
    now = task.effective_priority
    return meant if now is None or abs(now - task.priority_value) < 1 else f"{meant}, by now {now:g}"


def _attempts(task: Task) -> str:
    """Say which attempt it is, how many have failed, and how many more may."""
    if task.attempts_charged is None or task.max_retries is None or not task.attempt:
        return str(task.attempt or "")
    failed = f"{task.attempts_charged or 'none'} failed"
    if task.is_final:
        return f"{task.attempt} ({failed})" if task.attempts_charged else str(task.attempt)
    return f"{task.attempt} ({failed} so far; it gives up after {task.max_retries + 1})"
