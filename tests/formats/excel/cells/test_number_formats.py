"""Number formats: which make a number a date, and which date that is."""

import io
from typing import Any

import openpyxl
import pytest
from openpyxl.utils.datetime import CALENDAR_MAC_1904

from officeplane.formats.excel.cell_reading import CellsWanted
from officeplane.formats.excel.workbook import Workbook
from officeplane.formats.package import Package


def value(number: float, form: str, *, is_1904: bool = False) -> object:
    book = openpyxl.Workbook()
    sheet: Any = book.active
    sheet["A1"] = number
    sheet["A1"].number_format = form
    if is_1904:
        book.epoch = CALENDAR_MAC_1904
    file = io.BytesIO()
    book.save(file)
    (item,) = Workbook(Package.read(file.getvalue())).cells(CellsWanted()).items
    return item["value"]


@pytest.mark.parametrize(
    ("number", "form", "read"),
    [
        (46027, "yyyy-mm-dd", {"date": "2026-01-05"}), (46027, "d. mmmm yyyy", {"date": "2026-01-05"}),
        (46027, "mmm-yy", {"date": "2026-01-05"}), (46027.5, "dd/mm/yyyy hh:mm", {"dateTime": "2026-01-05T12:00:00"}),
        (46027.5, "yyyy-mm-dd", {"dateTime": "2026-01-05T12:00:00"}), (0.5, "h:mm", {"time": "12:00:00"}),
        (0.5, "yyyy-mm-dd h:mm", {"time": "12:00:00"}), (1, "yyyy-mm-dd", {"date": "1900-01-01"}),
        (61, "yyyy-mm-dd", {"date": "1900-03-01"}), (46027, "[$-407]d. mmmm yyyy;@", {"date": "2026-01-05"}),
        (46027 + 0.001 / 86_400, "d.m.yy h:mm", {"dateTime": "2026-01-05T00:00:00.001"}),
    ],
)  # fmt: skip
def test_a_number_that_is_shown_as_a_date_or_a_time_is_one(number: float, form: str, read: object) -> None:
    assert value(number, form) == read


@pytest.mark.parametrize(
    ("number", "form"),
    [(5, "0.00"), (5, '0 "days"'), (5, "[Red]0"), (5, "General"), (5, "#,##0_d"), (5, "\\d0"), (5, "@"),
     (60, "yyyy-mm-dd"), (0, "yyyy-mm-dd"), (-1, "yyyy-mm-dd"), (1e9, "yyyy-mm-dd"), (1.5, "h:mm")],
)  # fmt: skip
def test_another_number_stays_a_number(number: float, form: str) -> None:
    assert value(number, form) == number


def test_a_workbook_may_count_from_1904() -> None:
    assert value(0, "yyyy-mm-dd", is_1904=True) == {"date": "1904-01-01"}
