import pytest

from officeplane.domain.document import Format, UnsupportedDocumentError
from officeplane.formats.blank import blank
from officeplane.formats.excel.workbook import Workbook
from officeplane.formats.gate import admit
from officeplane.formats.opening import Document, read_document
from officeplane.formats.powerpoint.presentation import Presentation
from officeplane.formats.word.document import Word
from tests.fixtures.documents.hostile import harmless
from tests.fixtures.documents.minimal import minimal, zipped


def _admitted(data: bytes) -> Document:
    return read_document(admit(data), data)


@pytest.mark.parametrize(
    ("format", "kind"), [(Format.DOCX, Word), (Format.XLSX, Workbook), (Format.PPTX, Presentation)]
)
def test_a_file_opens_as_what_it_is(format: Format, kind: type) -> None:
    document = _admitted(blank(format, "x"))

    assert type(document) is kind
    assert document.format == format


@pytest.mark.parametrize("format", list(Format))
def test_the_smallest_documents_can_be_read(format: Format) -> None:
    for _, data in harmless(format):
        document = _admitted(data)

        assert isinstance(document.text(), str)
        assert isinstance(document.outline(), list)


def test_what_the_gate_refuses_is_not_opened() -> None:
    parts = minimal(Format.DOCX)
    parts["word/vbaProject.bin"] = b"x"

    with pytest.raises(UnsupportedDocumentError) as refused:
        _admitted(zipped(parts))

    assert refused.value.reason == "macros"
