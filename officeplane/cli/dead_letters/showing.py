"""`officeplane dead-letters list` and `show`: what gave up, and why."""

import json
from collections.abc import Iterable, Iterator
from datetime import datetime

from rich.console import RenderableType

from officeplane.cli.client import Client, Query, letter_path
from officeplane.cli.console import out, remarks, show, write_json
from officeplane.cli.dead_letters.answers import LETTERS, Decision, Letter
from officeplane.cli.details import fact_table, moment
from officeplane.cli.pages import read_pages
from officeplane.cli.tables import Row, lay_out
from officeplane.cli.texts import age, one_line, printable, utc_now
from officeplane.cli.views import failure_table


async def list_letters(url: str, filters: Query, limit: int, *, as_json: bool) -> None:
    """Print up to `limit` letters, newest first."""
    items, there_is_more = await read_pages(url, "/api/dead-letters", filters, limit)
    if as_json:
        write_json(json.dumps(items, ensure_ascii=False))
        return
    letters = LETTERS.validate_python(items)
    if letters:
        show(letter_table(letters, utc_now(), out().width), [letter.task_id for letter in letters])
    else:
        remarks().print("No dead letters match.")
    if there_is_more:
        remarks().print(f"These are the newest {limit}; --limit shows more.")


async def show_letter(url: str, task_id: str, *, as_json: bool) -> None:
    """Print a letter with the failed attempts of its task and what was decided about it."""
    async with Client(url) as client:
        answer = await client.get(letter_path(task_id))
    if as_json:
        write_json(answer.text)
        return
    letter = Letter.model_validate_json(answer.content)
    show(fact_table(_facts(letter, utc_now())))
    if letter.failures:
        show("")
        show(failure_table(letter.failures, utc_now(), out().width))
    if letter.decisions:
        show("")
        show(decision_table(letter.decisions, utc_now(), out().width))


def letter_table(letters: Iterable[Letter], now: datetime, width: int) -> RenderableType:
    """Lay out letters a line each."""
    rows: list[Row] = [
        {
            "id": letter.task_id,
            "type": letter.task_type,
            "document": letter.document_id or "",
            "fingerprint": letter.fingerprint,
            "gave up": age(letter.dead_lettered_at, now),
            "what": standing(letter),
            "error": one_line(f"{letter.error.kind}: {letter.error.message}"),
        }
        for letter in letters
    ]
    return lay_out(rows, width, expendable=("document", "gave up", "what", "type", "error"))


def decision_table(decisions: Iterable[Decision], now: datetime, width: int) -> RenderableType:
    """Lay out what was decided, in order."""
    rows: list[Row] = [
        {
            "decision": decision.decision,
            "by": printable(decision.by),
            "when": age(decision.at, now),
            "note": printable(decision.note or ""),
        }
        for decision in decisions
    ]
    return lay_out(rows, width)


def standing(letter: Letter) -> str:
    """Say what is known or was decided of a letter, in a word or two."""
    if letter.resolution is not None:
        return letter.resolution
    marks = {"poison pill": letter.poison_pill, "recurring": letter.recurring, "escalated": letter.escalated_at}
    return ", ".join(mark for mark, is_so in marks.items() if is_so)


def _facts(letter: Letter, now: datetime) -> Iterator[tuple[str, str]]:
    yield "id", letter.task_id
    yield "type", letter.task_type
    yield "document", letter.document_id or ""
    yield "DAG", letter.dag_id or ""
    yield "gave up", moment(letter.dead_lettered_at, now)
    yield "error", printable(f"{letter.error.kind}: {letter.error.message}")
    yield "fingerprint", letter.fingerprint
    yield "poison pill", "yes" if letter.poison_pill else ""
    yield "recurring", "yes: two workers met the same failure" if letter.recurring else ""
    yield "cost", f"{letter.total_cost_usd:.4f} USD" if letter.total_cost_usd else ""
    yield "escalated", moment(letter.escalated_at, now)
    yield "resolved", f"{letter.resolution} by {printable(letter.resolved_by or '')}" if letter.resolution else "no"
    yield "resolved at", moment(letter.resolved_at, now)
    yield "note", printable(letter.note or "")
