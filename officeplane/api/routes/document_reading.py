"""`/api/documents/{id}/outline`, `/nodes`, `/find`, `/text`: what is in a document, part by part."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Annotated, Final

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from officeplane.api.callers import needs
from officeplane.api.etags import is_known, unchanged
from officeplane.api.openapi import Responses, headers, refusals
from officeplane.api.parameters import DocumentIdInPath, IfNoneMatch
from officeplane.api.reading_parameters import (
    FindQuery,
    NodeIdInPath,
    NodeQuery,
    OutlineQuery,
    PartQuery,
    TextQuery,
    words_in,
)
from officeplane.api.reading_views import FindView, NodeAnswerView, OutlineView, TextView, part_answer
from officeplane.api.requests import StrictRoute
from officeplane.api.state import runtime_of
from officeplane.api.waits import while_there
from officeplane.domain.principal import Scope
from officeplane.formats.reading.finding import FindWanted
from officeplane.formats.reading.outlining import OutlineWanted
from officeplane.formats.reading.showing import NodeWanted
from officeplane.formats.reading.telling import TextWanted

router = APIRouter(prefix="/api/documents", tags=["documents"], route_class=StrictRoute)

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

    async def made(revision: int) -> Response:
        part = await while_there(request, runtime_of(request).reading.outline(document_id, revision, wanted))
        return await asyncio.to_thread(part_answer, OutlineView, revision, part.next, nodes=part.items)

    return await _unless_known(request, document_id, query, if_none_match, made)


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

    async def made(revision: int) -> Response:
        part = await while_there(request, runtime_of(request).reading.node(document_id, revision, wanted))
        return await asyncio.to_thread(part_answer, NodeAnswerView, revision, part.next, node=part.items[0])

    return await _unless_known(request, document_id, query, if_none_match, made)


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
        query.max_tokens,
    )  # fmt: skip

    async def made(revision: int) -> Response:
        part = await while_there(request, runtime_of(request).reading.find(document_id, revision, wanted))
        return await asyncio.to_thread(part_answer, FindView, revision, part.next, items=part.items)

    return await _unless_known(request, document_id, query, if_none_match, made)


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

    async def made(revision: int) -> Response:
        told = await while_there(request, runtime_of(request).reading.text(document_id, revision, wanted))
        return await asyncio.to_thread(part_answer, TextView, revision, told.next, text=told.text)

    return await _unless_known(request, document_id, query, if_none_match, made)


async def _unless_known(
    request: Request,
    document_id: str,
    query: PartQuery,
    if_none_match: str | None,
    made: Callable[[int], Awaitable[Response]],
) -> Response:
    """Return what is made of a revision, or only that the caller has it."""
    revision = await runtime_of(request).documents.number(document_id, query.wanted_revision)
    return unchanged(revision) if is_known(if_none_match, revision) else await made(revision)
