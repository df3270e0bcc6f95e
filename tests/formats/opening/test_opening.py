import pytest

from officeplane.domain.document import Format, UnsupportedDocumentError
from officeplane.formats.blank import blank
from officeplane.formats.excel.workbook import Workbook
from officeplane.formats.opening import open_document
from officeplane.formats.powerpoint.presentation import Presentation
from officeplane.formats.word.document import Word
from tests.fixtures.documents.hostile import harmless
from tests.fixtures.documents.minimal import minimal, zipped


@pytest.mark.parametrize(
    ("format", "kind"), [(Format.DOCX, Word), (Format.XLSX, Workbook), (Format.PPTX, Presentation)]
)
def test_a_file_opens_as_what_it_is(format: Format, kind: type) -> None:
    document = open_document(blank(format, "x"))

    assert type(document) is kind
    assert document.format == format


@pytest.mark.parametrize("format", list(Format))
def test_the_smallest_documents_can_be_read(format: Format) -> None:
    for _, data in harmless(format):
        document = open_document(data)

        assert isinstance(document.text(), str)
        assert isinstance(document.outline(), list)


def test_what_the_gate_refuses_is_not_opened() -> None:
    parts = minimal(Format.DOCX)
    parts["word/vbaProject.bin"] = b"x"

    with pytest.raises(UnsupportedDocumentError) as refused:
        open_document(zipped(parts))

    assert refused.value.reason == "macros"
