"""Documents as Markdown, pages, CSV and JSON."""

import csv
import io
import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

import pytest
from lxml import etree, html

from officeplane.domain.document import Format
from officeplane.domain.errors import NodeNotFoundError, TooLargeToShowError
from officeplane.domain.representation import (
    OF_FORMAT,
    InvalidParameterError,
    Representation,
    RepresentationWanted,
    representation_of,
)
from officeplane.edits.cell_values import DateCell
from officeplane.edits.contract import Edit, Occasion
from officeplane.edits.insert_content import InsertContent
from officeplane.edits.set_cells import FormulaCell, SetCells
from officeplane.edits.set_properties import SetProperties
from officeplane.edits.write_page import WritePage
from officeplane.formats.blank import blank
from officeplane.formats.opening import Document, read_document
from officeplane.formats.representations.representing import represented
from tests.fixtures.documents import excel, powerpoint, word

MADE: Mapping[Format, Mapping[str, Callable[[], bytes]]] = {
    Format.DOCX: word.HARD,
    Format.XLSX: {name: make for name, make in excel.HARD.items() if name != "big"},
    Format.PPTX: powerpoint.HARD,
}
HOSTILE = '<script>alert(1)</script> " onload="x" & <img src=http://example.org/>'


def opened(format: Format, data: bytes, *edits: Edit) -> Document:
    document = read_document(format, data)
    for turn, edit in enumerate(edits):
        edit.apply(document, Occasion(f"task-{turn}", "ann", datetime(2026, 1, 5, tzinfo=UTC)))
    return document


def shown(document: Document, kind: Representation, sheet: str | None = None) -> str:
    return represented(document, document.reader(), RepresentationWanted(kind, sheet))


def workbook(cells: Mapping[str, Any]) -> Document:
    return opened(Format.XLSX, blank(Format.XLSX, None), SetCells(sheet="Sheet1", cells=dict(cells)))


def lines(document: Document, sheet: str | None = None) -> list[list[str]]:
    return [*csv.reader(io.StringIO(shown(document, Representation.CSV, sheet)))]


def everything() -> list[tuple[Format, str, Representation]]:
    return [
        (each, name, kind)
        for each, makers in MADE.items()
        for name in makers
        for kind in OF_FORMAT[each]
        if kind is not Representation.PDF
    ]


@pytest.mark.parametrize(("format", "name", "kind"), everything(), ids=str)
def test_every_hard_document_is_shown_as_all_that_its_format_can_be(
    format: Format, name: str, kind: Representation
) -> None:
    document = opened(format, MADE[format][name]())
    before = document.package.write().content()

    told = shown(document, kind)

    assert document.package.write().content() == before
    assert told == shown(opened(format, MADE[format][name]()), kind)
    if kind is Representation.JSON:
        assert json.loads(told)["format"] == format
    if kind is Representation.HTML:
        whole(told)


def whole(page: str) -> etree._Element:  # pyright: ignore[reportPrivateUsage]
    """Return the tree of a page, in which only what we write is found."""
    root = html.document_fromstring(page)
    allowed = {
        *("html", "head", "meta", "title", "style", "body", "h1", "h2", "h3", "h4", "h5", "h6", "p", "a", "img", "br"),
        *("table", "tr", "td", "th", "ul", "ol", "li", "hr", "pre", "blockquote", "sup", "b", "i", "s", "code"),
    }
    for element in root.iter():
        assert element.tag in allowed
        assert {*element.attrib} <= {"charset", "http-equiv", "content", "href", "rel", "src", "alt", "start"}
        assert element.get("src", "data:image/").startswith("data:image/")
        assert element.get("href", "https:").startswith(("http:", "https:", "mailto:"))
    return root


def test_a_text_is_markdown_with_its_notes_at_the_end() -> None:
    told = shown(opened(Format.DOCX, word.footnotes()), Representation.MARKDOWN)

    assert told == "# Noted\n\nText[^1] goes on\n\nLast[^e1]\n\n[^1]: The small print\n\n[^e1]: The last word\n"


def test_what_text_boxes_say_is_shown_and_headers_are_not() -> None:
    boxes = shown(opened(Format.DOCX, word.text_boxes()), Representation.MARKDOWN)
    headers = shown(opened(Format.DOCX, word.headers_and_footers()), Representation.MARKDOWN)

    assert boxes == "# Boxes\n\naround the box\n\n**in the** box\n\nafter\n"
    assert headers.startswith("# Body\n")
    assert "header" not in headers.lower()


def test_slides_stand_behind_lines_with_their_notes_and_marks_of_what_has_no_text() -> None:
    told = shown(opened(Format.PPTX, powerpoint.illustrated()), Representation.MARKDOWN)
    noted = shown(opened(Format.PPTX, powerpoint.with_notes()), Representation.MARKDOWN)

    chart = "|  | Sales |\n| --- | --- |\n| East | 19.2 |\n| West | 21.4 |"
    assert told.startswith(f"## Chart\n\n{chart}\n\n![image.png](node:slide-256.4)\n\n***\n\n## Picture\n")
    assert "\n> " in noted


def test_a_page_has_the_pictures_of_the_document_in_it() -> None:
    root = whole(shown(opened(Format.DOCX, word.pictures()), Representation.HTML))

    sources = [image.get("src", "") for image in root.iter("img")]
    assert len(sources) == 2
    assert all(source.startswith("data:image/png;base64,") for source in sources)


