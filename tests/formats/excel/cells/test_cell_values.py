"""Values of all kinds: what is given to a cell is what reading tells of it, and what others read."""

import datetime as dt
import io
import json
from typing import Any

import openpyxl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openpyxl.utils.datetime import CALENDAR_MAC_1904
from pydantic import ValidationError

from officeplane.domain.document import Format, InvalidEditError
from officeplane.domain.validation import errors_in
from officeplane.edits.append_rows import AppendRows
from officeplane.edits.set_cells import SetCells
from officeplane.formats.blank import blank
from officeplane.formats.excel.cell_reading import CellsWanted
from tests.fixtures.documents import excel
from tests.formats.excel.books import applied, assert_sound, differing, opened, part, reopened, value

DAY = dt.date(2026, 1, 5)


def set_in(data: bytes, cells: dict[str, Any], sheet: str = "sheet-1") -> bytes:
    edit = SetCells.model_validate_json(json.dumps({"sheet": sheet, "cells": cells}))
    return applied(data, edit)[1]


def read(data: bytes, sheet: str = "sheet-1") -> dict[str, Any]:
    wanted = CellsWanted(sheet=sheet, show=("values", "formulas", "formats"))
    return {item["cell"]: item for item in opened(data).cells(wanted).items}


def a_book(*, is_1904: bool = False, **formats: str) -> bytes:
    book = openpyxl.Workbook()
    sheet: Any = book.active
    for cell, form in formats.items():
        sheet[cell] = 1
        sheet[cell].number_format = form
    if is_1904:
        book.epoch = CALENDAR_MAC_1904
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


VALUES: list[Any] = [
    "2026-01-05", "007", "TRUE", "", 5, 1.25, True, False, {"date": "2026-01-05"}, {"time": "09:30:00"},
    {"time": "23:59:59.999"}, {"dateTime": "2026-01-05T09:30:00"}, {"dateTime": "1900-02-28T00:00:01"},
    {"date": "9999-12-31"}, {"error": "#N/A"},
]  # fmt: skip


@pytest.mark.parametrize("held", VALUES)
@pytest.mark.parametrize("is_1904", [False, True])
def test_what_reading_tells_of_a_cell_is_what_it_was_given(held: Any, is_1904: bool) -> None:
    if is_1904 and "1900" in str(held):
        return
    once = set_in(a_book(is_1904=is_1904), {"B2": held})

    told = read(once).get("B2", {"value": ""})["value"]
    again = set_in(once, {"B2": told})

    assert told == held
    assert differing(once, again) == set()
    assert_sound(once)


