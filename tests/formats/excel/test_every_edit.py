from collections.abc import Callable
from typing import Any

import pytest

from officeplane.domain.document import Format, InvalidEditError, Node
from officeplane.edits.add_section import AddSection
from officeplane.edits.add_sheet import AddSheet
from officeplane.edits.all_edits import all_edits
from officeplane.edits.append_rows import AppendRows
from officeplane.edits.chart import EditChart
from officeplane.edits.chart_fields import ChartChange, NewChart
from officeplane.edits.comment import Comment, NewComment
from officeplane.edits.contract import Edit
from officeplane.edits.copy_sheet import CopySheet
from officeplane.edits.define_name import DefineName
from officeplane.edits.delete_node import DeleteNode
from officeplane.edits.delete_sheet import DeleteSheet
from officeplane.edits.duplicate_node import DuplicateNode
from officeplane.edits.edit_grid import Columns, EditGrid, Rows
from officeplane.edits.edit_sheet import EditSheet
from officeplane.edits.edit_table import EditTable
from officeplane.edits.fill_template import FillTemplate
from officeplane.edits.format import ApplyFormat
from officeplane.edits.image_fields import ONE_PIXEL
from officeplane.edits.insert_image import InsertImage
from officeplane.edits.move_node import MoveNode
from officeplane.edits.rename_sheet import RenameSheet
from officeplane.edits.replace_image import ReplaceImage
from officeplane.edits.replace_text import ReplaceText
from officeplane.edits.set_cells import FormulaCell, SetCells
from officeplane.edits.set_properties import SetProperties
from officeplane.edits.sheet_rules import ConditionalFormatRule, ValidationRule
from officeplane.formats.blank import blank
from officeplane.formats.search import Wanted
from tests.fixtures.documents import excel
from tests.formats.excel.books import applied, assert_sound, differing, occasion, opened, written

DOCUMENTS: dict[str, Callable[[], bytes]] = {name: make for name, make in excel.HARD.items() if name != "big"} | {
    "few": lambda: excel.big(50),
    "blank": lambda: blank(Format.XLSX, "Blank"),
}
OF_TABLES: tuple[dict[str, Any], ...] = (
    {"cells": {"A2": "Token"}, "style": "TableStyleDark3"},
    {"insertRows": {"at": 6, "count": 2, "texts": [["Token"]]}},
    {"headerRow": False},
)
CONTENT = "# Token\n\nSome **bold** text\n\n- one\n  1. two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"


def other_than(sheet: Node, sheets: list[Node]) -> str:
    return next(other.id for other in sheets if other is not sheet)


def edits_for(sheets: list[Node]) -> list[Edit]:
    """Return every edit that a workbook can have, one that works on each of its sheets of cells."""
    made: list[Edit] = [
        AddSheet(name="Token"),
        AddSheet(name="Token", position=0),
        AddSection(title="Token", content=CONTENT),
        AddSection(title="Token", content=CONTENT, position=1),
        SetProperties(title="Token"),
        DefineName(name="Token", refers_to="=0.19"),
    ]
    for sheet in sheets:
        if all(child.kind != "chart" for child in sheet.children) or sheet.text == "Data":
            made += [
                SetCells(
                    sheet=sheet.text, cells={"D30": "Token", "B9": 1, "XFD40": FormulaCell(formula="=SUM(B1:B9)")}
                ),
                Comment(add=NewComment(node_id=f"{sheet.text}!B4", text="Token\nsecond")),
                Comment(add=NewComment(node_id=f"{sheet.id}!XFD1048576", text="Token")),
                InsertImage(at=f"{sheet.text}!B4", base64=ONE_PIXEL, alt="Token", width=30),
                EditChart(
                    create=NewChart(kind="column", range=f"{sheet.id}!A1:C9", at=f"{sheet.id}!B4", title="Token")
                ),
                EditChart(
                    create=NewChart(
                        kind="line",
                        range=f"{sheet.id}!A1:B9",
                        at=f"{sheet.id}!F2",
                        header_row=False,
                    )
                ),
                AppendRows(sheet=sheet.text, rows=[["Token", 1.5, None, True], [], [FormulaCell(formula="1+1")]]),
                ApplyFormat(range=f"{sheet.id}!A1:D30", bold=True, number_format="date", border="thin", width=70),
                ApplyFormat(range=f"{sheet.id}!B:D", fill="FFFF00", size=9, indent=7),
                ApplyFormat(range=f"{sheet.id}!2:9", color="C00000", height=20, style="Normal"),
                ApplyFormat(node_id=sheet.id, font="Arial", wrap=True),
                EditGrid(sheet=sheet.text, insert_rows=Rows(at=2)),
                EditGrid(sheet=sheet.text, insert_rows=Rows(at=5, count=3)),
                EditGrid(sheet=sheet.text, delete_rows=Rows(at=5, count=4)),
                EditGrid(sheet=sheet.text, insert_columns=Columns(at="B", count=2)),
                EditGrid(sheet=sheet.text, delete_columns=Columns(at="B")),
            ]
        for table in sheet.children:
            if table.kind == "table":
                made += [EditTable.model_validate({"tableId": table.id, **each}) for each in OF_TABLES]
        made += [
            EditChart(update=ChartChange(node_id=chart.id, kind=kind, title="Token"))
            for chart in sheet.children
            for kind in ("bar", "line", "doughnut")
            if chart.kind == "chart"
        ]
        made.append(EditSheet(sheet=sheet.text, tab_color="C00000", hidden=False))
        if all(child.kind != "chart" for child in sheet.children) or sheet.text == "Data":
            made.append(
                EditSheet(
                    sheet=sheet.text, merge=["H30:I31"], freeze="B2", autofilter="K1:L9",
                    validation=ValidationRule(range="D3:D4", kind="list", values=["Token"]),
                    conditional_format=ConditionalFormatRule(range="B3:C4", kind="duplicates", bold=True),
                )
            )  # fmt: skip
        made += [CopySheet(sheet=sheet.text, name="Token 2"), CopySheet(sheet=sheet.text, name="Token 2", position=0)]
        made.append(RenameSheet(sheet=sheet.text, name="Token's name"))
        made.append(DuplicateNode(node_id=sheet.id))
        if len(sheets) > 1:
            made += [DeleteNode(node_id=sheet.id), MoveNode(node_id=sheet.id, before=other_than(sheet, sheets))]
            made.append(DeleteSheet(sheet=sheet.text))
    return made


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_edit_gives_a_sound_file_and_the_same_one_each_time(name: str) -> None:
    data = DOCUMENTS[name]()

    for edit in edits_for(opened(data).outline()):
        (told,), after = applied(data, edit)
        (told_again,), again = applied(data, edit)

        assert_sound(after)
        assert after == again
        assert told == told_again
        assert isinstance(told["id"], str)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_edits_one_after_another_give_the_same_as_edits_with_the_file_read_in_between(name: str) -> None:
    data = DOCUMENTS[name]()
    edits = [edit for edit in edits_for(opened(data).outline()[:1]) if not isinstance(edit, DeleteSheet)]
    chosen = {type(edit): edit for edit in edits if not isinstance(edit, AddSection)}
    read_between = data

    warm = opened(data)
    for edit in chosen.values():
        edit.apply(warm, occasion())
        warm.package.write()
        _, read_between = applied(read_between, edit)

    assert written(warm) == read_between


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_pattern_is_replaced_in_every_workbook(name: str) -> None:
    data = DOCUMENTS[name]()
    places = opened(data).places_of(Wanted(r"^\w", regex=True))
    sheets = [sheet.id for sheet in opened(data).outline()]
    edits = [ReplaceText(find=r"^(\w)(\w*)", replace=r"\2\1", regex=True, expected_count=len(places))]
    edits += [ReplaceText(find=r"\w", replace="Token", regex=True, nth=1, under=sheet) for sheet in sheets]
    edits = [edit for edit in edits if edit.targets(opened(data))]

    for edit in edits:
        (told,), after = applied(data, edit)
        (_,), again = applied(data, edit)

        assert told["replaced"] == (1 if edit.nth else len(places))
        assert_sound(after)
        assert after == again


