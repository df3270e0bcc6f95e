"""The `officeplane documents` commands that change a document, or hold back what would."""

import asyncio
from typing import Annotated

import typer

from officeplane.cli.documents.options import DocumentId, app
from officeplane.cli.exits import UsageError
from officeplane.cli.options import DEFAULT_URL, AsJson, By, Url

TaskType = Annotated[str, typer.Argument(metavar="TYPE", help="What to do, such as replace_text; `types` lists all.")]
Fields = Annotated[
    list[str] | None,
    typer.Argument(metavar="FIELD=VALUE", help="Its payload: text or JSON, or @FILE for what a file says."),
]
Payload = Annotated[
    str | None, typer.Option(help="The payload as a whole instead: JSON, @FILE, or - for stdin.", metavar="JSON")
]
Base = Annotated[int | None, typer.Option(min=1, help="The revision that you have read.", metavar="REVISION")]
OnConflict = Annotated[
    str | None, typer.Option(help="If it is another by then: reject, rebase or force.", metavar="WHAT")
]


@app.command()
def edit(
    document_id: DocumentId,
    task_type: TaskType,
    fields: Fields = None,
    *,
    payload: Payload = None,
    base: Base = None,
    on_conflict: OnConflict = None,
    wait: Annotated[float, typer.Option(min=0, help="Wait this long for its end.", metavar="SECONDS")] = 30,
    by: By = None,
    as_json: AsJson = False,
    url: Url = DEFAULT_URL,
) -> None:
    """Change a document; exit 0 only when that is done, or taken in with --wait 0."""
    from officeplane.cli.documents.editing import Wanted, edit_document

    wanted = Wanted(document_id, task_type, tuple(fields or ()), payload, base, on_conflict, by)
    raise typer.Exit(asyncio.run(edit_document(url, wanted, wait, as_json=as_json)))


@app.command()
def preview(
    document_id: DocumentId,
    task_type: TaskType,
    fields: Fields = None,
    *,
    payload: Payload = None,
    base: Base = None,
    on_conflict: OnConflict = None,
    as_json: AsJson = False,
    url: Url = DEFAULT_URL,
) -> None:
    """Show what an edit would change, and change nothing."""
    from officeplane.cli.documents.editing import Wanted, preview_edit

    wanted = Wanted(document_id, task_type, tuple(fields or ()), payload, base, on_conflict, None)
    asyncio.run(preview_edit(url, wanted, as_json=as_json))


@app.command()
def pause(document_id: DocumentId, *, as_json: AsJson = False, url: Url = DEFAULT_URL) -> None:
    """Hold a document's tasks back; what runs goes on."""
    from officeplane.cli.documents.editing import hold_back

    asyncio.run(hold_back(url, document_id, "pause", "is paused: its tasks wait", as_json=as_json))


@app.command()
def resume(document_id: DocumentId, *, as_json: AsJson = False, url: Url = DEFAULT_URL) -> None:
    """Let a document's tasks go on."""
    from officeplane.cli.documents.editing import hold_back

    asyncio.run(hold_back(url, document_id, "resume", "goes on", as_json=as_json))


@app.command()
def delete(
    document_id: DocumentId,
    *,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    url: Url = DEFAULT_URL,
) -> None:
    """Delete a document with its history; what waits for it is cancelled."""
    import sys

    from officeplane.cli.documents.editing import delete_document

    if not yes and not sys.stdin.isatty():
        raise UsageError("Nobody can be asked here: say --yes to delete it.")
    asyncio.run(delete_document(url, document_id, is_sure=yes))
