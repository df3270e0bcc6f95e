"""`officeplane audit`: deeds a line each, and what they have changed below."""

import json
from collections.abc import Iterable
from datetime import datetime, timedelta

from rich.console import RenderableType

from officeplane.cli.answers import DEEDS, Deed
from officeplane.cli.client import Query
from officeplane.cli.console import out, remarks, show, write_json
from officeplane.cli.exits import UsageError
from officeplane.cli.pages import read_pages
from officeplane.cli.spans import seconds_in
from officeplane.cli.tables import Row, lay_out
from officeplane.cli.texts import age, compact, printable, rfc3339, utc_now


async def list_deeds(url: str, filters: Query, limit: int, *, as_json: bool) -> None:
    """Print up to `limit` deeds, the latest first."""
    items, there_is_more = await read_pages(url, "/api/audit", filters, limit)
    if as_json:
        write_json(json.dumps(items, ensure_ascii=False))
        return
    deeds = DEEDS.validate_python(items)
    if deeds:
        show(deed_table(deeds, utc_now(), out().width))
    else:
        remarks().print("Nobody has done what matches.")
    if there_is_more:
        remarks().print(f"These are the latest {limit}; --limit shows more.")


def deed_table(deeds: Iterable[Deed], now: datetime, width: int) -> RenderableType:
    """Lay out deeds a line each."""
    rows: list[Row] = [
        {
            "when": age(deed.at, now),
            "by": printable(deed.by),
            "action": printable(deed.action),
            "target": _target(deed),
            "for": printable(deed.on_behalf_of or ""),
            "from": printable(deed.address or ""),
            "before": "" if deed.before is None else printable(compact(deed.before)),
            "after": "" if deed.after is None else printable(compact(deed.after)),
        }
        for deed in deeds
    ]
    return lay_out(rows, width, expendable=("before", "after", "from", "for", "target"))


def time_in(option: str, given: str) -> str:
    """Return the time that an option was given, as a span that ends now or as itself."""
    try:
        moment = datetime.fromisoformat(given)
    except ValueError:
        return rfc3339(utc_now() - timedelta(seconds=seconds_in(option, given)))
    if moment.tzinfo is None:
        message = f"{option}: {given!r} names no time zone; end it with Z, or write a span such as 2h."
        raise UsageError(message)
    return rfc3339(moment)


def _target(deed: Deed) -> str:
    """Say what it was done to: its name, its one task, or how many tasks there were."""
    tasks = deed.task_ids[0] if deed.tasks == 1 else f"{deed.tasks} tasks" if deed.tasks else ""
    return " ".join(part for part in (printable(deed.target or ""), tasks) if part)
