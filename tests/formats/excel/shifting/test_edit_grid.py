"""`edit_grid` on sheets: what moves with rows and columns, what goes with them, and what is refused."""

# ruff: noqa: E501 - XML lies in lines as long as they are

import io
import re
import zipfile
from time import process_time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree
from pydantic import ValidationError

from officeplane.domain.document import InvalidEditError
from officeplane.edits.contract import Result
from officeplane.edits.edit_grid import Columns, EditGrid, Rows
from officeplane.edits.set_cells import SetCells
from officeplane.formats.excel.cell_reading import CellsWanted
from officeplane.formats.excel.shifting.shift import Axis, Shift
from officeplane.formats.excel.workbook import Workbook
from tests.fixtures.documents import excel
from tests.formats.excel.books import MAIN, applied, assert_sound, differing, formulas, opened, part, parts, value
from tests.formats.excel.shifting.test_shared_formulas import held
from tests.formats.excel.test_files_by_others import changed

SHEET = "xl/worksheets/sheet1.xml"
ROWS = "".join(f'<row r="{n}"><c r="A{n}"><v>{n}</v></c><c r="C{n}"><v>{n}0</v></c></row>' for n in range(1, 11))


def edited(data: bytes, sheet: str = "Sheet1", /, **change: Rows | Columns) -> tuple[Result, bytes]:
    (told,), after = applied(data, EditGrid.model_validate({"sheet": sheet, **change}))
    return told, after


def around(xml: str, **change: Rows | Columns) -> str:
    """Return what stands behind the rows of a sheet after a change, without namespaces."""
    _, after = edited(excel.small(ROWS, around=xml), **change)
    behind = etree.tostring(part(after, SHEET), encoding="unicode").partition("</sheetData>")[2]
    return re.sub(r' xmlns(:\w+)?="[^"]*"', "", behind).removesuffix("</worksheet>")


def warned(told: Result) -> list[tuple[str, str]]:
    return [(warning["code"], warning["detail"]) for warning in told.get("warnings", [])]


def test_the_example_of_its_schema_is_a_payload() -> None:
    (example,) = EditGrid.model_json_schema()["examples"]

    assert EditGrid.model_validate(example).insert_rows == Rows(at=5, count=2)


@pytest.mark.parametrize(
    "payload",
    [
        {},
        {"insertRows": {"at": 1}, "deleteRows": {"at": 1}},
        {"insertRows": {"at": 0}},
        {"insertRows": {"at": "C"}},
        {"insertColumns": {"at": 3}},
        {"deleteColumns": {"at": "c"}},
        {"deleteRows": {"at": 1, "count": 0}},
    ],
)
def test_a_payload_that_names_no_one_change_is_refused(payload: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        EditGrid.model_validate({"sheet": "Data", **payload})


@pytest.mark.parametrize(
    "change",
    [
        {"insertColumns": Columns(at="XFE")},
        {"deleteColumns": Columns(at="XFD", count=2)},
        {"deleteRows": Rows(at=1_048_576, count=2)},
    ],
)
def test_what_is_beyond_the_end_of_a_sheet_is_refused(change: dict[str, Rows | Columns]) -> None:
    with pytest.raises(InvalidEditError, match="end at"):
        edited(excel.small(ROWS), **change)


def test_rows_move_with_what_they_hold_and_every_sheet_follows() -> None:
    data = excel.hard()

    told, after = edited(data, "Data", insertRows=Rows(at=5, count=2))

    assert told == {"id": "sheet-1", "shifted": told["shifted"]}
    assert_sound(after)
    assert value(after, "Data", "A7") == "North"
    assert formulas(after, "xl/worksheets/sheet2.xml")["A1"] == "SUM(Data!B2:B7)+Secret!B1"
    held_by = {name: content.decode("utf-8", "replace") for name, content in parts(after).items()}
    assert "Data!$B$2:$B$7" in held_by["xl/charts/chart1.xml"]
    assert 'textlink="Data!$A$12"' in held_by["xl/drawings/drawing1.xml"]
    assert '<autoFilter ref="A1:C7"/>' in held_by["xl/tables/table1.xml"]
    assert '<definedName name="Amounts">Data!$B$2:$B$7</definedName>' in held_by["xl/workbook.xml"]
    assert "Data!$A$1:$F$22" in held_by["xl/workbook.xml"]
    assert '<mergeCell ref="A12:C13"/>' in held_by[SHEET]
    assert '<conditionalFormatting sqref="B2:B7">' in held_by[SHEET]
    assert '<hyperlink ref="A14"' in held_by[SHEET]
    assert "<xm:f>Data!B2:B7</xm:f>" in held_by[SHEET]
    assert 'fullCalcOnLoad="1"' in held_by["xl/workbook.xml"]
    assert "xl/calcChain.xml" not in held_by
    untouched = {"xl/worksheets/sheet3.xml", "xl/worksheets/sheet5.xml", "xl/sharedStrings.xml", "xl/styles.xml",
                 "xl/comments1.xml", "xl/drawings/vmlDrawing1.vml", "xl/drawings/drawing2.xml"}  # fmt: skip
    assert not untouched & differing(data, after)


def test_columns_move_with_comments_boxes_widths_and_drawings() -> None:
    _, after = edited(excel.hard(), "Data", insertColumns=Columns(at="B"))

    assert_sound(after)
    assert part(after, "xl/comments1.xml").find(f".//{MAIN}comment").get("ref") == "C2"
    assert b"<x:Column>2</x:Column>" in parts(after)["xl/drawings/vmlDrawing1.vml"]
    assert [(col.get("min"), col.get("max")) for col in part(after, SHEET).iter(f"{MAIN}col")] == [
        ("1", "2"), ("8", "8"),
    ]  # fmt: skip
    assert parts(after)["xl/drawings/drawing1.xml"].count(b"<xdr:col>9</xdr:col>") == 3


def test_a_column_in_a_table_gets_a_name_of_its_own_and_a_cell_that_says_it() -> None:
    _, once = edited(excel.hard(), "Data", insertColumns=Columns(at="B"))
    _, twice = edited(once, "Data", insertColumns=Columns(at="C", count=2))

    columns = part(twice, "xl/tables/table1.xml").find(f"{MAIN}tableColumns")
    assert [(each.get("id"), each.get("name")) for each in columns] == [
        ("1", "Region"), ("4", "Column1"), ("5", "Column2"), ("6", "Column3"), ("2", "Amount"), ("3", "Double"),
    ]  # fmt: skip
    assert columns.get("count") == "6"
    assert [value(twice, "Data", f"{letter}1") for letter in "ABCDEF"] == [
        "Region", "Column1", "Column2", "Column3", "Amount", "Double",
    ]  # fmt: skip
    assert_sound(twice)


def test_a_column_of_a_table_goes_with_what_named_it() -> None:
    told, after = edited(excel.hard(), "Data", deleteColumns=Columns(at="B"))

    assert [each.get("name") for each in part(after, "xl/tables/table1.xml").iter(f"{MAIN}tableColumn")] == [
        "Region", "Double",
    ]  # fmt: skip
    assert formulas(after, "xl/worksheets/sheet2.xml")["A2"] == 'SUM(#REF!)+COUNTA(data!A:A)+LEN("Data!A1")'
    assert ("reference_lost", "the name Amounts referred to what was deleted and says #REF! now") in warned(told)
    assert ("lost", "the comment 'Is this {{name}} right?'") in warned(told)
    assert any(code == "reference_kept" and "Q1 'Plan'!A3" in detail for code, detail in warned(told))
    assert_sound(after)


def test_a_stretch_of_a_tables_columns_is_shorter_by_those_that_go() -> None:
    data = changed(excel.hard(), worksheets_sheet2_xml=lambda text: text.replace("Sales[[#All],[Amount]]", "Sales[[#All],[Region]:[Amount]]"))  # fmt: skip

    _, after = edited(data, "Data", deleteColumns=Columns(at="A"))

    assert formulas(after, "xl/worksheets/sheet2.xml")["B3"] == "SUM(Sales[[#All],[Amount]])"


def test_a_table_goes_with_all_its_rows() -> None:
    told, after = edited(excel.hard(), "Data", deleteRows=Rows(at=1, count=5))

    assert "xl/tables/table1.xml" not in parts(after)
    assert part(after, SHEET).find(f"{MAIN}tableParts") is None
    assert ("lost", "the table Sales") in warned(told)
    assert not any("tables/table1" in detail for _, detail in warned(told))
    assert_sound(after)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"insertRows": Rows(at=3)}, "array formula in E2:E4"),
        ({"deleteRows": Rows(at=4)}, "array formula in E2:E4"),
        ({"deleteRows": Rows(at=1)}, "header of the table Sales"),
        ({"deleteRows": Rows(at=2, count=4)}, "needs a row under its header"),
    ],
)
def test_what_cannot_be_cut_is_named(change: dict[str, Rows], said: str) -> None:
    with pytest.raises(InvalidEditError, match=said):
        edited(excel.hard(), "Data", **change)


def test_a_chart_sheet_has_no_rows() -> None:
    with pytest.raises(InvalidEditError, match="has no cells"):
        edited(excel.hard(), "Chart1", insertRows=Rows(at=1))


@pytest.mark.parametrize(
    ("change", "said"),
    [({"insertRows": Rows(at=3)}, None), ({"insertRows": Rows(at=8)}, "data table"),
     ({"deleteRows": Rows(at=2)}, "input"), ({"deleteRows": Rows(at=7, count=3)}, None)],
)  # fmt: skip
def test_a_data_table_moves_as_a_whole_or_not_at_all(change: dict[str, Rows], said: str | None) -> None:
    data = excel.small(
        '<row r="2"><c r="A2"><v>1</v></c></row>'
        '<row r="7"><c r="B7"><f t="dataTable" ref="B7:B9" dt2D="0" dtr="0" r1="A2"/><v>1</v></c></row>'
    )
    if said is not None:
        with pytest.raises(InvalidEditError, match=said):
            edited(data, **change)
        return

    _, after = edited(data, **change)

    if "insertRows" in change:
        (found,) = part(after, SHEET).iter(f"{MAIN}f")
        assert (found.get("ref"), found.get("r1")) == ("B8:B10", "A2")


def test_cells_that_hold_something_are_not_pushed_off_the_sheet() -> None:
    data = excel.small(
        '<row r="1048575"><c r="A1048575"><v>1</v></c></row><row r="1048576"><c r="A1048576" s="0"/></row>'
    )

    with pytest.raises(InvalidEditError, match="A1048575 would be pushed off"):
        edited(data, insertRows=Rows(at=3, count=2))
    _, after = edited(data, insertRows=Rows(at=3))

    assert [row.get("r") for row in part(after, SHEET).iter(f"{MAIN}row")] == ["1048576"]


def test_new_rows_look_like_the_one_above_and_hold_nothing() -> None:
    data = excel.small(
        '<row r="1" ht="30" customHeight="1"><c r="A1" s="0"><v>1</v></c><c r="B1"><v>2</v></c></row><row r="2"/>'
    )

    _, after = edited(data, insertRows=Rows(at=2))

    row = part(after, SHEET).findall(f".//{MAIN}row")[1]
    assert (dict(row.attrib), [(dict(cell.attrib), len(cell)) for cell in row]) == (
        {"r": "2", "ht": "30", "customHeight": "1"}, [({"r": "A2", "s": "0"}, 0)],
    )  # fmt: skip


@pytest.mark.parametrize(
    ("before", "change", "after"),
    [
        ('<mergeCells count="2"><mergeCell ref="A1:B3"/><mergeCell ref="A5:A6"/></mergeCells>',
         {"deleteRows": Rows(at=5)}, '<mergeCells count="1"><mergeCell ref="A1:B3"/></mergeCells>'),
        ('<mergeCells count="1"><mergeCell ref="A5:B6"/></mergeCells>', {"deleteRows": Rows(at=5, count=2)}, ""),
        ('<mergeCells count="1"><mergeCell ref="A5:B6"/></mergeCells>', {"insertRows": Rows(at=6)},
         '<mergeCells count="1"><mergeCell ref="A5:B7"/></mergeCells>'),
        (('<dataValidations count="1"><dataValidation type="list" sqref="A2 A5:A6 B:B"><formula1>$C$5:$C$9</formula1>'
         '</dataValidation></dataValidations>'), {"insertRows": Rows(at=6, count=2)},
         ('<dataValidations count="1"><dataValidation type="list" sqref="A2 A5:A8 B:B"><formula1>$C$5:$C$11</formula1>'
         '</dataValidation></dataValidations>')),
        (('<conditionalFormatting sqref="A2:A9"><cfRule type="expression" priority="1"><formula>A2&gt;A1</formula></cfRule>'
         '</conditionalFormatting>'), {"insertRows": Rows(at=2)},
         ('<conditionalFormatting sqref="A3:A10"><cfRule type="expression" priority="1"><formula>A3&gt;A2</formula></cfRule>'
         '</conditionalFormatting>')),
        (('<conditionalFormatting sqref="A2"><cfRule type="expression" priority="1"><formula>A2&gt;A1</formula></cfRule>'
         '</conditionalFormatting>'), {"insertRows": Rows(at=2)},
         ('<conditionalFormatting sqref="A3"><cfRule type="expression" priority="1"><formula>A3&gt;A1</formula></cfRule>'
         '</conditionalFormatting>')),
        (('<conditionalFormatting sqref="A2:A9"><cfRule type="colorScale" priority="1"><colorScale><cfvo type="num" '
         'val="$C$5"/><cfvo type="max"/></colorScale></cfRule></conditionalFormatting>'), {"insertRows": Rows(at=3)},
         ('<conditionalFormatting sqref="A2:A10"><cfRule type="colorScale" priority="1"><colorScale><cfvo type="num" '
         'val="$C$6"/><cfvo type="max"/></colorScale></cfRule></conditionalFormatting>')),
        ('<hyperlinks><hyperlink ref="A5" location="Sheet1!C9"/><hyperlink ref="A1" location="Sheet1!C5"/></hyperlinks>',
         {"deleteRows": Rows(at=5)}, '<hyperlinks><hyperlink ref="A1" location="Sheet1!#REF!"/></hyperlinks>'),
        ('<rowBreaks count="2" manualBreakCount="1"><brk id="4" max="16383" man="1"/><brk id="7" max="16383"/></rowBreaks>',
         {"insertRows": Rows(at=6)},
         '<rowBreaks count="2" manualBreakCount="1"><brk id="4" max="16383" man="1"/><brk id="8" max="16383"/></rowBreaks>'),
        ('<ignoredErrors><ignoredError sqref="A5" numberStoredAsText="1"/></ignoredErrors>', {"deleteRows": Rows(at=5)}, ""),
        ('<protectedRanges><protectedRange name="x" sqref="A5:A9"/></protectedRanges>', {"deleteRows": Rows(at=5, count=3)},
         '<protectedRanges><protectedRange name="x" sqref="A5:A6"/></protectedRanges>'),
        (('<autoFilter ref="A1:C9"><filterColumn colId="1"/><filterColumn colId="2"/><sortState ref="A2:C9">'
         '<sortCondition ref="C2:C9"/></sortState></autoFilter>'), {"deleteColumns": Columns(at="B")},
         ('<autoFilter ref="A1:B9"><filterColumn colId="1"/><sortState ref="A2:B9"><sortCondition ref="B2:B9"/></sortState>'
         '</autoFilter>')),
        ('<autoFilter ref="A1:C9"/>', {"deleteRows": Rows(at=1)}, ""),
    ],
)  # fmt: skip
def test_what_names_cells_around_the_rows_names_them_afterwards(
    before: str, change: dict[str, Rows | Columns], after: str
) -> None:
    assert around(before, **change) == after


@pytest.mark.parametrize(
    ("change", "pane"),
    [
        ({"insertRows": Rows(at=1)}, '<pane xSplit="1" ySplit="3" topLeftCell="B4" activePane="bottomRight" state="frozen"/>'),
        ({"insertRows": Rows(at=3)}, '<pane xSplit="1" ySplit="2" topLeftCell="B4" activePane="bottomRight" state="frozen"/>'),
        ({"deleteRows": Rows(at=1)}, '<pane xSplit="1" ySplit="1" topLeftCell="B2" activePane="bottomRight" state="frozen"/>'),
        ({"deleteRows": Rows(at=1, count=2)}, '<pane xSplit="1" topLeftCell="B1" activePane="topRight" state="frozen"/>'),
    ],
)  # fmt: skip
def test_what_is_frozen_stays_frozen(change: dict[str, Rows], pane: str) -> None:
    views = (
        '<sheetViews><sheetView workbookViewId="0"><pane xSplit="1" ySplit="2" topLeftCell="B3" activePane="bottomRight"'
        ' state="frozen"/><selection pane="topRight"/><selection pane="bottomRight" activeCell="C5" sqref="C5"/>'
        "</sheetView></sheetViews>"
    )
    data = changed(
        excel.small(ROWS), worksheets_sheet1_xml=lambda text: text.replace("<sheetData>", f"{views}<sheetData>")
    )

    _, after = edited(data, **change)

    assert pane in re.sub(r' xmlns(:\w+)?="[^"]*"', "", parts(after)[SHEET].decode())


def test_rules_and_input_of_the_extensions_follow_too() -> None:
    names = 'xmlns:x14="http://schemas.microsoft.com/office/spreadsheetml/2009/9/main" xmlns:xm="http://schemas.microsoft.com/office/excel/2006/main"'
    given = (
        f'<extLst><ext uri="a" {names}><x14:dataValidations count="2"><x14:dataValidation type="list"><x14:formula1>'
        "<xm:f>Other!$A$1:$A$9</xm:f></x14:formula1><xm:sqref>A5</xm:sqref></x14:dataValidation><x14:dataValidation>"
        "<x14:formula1><xm:f>Sheet1!$C$9</xm:f></x14:formula1><xm:sqref>A9:A10</xm:sqref></x14:dataValidation>"
        "</x14:dataValidations></ext></extLst>"
    )

    after = around(given, deleteRows=Rows(at=5))

    assert 'count="1"' in after
    assert "Other!" not in after
    assert "<xm:f>Sheet1!$C$8</xm:f></x14:formula1><xm:sqref>A8:A9</xm:sqref>" in after


@pytest.mark.parametrize(
    ("change", "rows"),
    [
        ({"insertRows": Rows(at=6)}, ("2", "8")),
        ({"insertRows": Rows(at=8)}, ("2", "7")),
        ({"insertRows": Rows(at=2)}, ("3", "8")),
        ({"deleteRows": Rows(at=5, count=2)}, ("2", "5")),
        ({"deleteRows": Rows(at=2, count=7)}, ("1", "1")),
    ],
)
def test_a_picture_stretches_with_the_rows_below_it(change: dict[str, Rows], rows: tuple[str, str]) -> None:
    data = changed(
        excel.hard(),
        drawings_drawing1_xml=lambda text: text.replace("<xdr:row>0</xdr:row>", "<xdr:row>2</xdr:row>").replace(
            "<xdr:row>10</xdr:row>", "<xdr:row>7</xdr:row>"
        ),
        worksheets_sheet1_xml=lambda text: re.sub(r"<tableParts.*?</tableParts>|<f t=\"array\".*?</f>", "", text),
        worksheets__rels_sheet1_xml_rels=lambda text: re.sub(r'<Relationship [^>]*/table"[^>]*/>', "", text),
    )

    _, after = edited(data, "Data", **change)

    anchor = part(after, "xl/drawings/drawing1.xml")[0]
    assert tuple(each.text for each in anchor.iter("{*}row")) == rows


CHANGES = st.one_of(
    st.tuples(st.just("Rows"), st.builds(Rows, at=st.integers(1, 25), count=st.integers(1, 4))),
    st.tuples(st.just("Columns"), st.builds(Columns, at=st.sampled_from("ABCDEFGHI"), count=st.integers(1, 3))),
)


@given(CHANGES, st.sampled_from(["Data", "Q1 'Plan'", "Secret", "Last"]))
@settings(deadline=None, max_examples=80)
def test_what_is_inserted_and_deleted_again_leaves_everything_where_it_was(
    change: tuple[str, Rows | Columns], sheet: str
) -> None:
    kind, where = change
    book = opened(excel.hard())
    before = {each: held(book, each) for each in ("Data", "Q1 'Plan'", "Secret", "Last")}
    try:
        _, after = edited(excel.hard(), sheet, **{f"insert{kind}": where})
    except InvalidEditError:
        return

    told, again = edited(after, sheet, **{f"delete{kind}": where})

    book = opened(again)
    assert {each: held(book, each) for each in before} == before
    assert {code for code, _ in warned(told)} <= {"reference_kept"}
    names = [name for name in parts(again) if re.search(r"charts/|tables/|comments|drawing", name)]
    assert [_canonical(again, name) for name in names] == [_canonical(excel.hard(), name) for name in names]
    assert _written_out(book) == _written_out(opened(excel.hard()))


def _written_out(book: Workbook) -> set[str]:
    """Return the cells, by what they hold, that hold a value and no formula; but for what an array formula fills."""
    return {
        f"{sheet.text}!{item['cell']} {item['value']}"
        for sheet in book.outline()
        for item in book.cells(CellsWanted(sheet=sheet.text)).items
        if "formula" not in item and "stale" not in item and not (sheet.text == "Data" and item["cell"] in {"E3", "E4"})
    }


def _canonical(data: bytes, name: str) -> str:
    """Return a part without where its drawings begin and end: new rows move what stands on the first of them."""
    text = etree.canonicalize(parts(data)[name].decode())
    return re.sub(r"<xdr:(from|to)>.*?</xdr:\1>", "", text)


def test_results_of_moved_cells_stay_and_those_of_changed_areas_are_calculated_anew() -> None:
    data = excel.small(
        "<row r='1'><c r='A1'><v>1</v></c><c r='B1'><f>A1*2</f><v>2</v></c></row><row r='2'><c r='A2'><v>5</v></c>"
        "<c r='B2'><f>SUM(A1:A2)</f><v>6</v></c><c r='C2'><f>ROW(A2)</f><v>2</v></c></row>"
    )

    _, moved = edited(data, insertRows=Rows(at=1))
    _, less = edited(data, deleteRows=Rows(at=1))

    assert opened(moved).text() == "Sheet1\n1\t2\n5\t6\t=ROW(A3) [stale]"
    assert opened(less).text() == "Sheet1\n5\t5\t=ROW(A1) [stale]"


def test_what_others_changed_on_the_sheet_is_in_its_way_and_nothing_else() -> None:
    book = opened(excel.hard())
    (target,) = EditGrid(sheet="Data", insert_rows=Rows(at=1)).targets(book)
    before = book.fingerprint(target)

    book.set_cells("Last", {"B1": 1})
    assert (target, book.fingerprint(target)) == ("sheet-1", before)
    book.set_cells("Data", {"B2": 1})

    assert book.fingerprint(target) != before
    assert EditGrid(sheet="Nope", insert_rows=Rows(at=1)).targets(book) == ["Nope!"]


def test_cells_are_written_where_they_are_afterwards() -> None:
    edit = EditGrid(sheet="Data", insert_rows=Rows(at=6))

    _, after = applied(excel.hard(), edit, SetCells(sheet="Data", cells={"A6": "new", "B3": 1}))

    assert [value(after, "Data", cell) for cell in ("A5", "A6", "B3")] == ["North", "new", 1]
    assert_sound(after)


def pivot(location: str, source: str) -> bytes:
    """A workbook with a pivot table on its sheet that reads the same sheet."""
    kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    held_by = {
        **parts(excel.small(ROWS)),
        "xl/worksheets/_rels/sheet1.xml.rels": f'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="{kind}/pivotTable" Target="../pivotTables/pivotTable1.xml"/></Relationships>'.encode(),
        "xl/pivotTables/pivotTable1.xml": f'<pivotTableDefinition xmlns="{excel.MAIN}" name="Totals"><location ref="{location}" rowPageCount="1"/></pivotTableDefinition>'.encode(),
        "xl/pivotCache/pivotCacheDefinition1.xml": f'<pivotCacheDefinition xmlns="{excel.MAIN}"><cacheSource type="worksheet"><worksheetSource ref="{source}" sheet="Sheet1"/></cacheSource></pivotCacheDefinition>'.encode(),
    }
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in held_by.items():
            archive.writestr(name, content)
    return file.getvalue()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"insertRows": Rows(at=22)}, "pivot table 'Totals'"),
        ({"insertRows": Rows(at=19)}, "pivot table 'Totals'"),
        ({"deleteRows": Rows(at=18, count=9)}, "pivot table 'Totals'"),
        ({"insertRows": Rows(at=3)}, "Sheet1!A1:C10, which a pivot table reads"),
        ({"deleteColumns": Columns(at="C")}, "Sheet1!A1:C10, which a pivot table reads"),
    ],
)
def test_what_a_pivot_table_shows_or_reads_is_not_cut(change: dict[str, Rows | Columns], said: str) -> None:
    location = "E20:F25" if "deleteColumns" in change else "A20:B25"
    with pytest.raises(InvalidEditError, match=said):
        edited(pivot(location, "A1:C10"), **change)


