"""The policy `standard`: links to pictures and workbooks and whole documents in documents are let in, and kept."""

from collections.abc import Callable

import pytest

from officeplane.domain.document import Format, InvalidEditError, Policy, UnsupportedDocumentError
from officeplane.edits.delete_node import DeleteNode
from officeplane.edits.delete_page import DeletePage
from officeplane.edits.delete_slide import DeleteSlide
from officeplane.edits.edit_grid import EditGrid, Rows
from officeplane.edits.edit_node import EditNode
from officeplane.edits.edit_page import EditPage
from officeplane.edits.rename_sheet import RenameSheet
from officeplane.edits.replace_image import ReplaceImage
from officeplane.formats.excel.cell_reading import CellsWanted
from officeplane.formats.excel.workbook import Workbook
from officeplane.formats.gate import TOTAL_BYTES_MAX, admit, check_parts
from officeplane.formats.kept_links import Kept, Link, kept_as, kept_in
from officeplane.formats.opening import read_document
from officeplane.formats.package import Package
from tests.fixtures.documents import excel, powerpoint, word
from tests.fixtures.documents.hostile import hostile
from tests.fixtures.documents.linked import (
    LINKED,
    PICTURE,
    embedding_text,
    linked_book,
    linked_slides,
    linked_text,
)
from tests.fixtures.documents.minimal import OFFICE, linking, relationship, zipped
from tests.formats.edits_tried import edits_for, occasion

FILES = [
    pytest.param(each, holds, make, id=f"{each}-{holds}")
    for each, makers in LINKED.items()
    for holds, make in makers.items()
]
PICTURES = (
    PICTURE, "https://example.org/a.png", "picture.png", "../media/picture.png", "file:///C:/Pictures/a.png",
    r"file:///C:\Pictures\a.png", "C:/Pictures/a.png", "file://localhost/Users/ann/a.jpg", "/Users/ann/a.jpg",
)  # fmt: skip
NOT_PICTURES = (
    r"\\host\share\a.png", "//host/share/a.png", "file://host/share/a.png", r"file:///\\host\share\a.png",
    "file:////host/share/a.png", r"file:\\host\a.png", "%5C%5Chost%5Ca.png", "/%2Fhost/a.png", r"\/host\a.png",
    "smb://host/a.png", "ftp://host/a.png", "javascript:x", "data:image/png,x", "ms-word:ofe|u|http://x",
    "http://user@host/a.png", "ht\ttp://host/a.png", "search-ms:query=x",
)  # fmt: skip
DESTROYING = DeleteNode | DeletePage | DeleteSlide | EditNode | EditPage | ReplaceImage


def refusal(data: bytes, policy: Policy = Policy.STANDARD) -> str | None:
    try:
        admit(data, policy)
    except UnsupportedDocumentError as error:
        return error.reason
    return None


@pytest.mark.parametrize(("format", "holds", "make"), FILES)
def test_what_is_refused_strictly_is_let_in(format: Format, holds: str, make: Callable[[], bytes]) -> None:
    data = make()

    refused = refusal(data, Policy.STRICT)

    assert refused in {"external_reference", "embedded_object"}
    assert admit(data, Policy.STANDARD) == format
    assert kept_in(read_document(format, data).package) == [Kept(holds)]


@pytest.mark.parametrize(("format", "holds", "make"), FILES)
def test_every_edit_keeps_what_was_let_in(format: Format, holds: str, make: Callable[[], bytes]) -> None:
    data = make()
    before = Package.read(data)
    names = [name for name in before.names if "embeddings" in name or "externalLinks" in name]

    refused: list[str] = []
    for edit in edits_for(read_document(format, data)):
        document = read_document(format, data)
        try:
            edit.apply(document, occasion())
        except InvalidEditError as error:
            refused.append(str(error))
            continue
        after = document.package
        written = after.write().content()
        check_parts(after, after.renewed, Policy.STANDARD)

        assert admit(written, Policy.STANDARD) == format
        if not isinstance(edit, DESTROYING):
            assert kept_in(after) == [Kept(holds)], edit
        for name in names:
            if name in after:
                assert after.content(name) == before.content(name), edit
    assert all("object of another program" in said for said in refused)


