"""The `officeplane documents` commands for whole files: their arguments, and nothing heavy before one is chosen."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from officeplane.cli.documents.options import DocumentId, Limit, app
from officeplane.cli.exits import UsageError
from officeplane.cli.options import DEFAULT_URL, AsJson, By, Url

File = Annotated[Path, typer.Argument(metavar="FILE", help="A docx, xlsx or pptx.")]


@app.command()
def put(
    file: File,
    document_id: Annotated[
        str | None, typer.Argument(metavar="DOCUMENT_ID", help="Its id; made of the file's name if none is given.")
    ] = None,
    *,
    if_match: Annotated[
        int | None,
        typer.Option(
            min=1, help="Only if this is its revision; that which you got, if none is given.", metavar="REVISION"
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Cover up whatever is there.")] = False,
    merge: Annotated[
        bool, typer.Option("--merge", help="Where others were quicker, bring your changes into what they have made.")
    ] = False,
    by: By = None,
    as_json: AsJson = False,
    url: Url = DEFAULT_URL,
) -> None:
    """Upload a file, as a new document or as the next revision of the one that you have read."""
    if force and if_match is not None:
        raise UsageError("Give either --if-match or --force.")
    if force and merge:
        raise UsageError("Give either --merge or --force.")
    from officeplane.cli.documents.files import Terms, put_file

    asyncio.run(put_file(url, file, document_id, Terms("*" if force else if_match, by, merge), as_json=as_json))


@app.command()
def new(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Its id and what it is, such as plan.docx.")],
    *,
    by: By = None,
    as_json: AsJson = False,
    url: Url = DEFAULT_URL,
) -> None:
    """Make an empty document: of plan.docx one for Word whose id is plan."""
    from officeplane.cli.documents.files import make_document

    asyncio.run(make_document(url, name, by, as_json=as_json))


@app.command()
def get(
    document_id: DocumentId,
    *,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Where to write it; - is stdout. Its id if none is given.")
    ] = None,
    kind: Annotated[
        str | None,
        typer.Option("--as", help="Show it as pdf, md, html or json, a workbook also as csv.", metavar="KIND"),
    ] = None,
    sheet: Annotated[str | None, typer.Option(help="This sheet, of csv or json.")] = None,
    revision: Annotated[int | None, typer.Option(min=1, help="An earlier revision.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite a file that is there already.")] = False,
    url: Url = DEFAULT_URL,
) -> None:
    """Download a file, and remember which revision it is; or what it is shown as."""
    from officeplane.cli.documents.files import Wanted, get_file

    asyncio.run(get_file(url, document_id, output, Wanted(revision, kind, sheet), force=force))


@app.command("list")
def list_(*, limit: Limit = 50, as_json: AsJson = False, url: Url = DEFAULT_URL) -> None:
    """List documents, the newest first."""
    from officeplane.cli.documents.showing import list_documents

    asyncio.run(list_documents(url, limit, as_json=as_json))


@app.command()
def history(document_id: DocumentId, *, limit: Limit = 50, as_json: AsJson = False, url: Url = DEFAULT_URL) -> None:
    """Show who changed a document, and when; the newest revision first."""
    from officeplane.cli.documents.showing import show_history

    asyncio.run(show_history(url, document_id, limit, as_json=as_json))


@app.command()
def revert(
    document_id: DocumentId,
    revision: Annotated[int, typer.Argument(min=1, metavar="REVISION", help="The revision to return to.")],
    *,
    wait: Annotated[float, typer.Option(min=0, max=60, help="Wait this long for its end.", metavar="SECONDS")] = 30,
    by: By = None,
    as_json: AsJson = False,
    url: Url = DEFAULT_URL,
) -> None:
    """Make an earlier revision the newest; exit 0 only when that is done."""
    from officeplane.cli.documents.files import revert_document

    raise typer.Exit(asyncio.run(revert_document(url, document_id, revision, wait, by, as_json=as_json)))