@given(st.datetimes(dt.datetime(1904, 1, 1), dt.datetime(9999, 12, 31)), st.booleans())  # noqa: DTZ001
@settings(deadline=None, max_examples=40)
def test_any_date_and_time_survives_to_the_millisecond(moment: dt.datetime, is_1904: bool) -> None:
    moment = moment.replace(microsecond=moment.microsecond // 1000 * 1000)
    text = moment.isoformat(timespec="milliseconds")

    after = set_in(a_book(is_1904=is_1904), {"A1": {"dateTime": text}})

    assert read(after)["A1"]["value"] == {"dateTime": text.removesuffix(".000")}


@pytest.mark.parametrize("is_1904", [False, True])
def test_others_read_dates_as_dates(is_1904: bool) -> None:
    after = set_in(
        a_book(is_1904=is_1904),
        {"A1": {"date": "2026-01-05"}, "A2": {"time": "09:30"}, "A3": {"dateTime": "2026-01-05T09:30"}},
    )

    assert value(after, "Sheet", "A1") == dt.datetime(2026, 1, 5)  # noqa: DTZ001
    assert value(after, "Sheet", "A2") == dt.time(9, 30)
    assert value(after, "Sheet", "A3") == dt.datetime(2026, 1, 5, 9, 30)  # noqa: DTZ001


def test_a_cell_that_shows_dates_keeps_its_format_and_another_gets_one() -> None:
    data = a_book(A1="d. mmmm yyyy", A2="0.00", A3="h:mm AM/PM", A4="h:mm", A5="yyyy-mm-dd", A6="[h]:mm")

    after = set_in(
        data,
        {
            "A1": {"date": "2026-01-05"}, "A2": {"date": "2026-01-05"}, "A3": {"time": "09:30"},
            "A4": {"date": "2026-01-05"}, "A5": {"time": "09:30:15"}, "A6": {"time": "09:30"},
            "A7": {"dateTime": "2026-01-05T09:30"},
        },
    )  # fmt: skip

    shown = {cell: item.get("format") for cell, item in read(after).items()}
    assert shown == {
        "A1": "d. mmmm yyyy", "A2": "m/d/yyyy", "A3": "h:mm AM/PM", "A4": "m/d/yyyy", "A5": "h:mm:ss", "A6": "[h]:mm",
        "A7": "m/d/yyyy h:mm",
    }  # fmt: skip


def test_a_day_before_the_first_of_the_workbook_is_refused() -> None:
    for is_1904, day in ((False, "1899-12-31"), (True, "1903-12-31")):
        with pytest.raises(InvalidEditError, match="dates of this workbook begin at 190"):
            set_in(a_book(is_1904=is_1904), {"A1": {"date": day}})


def test_a_value_may_have_a_number_format_which_is_kept_once() -> None:
    data = excel.hard()

    after = set_in(
        data,
        {
            "A1": {"value": 0.25, "format": "0.00%"}, "A2": {"value": {"formula": "=A1*2"}, "format": "0.0 %"},
            "A3": {"value": 3, "format": "0.0 %"}, "A4": {"value": None, "format": "0.0 %"},
            "A5": {"value": {"date": "2026-01-05"}, "format": "yyyy-mm-dd"}, "A6": {"value": "=x", "format": "@"},
        },
        "Last",
    )  # fmt: skip

    items = read(after, "Last")
    assert [items[f"A{row}"]["format"] for row in (1, 2, 3, 5, 6)] == ["0.00%", "0.0 %", "0.0 %", "yyyy-mm-dd", "@"]
    assert items["A5"]["value"] == {"date": "2026-01-05"}
    assert reopened(after)["Last"]["A4"].number_format == "0.0 %"
    assert reopened(after)["Last"]["A6"].quotePrefix
    formats = part(after, "xl/styles.xml").find("{*}numFmts")
    assert [each.get("formatCode") for each in formats] == ["0.0 %", "yyyy-mm-dd"]
    assert formats.get("count") == "2"
    assert_sound(after)


@pytest.mark.parametrize("code", ["0.00", '0 "pieces"', "yyyy\\-mm", "[Red]-0;[>=100]0;_-@_-", "#,##0 [$€-407]"])
def test_a_number_format_that_excel_reads_is_taken(code: str) -> None:
    after = set_in(a_book(), {"A1": {"value": 5, "format": code}})

    assert read(after)["A1"]["format"] == code


@pytest.mark.parametrize("code", ["0 pieces", '0 "open', "[Grey]0", "0;0;0;0;0", "Standard", "x" * 256])
def test_a_number_format_that_excel_does_not_read_is_refused(code: str) -> None:
    with pytest.raises((InvalidEditError, ValidationError), match=r"format|255"):
        set_in(a_book(), {"A1": {"value": 5, "format": code}})


def test_a_workbook_without_formats_gets_a_style_sheet_for_a_date() -> None:
    after = set_in(excel.plain(), {"C1": {"date": "2026-01-05"}})

    assert read(after)["C1"] == {"cell": "C1", "value": {"date": "2026-01-05"}, "format": "m/d/yyyy"}
    assert value(after, "Sheet1", "C1") == dt.datetime(2026, 1, 5)  # noqa: DTZ001
    assert_sound(after)


def test_a_range_takes_rows_or_one_value_for_all() -> None:
    (told,), after = applied(
        blank(Format.XLSX, None),
        SetCells.model_validate_json(
            json.dumps(
                {
                    "sheet": "sheet-1",
                    "cells": {"A1:B2": [["x", 1], [None, {"date": "2026-01-05"}]], "D1:E2": 7, "F1": True},
                }
            )
        ),
    )

    assert told["cells"] == 9
    assert {cell: item["value"] for cell, item in read(after).items()} == {
        "A1": "x", "B1": 1, "B2": {"date": "2026-01-05"}, "D1": 7, "E1": 7, "D2": 7, "E2": 7, "F1": True,
    }  # fmt: skip


def test_a_formula_for_a_range_follows_as_if_it_were_filled_in() -> None:
    after = set_in(
        excel.plain(), {"C1:D2": {"formula": "=A1*$B$1+B$1"}, "E1:E2": {"value": {"formula": "A1"}, "format": "0%"}}
    )

    formulas = {cell: item["formula"] for cell, item in read(after).items() if "formula" in item}
    assert formulas == {
        "C1": "=A1*$B$1+B$1", "D1": "=B1*$B$1+C$1", "C2": "=A2*$B$1+B$1", "D2": "=B2*$B$1+C$1",
        "E1": "=A1", "E2": "=A2",
    }  # fmt: skip
    assert read(set_in(after, {"A1": 1}))["E2"]["format"] == "0%"


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        ({"A1:B2": [[1, 2]]}, "A1:B2 has 2 rows, and 1 are given"),
        ({"A1:B2": [[1, 2], [3]]}, "A1:B2 has 2 columns, and row 2 of what is given has 1"),
        ({"A1": [[1, 2]]}, "A1 has 1 columns"),
        ({"A1:B2": 1, "B2": 2}, "B2 is given twice"),
        ({"A1:B2": 1, "B2:A1": 2}, "named twice"),
        ({"A1:XFD1048576": 1}, "more than the 100000"),
        ({"A1:XFE2": 1}, "there is no cell A1:XFE2"),
        ({"A1:A2": {"formula": "=SUM("}}, "cannot be read"),
        ({"A1:A2": {"formula": "=WEBSERVICE(B1)"}}, "reaches outside the workbook"),
        ({"A10:C11": "x"}, "covered by the merged cells"),
        ({"E2:E3": 1}, "part of the array formula"),
    ],
)
def test_a_range_that_cannot_be_written_is_refused(cells: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidEditError, match=words):
        set_in(excel.hard(), cells)


