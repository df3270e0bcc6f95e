"""Whatever is edited, what is kept of results is what calculating everything gives."""

from typing import Final

from hypothesis import given, settings
from hypothesis import strategies as st

from officeplane.edits.append_rows import AppendRows
from officeplane.edits.contract import Edit
from officeplane.edits.define_name import DefineName
from officeplane.edits.edit_grid import Columns, EditGrid, Rows
from officeplane.edits.set_cells import SetCells
from tests.formats.excel.books import applied, assert_sound
from tests.formats.excel.recalculation.results import a_book, everything_anew, results

PLACES: Final = [f"{column}{row}" for column in "ABCD" for row in range(1, 7)]
PLACE: Final = st.sampled_from(PLACES)
AREA: Final = st.sampled_from(["A1:B3", "B2:D5", "A1:A6", "C:C", "A2:D2", "B1:B6", "$A$1:C2"])
FORMULA: Final = st.one_of(
    st.builds("={}+{}".format, PLACE, PLACE),
    st.builds("={}*2-T!{}".format, PLACE, PLACE),
    st.builds("=SUM({})".format, AREA),
    st.builds("=COUNT({})+MAX(T!{})".format, AREA, AREA),
    st.builds('=IF({}>3,{},"less")'.format, PLACE, PLACE),
    st.builds('=SUMIF({},">2")&"!"'.format, AREA),
    st.builds("=VLOOKUP({},A1:D6,2,FALSE)".format, PLACE),
    st.builds("=MATCH({},A:A,0)".format, PLACE),
    st.builds("=INDEX(A1:C6,2,3)+{}".format, PLACE),
    st.builds("=ROW({})".format, PLACE),
    st.builds("=SUM(known)+{}".format, PLACE),
)
CONTENT: Final = st.one_of(st.integers(-9, 9), st.sampled_from(["x", "y", 0.5, 2.25, True]), FORMULA)
SHEET: Final = st.dictionaries(PLACE, CONTENT, min_size=4, max_size=16)


@st.composite
def edits(draw: st.DrawFn) -> Edit:
    sheet, at, count = draw(st.sampled_from("ST")), draw(st.integers(1, 6)), draw(st.integers(1, 2))
    column = Columns(at=draw(st.sampled_from("ABCD")))
    match draw(st.integers(0, 7)):
        case 0:
            return EditGrid(sheet=sheet, insert_rows=Rows(at=at, count=count))
        case 1:
            return EditGrid(sheet=sheet, delete_rows=Rows(at=at, count=count))
        case 2:
            return EditGrid(sheet=sheet, insert_columns=column)
        case 3:
            return EditGrid(sheet=sheet, delete_columns=column)
        case 4:
            return AppendRows(sheet=sheet, rows=[[at, count]])
        case 5:
            return DefineName(name="known", refers_to=f"=T!$A${at}:$B$6")
        case _:
            cells = draw(st.dictionaries(PLACE, st.one_of(st.none(), CONTENT), min_size=1, max_size=3))
            given = {place: {"formula": it} if str(it)[:1] == "=" else it for place, it in cells.items()}
            return SetCells.model_validate({"sheet": sheet, "cells": given})


@given(SHEET, SHEET, st.lists(edits(), min_size=1, max_size=4))
@settings(deadline=None, max_examples=100)
def test_after_any_edits_what_is_kept_is_what_calculating_everything_gives(
    first: dict[str, object], second: dict[str, object], changes: list[Edit]
) -> None:
    data = a_book({"S": first, "T": second}, names={"known": "=T!$A$1:$B$2"})

    _, after = applied(data, *changes)

    assert results(after) == results(everything_anew(after))
    assert_sound(after)
