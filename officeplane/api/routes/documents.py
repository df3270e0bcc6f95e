"""`/api/documents`: real files in and out, what is in them, and how they came to be what they are."""

from collections.abc import Sequence
from typing import Annotated, Any, Final

from fastapi import APIRouter, Body, Query, Request
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response, StreamingResponse

from officeplane.api import examples
from officeplane.api.answer_headers import DOWNLOADED, HOLDS, OURS_ALONE, PAGE
from officeplane.api.bodies import PreviewBody
from officeplane.api.callers import needs, principal_of
from officeplane.api.cursors import cursor_after, link_to_next
from officeplane.api.document_views import (
    DocumentView,
    MergedView,
    PausedLaneView,
    PreviewView,
    RevisionView,
    document_view,
    listed_view,
    merged_view,
    revision_view,
)
from officeplane.api.etags import etag, etag_of, is_known, revision_in, unchanged
from officeplane.api.openapi import Responses, headers, refusals
from officeplane.api.parameters import (
    Author,
    ContentQuery,
    DocumentIdInPath,
    DocumentsQuery,
    IfMatch,
    IfNoneMatch,
    OnConflict,
    PageQuery,
)
from officeplane.api.problems import RefusedError
from officeplane.api.requests import StrictRoute
from officeplane.api.state import runtime_of
from officeplane.api.task_views import TaskView, one_task
from officeplane.api.views import json_answer, many_views
from officeplane.api.waits import while_there
from officeplane.domain.document import MEDIA_TYPES, Document, Format, PausedLane, file_name
from officeplane.domain.errors import FieldError
from officeplane.domain.ids import DOCUMENT_ID_PATTERN
from officeplane.domain.principal import Scope
from officeplane.domain.representation import MEDIA_TYPES as OF_REPRESENTATIONS
from officeplane.domain.representation import Representation
from officeplane.domain.request import OnBehalf
from officeplane.domain.space import bare
from officeplane.edits.contract import Words
from officeplane.services.files.spool import spooled

router = APIRouter(prefix="/api/documents", tags=["documents"], route_class=StrictRoute)

_BYTES: Final[dict[str, Any]] = {"schema": {"type": "string", "format": "binary"}}
_FILES: Final = dict.fromkeys(MEDIA_TYPES.values(), _BYTES)
_REPRESENTATIONS: Final = dict.fromkeys((kind.partition(";")[0] for kind in OF_REPRESENTATIONS.values()), _BYTES)
_READ: Final[Responses] = {
    200: {"description": "What it is as of `revision`.", "headers": headers("ETag")},
    304: {"description": "As it was read before.", "headers": headers("ETag")},
}


