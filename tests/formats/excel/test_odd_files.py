import io
import zipfile
from collections.abc import Callable
from time import process_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree

from officeplane.domain.document import InvalidEditError, UnsupportedDocumentError
from officeplane.formats.blocks import Paragraph, Span
from officeplane.formats.excel.cells.addresses import Area, letters
from officeplane.formats.excel.formulas.formula import Formula
from officeplane.formats.excel.sheets.conditional_formats import ConditionalFormat, Look
from officeplane.formats.excel.sheets.validations import Validation
from officeplane.formats.excel.shifting.shift import Axis, Shift
from officeplane.formats.excel.workbook import Workbook
from officeplane.formats.search import Wanted
from tests.fixtures.documents import excel
from tests.formats.excel.books import differing, opened, parts, value, with_cells, written

ACTIONS: list[Callable[[Workbook], object]] = [
    lambda book: book.set_cells("sheet-1", {"A1": "x", "B2": Formula("A1*2"), "C3": None, "E2": 1, "H20": "=1"}),
    lambda book: book.append_rows("sheet-1", [["x", 1]]),
    lambda book: book.add_sheet("New", 0, [Paragraph((Span("text"),))]),
    lambda book: book.rename_sheet("sheet-1", "Other"),
    lambda book: book.delete_sheet("sheet-1"),
    lambda book: book.copy_sheet("sheet-1", "Other", 0),
    lambda book: book.move_sheet("sheet-1", 3),
    lambda book: book.sheet_editor("sheet-1").unmerge("A1:Z20"),
    lambda book: book.sheet_editor("sheet-1").freeze("B2"),
    lambda book: book.sheet_editor("sheet-1").filter("H1:I9"),
    lambda book: book.sheet_editor("sheet-1").validate(Validation(Area(3, 3, 9, 9), "none")),
    lambda book: book.sheet_editor("sheet-1").format_on_condition(ConditionalFormat(Area(3, 2, 3, 2), "none", Look())),
    lambda book: book.sheet_editor("sheet-2").hide(is_hidden=True),
    lambda book: book.replace_text(Wanted("North"), "West"),
    lambda book: book.edit_grid("sheet-1", Shift(Axis.ROWS, 5, 2, inserts=True)),
    lambda book: book.edit_grid("sheet-1", Shift(Axis.ROWS, 5, 2, inserts=False)),
    lambda book: book.edit_grid("sheet-1", Shift(Axis.COLUMNS, 2, 1, inserts=True)),
    lambda book: book.edit_grid("sheet-1", Shift(Axis.COLUMNS, 2, 1, inserts=False)),
    lambda book: book.fill(Wanted("{{amount}}"), 5),
    lambda book: (book.outline(), book.text(), book.fingerprint("Data!"), book.fingerprint("chart-chart1")),
]
ODD = [
    "",
    "0",
    "-1",
    "x",
    "99999999999",
    "1048577",
    "²",
    "A0",
    "ZZZZ1",
    "A1:",
    ":",
    "A1:XFD1048576",
    "rId99",
    "Data",
    "1e5",
    "{}",
]


def changed(data: bytes, name: str, change: Callable[[bytes], bytes]) -> bytes:
    """Return a file with one part changed."""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        for each, content in parts(data).items():
            archive.writestr(each, change(content) if each == name else content)
    return held.getvalue()


@given(st.data())
@settings(deadline=None, max_examples=200)
def test_an_attribute_that_makes_no_sense_is_lived_with_or_named(data: st.DataObject) -> None:
    hard = excel.hard()
    names = [n for n in parts(hard) if n.startswith("xl/") and n.endswith((".xml", ".rels")) and "media" not in n]
    name = data.draw(st.sampled_from(names))

    def change(content: bytes) -> bytes:
        root = etree.fromstring(content)
        places = [(element, key) for element in root.iter() for key in (*element.attrib, None)]
        element, key = places[data.draw(st.integers(0, len(places) - 1))]
        if key is not None and data.draw(st.booleans()):
            element.set(key, data.draw(st.sampled_from(ODD)))
        elif key is not None:
            del element.attrib[key]
        elif element.text:
            element.text = data.draw(st.sampled_from(ODD))
        elif (parent := element.getparent()) is not None:
            parent.remove(element)
        return etree.tostring(root)

    odd = changed(hard, name, change)
    action = data.draw(st.sampled_from(ACTIONS))

    try:
        book = opened(odd)
        action(book)
    except (InvalidEditError, UnsupportedDocumentError):
        return

    again = opened(odd)
    action(again)
    assert written(book) == written(again)


def test_who_looked_at_a_sheet_before_makes_no_difference() -> None:
    data = excel.small("<row><c><f>Sheet1!A5</f></c><c/></row><row><c><v>1</v></c></row>")
    looked = opened(data)
    looked.text()
    looked.fingerprint("Sheet1!")

    for book in (looked, unseen := opened(data)):
        book.rename_sheet("Sheet1", "Other")

    assert written(looked) == written(unseen)
    assert value(written(looked), "Other", "A2") == 1


def test_a_sheet_without_names_of_cells_stays_as_it_lies_when_it_is_only_read() -> None:
    data = excel.unnamed()
    book = opened(data)
    before = written(book)

    book.outline()
    book.text()

    assert written(book) == before


def test_a_new_part_is_not_called_like_another_in_other_letters() -> None:
    data = excel.small("")
    for name in ("xl/_rels/workbook.xml.rels", "[Content_Types].xml"):
        data = changed(data, name, lambda content: content.replace(b"worksheets/sheet1.xml", b"worksheets/Sheet1.xml"))
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        for each, content in parts(data).items():
            archive.writestr(each.replace("sheet1.xml", "Sheet1.xml"), content)
    book = opened(held.getvalue())

    book.add_sheet("New", None, [])

    assert sorted(name for name in book.package.names if "worksheets" in name) == [
        "xl/worksheets/Sheet1.xml",
        "xl/worksheets/sheet2.xml",
    ]


def test_a_workbook_of_which_only_the_main_part_is_strict_is_no_workbook() -> None:
    data = changed(
        excel.plain(),
        "xl/workbook.xml",
        lambda content: content.replace(
            b"http://schemas.openxmlformats.org/spreadsheetml/2006/", b"http://purl.oclc.org/ooxml/spreadsheetml/"
        ),
    )

    with pytest.raises(UnsupportedDocumentError) as refused:
        opened(data)

    assert refused.value.reason == "damaged"


def test_content_behind_the_value_of_a_cell_stays_behind_it() -> None:
    data = excel.small("<row r='1'><c r='A1'><v>1</v><extLst><ext uri='x'/></extLst></c></row>")

    after = with_cells(data, "Sheet1", {"A1": "text"})

    assert b"</is><extLst>" in parts(after)["xl/worksheets/sheet1.xml"]


def test_rows_and_shared_strings_that_are_empty_do_no_harm() -> None:
    data = excel.small(
        "<row r='3'/><row r='4'><c r='B4' t='s'><v>7</v></c><c r='C4' t='s'/><c r='D4' t='inlineStr'/></row>"
    )
    book = opened(data)

    book.set_cells("Sheet1", {"A3": 1, "C4": "x", "A1": 2})

    assert book.places_of(Wanted("x")) == ["Sheet1!C4"]
    assert book.text() == "Sheet1\n2\n1\n\tx"


def test_the_same_edit_over_and_over_leaves_no_trace_but_itself() -> None:
    book = opened(excel.hard())
    book.set_cells("Last", {"B1": "=1", "B2": Formula("1+1")})
    once = written(book)
    for _ in range(3):
        book.set_cells("Last", {"B1": "=1", "B2": Formula("1+1")})

    assert written(book) == once
    assert differing(excel.hard(), once) >= {"xl/styles.xml", "xl/calcChain.xml"}


def _wide_and_high() -> str:
    wide = "".join(f'<c r="{letters(column)}1"><v>1</v></c>' for column in range(1, 16_385))
    high = "".join(f'<row r="{row}"><c r="B{row}"><v>1</v></c></row>' for row in range(2, 20_001))
    return f'<row r="1">{wide}</row>{high}'


def _without_a_source() -> str:
    return "".join(f'<row r="{row}"><c r="A{row}"><f t="shared" si="0"/></c></row>' for row in range(1, 20_001))


@pytest.mark.parametrize(("make", "last"), [(_wide_and_high, "\t1"), (_without_a_source, "= [stale]")])
def test_a_sheet_is_read_in_time_by_its_cells_however_they_lie(make: Callable[[], str], last: str) -> None:
    book = opened(excel.small(make()))
    begun = process_time()

    assert book.text().splitlines()[-1] == last
    # It takes a fraction of a second; by rows times columns, or by the squares of a group, it was ten and twenty.
    assert process_time() - begun < 5


def test_a_row_is_emptied_in_time_by_its_cells() -> None:
    cells = [f"{letters(column)}1" for column in range(1, 16_385)]
    book = opened(excel.small(f'<row r="1">{"".join(f"""<c r="{cell}"><v>1</v></c>""" for cell in cells)}</row>'))
    begun = process_time()

    book.set_cells("Sheet1", dict.fromkeys(reversed(cells), None))

    assert book.text() == "Sheet1"
    assert process_time() - begun < 5


def test_a_group_of_formulas_reads_as_before_when_its_first_cells_leave_it() -> None:
    rows = "".join(f'<row r="{n}"><c r="A{n}"><f t="shared" si="0"/></c></row>' for n in range(2, 5))
    first = '<row r="1"><c r="A1"><f t="shared" si="0" ref="A1:A4">B1*2</f></c></row>'
    book = opened(excel.small(first + rows))

    book.set_cells("Sheet1", {"A1": 1, "A2": 2})

    assert book.text() == "Sheet1\n1\n2\n=B3*2 [stale]\n=B4*2 [stale]"
    book.set_cells("Sheet1", {"A3": 3})
    assert book.text() == "Sheet1\n1\n2\n3\n=B4*2 [stale]"
