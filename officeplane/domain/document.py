"""Documents: their formats, their outline, and what an edit may refuse."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final


class Format(StrEnum):
    """The kinds of files that can be edited."""

    DOCX = "docx"
    XLSX = "xlsx"
    PPTX = "pptx"


MEDIA_TYPES: Final = {
    Format.DOCX: "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    Format.XLSX: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    Format.PPTX: "application/vnd.openxmlformats-officedocument.presentationml.presentation",
}


@dataclass(frozen=True, slots=True)
class Node:
    """A part of a document that an edit can name; its id survives edits of other parts."""

    id: str
    kind: str
    text: str
    children: list["Node"] = field(default_factory=list["Node"])


class InvalidEditError(Exception):
    """The edit can never work on this document: its target is missing, a count is wrong."""


class UnsupportedDocumentError(Exception):
    """The file is not one that is opened here; `reason` is a stable word for why."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason
