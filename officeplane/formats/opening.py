"""Opening: from bytes that anybody may have sent to a document that can be edited."""

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from officeplane.domain.document import Format
from officeplane.formats.excel.workbook import Workbook
from officeplane.formats.gate import admit
from officeplane.formats.package import Package
from officeplane.formats.powerpoint.presentation import Presentation
from officeplane.formats.word.document import Word

Document: TypeAlias = Word | Workbook | Presentation

CLASSES: Final[Mapping[Format, Callable[[Package], Document]]] = {
    Format.DOCX: Word,
    Format.XLSX: Workbook,
    Format.PPTX: Presentation,
}


def open_document(data: bytes) -> Document:
    """Return the document that a file holds; one that the gate does not admit is refused."""
    return CLASSES[admit(data)](Package.read(data))
