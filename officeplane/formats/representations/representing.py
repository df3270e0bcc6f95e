"""Representing: a whole document as Markdown, HTML, JSON, or a sheet of it as CSV; as much as is shown at all."""

import json

from officeplane.domain.document import UnsupportedDocumentError
from officeplane.domain.representation import Representation, RepresentationWanted
from officeplane.formats.commonmark import written
from officeplane.formats.excel.workbook import Workbook
from officeplane.formats.opening import Document
from officeplane.formats.properties import title_of
from officeplane.formats.reading.reader import Reader
from officeplane.formats.reading.showing import whole
from officeplane.formats.representations.page import page
from officeplane.formats.representations.sheet_values import values
from officeplane.formats.shown import Measure


def represented(document: Document, reader: Reader, wanted: RepresentationWanted) -> str:
    """Return a document as text of this kind; `TooLargeToShowError` if that is more than is shown."""
    match wanted.kind:
        case Representation.MARKDOWN:
            return Measure().passed(written(reader.blocks()) + "\n")
        case Representation.HTML:
            return page(title_of(document.package), reader)
        case Representation.CSV if isinstance(document, Workbook):
            return values(document.rows(wanted.sheet))
        case Representation.JSON:
            told = {"format": document.format, **_structure(document, reader, wanted.sheet)}
            return Measure().passed(json.dumps(told, ensure_ascii=False, separators=(",", ":")))
        case _:
            raise UnsupportedDocumentError("other_format", f"A {document.format} is not shown as {wanted.kind} here.")


def _structure(document: Document, reader: Reader, sheet: str | None) -> dict[str, object]:
    if isinstance(document, Workbook):
        return {"sheets": document.all_cells(sheet)}
    return {"nodes": whole(reader)}
