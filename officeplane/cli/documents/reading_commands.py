"""The `officeplane documents` commands that show what is in a document."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from officeplane.cli.documents.options import DocumentId, Under, app
from officeplane.cli.exits import ExitCode, UsageError
from officeplane.cli.options import DEFAULT_URL, AsJson, Url

Kinds = Annotated[str | None, typer.Option(help="Only nodes of these kinds, separated by commas.", metavar="KIND,KIND")]
OfRevision = Annotated[int | None, typer.Option("--revision", min=1, help="An earlier revision.")]


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
    node_id: Annotated[
        str, typer.Argument(metavar="NODE", help="A node's id or its end, or a range such as Plan!A1:C9.")
    ],
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
    from officeplane.cli.documents.reading import list_changes

    given = {"under": under, "revision": revision}
    asyncio.run(list_changes(url, document_id, given, as_json=as_json))


@app.command()
def comments(
    document_id: DocumentId,
    *,
    under: Under = None,
    revision: OfRevision = None,
    as_json: AsJson = False,
    url: Url = DEFAULT_URL,
) -> None:
    """List comments by thread: what each is about, who wrote it and when, and whether it is resolved."""
    from officeplane.cli.documents.reading import list_comments

    given = {"under": under, "revision": revision}
    asyncio.run(list_comments(url, document_id, given, as_json=as_json))


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
def diff(
    document_id: DocumentId,
    before: Annotated[int, typer.Argument(min=1, metavar="FROM", help="A revision.")],
    after: Annotated[int, typer.Argument(min=1, metavar="TO", help="A later one.")],
    *,
    format: Annotated[
        str | None,
        typer.Option(help="summary, nodes, or unified for lines; nodes and all lines if none is given.", metavar="HOW"),
    ] = None,
    as_json: AsJson = False,
    url: Url = DEFAULT_URL,
) -> None:
    """Show what changed between two revisions, in colours where these are shown."""
    from officeplane.cli.documents.differences import show_difference

    asyncio.run(show_difference(url, document_id, before, after, format, as_json=as_json))