class NewDocument(BaseModel):
    """An empty document to be made."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    id: Annotated[str, Field(pattern=DOCUMENT_ID_PATTERN)] | None = Field(
        default=None, description="Its name from now on; left out, it is given one."
    )
    format: Annotated[Format, Field(strict=False)] = Field(description="What kind of file it is.")
    # It is written into the file, too.
    title: Annotated[Words, Field(max_length=200)] | None = Field(
        default=None, description="The title that the file says it has."
    )


class RevertRequest(OnBehalf):
    """Which revision to return to."""

    to_revision: Annotated[int, Field(ge=1, le=2**53)] = Field(
        description="The revision whose bytes become the newest."
    )


@router.post(
    "",
    operation_id="createDocument",
    summary="Make an empty document",
    status_code=201,
    response_model=DocumentView,
    responses={
        201: {"description": "Made.", "headers": headers("Location", "ETag")},
        **refusals("document_exists", body=True),
    },
)
@needs(Scope.EDIT)
async def create(
    request: Request,
    body: Annotated[NewDocument, Body(openapi_examples=examples.DOCUMENT)],
    author: Author = None,
) -> Response:
    """Make an empty document of a format; its first revision is 1."""
    made = await runtime_of(request).documents.create(principal_of(request), body.id, body.format, body.title, author)
    return _shown(made, 201, {"Location": f"/api/documents/{bare(made.id)}"})


@router.get(
    "",
    operation_id="listDocuments",
    summary="List documents, newest first",
    response_model=list[DocumentView | PausedLaneView],
    responses={200: {"description": "One page.", "headers": headers("Link")}, **refusals("invalid_cursor")},
)
@needs(Scope.READ)
async def list_documents(request: Request, query: Annotated[DocumentsQuery, Query()]) -> Response:
    """Return the newest documents, or what is paused; the next page is in the `Link` header."""
    documents = runtime_of(request).documents
    page: Sequence[Document | PausedLane]
    if query.paused == "true":
        page = await documents.paused(principal_of(request), query.before, query.limit)
    else:
        page = await documents.page(
            principal_of(request), query.before, query.limit, but_paused=query.paused == "false"
        )
    following = {}
    if len(page) == query.limit:
        following = link_to_next(request.url.path, request.query_params, cursor_after(page[-1].seq))
    return many_views([listed_view(found) for found in page], following)


@router.get(
    "/{document_id}",
    operation_id="getDocument",
    summary="Show a document",
    response_model=DocumentView,
    responses={
        200: {"description": "The document.", "headers": headers("ETag")},
        **refusals("document_not_found"),
    },
)
@needs(Scope.READ)
async def show(request: Request, document_id: DocumentIdInPath) -> Response:
    """Return the document as it is now."""
    return _shown(await runtime_of(request).documents.show(principal_of(request), document_id))


@router.put(
    "/{document_id}",
    operation_id="putDocument",
    summary="Upload a file",
    response_model=DocumentView | MergedView,
    responses={
        200: {
            "description": "A new revision; with `merged` where others had made revisions meanwhile.",
            "headers": headers("ETag"),
        },
        201: {"model": DocumentView, "description": "A new document.", "headers": headers("Location", "ETag")},
        202: {"model": TaskView, "description": "Its lane is busy: the task that will put it in place."},
        **refusals(
            "document_not_found", "illegal_state", "stale_revision", "precondition_required", "too_large",
            "unsupported_document", "request_timeout", "merge_conflict", "invalid_edit", "invalid_request",
            "revision_not_found",
        ),
    },
    openapi_extra={"requestBody": {"required": True, "content": {"application/octet-stream": _BYTES, **_FILES}}},
)  # fmt: skip
@needs(Scope.EDIT)
async def put(
    request: Request,
    document_id: DocumentIdInPath,
    if_match: IfMatch = None,
    author: Author = None,
    on_conflict: OnConflict = "reject",
) -> Response:
    """Keep the bytes as they come, as a new document or as the next revision of one, in its lane's turn.

    Over a document that exists it wants `If-Match`, unless the bytes are the head's own, which changes nothing. With
    `onConflict=merge` it may follow an earlier revision: the nodes that the file has changed since are changed in the
    head, all of them or none.
    """
    runtime = runtime_of(request)
    async with spooled(request.stream()) as spool:
        await while_there(request, runtime.documents.admit(spool))
        done = await runtime.documents.put(
            principal_of(request), document_id, spool, revision_in(if_match), author, merges=on_conflict == "merge"
        )
    if done.document is None:
        assert done.task is not None  # noqa: S101 - one of the two is there
        return one_task(done.task, 202, {"Location": f"/api/tasks/{done.task.task.id}"})
    if done.was_made:
        return _shown(done.document, 201, {"Location": f"/api/documents/{document_id}"})
    if done.result is not None:
        return json_answer(merged_view(done.document, done.result), 200, etag(done.document.revision))
    return _shown(done.document)


@router.delete(
    "/{document_id}",
    operation_id="deleteDocument",
    summary="Delete a document",
    status_code=204,
    responses={204: {"description": "Deleted."}, **refusals("document_not_found")},
)
@needs(Scope.EDIT)
async def delete(request: Request, document_id: DocumentIdInPath) -> Response:
    """Delete the document and its history; what waits for it is cancelled, what runs is asked to stop."""
    await runtime_of(request).documents.delete(principal_of(request), document_id)
    return Response(status_code=204)


@router.get(
    "/{document_id}/content",
    operation_id="getContent",
    summary="Download a file",
    response_class=StreamingResponse,
    responses={
        **_READ,
        200: {
            "description": "The file, or what it is shown as.",
            "content": {**_FILES, **_REPRESENTATIONS},
            "headers": headers("ETag", "Content-Disposition", HOLDS),
        },
        **refusals(
            "document_not_found",
            "revision_not_found",
            "node_not_found",
            "unsupported_document",
            "too_large_to_show",
            "converter_missing",
        ),
    },
)
@needs(Scope.READ)
async def content(
    request: Request,
    document_id: DocumentIdInPath,
    query: Annotated[ContentQuery, Query()],
    if_none_match: IfNoneMatch = None,
) -> Response:
    """Return the bytes of a revision, the head if none is named; with `as` what it is shown as, made of them."""
    if query.as_ is not None:
        return await _represented(request, document_id, query, query.as_, if_none_match)
    if query.sheet is not None:
        said = "Only with as=csv or as=json is one sheet shown."
        raise RefusedError("invalid_parameter", said, errors=[FieldError("sheet", said)])
    revision = query.revision
    file = await runtime_of(request).documents.file(principal_of(request), document_id, revision)
    if is_known(if_none_match, file.revision.revision):
        return unchanged(file.revision.revision)
    kept = await while_there(request, runtime_of(request).documents.kept(file))
    return StreamingResponse(
        file.content,
        media_type=MEDIA_TYPES[file.format],
        headers={
            "Content-Length": str(file.revision.size),
            "Content-Disposition": f'attachment; filename="{file_name(document_id, file.format)}"',
            **etag(file.revision.revision),
            **({HOLDS: ", ".join(kept)} if kept else {}),
            "Content-Security-Policy": DOWNLOADED,
            **OURS_ALONE,
        },
    )


@router.get(
    "/{document_id}/revisions",
    operation_id="listRevisions",
    summary="Show a document's history, newest first",
    response_model=list[RevisionView],
    responses={
        200: {"description": "One page.", "headers": headers("Link")},
        **refusals("document_not_found", "invalid_cursor"),
    },
)
@needs(Scope.READ)
async def revisions(request: Request, document_id: DocumentIdInPath, query: Annotated[PageQuery, Query()]) -> Response:
    """Return who changed what, and when; the next page is in the `Link` header."""
    page = await runtime_of(request).documents.history(principal_of(request), document_id, query.before, query.limit)
    following = {}
    if len(page) == query.limit and page[-1].revision > 1:
        following = link_to_next(request.url.path, request.query_params, cursor_after(page[-1].revision))
    return many_views([revision_view(one) for one in page], following)


@router.post(
    "/{document_id}/revert",
    operation_id="revertDocument",
    summary="Return to an earlier revision",
    status_code=201,
    response_model=TaskView,
    responses={
        201: {"description": "The task that will do it.", "headers": headers("Location")},
        **refusals("document_not_found", "revision_not_found", body=True),
    },
)
@needs(Scope.EDIT)
async def revert(
    request: Request,
    document_id: DocumentIdInPath,
    body: Annotated[RevertRequest, Body(openapi_examples=examples.REVERT)],
) -> Response:
    """Have the bytes of an earlier revision become a new one, when the lane's turn comes."""
    details = await runtime_of(request).documents.revert(
        principal_of(request), document_id, body.to_revision, body.asked_for
    )
    return one_task(details, 201, {"Location": f"/api/tasks/{details.task.id}"})