@pytest.mark.parametrize("format", [Format.DOCX, Format.PPTX])
def test_nothing_that_a_text_says_becomes_a_part_of_the_page(format: Format) -> None:
    content = f'{HOSTILE}\n\n[click](javascript:alert(1)) [there](https://example.org/?a=1&b="2")'
    document = opened(
        format, blank(format, None), WritePage(content=content), SetProperties(title="</title><script>x</script>")
    )

    page = shown(document, Representation.HTML)
    root = whole(page)

    assert "<script" not in page
    assert "<script>alert(1)</script>" in "".join(root.find("body").itertext())  # type: ignore[union-attr]
    assert [link.get("href") for link in root.iter("a")] == ["https://example.org/?a=1&b=%222%22"]


def test_nothing_that_a_cell_says_becomes_a_part_of_the_page() -> None:
    root = whole(shown(workbook({"A1": HOSTILE, "B2": 1}), Representation.HTML))

    assert [cell.text for cell in root.iter("th", "td")] == [HOSTILE, None, None, "1"]


def test_lists_within_lists_are_closed_in_order() -> None:
    content = "- one\n  1. two\n  2. three\n- four\n\n3. five\n\nlast"
    page = shown(opened(Format.DOCX, blank(Format.DOCX, None), WritePage(content=content)), Representation.HTML)

    root = whole(page)

    outer = next(root.iter("ul"))
    assert [item.text.strip() for item in outer.findall("li") if item.text] == ["one", "four"]
    assert [item.text.strip() for item in outer.findall("li/ol/li") if item.text] == ["two", "three"]


def test_csv_has_a_line_for_each_row_and_a_field_for_each_column() -> None:
    book = workbook({"B2": 'He said "yes", twice', "D2": True, "B5": 0.1, "C5": DateCell(date="2026-01-05")})

    assert lines(book) == [
        ["", "", "", ""],
        ["", 'He said "yes", twice', "", "TRUE"],
        ["", "", "", ""],
        ["", "", "", ""],
        ["", "0.1", "2026-01-05", ""],
    ]


def test_a_text_that_would_be_calculated_by_whoever_opens_it_is_written_as_text() -> None:
    book = workbook({"A1": "=cmd|' /C calc'!A0", "B1": "-5", "C1": -5, "D1": "@x", "E1": "+1"})

    assert lines(book) == [["'=cmd|' /C calc'!A0", "'-5", "-5", "'@x", "'+1"]]


def test_a_result_that_may_be_another_by_now_says_so() -> None:
    book = workbook({"A1": 1, "B1": FormulaCell(formula='=INDIRECT("A1")')})

    assert "[stale]" in lines(book)[0][1]
    assert "stale" in shown(book, Representation.MARKDOWN)
    (cell,) = [one for one in json.loads(shown(book, Representation.JSON))["sheets"][0]["cells"] if "formula" in one]
    assert cell["stale"] is True


def test_a_sheet_is_named_by_its_name_or_by_its_id() -> None:
    book = opened(Format.XLSX, excel.hard())

    assert lines(book, "Secret") == lines(book, "sheet-3") == [["hidden North", "7"]]
    assert [one["name"] for one in json.loads(shown(book, Representation.JSON, "Secret"))["sheets"]] == ["Secret"]
    with pytest.raises(NodeNotFoundError, match="Secret"):
        shown(book, Representation.CSV, "Secre")


def test_a_cell_far_away_makes_no_flood() -> None:
    with pytest.raises(TooLargeToShowError):
        shown(workbook({"XFD1048576": 1}), Representation.CSV)

    assert shown(workbook({"XFD1048576": 1}), Representation.MARKDOWN).endswith("| 1 |\n| --- |\n")


def test_a_text_that_stands_in_thousands_of_cells_is_too_much_as_anything() -> None:
    long = "x" * 30_000
    book = workbook({f"A{row}": long for row in range(1, 400)})

    for kind in OF_FORMAT[Format.XLSX][1:]:
        with pytest.raises(TooLargeToShowError):
            shown(book, kind)


def test_pictures_beyond_what_a_page_has_room_for_are_told_by_their_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("officeplane.formats.representations.page.SHOWN_BYTES_MAX", 100)

    root = whole(shown(opened(Format.DOCX, word.pictures()), Representation.HTML))

    assert not [*root.iter("img")]
    assert "[Picture 1]" in "".join(root.itertext())


def test_json_has_every_node_that_reading_knows() -> None:
    document = opened(Format.DOCX, word.nested_tables())

    told = json.loads(shown(document, Representation.JSON))

    def ids(nodes: list[dict[str, Any]]) -> set[str]:
        return {node["id"] for node in nodes} | {one for node in nodes for one in ids(node.get("children", []))}

    assert ids(told["nodes"]) == document.reader().tree.by_id.keys()


def test_insertions_are_shown_in_their_place() -> None:
    document = opened(Format.DOCX, word.chapters())
    first = document.reader().tree.top[0].id
    InsertContent(content="> quoted\n\n    code <b>", after=first).apply(
        document, Occasion("task", "ann", datetime(2026, 1, 5, tzinfo=UTC))
    )

    page = shown(document, Representation.HTML)

    assert "<blockquote><p>quoted</p></blockquote>\n<pre>code &lt;b&gt;</pre>" in page


@pytest.mark.parametrize(
    ("format", "asked", "sheet", "message"),
    [
        (Format.DOCX, "csv", None, "A docx can be shown as pdf, md, html, json, not as 'csv'."),
        (Format.XLSX, "docx", None, "A xlsx can be shown as pdf, md, html, csv, json, not as 'docx'."),
        (Format.DOCX, "json", "Plan", "Only csv and json of an xlsx are of one sheet; this is json of a docx."),
        (Format.XLSX, "md", "Plan", "Only csv and json of an xlsx are of one sheet; this is md of a xlsx."),
    ],
)
def test_what_a_format_cannot_be_shown_as_is_refused(
    format: Format, asked: str, sheet: str | None, message: str
) -> None:
    with pytest.raises(InvalidParameterError, match=message):
        representation_of(format, asked, sheet)
