"""Documents: their formats, their outline, and what an edit may refuse."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Final

from officeplane.domain.errors import OfficePlaneError
from officeplane.domain.ids import DocumentId


class Format(StrEnum):
    """The kinds of files that can be edited."""

    DOCX = "docx"
    XLSX = "xlsx"
    PPTX = "pptx"


class Policy(StrEnum):
    """What an installation lets in: nothing that leads outside, or also what Office people use every day."""

    STRICT = "strict"
    STANDARD = "standard"


MEDIA_TYPES: Final = {
    Format.DOCX: "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    Format.XLSX: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    Format.PPTX: "application/vnd.openxmlformats-officedocument.presentationml.presentation",
}


def file_name(document_id: str, format: str) -> str:
    """Return what the file of a document is called; an id may be such a name already."""
    ending = f".{format}"
    return document_id if document_id.lower().endswith(ending) else document_id + ending


@dataclass(frozen=True, slots=True)
class Node:
    """A part of a document that an edit can name; its id survives edits of other parts."""

    id: str
    kind: str
    text: str
    children: list["Node"] = field(default_factory=list["Node"])
    marks: dict[str, int] = field(default_factory=dict[str, int])
    """What stands in it without being text, such as pictures, by kind: how many."""

    def as_json(self) -> dict[str, Any]:
        """Return the node with all below it, as JSON has it."""
        return {
            "id": self.id,
            "kind": self.kind,
            "text": self.text,
            "marks": self.marks,
            "children": [child.as_json() for child in self.children],
        }

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> "Node":
        """Return the node that `as_json` wrote."""
        children = [cls.from_json(child) for child in given["children"]]
        return cls(given["id"], given["kind"], given["text"], children, given["marks"])


class InvalidEditError(OfficePlaneError):
    """The edit can never work on this document: its target is missing, a count is wrong."""

    code = "invalid_edit"

    def __init__(self, message: str, facts: Mapping[str, object] | None = None) -> None:
        super().__init__(message)
        self.facts = facts or {}


class UnsupportedDocumentError(OfficePlaneError):
    """The file is not one that is opened here; `reason` is a stable word for why."""

    code = "unsupported_document"

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason
        self.facts = {"reason": reason}


@dataclass(frozen=True, slots=True)
class Document:
    """A document as its readers see it."""

    id: DocumentId
    seq: int
    format: Format
    title: str | None
    revision: int
    sha256: str
    size: int
    created_at: datetime
    updated_at: datetime
    queued: int
    running: int
    paused_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class PausedLane:
    """A paused lane of a name that no document has."""

    id: DocumentId
    seq: int
    queued: int
    running: int
    paused_at: datetime