@router.post(
    "/{document_id}/preview",
    operation_id="previewEdit",
    summary="Show what an edit would do",
    response_model=PreviewView,
    responses=refusals(
        "document_not_found", "unknown_task_type", "invalid_payload", "invalid_reference", "invalid_edit",
        "stale_revision", "not_supported_yet", "unsupported_document", "too_large_to_show", body=True,
    ),
)  # fmt: skip
@needs(Scope.READ)
async def preview(request: Request, document_id: DocumentIdInPath, body: PreviewBody) -> Response:
    """Apply an edit to the head and tell the difference; nothing is stored."""
    found = await while_there(request, runtime_of(request).documents.preview(principal_of(request), document_id, body))
    return json_answer(PreviewView.model_validate(found))


async def _represented(
    request: Request, document_id: str, query: ContentQuery, asked: str, if_none_match: str | None
) -> Response:
    representations = runtime_of(request).representations
    found = await representations.find(principal_of(request), document_id, query.revision, asked, query.sheet)
    revision, kind = found.base.revision, found.wanted.kind
    if is_known(if_none_match, revision, kind):
        return unchanged(revision, kind)
    made = await while_there(request, representations.make(found))
    return Response(
        made,
        headers={
            "Content-Type": OF_REPRESENTATIONS[kind],
            "Content-Disposition": f'attachment; filename="{file_name(document_id, kind)}"',
            **etag_of(revision, kind),
            "Content-Security-Policy": PAGE if kind is Representation.HTML else DOWNLOADED,
            **OURS_ALONE,
        },
    )


def _shown(document: Document, status: int = 200, more: dict[str, str] | None = None) -> Response:
    return json_answer(document_view(document), status, {**etag(document.revision), **(more or {})})