def test_a_pivot_table_and_what_it_reads_move_as_a_whole() -> None:
    _, after = edited(pivot("A20:B25", "A1:C10"), insertRows=Rows(at=1, count=2))

    assert b'ref="A22:B27"' in parts(after)["xl/pivotTables/pivotTable1.xml"]
    assert b'ref="A3:C12"' in parts(after)["xl/pivotCache/pivotCacheDefinition1.xml"]


def test_columns_that_a_query_brings_are_not_changed_here() -> None:
    data = changed(
        excel.hard(),
        tables_table1_xml=lambda text: text.replace(' name="Sales"', ' name="Sales" tableType="queryTable"', 1),
    )

    with pytest.raises(InvalidEditError, match="gets its columns from elsewhere"):
        edited(data, "Data", insertColumns=Columns(at="B"))
    _, after = edited(data, "Data", insertRows=Rows(at=5))
    assert part(after, "xl/tables/table1.xml").get("ref") == "A1:C6"


def test_a_comment_is_not_pushed_off_the_sheet() -> None:
    data = changed(excel.hard(), comments1_xml=lambda text: text.replace('ref="B2"', 'ref="B1048576"'))

    with pytest.raises(InvalidEditError, match="the comment at B1048576"):
        edited(data, "Data", insertRows=Rows(at=5))


def test_a_threaded_comment_goes_where_its_cell_goes() -> None:
    kind = "http://schemas.microsoft.com/office/2017/10/relationships/threadedComment"
    arrow = f'<Relationship Id="rId9" Type="{kind}" Target="../threadedComments/threadedComment1.xml"/>'
    threads = '<ThreadedComments xmlns="http://schemas.microsoft.com/office/spreadsheetml/2018/threadedcomments"><threadedComment ref="B2" id="{1}"><text>why</text></threadedComment><threadedComment ref="A1" id="{2}"/></ThreadedComments>'
    book = opened(
        changed(
            excel.hard(),
            worksheets__rels_sheet1_xml_rels=lambda text: text.replace("</Relationships>", f"{arrow}</Relationships>"),
        )
    )
    name = "xl/threadedComments/threadedComment1.xml"
    book.package.put(name, threads.encode())

    book.edit_grid("Data", Shift(Axis.COLUMNS, 2, 3, inserts=True))
    assert b'ref="E2"' in book.package.content(name)
    book.edit_grid("Data", Shift(Axis.COLUMNS, 5, 1, inserts=False))

    assert [each.get("ref") for each in book.package.tree(name)] == ["A1"]


def test_the_box_of_a_comment_and_a_control_move_each_as_they_stand() -> None:
    box = "<x:Anchor>2, 15, 1, 10, 4, 15, 5, 4</x:Anchor>"
    control = f'<v:shape id="_x0000_s1026"><x:ClientData ObjectType="Drop">{box}<x:FmlaLink>$B$5</x:FmlaLink></x:ClientData></v:shape></xml>'
    data = changed(
        excel.hard(),
        vmlDrawing1_vml=lambda text: text.replace("<x:Row>1</x:Row>", f"{box}<x:Row>1</x:Row>").replace(
            "</xml>", control
        ),
    )

    _, after = edited(data, "Data", insertRows=Rows(at=5))

    said = parts(after)["xl/drawings/vmlDrawing1.vml"].decode()
    assert f"{box}<x:Row>1</x:Row>" in said
    assert "<x:Anchor>2, 15, 1, 10, 4, 15, 6, 4</x:Anchor><x:FmlaLink>$B$6</x:FmlaLink>" in said


def test_many_merged_cells_go_in_time_by_how_many_they_are() -> None:
    merges = "".join(f'<mergeCell ref="B{row}:B{row + 1}"/>' for row in range(1, 40_001, 2))
    data = excel.small(ROWS, around=f'<mergeCells count="20000">{merges}<mergeCell ref="E1:F1"/></mergeCells>')
    begun = process_time()

    _, after = edited(data, deleteColumns=Columns(at="B"))

    assert b'<mergeCells count="1"><mergeCell ref="D1:E1"/></mergeCells>' in parts(after)[SHEET]
    # It takes a fraction of a second; counted after each of them it was a minute.
    assert process_time() - begun < 5
