"""Three ways to show what happens: JSON lines, plain lines for a pipe, and a live table for people."""

from collections import Counter
from collections.abc import Callable, Generator
from contextlib import contextmanager

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from officeplane.cli.answers import Event, Task
from officeplane.cli.console import out, remarks, write_json
from officeplane.cli.event_stream import Link
from officeplane.cli.short_ids import remember
from officeplane.cli.tasks.watching import Sighting
from officeplane.cli.texts import utc_now
from officeplane.cli.views import change_line, counts, event_table, task_table

EVENTS_SHOWN = 30
Screen = Callable[[Sighting | Link | None], None]
"""Takes a change, a change of the connection, or None when only time has passed."""


@contextmanager
def open_screen(*, as_json: bool) -> Generator[Screen]:
    """Choose by who reads."""
    console = out()
    if as_json:
        yield show_json
    elif not console.is_terminal:
        yield PlainLines(console).take
    else:
        with Live(console=console, auto_refresh=False) as live:
            table = LiveTable(live)
            try:
                yield table.take
            finally:
                remember(table.ids)


def show_json(change: Sighting | Link | None) -> None:
    """Write the API's JSON, one change a line."""
    if isinstance(change, Sighting):
        write_json(change.json)


class PlainLines:
    """A line for each change that people would notice."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._last: dict[str, str] = {}

    def take(self, change: Sighting | Link | None) -> None:
        """Print what changed."""
        if change is Link.LOST:
            remarks().print("Connection lost, trying again.")
        if not isinstance(change, Sighting):
            return
        line = change_line(change.what).plain
        key = change.what.id if isinstance(change.what, Task) else ""
        if self._last.get(key) != line:
            self._console.print(line)
        if key:
            self._last[key] = line


class LiveTable:
    """A table that is drawn again at every change."""

    def __init__(self, live: Live) -> None:
        self._live = live
        self._tasks: dict[str, Task] = {}
        self._events: dict[str, Event] = {}
        self._lost = False

    @property
    def ids(self) -> list[str]:
        """The tasks that it shows."""
        return [*self._tasks] or [event.task_id for event in self._events.values() if event.task_id]

    def take(self, change: Sighting | Link | None) -> None:
        """Draw the table with this change in it."""
        if isinstance(change, Link):
            self._lost = change is Link.LOST
        elif change is not None:
            match change.what:
                case Task() as task:
                    self._tasks[task.id] = task
                case Event() as event:
                    self._remember(event)
        self._live.update(self._picture(), refresh=True)

    def _remember(self, event: Event) -> None:
        subject = event.task_id or event.document_id or ""
        self._events.pop(subject, None)
        self._events[subject] = event
        if len(self._events) > EVENTS_SHOWN:
            del self._events[next(iter(self._events))]

    def _picture(self) -> Group:
        now, width = utc_now(), self._live.console.width
        tasks = sorted(self._tasks.values(), key=lambda task: task.is_final)
        table = task_table(tasks, now, width) if tasks else event_table(reversed(self._events.values()), now, width)
        states = Counter(task.state for task in tasks) or Counter(event.type for event in self._events.values())
        caption = "connection lost, trying again" if self._lost else counts(states)
        return Group(table, Text(caption, style="dim"))
