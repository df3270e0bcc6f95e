"""The edits that are tried on documents of each format, for tests that know all formats."""

from datetime import UTC, datetime

from officeplane.edits.contract import Edit, Occasion
from officeplane.formats.excel.workbook import Workbook
from officeplane.formats.opening import Document
from officeplane.formats.powerpoint.presentation import Presentation
from officeplane.formats.word.document import Word
from tests.fixtures.documents import slides
from tests.formats.excel.test_every_edit import edits_for as edits_of_excel
from tests.formats.powerpoint.test_every_edit import edits_for as edits_of_powerpoint
from tests.formats.word.test_every_edit import edits_for as edits_of_word


def occasion() -> Occasion:
    """Return an occasion like every other."""
    return Occasion("task-1", "ann", datetime(2026, 1, 5, tzinfo=UTC), slides.taken())


def edits_for(document: Document) -> list[Edit]:
    """Return every edit that a document can have, one that works on each of its parts."""
    match document:
        case Word():
            return edits_of_word(document)
        case Workbook():
            return edits_of_excel(document.outline())
        case Presentation():
            return edits_of_powerpoint(document)
