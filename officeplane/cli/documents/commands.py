"""The `officeplane documents` commands: their arguments, and nothing heavy before one is chosen."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from officeplane.cli.exits import ExitCode, UsageError
from officeplane.cli.options import DEFAULT_URL, AsJson, By, Url

app = typer.Typer(help="Put documents in, get them out, read them, see their history.", no_args_is_help=True)

DocumentId = Annotated[str, typer.Argument(metavar="DOCUMENT_ID", help="The id of a document.")]
File = Annotated[Path, typer.Argument(metavar="FILE", help="A docx, xlsx or pptx.")]
Under = Annotated[str | None, typer.Option(help="Only in this node.", metavar="NODE")]
Kinds = Annotated[str | None, typer.Option(help="Only nodes of these kinds, separated by commas.", metavar="KIND,KIND")]
OfRevision = Annotated[int | None, typer.Option("--revision", min=1, help="An earlier revision.")]
Limit = Annotated[int, typer.Option(min=1, help="How many at most.")]


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
    by: By = None,
    as_json: AsJson = False,
    url: Url = DEFAULT_URL,
) -> None:
    """Upload a file, as a new document or as the next revision of the one that you have read."""
    if force and if_match is not None:
        raise UsageError("Give either --if-match or --force.")
    from officeplane.cli.documents.files import put_file

    asyncio.run(put_file(url, file, document_id, "*" if force else if_match, by, as_json=as_json))


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
def diff(
    document_id: DocumentId,
    before: Annotated[int, typer.Argument(min=1, metavar="FROM", help="A revision.")],
    after: Annotated[int, typer.Argument(min=1, metavar="TO", help="A later one.")],
    *,
    as_json: AsJson = False,
    url: Url = DEFAULT_URL,
) -> None:
    """Show what changed between two revisions."""
    from officeplane.cli.documents.showing import show_difference

    asyncio.run(show_difference(url, document_id, before, after, as_json=as_json))


@app.command()
def outline(
    document_id: DocumentId,
    *,
    depth: Annotated[int | None, typer.Option(min=1, help="So many levels of nodes.")] = None,
    under: Under = None,
    kinds: Kinds = None,
    texts: Annotated[bool, typer.Option("--texts", help="With what pages, boxes and notes say.")] = False,
    revision: OfRevision = None,
    as_json: AsJson = False,
    url: Url = DEFAULT_URL,
) -> None:
    """Show what a document is made of: ids, titles, words."""
    from officeplane.cli.documents.reading import show_outline

    given = {"depth": depth, "under": under, "kinds": kinds, "texts": "true" if texts else None, "revision": revision}
    asyncio.run(show_outline(url, document_id, given, as_json=as_json))


@app.command()
def text(
    document_id: DocumentId,
    *,
    under: Under = None,
    revision: OfRevision = None,
    as_json: AsJson = False,
    url: Url = DEFAULT_URL,
) -> None:
    """Show what a document says, or one of its nodes."""
    from officeplane.cli.documents.reading import show_text

    asyncio.run(show_text(url, document_id, {"under": under, "revision": revision}, as_json=as_json))


@app.command()
def find(
    document_id: DocumentId,
    words: Annotated[str, typer.Argument(metavar="TEXT", help="What to look for.")],
    *,
    match_case: Annotated[bool, typer.Option("--match-case", help="Tell capitals from small letters.")] = False,
    regex: Annotated[bool, typer.Option("--regex", help="TEXT is a pattern, such as '(?i)clause [0-9]+'.")] = False,
    under: Under = None,
    kinds: Kinds = None,
    revision: OfRevision = None,
    as_json: AsJson = False,
    url: Url = DEFAULT_URL,
) -> None:
    """Show where a text stands; exit 1 when it does not."""
    from officeplane.cli.documents.reading import find_text

    case, pattern = ("true" if said else None for said in (match_case, regex))
    given = {"text": words, "matchCase": case, "regex": pattern, "under": under, "kinds": kinds, "revision": revision}
    found = asyncio.run(find_text(url, document_id, given, as_json=as_json))
    raise typer.Exit(ExitCode.DONE if found else ExitCode.REFUSED)


@app.command("show")
def show_(
    document_id: DocumentId,
    node_id: Annotated[str, typer.Argument(metavar="NODE", help="A node's id, or a range such as Plan!A1:C9.")],
    *,
    revision: OfRevision = None,
    as_json: AsJson = False,
    url: Url = DEFAULT_URL,
) -> None:
    """Show one node: what it is, how it looks and what it says."""
    from officeplane.cli.documents.reading import show_node

    asyncio.run(show_node(url, document_id, node_id, {"with": "format", "revision": revision}, as_json=as_json))


@app.command()
def cells(
    document_id: DocumentId,
    within: Annotated[
        str | None, typer.Argument(metavar="RANGE", help="Such as Plan!A1:C9; the first sheet if none is given.")
    ] = None,
    *,
    sheet: Annotated[str | None, typer.Option(help="Of this sheet.")] = None,
    revision: OfRevision = None,
    as_json: AsJson = False,
    url: Url = DEFAULT_URL,
) -> None:
    """Show what cells of a workbook hold."""
    from officeplane.cli.documents.reading import show_cells

    given = {"range": within, "sheet": sheet, "revision": revision}
    asyncio.run(show_cells(url, document_id, given, as_json=as_json))


@app.command()
def changes(
    document_id: DocumentId,
    *,
    under: Under = None,
    revision: OfRevision = None,
    as_json: AsJson = False,
    url: Url = DEFAULT_URL,
) -> None:
    """List tracked changes, with who made them."""
    from officeplane.cli.documents.reading import list_remarks

    given = {"under": under, "revision": revision}
    asyncio.run(list_remarks(url, document_id, "changes", given, as_json=as_json))


@app.command()
def comments(
    document_id: DocumentId,
    *,
    under: Under = None,
    revision: OfRevision = None,
    as_json: AsJson = False,
    url: Url = DEFAULT_URL,
) -> None:
    """List comments, with who wrote them."""
    from officeplane.cli.documents.reading import list_remarks

    given = {"under": under, "revision": revision}
    asyncio.run(list_remarks(url, document_id, "comments", given, as_json=as_json))


@app.command()
def images(
    document_id: DocumentId,
    node_id: Annotated[
        str | None,
        typer.Argument(metavar="NODE", help="A picture to write to a file; all are listed if none is given."),
    ] = None,
    *,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The file; - for stdout. It is not overwritten.")
    ] = None,
    under: Under = None,
    revision: OfRevision = None,
    as_json: AsJson = False,
    url: Url = DEFAULT_URL,
) -> None:
    """List pictures with their sizes, or write the bytes of one to a file."""
    if (node_id is None) != (output is None):
        raise UsageError("Give both a NODE and --output, or neither to list pictures.")
    if node_id is not None and output is not None:
        from officeplane.cli.documents.files import get_picture

        asyncio.run(get_picture(url, document_id, node_id, output, revision))
        return
    from officeplane.cli.documents.reading import list_images

    asyncio.run(list_images(url, document_id, {"under": under, "revision": revision}, as_json=as_json))


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