def test_every_edit_for_workbooks_is_tried_here() -> None:
    tried = {type(edit) for edit in edits_for(opened(excel.hard()).outline())} | {
        ReplaceText,
        ReplaceImage,
        FillTemplate,
    }

    assert tried == {edit for edit in all_edits().values() if Format.XLSX in edit.formats()}


def test_an_edit_of_cells_touches_their_sheet_and_the_note_to_calculate() -> None:
    data = excel.hard()

    _, after = applied(data, SetCells(sheet="Last", cells={"C1": 2}))

    assert differing(data, after) == {"xl/worksheets/sheet5.xml", "xl/workbook.xml"}


def test_properties_touch_nothing_else() -> None:
    data = excel.hard()

    _, after = applied(data, SetProperties(title="Other"))

    assert differing(data, after) == {"docProps/core.xml"}


def test_a_failed_edit_leaves_nothing_behind() -> None:
    data = excel.hard()
    book = opened(data)
    before = written(book)

    with pytest.raises(InvalidEditError):
        SetCells(sheet="Data", cells={"A2": "lost", "B10": 1}).apply(book, occasion())
    book.package.rollback()

    assert written(book) == before
    assert "lost" not in book.text()


def test_the_outline_shows_sheets_their_ranges_tables_and_charts() -> None:
    outline = opened(excel.hard()).outline()

    assert [(node.id, node.text) for node in outline] == [
        ("sheet-1", "Data"), ("sheet-2", "Q1 'Plan'"), ("sheet-3", "Secret"), ("sheet-7", "Chart1"),
        ("sheet-9", "Last"),
    ]  # fmt: skip
    assert [(node.id, node.kind, node.text) for node in outline[0].children] == [
        ("range-1", "range", "A1:F12"), ("table-1", "table", "Sales A1:C5"),
        ("chart-chart1", "chart", "Sales of {{name}}"),
    ]  # fmt: skip


def test_the_text_shows_rows_with_tabs_under_the_name_of_their_sheet() -> None:
    lines = opened(excel.hard()).text().split("\n")

    assert lines[:3] == ["Data", "Region\tAmount\tDouble", "North\t1.5\t4.5\t\t3"]
    assert "Secret" in lines
    assert "8\t=SUM(Sales[[#All],[Amount]]) [stale]" in lines


def test_after_an_edit_the_outline_and_the_text_show_it() -> None:
    book = opened(excel.hard())

    AddSection(title="Token", content=CONTENT, position=1).apply(book, occasion())
    SetCells(sheet="Last", cells={"C7": "Token cell"}).apply(book, occasion())

    assert [node.text for node in book.outline()][:2] == ["Data", "Token"]
    assert book.outline()[-1].children[0].text == "A1:C7"
    assert "Some bold text" in book.text()
    assert "Token cell" in book.text()
