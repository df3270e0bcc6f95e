"""Events in the ledger: read in an order into which nothing is ever inserted."""

from typing import Final

from officeplane.domain.event import END_OF_ROW, Event, EventPosition
from officeplane.domain.ids import DagId, DocumentId, TaskId
from officeplane.domain.space import DEFAULT, space_of
from officeplane.store.connection import Executor
from officeplane.store.queries import load

_SQL: Final = load("events")
LAST_OF_TRANSACTION: Final = 10**18 - 1


async def after(executor: Executor, position: EventPosition, *, rows: int) -> tuple[list[Event], EventPosition]:
    """Return the events after a position, and the position to go on from."""
    whole_row = position.row if position.index == END_OF_ROW else position.row - 1
    found = await _SQL["after"].fetch(executor, xid=str(position.xid), row=whole_row, limit=rows)
    events = [
        Event(
            EventPosition(int(row["xid"]), row["id"], index),
            row["kind"],
            None if task_id is None else TaskId(str(task_id)),
            # A space without a document is written with nothing behind its slash.
            None if place is None or place.endswith("/") else DocumentId(place),
            row["at"],
            None if row["dag_id"] is None else DagId(str(row["dag_id"])),
            DEFAULT if place is None else space_of(place),
        )
        for row in found
        for index, (task_id, place) in enumerate(zip(row["task_ids"], row["document_ids"], strict=True))
        if EventPosition(int(row["xid"]), row["id"], index) > position
    ]
    if found:
        position = EventPosition(int(found[-1]["xid"]), found[-1]["id"])
    return events, position


async def horizon(executor: Executor) -> EventPosition:
    """Return the position after everything that has happened so far."""
    (row,) = await _SQL["horizon"].fetch(executor)
    return EventPosition(int(row["xid"]) - 1, LAST_OF_TRANSACTION)


async def is_held(executor: Executor, position: EventPosition) -> bool:
    """Tell whether everything after a position is still there."""
    if position.row == LAST_OF_TRANSACTION:
        # A horizon, read a moment ago; there may have been no event yet to compare it with.
        return True
    (row,) = await _SQL["is_held"].fetch(executor, xid=str(position.xid), row=position.row)
    return bool(row["held"])


async def prune(executor: Executor, *, older_than_seconds: float, limit: int) -> int:
    """Remove old events and return how many."""
    return len(await _SQL["prune"].fetch(executor, older_than_seconds=older_than_seconds, limit=limit))
