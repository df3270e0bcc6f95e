"""`officeplane documents list` and `history`: what is there and how it came to be."""

import json

from officeplane.cli.answers import DOCUMENTS, REVISIONS
from officeplane.cli.client import document_path
from officeplane.cli.console import out, remarks, show, write_json
from officeplane.cli.pages import read_pages
from officeplane.cli.tables import Row, lay_out
from officeplane.cli.texts import age, one_line, utc_now


async def list_documents(url: str, limit: int, *, as_json: bool) -> None:
    """Print up to `limit` documents, newest first."""
    items, _ = await read_pages(url, "/api/documents", {}, limit)
    if as_json:
        write_json(json.dumps(items, ensure_ascii=False))
        return
    now = utc_now()
    rows: list[Row] = [
        {
            "id": document.id,
            "format": document.format,
            "revision": str(document.revision),
            "size": f"{document.size:,}",
            "waiting": str(document.queued + document.running or ""),
            "changed": age(document.updated_at, now),
            "title": one_line(document.title or ""),
        }
        for document in DOCUMENTS.validate_python(items)
    ]
    if rows:
        show(lay_out(rows, out().width, expendable=("size", "waiting", "title", "changed")))
    else:
        remarks().print("There are no documents.")


async def show_history(url: str, document_id: str, limit: int, *, as_json: bool) -> None:
    """Print up to `limit` revisions, newest first."""
    items, _ = await read_pages(url, document_path(document_id, "/revisions"), {}, limit)
    if as_json:
        write_json(json.dumps(items, ensure_ascii=False))
        return
    now, revisions = utc_now(), REVISIONS.validate_python(items)
    rows: list[Row] = [
        {
            "revision": str(revision.revision),
            "what": revision.what,
            "author": one_line(revision.author or ""),
            "made": age(revision.created_at, now),
            "size": f"{revision.size:,}",
            "task": revision.task_id or "",
            "note": one_line(revision.note or ""),
        }
        for revision in revisions
    ]
    show(
        lay_out(rows, out().width, expendable=("size", "note", "task")),
        [revision.task_id for revision in revisions if revision.task_id],
    )
