import datetime as dt
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from officeplane.domain.document import InvalidEditError
from officeplane.edits.add_section import AddSection
from officeplane.edits.append_rows import AppendRows
from officeplane.edits.cell_values import DateCell
from officeplane.edits.contract import Edit, Result
from officeplane.edits.copy_sheet import CopySheet
from officeplane.edits.define_name import DefineName
from officeplane.edits.delete_sheet import DeleteSheet
from officeplane.edits.edit_grid import Columns, EditGrid, Rows
from officeplane.edits.edit_sheet import EditSheet
from officeplane.edits.edit_table import EditTable
from officeplane.edits.fill_template import FillTemplate
from officeplane.edits.format import ApplyFormat
from officeplane.edits.rename_sheet import RenameSheet
from officeplane.edits.replace_text import ReplaceText
from officeplane.edits.set_cells import FormulaCell, SetCells
from officeplane.edits.sheet_rules import ConditionalFormatRule, ValidationRule
from officeplane.formats.excel.workbook import Workbook
from tests.fixtures.documents import excel
from tests.formats.excel.books import assert_sound, occasion, opened, reopened, written

SHEETS = st.sampled_from(["Data", "Q1 'Plan'", "Secret", "Last", "New one", "O'Hara", "A1"])
TEXTS = st.sampled_from(["North", "=1+1", " spaced ", "{{name}}", "_x0041_", "Grün\n😀", ""])
CELLS = st.tuples(st.sampled_from("ABCDEGZ"), st.integers(1, 14)).map(lambda place: f"{place[0]}{place[1]}")
RANGES = st.tuples(CELLS, CELLS).map(":".join)
FORMULAS = st.sampled_from(["A1*2", "SUM(Data!B2:B5)", "SUM(Sales[Amount])", "'O''Hara'!A1", "IF(A1;1)", "cmd|x!A0"])
DATES = st.dates(dt.date(1800, 1, 1)).map(lambda day: DateCell(date=day.isoformat()))
VALUES = (
    DATES
    | TEXTS
    | st.integers(-9, 9)
    | st.booleans()
    | st.none()
    | FORMULAS.map(lambda text: FormulaCell(formula=text))
)
ROWS = st.builds(Rows, at=st.integers(1, 15), count=st.integers(1, 4))
COLUMNS = st.builds(Columns, at=st.sampled_from("ABCDEFGZ"), count=st.integers(1, 3))
TABLE_CHANGES: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {"tableId": st.just("table-1"), "style": st.just("TableStyleLight2")},
    optional={
        "cells": st.dictionaries(st.sampled_from(["A1", "B2", "C3", "A4"]), TEXTS, min_size=1, max_size=2),
        "insertRows": st.fixed_dictionaries({"at": st.integers(1, 7), "count": st.integers(1, 2)}),
        "deleteRows": st.fixed_dictionaries({"at": st.integers(1, 5)}),
        "insertColumns": st.fixed_dictionaries({"at": st.sampled_from("ABCDE")}),
        "deleteColumns": st.fixed_dictionaries({"at": st.sampled_from("ABCD")}),
        "headerRow": st.booleans(),
    },
)
EDITS: st.SearchStrategy[Edit] = st.one_of(
    st.builds(SetCells, sheet=SHEETS, cells=st.dictionaries(CELLS, VALUES, min_size=1, max_size=4)),
    st.builds(AppendRows, sheet=SHEETS, rows=st.lists(st.lists(VALUES, max_size=3), min_size=1, max_size=3)),
    st.builds(AddSection, title=SHEETS, content=st.just("# a\n\nb **c**"), position=st.none() | st.integers(0, 6)),
    st.builds(
        EditSheet,
        sheet=SHEETS,
        merge=st.none() | st.lists(RANGES, min_size=1, max_size=2),
        unmerge=st.none() | RANGES.map(lambda place: [place]),
        discard=st.booleans(),
        freeze=st.none() | CELLS,
        autofilter=st.none() | RANGES,
        validation=st.none()
        | st.builds(ValidationRule, range=RANGES, kind=st.just("custom"), formula=st.just("=A1>0")),
        conditional_format=st.none() | st.builds(ConditionalFormatRule, range=RANGES, kind=st.just("none")),
        hidden=st.none() | st.booleans(),
    ),
    TABLE_CHANGES.map(EditTable.model_validate),
    st.builds(RenameSheet, sheet=SHEETS, name=SHEETS),
    st.builds(CopySheet, sheet=SHEETS, name=SHEETS, position=st.none() | st.integers(0, 6)),
    st.builds(
        DefineName,
        name=st.sampled_from(["Amounts", "Rate", "Sales", "A1"]),
        refersTo=st.sampled_from([None, "=0.19", "=Data!$A$1", "=Data!A1"]),
        sheet=st.none() | SHEETS,
    ),
    st.builds(DeleteSheet, sheet=SHEETS),
    st.builds(ReplaceText, find=st.sampled_from(["North", "o", "Amount"]), replace=TEXTS, match_case=st.booleans()),
    st.builds(
        ApplyFormat,
        range=st.builds("{}!{}".format, SHEETS, st.sampled_from(["A1:C5", "B:C", "3:9", "E2", "A12:G13", "A:XFD"])),
        bold=st.booleans(),
        fill=st.none() | st.sampled_from(["FFFF00", "none"]),
        border=st.none() | st.sampled_from(["thin", "none"]),
        number_format=st.none() | st.sampled_from(["date", "0.0%"]),
        size=st.none() | st.just(9),
    ),
    st.builds(EditGrid, sheet=SHEETS, insert_rows=ROWS),
    st.builds(EditGrid, sheet=SHEETS, delete_rows=ROWS),
    st.builds(EditGrid, sheet=SHEETS, insert_columns=COLUMNS),
    st.builds(EditGrid, sheet=SHEETS, delete_columns=COLUMNS),
    st.builds(FillTemplate, values=st.fixed_dictionaries({"amount": st.integers(0, 9) | st.just("x")})),
)


@given(st.lists(EDITS, max_size=8))
@settings(deadline=None, max_examples=60)
def test_any_edits_after_another_give_a_sound_file_and_the_same_when_it_is_read_in_between(edits: list[Edit]) -> None:
    data = excel.hard()
    warm = opened(data)

    for edit in edits:
        cold = opened(data)
        told = _told(edit, warm)
        assert told == _told(edit, cold)
        if isinstance(told, str):
            warm.package.rollback()
            continue
        data = written(warm)
        assert written(cold) == data

    assert_sound(data)
    assert [node.text for node in warm.outline()] == reopened(data).sheetnames
    assert warm.text() == opened(data).text()


def _told(edit: Edit, book: Workbook) -> Result | str:
    """Return what an edit tells, or why it is refused."""
    try:
        return edit.apply(book, occasion())
    except InvalidEditError as refused:
        return str(refused)
