"""Opening: from the bytes of a file that the gate has admitted to a document that can be edited."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias

from officeplane.domain.document import Format
from officeplane.formats.excel.workbook import Workbook
from officeplane.formats.package import Package
from officeplane.formats.powerpoint.presentation import Presentation
from officeplane.formats.word.document import Word

Document: TypeAlias = Word | Workbook | Presentation

_CLASSES: Final[Mapping[Format, Callable[[Package], Document]]] = {
    Format.DOCX: Word,
    Format.XLSX: Workbook,
    Format.PPTX: Presentation,
}


def read_document(format: Format, data: bytes, cuts: Sequence[int] = ()) -> Document:
    """Return the document that a file holds; where the file was cut into pieces, it will be cut again."""
    return _CLASSES[format](Package.read(data, cuts))