def test_a_range_of_merged_cells_takes_its_value_with_nothing_for_those_that_are_covered() -> None:
    after = set_in(excel.hard(), {"A10:C10": [["Title", None, None]]})

    assert read(after)["A10"]["value"] == "Title"


@pytest.mark.parametrize(
    ("held", "field", "words"),
    [
        ({"date": "2026-02-30"}, "date", "there is no date 2026-02-30"),
        ({"date": "05.01.2026"}, "date", "pattern"),
        ({"time": "24:00"}, "time", "there is no time 24:00"),
        ({"dateTime": "2026-01-05T09:30Z"}, "dateTime", "pattern"),
        ({"error": "#OOPS"}, "error", "#N/A"),
        ({"value": 5}, "format", "Field required"),
        ({"value": {"value": 5, "format": "0"}, "format": "0"}, "value", "formula, date, time, dateTime or error"),
        ({"datum": "2026-01-05"}, "B2", "formula, date, time, dateTime or error, or value and format"),
        ({"date": "2026-01-05", "time": "09:30"}, "time", "not permitted"),
    ],
)
def test_a_value_of_no_known_form_is_refused_where_it_is_wrong(held: Any, field: str, words: str) -> None:
    payload = json.dumps({"sheet": "Last", "cells": {"B2": held}})

    found = errors_in(SetCells, payload)

    assert any(words in str(one["msg"]) and field in [str(each) for each in one["loc"]] for one in found), found
    assert errors_in(SetCells, json.dumps({"sheet": "Last", "cells": {"B2": held, "B3": "x" * 20_000}}))


def test_appended_rows_take_the_same_values() -> None:
    rows = [[{"date": "2026-01-05"}, {"value": 0.5, "format": "0%"}, {"error": "#N/A"}], [{"formula": "=A2"}]]
    edit = AppendRows.model_validate_json(json.dumps({"sheet": "Sheet1", "rows": rows}))

    _, after = applied(excel.plain(), edit)

    items = read(after)
    assert [items[cell]["value"] for cell in ("A2", "B2", "C2")] == [{"date": "2026-01-05"}, 0.5, {"error": "#N/A"}]
    assert items["B2"]["format"] == "0%"


@pytest.mark.parametrize("edit", [SetCells, AppendRows])
def test_the_examples_can_be_done(edit: type[SetCells | AppendRows]) -> None:
    (example,) = edit.model_json_schema()["examples"]
    data = a_book()

    applied(data, edit.model_validate_json(json.dumps({**example, "sheet": "Sheet"})))


def test_a_range_that_others_changed_meanwhile_is_told_from_one_that_is_the_same() -> None:
    book = opened(excel.hard())
    (target,) = SetCells(sheet="Data", cells={"A2:B3": 1}).targets(book)

    before = book.fingerprint(target)
    book.set_cells("Data", {"F30": 1})
    beside = book.fingerprint(target)
    book.set_cells("Data", {"B3": 99})

    assert before == beside != book.fingerprint(target)
