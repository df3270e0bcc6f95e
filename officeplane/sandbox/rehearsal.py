"""A rehearsal: what a child does first is done once before any is born, on documents of our own.

Modules are loaded, models built and expressions compiled by then. Each child would do that anew, which takes longer
than most edits.
"""

import gc
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final

from officeplane.domain.document import Format
from officeplane.edits.add_section import AddSection
from officeplane.edits.add_slide import AddSlide
from officeplane.edits.contract import Edit, Occasion
from officeplane.edits.set_cells import FormulaCell, SetCells
from officeplane.formats.blank import blank
from officeplane.formats.gate import admit
from officeplane.formats.opening import read_document
from officeplane.formats.reading.outlining import OutlineWanted, outline

_EDITS: Final[Mapping[Format, Edit]] = {
    Format.DOCX: AddSection(title="Title", content="A **word**\n\n- and\n\n| a | b |\n| - | - |\n| 1 | 2 |"),
    Format.XLSX: SetCells(sheet="sheet-1", cells={"A1": "text", "B1": 1, "C1": FormulaCell(formula="=B1*2")}),
    Format.PPTX: AddSlide(title="Title", body="- text"),
}


def rehearse() -> None:
    """Make, look at, edit, read and write a document of each format; keep what that has brought from being copied."""
    for kind, edit in _EDITS.items():
        data = blank(kind, None)
        admit(data)
        document = read_document(kind, data)
        edit.apply(document, Occasion("rehearsal", "nobody", datetime(2000, 1, 1, tzinfo=UTC)))
        document.outline()
        document.text()
        outline(document.reader(), OutlineWanted())
        document.package.write()
    # A collector that looks at objects writes to their pages, which a child would have to copy.
    gc.collect()
    gc.freeze()
