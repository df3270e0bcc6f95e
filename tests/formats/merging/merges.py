"""Merges tried by tests: a file that follows a document, done to what the document has become."""

from collections.abc import Callable, Mapping
from itertools import count
from typing import Final

from officeplane.domain.document import Format
from officeplane.formats.document_merging import merge
from officeplane.formats.document_names import named, names_of_upload
from officeplane.formats.gate import admit
from officeplane.formats.merging.unit import Merged
from officeplane.formats.opening import Document, read_document
from tests.fixtures.documents import excel, powerpoint, word

MAKERS: Final[Mapping[Format, Mapping[str, Callable[[], bytes]]]] = {
    Format.DOCX: word.HARD,
    # The big one has a hundred thousand cells, and one sheet.
    Format.XLSX: {name: make for name, make in excel.HARD.items() if name != "big"},
    Format.PPTX: powerpoint.HARD,
}


def opened(kind: Format, data: bytes) -> Document:
    """Return what a file holds that the gate admits."""
    admit(data)
    return read_document(kind, data)


def written(document: Document) -> bytes:
    """Return a document's file, which the gate admits."""
    data = document.package.write().content()
    admit(data)
    return data


def merged(
    kind: Format, base: bytes, upload: bytes, head: bytes, *, head_is_uploaded: bool = False
) -> tuple[Document, Merged]:
    """Return the head with what an upload has changed of the base, as it is read again, and what that was."""
    was, now = opened(kind, base), _after(kind, base, upload, "upload")
    here = _after(kind, base, head, "head") if head_is_uploaded else opened(kind, head)
    numbers = count(1)
    made = merge(was, now, here, lambda prefix: f"{prefix}-{next(numbers):012x}", "task")
    return opened(kind, written(here)), made


def _after(kind: Format, base: bytes, data: bytes, seed: str) -> Document:
    """Return a file that follows a document, with its nodes called as there."""
    return named(opened(kind, data), names_of_upload(opened(kind, base), opened(kind, data), seed, head_is_named=False))


def conflicts_of(error: object) -> list[str]:
    """Return the nodes that are in conflict."""
    facts: Mapping[str, list[dict[str, str]]] = getattr(error, "facts", {})
    return [one["nodeId"] for one in facts["conflicts"]]
