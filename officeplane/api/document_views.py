"""Documents as the API shows them."""

from collections.abc import Mapping
from typing import Any, Literal

from officeplane.api.views import Time, View
from officeplane.domain.document import Document, Format, PausedLane
from officeplane.domain.revision import Revision
from officeplane.domain.space import bare


class DocumentView(View):
    """A document."""

    id: str
    format: Format
    title: str | None
    revision: int
    sha256: str
    size: int
    created_at: Time
    updated_at: Time
    queued: int
    running: int
    paused: bool
    paused_at: Time | None


class MergedNodesView(View):
    """What an upload had changed of the revision that it followed, by the ids of the nodes; `nodes` counts them all."""

    base: int
    changed: tuple[str, ...]
    added: tuple[str, ...]
    removed: tuple[str, ...]
    moved: tuple[str, ...]
    nodes: int


class WarningView(View):
    """Something of an upload that was not merged, or otherwise than one would think."""

    code: str
    detail: str
    node_id: str | None = None


class MergedView(DocumentView):
    """A document that an upload was merged into."""

    merged: MergedNodesView
    warnings: tuple[WarningView, ...]


class PausedLaneView(View):
    """Tasks of a name that no document has, which are held back."""

    id: str
    queued: int
    running: int
    paused: Literal[True]
    paused_at: Time


class RevisionView(View):
    """One state of a document."""

    revision: int
    base: int
    task_id: str | None
    task_type: str | None
    author: str | None
    note: str | None
    sha256: str
    size: int
    created_at: Time


class DifferenceView(View):
    """What changed: lines of text as a unified diff, and nodes by what happened to them."""

    text: tuple[str, ...]
    nodes: dict[str, list[dict[str, Any]]]


class ComparisonView(DifferenceView):
    """What changed up to a revision, the later one of two."""

    revision: int


class PreviewView(View):
    """What an edit would do to a revision, the head.

    `result` is the task's, of a batch its edits' in `results`; without what is only known when it is
    carried out: the revision, and the ids of what is made.
    """

    revision: int
    result: dict[str, Any]
    diff: DifferenceView


def document_view(document: Document) -> DocumentView:
    """Return a document as it is shown."""
    return DocumentView(
        id=bare(document.id),
        format=document.format,
        title=document.title,
        revision=document.revision,
        sha256=document.sha256,
        size=document.size,
        created_at=document.created_at,
        updated_at=document.updated_at,
        queued=document.queued,
        running=document.running,
        paused=document.paused_at is not None,
        paused_at=document.paused_at,
    )


def merged_view(document: Document, result: Mapping[str, Any]) -> MergedView:
    """Return a document as it is shown that an upload was merged into."""
    warnings = tuple(
        WarningView(code=one["code"], detail=one["detail"], node_id=one.get("nodeId"))
        for one in result.get("warnings", ())
    )
    merged = MergedNodesView.model_validate(result["merged"])
    return MergedView(**document_view(document).model_dump(by_alias=False), merged=merged, warnings=warnings)


def listed_view(found: Document | PausedLane) -> DocumentView | PausedLaneView:
    """Return what a list of documents shows of a document, or of a paused lane that is none."""
    if isinstance(found, Document):
        return document_view(found)
    return PausedLaneView(
        id=bare(found.id), queued=found.queued, running=found.running, paused=True, paused_at=found.paused_at
    )


def revision_view(revision: Revision) -> RevisionView:
    """Return a revision as it is shown."""
    return RevisionView(
        revision=revision.revision,
        base=revision.base,
        task_id=revision.task_id,
        task_type=revision.task_type,
        author=revision.author,
        note=revision.note,
        sha256=revision.sha256,
        size=revision.size,
        created_at=revision.created_at,
    )
