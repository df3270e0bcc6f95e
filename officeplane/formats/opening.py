"""Opening: from the bytes of a file that the gate has admitted to a document that can be edited."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias

from officeplane.domain.document import Format
from officeplane.formats.excel.workbook import Workbook
from officeplane.formats.package import Package
from officeplane.formats.powerpoint.presentation import Presentation
from officeplane.formats.properties import property_of
from officeplane.formats.word.document import Word

PROPERTIES: Final = "properties"
"""The node that stands for what a file says of itself."""

Document: TypeAlias = Word | Workbook | Presentation

_CLASSES: Final[Mapping[Format, Callable[[Package], Document]]] = {
    Format.DOCX: Word,
    Format.XLSX: Workbook,
    Format.PPTX: Presentation,
}


def read_document(format: Format, data: bytes, cuts: Sequence[int] = ()) -> Document:
    """Return the document that a file holds; where the file was cut into pieces, it will be cut again."""
    return _CLASSES[format](Package.read(data, cuts))


def fingerprint(document: Document, target: str) -> str | None:
    """Return what tells whether a node, or a property of the whole, was changed; None when there is no such node."""
    whole, _, name = target.partition(".")
    return property_of(document.package, name) if whole == PROPERTIES else document.fingerprint(target)
