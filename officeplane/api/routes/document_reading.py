"""What is in a document, part by part: `/api/documents/{id}/outline`, `/nodes`, `/find`, `/cells` and so on."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Annotated, Any, Final, TypeVar
from urllib.parse import quote

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from officeplane.api.answer_headers import DOWNLOADED, OURS_ALONE
from officeplane.api.callers import needs, principal_of
from officeplane.api.document_views import ComparisonView
from officeplane.api.etags import etag, is_known, unchanged
from officeplane.api.openapi import Responses, headers, refusals
from officeplane.api.parameters import DocumentIdInPath, IfNoneMatch, Revision
from officeplane.api.problems import RefusedError
from officeplane.api.reading_parameters import (
    CellsQuery,
    DiffQuery,
    FindQuery,
    ListedQuery,
    NodeIdInPath,
    NodeQuery,
    OutlineQuery,
    PartQuery,
    SheetsQuery,
    SlideIdInPath,
    TextQuery,
    words_in,
)
from officeplane.api.reading_views import (
    CellsView,
    ChangesView,
    CommentsView,
    DiffLinesView,
    DiffNodesView,
    DiffSummaryView,
    FindView,
    ImagesView,
    NodeAnswerView,
    OutlineView,
    PartView,
    SheetsView,
    SlideAnswerView,
    TextView,
    part_answer,
)
from officeplane.api.requests import StrictRoute
from officeplane.api.state import runtime_of
from officeplane.api.views import json_answer
from officeplane.api.waits import while_there
from officeplane.domain.document import InvalidEditError
from officeplane.domain.errors import FieldError, InvalidCursorError, NodeNotFoundError
from officeplane.domain.principal import Principal, Scope
from officeplane.formats.excel.cell_reading import CellsWanted
from officeplane.formats.pictures.media_types import SHOWN, UNKNOWN, extension, media_type
from officeplane.formats.reading.differing import DiffFormat, DiffWanted
from officeplane.formats.reading.finding import FindWanted
from officeplane.formats.reading.listing import ListWanted
from officeplane.formats.reading.outlining import OutlineWanted
from officeplane.formats.reading.showing import NodeWanted
from officeplane.formats.reading.telling import TextWanted, Told
from officeplane.sandbox.answers import Items
from officeplane.services.documents.document_reading import DocumentReading

router = APIRouter(prefix="/api/documents", tags=["documents"], route_class=StrictRoute)

W = TypeVar("W")
P = TypeVar("P", Items, Told)

_BYTES: Final[dict[str, Any]] = {"schema": {"type": "string", "format": "binary"}}
_READ: Final[Responses] = {
    200: {"description": "What it is as of `revision`.", "headers": headers("ETag")},
    304: {"description": "As it was read before.", "headers": headers("ETag")},
    **refusals(
        "document_not_found", "revision_not_found", "node_not_found", "unsupported_document", "too_large_to_show",
        "invalid_cursor",
    ),
}  # fmt: skip


@router.get(
    "/{document_id}/outline",
    operation_id="getOutline",
    summary="Show what a document is made of",
    response_model=OutlineView,
    responses=_READ,
)
@needs(Scope.READ)
async def outline(
    request: Request,
    document_id: DocumentIdInPath,
    query: Annotated[OutlineQuery, Query()],
    if_none_match: IfNoneMatch = None,
) -> Response:
    """Return the tree of nodes, with ids that survive edits of others, and the revision that it is of.

    Titles are told, other texts only if they are asked for: what a node says tells `/nodes/{nodeId}`.
    """
    wanted = OutlineWanted(
        query.depth, query.under, words_in(query.kinds), query.texts == "true", query.place, query.max_tokens
    )
    return await _answered(
        request, document_id, query, if_none_match, DocumentReading.outline, wanted, OutlineView, _nodes
    )


@router.get(
    "/{document_id}/nodes/{node_id}",
    operation_id="getNode",
    summary="Show one node of a document",
    response_model=NodeAnswerView,
    responses=_READ,
)
@needs(Scope.READ)
async def node(
    request: Request,
    document_id: DocumentIdInPath,
    node_id: NodeIdInPath,
    query: Annotated[NodeQuery, Query()],
    if_none_match: IfNoneMatch = None,
) -> Response:
    """Return what a node says as CommonMark, what is in it, and what stands beside it."""
    wanted = NodeWanted(node_id, query.depth, query.with_ == "format", query.place, query.max_tokens)
    return await _answered(
        request, document_id, query, if_none_match, DocumentReading.node, wanted, NodeAnswerView, _node
    )


@router.get(
    "/{document_id}/find",
    operation_id="findText",
    summary="Find a text in a document",
    response_model=FindView,
    responses=_READ,
)
@needs(Scope.READ)
async def find(
    request: Request,
    document_id: DocumentIdInPath,
    query: Annotated[FindQuery, Query()],
    if_none_match: IfNoneMatch = None,
) -> Response:
    """Return the nodes in which a text stands, with some words around it: in texts, tables, notes, cells, formulas."""
    wanted = FindWanted(
        query.text, query.match_case == "true", query.under, words_in(query.kinds), query.limit, query.place,
        query.max_tokens, query.regex == "true",
    )  # fmt: skip
    try:
        return await _answered(
            request, document_id, query, if_none_match, DocumentReading.find, wanted, FindView, _items
        )
    except InvalidEditError as error:
        # Only a pattern can be wrong in this way.
        raise RefusedError("invalid_parameter", str(error), errors=[FieldError("text", str(error))]) from None


@router.get(
    "/{document_id}/text",
    operation_id="getText",
    summary="Show what a document says",
    response_model=TextView,
    responses=_READ,
)
@needs(Scope.READ)
async def text(
    request: Request,
    document_id: DocumentIdInPath,
    query: Annotated[TextQuery, Query()],
    if_none_match: IfNoneMatch = None,
) -> Response:
    """Return the text of a revision, of one node of it if that is named, and which revision it is."""
    wanted = TextWanted(query.under, query.place, query.max_tokens)
    return await _answered(request, document_id, query, if_none_match, DocumentReading.text, wanted, TextView, _text)


@router.get(
    "/{document_id}/slides/{slide_id}",
    operation_id="getSlide",
    summary="Show a slide with its shapes",
    response_model=SlideAnswerView,
    responses=_READ,
)
@needs(Scope.READ)
async def slide(
    request: Request,
    document_id: DocumentIdInPath,
    slide_id: SlideIdInPath,
    query: Annotated[PartQuery, Query()],
    if_none_match: IfNoneMatch = None,
) -> Response:
    """Return the shapes of a slide with kind, placeholder, text and place, and what on it has no room."""
    wanted = NodeWanted(slide_id, 2, form=True, begin=query.place, tokens_max=query.max_tokens)
    return await _answered(
        request, document_id, query, if_none_match, DocumentReading.node, wanted, SlideAnswerView, _slide
    )


@router.get(
    "/{document_id}/changes",
    operation_id="listChanges",
    summary="List tracked changes",
    response_model=ChangesView,
    responses=_READ,
)
@needs(Scope.READ)
async def changes(
    request: Request,
    document_id: DocumentIdInPath,
    query: Annotated[ListedQuery, Query()],
    if_none_match: IfNoneMatch = None,
) -> Response:
    """Return the tracked changes of a text, with who made them and when."""
    wanted = ListWanted("changes", query.under, query.place, query.max_tokens)
    return await _answered(
        request, document_id, query, if_none_match, DocumentReading.listed, wanted, ChangesView, _items
    )


@router.get(
    "/{document_id}/comments",
    operation_id="listComments",
    summary="List comments",
    response_model=CommentsView,
    responses=_READ,
)
@needs(Scope.READ)
async def comments(
    request: Request,
    document_id: DocumentIdInPath,
    query: Annotated[ListedQuery, Query()],
    if_none_match: IfNoneMatch = None,
) -> Response:
    """Return the comments of a document, with who wrote them, when, and whether they are resolved."""
    wanted = ListWanted("comments", query.under, query.place, query.max_tokens)
    return await _answered(
        request, document_id, query, if_none_match, DocumentReading.listed, wanted, CommentsView, _items
    )


@router.get(
    "/{document_id}/images",
    operation_id="listImages",
    summary="List pictures",
    response_model=ImagesView,
    responses=_READ,
)
@needs(Scope.READ)
async def images(
    request: Request,
    document_id: DocumentIdInPath,
    query: Annotated[ListedQuery, Query()],
    if_none_match: IfNoneMatch = None,
) -> Response:
    """Return the pictures of a document, with size, alternative text, and where their bytes are."""
    wanted = ListWanted("images", query.under, query.place, query.max_tokens)
    revision = await runtime_of(request).documents.number(principal_of(request), document_id, query.wanted_revision)

    def told(part: Items) -> dict[str, object]:
        return {"items": [{**item, "content": _place_of(document_id, item["id"], revision)} for item in part.items]}

    return await _answered(
        request, document_id, query, if_none_match, DocumentReading.listed, wanted, ImagesView, told, revision
    )


@router.get(
    "/{document_id}/images/{node_id}",
    operation_id="getImage",
    summary="Show the bytes of a picture",
    response_class=Response,
    responses={
        **_READ,
        200: {
            "description": "The picture.",
            "content": dict.fromkeys(sorted((*SHOWN, UNKNOWN)), _BYTES),
            "headers": headers("ETag", "Content-Disposition"),
        },
    },
)
@needs(Scope.READ)
async def image(
    request: Request,
    document_id: DocumentIdInPath,
    node_id: NodeIdInPath,
    revision: Revision = None,
    if_none_match: IfNoneMatch = None,
) -> Response:
    """Return the bytes of one picture of a revision, as the file has them; their type is what they are.

    What browsers do more with than to show it, such as SVG, is sent as a download.
    """
    runtime, caller = runtime_of(request), principal_of(request)
    number = await runtime.documents.number(caller, document_id, revision)
    if is_known(if_none_match, number):
        return unchanged(number)
    content = await while_there(request, runtime.reading.picture(caller, document_id, number, node_id))
    kind = media_type(content)
    shown = "inline" if kind in SHOWN else "attachment"
    return Response(
        content,
        media_type=kind,
        headers={
            "Content-Disposition": f'{shown}; filename="picture.{extension(kind)}"',
            **etag(number),
            "Content-Security-Policy": DOWNLOADED,
            **OURS_ALONE,
        },
    )


@router.get(
    "/{document_id}/sheets",
    operation_id="listSheets",
    summary="List the sheets of a workbook",
    response_model=SheetsView,
    responses=_READ,
)
@needs(Scope.READ)
async def sheets(
    request: Request,
    document_id: DocumentIdInPath,
    query: Annotated[SheetsQuery, Query()],
    if_none_match: IfNoneMatch = None,
) -> Response:
    """Return the sheets with used ranges, tables and charts, and the defined names."""
    wanted = ListWanted("sheets", None, query.place, query.max_tokens)
    return await _answered(
        request, document_id, query, if_none_match, DocumentReading.listed, wanted, SheetsView, _items
    )


@router.get(
    "/{document_id}/cells",
    operation_id="getCells",
    summary="Show cells of a workbook",
    response_model=CellsView,
    responses=_READ,
)
@needs(Scope.READ)
async def cells(
    request: Request,
    document_id: DocumentIdInPath,
    query: Annotated[CellsQuery, Query()],
    if_none_match: IfNoneMatch = None,
) -> Response:
    """Return cells by their addresses: typed values, formulas, formats, and which results are stale."""
    wanted = CellsWanted(query.sheet, query.range, words_in(query.show), query.place, query.max_tokens)
    return await _answered(request, document_id, query, if_none_match, DocumentReading.cells, wanted, CellsView, _items)


@router.get(
    "/{document_id}/diff",
    operation_id="compareRevisions",
    summary="Compare two revisions",
    response_model=ComparisonView | DiffSummaryView | DiffNodesView | DiffLinesView,
    responses=_READ,
)
@needs(Scope.READ)
async def diff(
    request: Request,
    document_id: DocumentIdInPath,
    query: Annotated[DiffQuery, Query()],
    if_none_match: IfNoneMatch = None,
) -> Response:
    """Return what changed from one revision to another, in text and in structure; `revision` is the second."""
    runtime = runtime_of(request)
    if query.began not in (None, query.after):
        raise InvalidCursorError
    # The path names both revisions, so what it says never changes, and to know one number is to have it.
    if is_known(if_none_match, query.after):
        for number in (query.before, query.after):
            await runtime.documents.number(principal_of(request), document_id, number)
        return unchanged(query.after)
    if query.format is None:
        found = await while_there(
            request, runtime.documents.difference(principal_of(request), document_id, query.before, query.after)
        )
        return json_answer(ComparisonView.model_validate({"revision": query.after, **found}), 200, etag(query.after))
    wanted = DiffWanted(query.format, query.context, query.place, query.max_tokens)
    part = await while_there(
        request, runtime.reading.difference(principal_of(request), document_id, query.before, query.after, wanted)
    )
    return await asyncio.to_thread(_differences, query.format, query.after, part)


def _differences(format: DiffFormat, revision: int, part: Items) -> Response:
    match format:
        case "summary":
            return part_answer(DiffSummaryView, revision, part.next, **part.items[0])
        case "nodes":
            return part_answer(DiffNodesView, revision, part.next, items=part.items)
        case "unified":
            lines = [item["line"] for item in part.items]
            return part_answer(DiffLinesView, revision, part.next, text=lines)


async def _answered(
    request: Request,
    document_id: str,
    query: PartQuery,
    if_none_match: str | None,
    read: Callable[[DocumentReading, Principal, str, int, W], Coroutine[Any, Any, P]],
    wanted: W,
    view: type[PartView],
    told: Callable[[P], dict[str, object]],
    revision: int | None = None,
) -> Response:
    """Return what is read of a revision, or only that the caller has it."""
    runtime, caller = runtime_of(request), principal_of(request)
    if revision is None:
        revision = await runtime.documents.number(caller, document_id, query.wanted_revision)
    if is_known(if_none_match, revision):
        return unchanged(revision)
    part = await while_there(request, read(runtime.reading, caller, document_id, revision, wanted))
    return await asyncio.to_thread(part_answer, view, revision, part.next, **told(part))


def _place_of(document_id: str, node_id: str, revision: int) -> str:
    return f"/api/documents/{document_id}/images/{quote(node_id, safe='')}?revision={revision}"


def _items(part: Items) -> dict[str, object]:
    return {"items": part.items}


def _nodes(part: Items) -> dict[str, object]:
    return {"nodes": part.items}


def _node(part: Items) -> dict[str, object]:
    return {"node": part.items[0]}


def _slide(part: Items) -> dict[str, object]:
    (slide,) = part.items
    if slide["kind"] != "slide":
        raise NodeNotFoundError(slide["id"])
    return {"slide": slide}


def _text(part: Told) -> dict[str, object]:
    return {"text": part.text}
