"""Formats of cells: what is named changes, the rest stays, and nothing is kept twice."""

import pytest

from officeplane.domain.document import InvalidEditError
from officeplane.formats.excel.cells.number_codes import number_code
from officeplane.formats.excel.looks import cell_formats
from officeplane.formats.excel.looks.cell_formats import CellFormats
from officeplane.formats.excel.looks.change import Edge, FormatChange
from tests.fixtures.documents import excel
from tests.formats.excel.books import MAIN, assert_sound, opened, part, parts, reopened, written

BOOK = "xl/workbook.xml"
EVERYTHING = FormatChange(
    number_format='0.0 "kg"', bold=True, italic=True, underline=True, strike=True, color="FF0000", font="Arial",
    size=10.5, fill="00FF00", edges=(("top", Edge("thin", "0000FF")), ("left", Edge("double"))), align="right",
    vertical="top", wrap=True, indent=2,
)  # fmt: skip


def test_a_change_is_one_format_more_and_the_same_change_is_that_one_again() -> None:
    book = opened(excel.hard())
    formats = CellFormats(book.package, BOOK)

    first = formats.changed("2", FormatChange(bold=True))
    again = CellFormats(book.package, BOOK).changed("2", FormatChange(bold=True))

    assert first == again == "4"
    added = part(written(book), "xl/styles.xml").find("{*}cellXfs")[4]
    assert dict(added.attrib) == {
        "numFmtId": "4", "fontId": "2", "fillId": "0", "borderId": "0", "xfId": "0", "applyNumberFormat": "1",
        "applyFont": "1",
    }  # fmt: skip


def test_a_change_that_says_what_is_so_already_changes_nothing() -> None:
    book = opened(excel.hard())
    formats = CellFormats(book.package, BOOK)

    assert formats.changed("3", FormatChange(bold=True, italic=False, align=None)) == "3"
    assert formats.changed(None, FormatChange(bold=False, wrap=False, fill="none", indent=0)) is None
    assert formats.changed("1", FormatChange(number_format=number_code("date"))) == "1"
    assert written(book) == excel.hard() or parts(written(book)) == parts(excel.hard())


def test_what_is_taken_back_is_the_format_there_was() -> None:
    book = opened(excel.hard())
    formats = CellFormats(book.package, BOOK)

    bold = formats.changed("1", FormatChange(bold=True))
    plain = formats.changed(bold, FormatChange(bold=False))

    xfs = part(written(book), "xl/styles.xml").find("{*}cellXfs")
    assert [xfs[int(each or 0)].get("fontId") for each in ("1", plain)] == ["0", "0"]


@pytest.mark.parametrize("make", [excel.hard, excel.plain])
def test_everything_at_once_is_what_a_stranger_reads(make: object) -> None:
    data = excel.hard() if make is excel.hard else excel.plain()
    book = opened(data)
    style = CellFormats(book.package, BOOK).changed(None, EVERYTHING)
    (cell,) = [each for each in book.package.tree("xl/worksheets/sheet1.xml").iter("{*}c") if each.get("r") == "A1"]
    cell.set("s", style or "")
    book.package.changed("xl/worksheets/sheet1.xml")

    after = written(book)

    assert_sound(after)
    found = reopened(after).worksheets[0]["A1"]
    assert (found.font.b, found.font.i, found.font.u, found.font.strike) == (True, True, "single", True)
    assert (found.font.name, found.font.sz, found.font.color.rgb) == ("Arial", 10.5, "FFFF0000")
    assert (found.fill.patternType, found.fill.fgColor.rgb) == ("solid", "FF00FF00")
    assert (found.border.top.style, found.border.top.color.rgb, found.border.left.style) == (
        "thin",
        "FF0000FF",
        "double",
    )
    assert found.border.right.style is None
    assert (found.alignment.horizontal, found.alignment.vertical, found.alignment.indent) == ("right", "top", 2)
    assert found.alignment.wrap_text
    assert found.number_format == '0.0 "kg"'


def test_a_new_font_is_no_longer_the_themes() -> None:
    book = opened(excel.hard())
    style = CellFormats(book.package, BOOK).changed("3", FormatChange(font="Georgia"))

    styles = part(written(book), "xl/styles.xml")

    font = styles.find("{*}fonts")[int(styles.find("{*}cellXfs")[int(style or 0)].get("fontId"))]
    assert [(each.tag.rpartition("}")[2], each.get("val")) for each in font] == [
        ("b", None), ("sz", "11"), ("name", "Georgia"),
    ]  # fmt: skip


def test_an_indent_stands_at_a_side() -> None:
    book = opened(excel.hard())
    formats = CellFormats(book.package, BOOK)

    indented = formats.changed(None, FormatChange(indent=3))
    centred = formats.changed(indented, FormatChange(align="center"))

    xfs = part(written(book), "xl/styles.xml").find("{*}cellXfs")
    assert [dict(xfs[int(each or 0)][0].attrib) for each in (indented, centred)] == [
        {"indent": "3", "horizontal": "left"}, {"horizontal": "center"},
    ]  # fmt: skip


def test_a_named_style_gives_what_it_says_and_leaves_the_rest() -> None:
    book = opened(excel.hard())
    root = book.package.tree("xl/styles.xml")
    named, names = root.find("{*}cellStyleXfs"), root.find("{*}cellStyles")
    assert named is not None
    assert names is not None
    made = named.makeelement(named[0].tag, dict(named[0].attrib, fontId="1", applyNumberFormat="0"))
    made.append(made.makeelement(f"{MAIN}alignment", {"horizontal": "center"}))
    named.append(made)
    names.append(names.makeelement(names[0].tag, {"name": "Title 1", "xfId": "1"}))

    style = CellFormats(book.package, BOOK).changed("2", FormatChange(style="title 1"))

    given = part(written(book), "xl/styles.xml").find("{*}cellXfs")[int(style or 0)]
    assert (given.get("numFmtId"), given.get("fontId"), given.get("xfId")) == ("4", "1", "1")
    assert given.find("{*}alignment").get("horizontal") == "center"


def test_a_style_that_is_not_there_is_refused_with_those_that_are() -> None:
    book = opened(excel.hard())

    with pytest.raises(InvalidEditError, match="no cell style 'Good'; the styles are 'Normal'"):
        CellFormats(book.package, BOOK).changed(None, FormatChange(style="Good"))


def test_more_formats_than_excel_takes_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cell_formats, "FORMATS_MAX", 5)
    formats = CellFormats(opened(excel.hard()).package, BOOK)
    formats.changed(None, FormatChange(bold=True, italic=True))

    with pytest.raises(InvalidEditError, match="Excel takes no more"):
        formats.changed(None, FormatChange(bold=True, strike=True))