@pytest.mark.parametrize(("format", "holds", "make"), FILES)
def test_what_was_let_in_can_be_read(format: Format, holds: str, make: Callable[[], bytes]) -> None:
    document = read_document(format, make())
    reader = document.reader()

    assert document.text()
    for detail in reader.tree.by_id.values():
        reader.content(detail)
        reader.form(detail)
    linked = [one for one in reader.tree.by_id.values() if one.kind == "picture" and one.name == "Linked"]
    if holds == Kept.PICTURE:
        assert [reader.picture(one) for one in linked] == [None]


def test_a_page_with_an_embedded_document_is_not_replaced_without_a_word() -> None:
    document = read_document(Format.DOCX, embedding_text())
    page = next(one for one in document.reader().tree.by_id.values() if one.marks.get("embedded object"))

    with pytest.raises(InvalidEditError, match="embedded object"):
        EditPage(page_id=page.id, content="Other").apply(document, occasion())


@pytest.mark.parametrize("place", PICTURES)
def test_pictures_on_the_web_and_on_this_machine_are_let_in(place: str) -> None:
    assert refusal(linked_text(place.replace("&", "&amp;"))) is None
    assert refusal(linked_slides(place)) is None


@pytest.mark.parametrize("place", NOT_PICTURES)
def test_a_picture_for_which_the_reader_would_give_his_name_away_is_not(place: str) -> None:
    assert kept_as("word/_rels/document.xml.rels", Link("rId1", f"{OFFICE}/image", place, "External")) is None
    if "\t" not in place:
        assert refusal(linked_text(place)) == "external_reference"


@pytest.mark.parametrize("format", Format)
def test_of_hostile_files_only_linked_pictures_and_workbooks_are_let_in(format: Format) -> None:
    expected = {
        "image outside", "http://purl.oclc.org/ooxml/officeDocument/relationships/image outside",
        "a picture at http://127.0.0.1:9/x", "a picture at https://127.0.0.1/x", "a picture at file:///etc/passwd",
        "a picture at &#104;ttp://127.0.0.1/x", "a picture at x.bin",
    }  # fmt: skip
    if format is Format.XLSX:
        expected |= {
            "externalLinkPath outside", "xlPathMissing outside",
            "http://schemas.microsoft.com/office/2006/relationships/xlExternalLinkPath/xlPathMissing outside",
        }  # fmt: skip

    assert {file.name for file in hostile(format) if refusal(file.make()) is None} == expected


@pytest.mark.parametrize(
    "use",
    [
        '<w:attachedTemplate xmlns:w="w" xmlns:r="OFFICE" r:id="rId9"/>',
        '<a:videoFile xmlns:r="OFFICE" r:link="rId9"/>',
        '<w:altChunk xmlns:w="w" xmlns:r="OFFICE" r:id="rId9"/>', '<svgBlip xmlns:r="OFFICE" r:link="rId9"/>',
        '<o:OLEObject xmlns:r="OFFICE" r:id="rId9"/>', '<hlinkClick xmlns:r="OFFICE" r:id="rId9"/>',
        "<b xmlns:r='STRICT' r:link = 'rId9'/>",
    ],
)  # fmt: skip
def test_a_linked_picture_is_nothing_but_a_picture(use: str) -> None:
    parts = linking(Format.DOCX, relationship("image", PICTURE, "External"))
    xml = use.replace("OFFICE", OFFICE).replace("STRICT", "http://purl.oclc.org/ooxml/officeDocument/relationships")
    parts["x/part.xml"] = f'<x xmlns:a="a" xmlns:o="o">{xml}</x>'.encode()
    parts["x/_rels/part.xml.rels"] = parts["word/_rels/document.xml.rels"].replace(b'"/word/', b'"/word/')

    assert refusal(zipped(parts)) == "external_reference"


