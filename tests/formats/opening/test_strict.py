"""Strict Open XML: read as if it were ordinary, and never written."""

from collections.abc import Callable, Mapping

import pytest

from officeplane.domain.document import Format, InvalidEditError, UnsupportedDocumentError
from officeplane.domain.representation import OF_FORMAT, Representation, RepresentationWanted
from officeplane.edits.set_properties import SetProperties
from officeplane.formats.excel.cell_reading import CellsWanted
from officeplane.formats.excel.workbook import Workbook
from officeplane.formats.gate import admit
from officeplane.formats.opening import read_document
from officeplane.formats.package import Package
from officeplane.formats.reading.showing import whole
from officeplane.formats.representations.representing import represented
from officeplane.formats.strict import parse_strict
from officeplane.formats.word.document import Word
from tests.fixtures.documents import excel, powerpoint, word
from tests.fixtures.documents.strict import strict, strictly
from tests.formats.edits_tried import edits_for, occasion

MADE: Mapping[Format, Mapping[str, Callable[[], bytes]]] = {
    Format.DOCX: word.HARD,
    Format.XLSX: {name: make for name, make in excel.HARD.items() if name != "big"},
    Format.PPTX: powerpoint.HARD,
}
ALL = [pytest.param(each, make, id=f"{each}-{name}") for each, makers in MADE.items() for name, make in makers.items()]
W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


@pytest.mark.parametrize(("format", "make"), ALL)
def test_a_strict_document_reads_like_the_ordinary_one(format: Format, make: Callable[[], bytes]) -> None:
    ordinary, data = read_document(format, make()), strict(make())

    document = read_document(format, data)

    assert admit(data) == format
    assert b"purl.oclc.org" in Package.read(data).content("_rels/.rels")
    assert document.text() == ordinary.text()
    assert document.outline() == ordinary.outline()
    assert whole(document.reader()) == whole(ordinary.reader())
    for kind in OF_FORMAT[format]:
        if kind is not Representation.PDF:
            wanted = RepresentationWanted(kind)
            assert represented(document, document.reader(), wanted) == represented(ordinary, ordinary.reader(), wanted)


@pytest.mark.parametrize("format", Format)
def test_every_edit_of_a_strict_document_is_refused_with_what_to_do(format: Format) -> None:
    make = {Format.DOCX: word.chapters, Format.XLSX: excel.plain, Format.PPTX: powerpoint.plain}[format]
    document = read_document(format, strict(make()))
    before = document.package.write().content()

    for edit in [SetProperties(title="Other"), *edits_for(read_document(format, make()))]:
        with pytest.raises(InvalidEditError, match=rf"ordinary \.{format} \(not Strict\)"):
            edit.apply(document, occasion())

    assert document.package.write().content() == before


def test_cells_of_a_strict_workbook_are_typed() -> None:
    rows = (
        "<row r='1'><c r='A1' t='d'><v>2026-01-05T09:30:00</v></c><c r='B1' t='d'><v>2026-01-05</v></c>"
        "<c r='C1'><v>1.5</v></c><c r='D1' t='b'><v>1</v></c></row>"
    )
    book = read_document(Format.XLSX, strict(excel.small(rows)))
    assert isinstance(book, Workbook)

    items = book.cells(CellsWanted()).items

    assert [item["value"] for item in items] == [
        {"dateTime": "2026-01-05T09:30:00"}, {"date": "2026-01-05"}, 1.5, True,
    ]  # fmt: skip


def test_lengths_and_percentages_are_in_the_units_of_ordinary_files() -> None:
    xml = (
        f'<w:p xmlns:w="{W}" xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><w:ind w:left="1in" '
        'w:right="2.54cm" w:hanging="-12pt"/><w:sz w:val="11.5pt"/><w:tblW w:w="100%" w:type="pct"/>'
        '<a:lumMod val="75%"/><w:t>12pt</w:t><w:lvlText w:val="%1."/></w:p>'
    )

    root = parse_strict(strictly(xml.encode()))

    assert [root[0].get(f"{{{W}}}{name}") for name in ("left", "right", "hanging")] == ["1440", "1440", "-240"]
    assert [root[1].get(f"{{{W}}}val"), root[2].get(f"{{{W}}}w"), root[3].get("val")] == ["23", "5000", "75000"]
    assert (root[4].text, root[5].get(f"{{{W}}}val")) == ("12pt", "%1.")


def test_a_text_about_strict_names_stays_as_it_is() -> None:
    xml = f'<w:p xmlns:w="{W}"><w:t>http://purl.oclc.org/ooxml/drawingml/main</w:t></w:p>'

    assert parse_strict(strictly(xml.encode()))[0].text == "http://purl.oclc.org/ooxml/drawingml/main"


def test_a_strict_part_in_utf_16_is_read() -> None:
    package = Package.read(strict(word.chapters()))
    xml = package.content("word/document.xml").decode()
    body = xml.partition("?>")[2] if xml.startswith("<?xml") else xml
    package.put("word/document.xml", ('<?xml version="1.0" encoding="UTF-16"?>' + body).encode("utf-16"))
    data = package.write().content()

    assert admit(data) is Format.DOCX
    document = read_document(Format.DOCX, data)
    assert isinstance(document, Word)
    assert "Alpha says hello." in document.text()


@pytest.mark.parametrize("format", Format)
def test_a_file_that_is_strict_by_half_is_refused(format: Format) -> None:
    make = {Format.DOCX: word.chapters, Format.XLSX: excel.plain, Format.PPTX: powerpoint.plain}[format]
    package = Package.read(make())
    package.put("_rels/.rels", strictly(package.content("_rels/.rels")))

    with pytest.raises(UnsupportedDocumentError) as refused:
        admit(package.write().content())

    assert refused.value.reason == "strict_format"