@pytest.mark.parametrize("link", ["ddeLink", "oleLink"])
@pytest.mark.parametrize("policy", Policy)
def test_values_of_another_program_are_refused_under_both_policies(link: str, policy: Policy) -> None:
    xml = (
        f'<externalLink xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><{link} ddeService="cmd" '
        f'ddeTopic="/C calc"/></externalLink>'
    )

    assert refusal(linked_book(external_link=xml), policy) == "external_reference"


@pytest.mark.parametrize("policy", Policy)
def test_templates_outside_and_ole_programs_are_refused_under_both_policies(policy: Policy) -> None:
    template = linking(Format.DOCX, relationship("attachedTemplate", "Normal.dotm", "External"))
    ole = linking(Format.PPTX, relationship("oleObject", "file:///C:/x.xlsx", "External"))

    assert refusal(zipped(template), policy) == "external_reference"
    assert refusal(zipped(ole), policy) == "external_reference"
    assert refusal(embedding_text(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(1000)), policy) == "embedded_object"


def test_a_document_in_a_document_is_looked_at_like_any_other() -> None:
    macros = next(file for file in hostile(Format.XLSX) if file.family == "with macros").make()

    assert refusal(embedding_text(macros)) is not None
    assert refusal(embedding_text(linked_text(r"\\host\a.png"))) == "external_reference"
    assert refusal(embedding_text(b"PK\3\4 nothing")) == "damaged"
    assert refusal(embedding_text(b"<a/>")) == "embedded_object"


def test_a_document_in_a_document_is_what_its_name_says_and_office_opens_it() -> None:
    assert refusal(embedding_text(word.chapters())) == "embedded_object"
    assert refusal(embedding_text(program="htmlfile")) == "embedded_object"
    assert refusal(embedding_text(program="Package")) == "embedded_object"
    assert (
        refusal(embedding_text(powerpoint.plain(), name="word/embeddings/a.pptx", program="PowerPoint.Show.12")) is None
    )


def test_documents_in_documents_in_documents_are_enough() -> None:
    def within(data: bytes) -> bytes:
        return embedding_text(data, name="word/embeddings/inner.docx", program="Word.Document.12")

    assert refusal(within(within(word.chapters()))) is None
    assert refusal(within(within(within(word.chapters())))) == "too_complex"


def test_documents_in_documents_are_unpacked_to_no_more_than_one(monkeypatch: pytest.MonkeyPatch) -> None:
    data = embedding_text()
    sizes = [sum(Package.read(one).sizes(name)[0] for name in Package.read(one).names) for one in (data, excel.plain())]
    assert sum(sizes) < TOTAL_BYTES_MAX

    monkeypatch.setattr("officeplane.formats.gate.TOTAL_BYTES_MAX", sum(sizes) - 1)

    assert refusal(data) == "zip_bomb"


def test_references_to_other_workbooks_stay_when_rows_move_and_sheets_are_renamed() -> None:
    rows = (
        "<row r='9'><c r='A9'><f>[1]Sheet1!A5+Sheet1!A5</f><v>1</v></c><c r='B9'><f>'[1]Sheet1'!$A$5:B9</f><v>1</v></c>"
        "<c r='C9'><f>SUM([1]Sheet1:Sheet2!A5)+[1]!Name</f><v>1</v></c></row>"
    )
    book = read_document(Format.XLSX, excel.small(rows, names=("Sheet1", "Other")))

    for edit in (EditGrid(sheet="Sheet1", insert_rows=Rows(at=2)), RenameSheet(sheet="Sheet1", name="Plan")):
        edit.apply(book, occasion())

    assert isinstance(book, Workbook)
    assert {item["cell"]: item["formula"] for item in book.cells(CellsWanted()).items} == {
        "A10": "=[1]Sheet1!A5+Plan!A6",
        "B10": "='[1]Sheet1'!$A$5:B9",
        "C10": "=SUM([1]Sheet1:Sheet2!A5)+[1]!Name",
    }
