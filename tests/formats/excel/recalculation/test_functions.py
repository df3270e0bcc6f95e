"""What formulas come to: the same as in LibreOffice, of which the results are kept beside, or not told."""

import json
import re
from typing import Final
from xml.sax.saxutils import escape

import pytest

from officeplane.edits.set_cells import SetCells
from officeplane.formats.excel.recalculation.functions import FUNCTIONS
from officeplane.formats.package import Package
from tests.formats.excel.books import applied
from tests.formats.excel.recalculation.cases import FORMULAS, TOLD, Told, values, workbook
from tests.formats.excel.recalculation.results import not_calculated

KEPT: Final[dict[str, Told]] = json.loads(TOLD.read_text(encoding="utf-8"))
NOT_TOLD: Final = frozenset({
    "D1+1", "SUM(D1:D8)", "SUM(1:1)", "SUM(E1:E2)", "SUMPRODUCT(A1:B3,C1:D3)", "SUMPRODUCT(A1:A3,D3:D5)", "SQRT(-1)",
    'COUNTIF(B1:B8,"nor*")', 'SUMIF(C1:C8,">30",D1:D8)', "INDEX(A1:A8,9)", "INDEX(A1:C8,2,4)",
    'VLOOKUP("apple",H1:I4,3,FALSE)', "HLOOKUP(11,J1:L2,3,FALSE)", 'VLOOKUP("b*",H1:I4,2,FALSE)',
})  # fmt: skip
"""Programs differ about them, or may."""
SHEET: Final = "xl/worksheets/sheet1.xml"
NUMBER: Final = re.compile(rb'<c r="D1"[^>]*><v>1</v></c>')
DIGITS: Final = 4e-15
"""Numbers are the same if they are to fifteen digits, as they are shown and compared."""


def told_here(data: bytes) -> dict[str, Told]:
    _, after = applied(data, SetCells(sheet="Out", cells={"Z1": 1}))
    return dict(zip(FORMULAS, values(after, "Out"), strict=True))


def is_same(one: Told, other: Told) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return abs(one - other) <= DIGITS * abs(other)
    return one == other and isinstance(one, bool) == isinstance(other, bool)


def test_what_is_told_of_a_formula_is_what_libreoffice_told() -> None:
    told = told_here(workbook())

    assert list(told) == list(KEPT)
    assert {formula for formula in told if told[formula] is None} == NOT_TOLD
    assert [
        (formula, told[formula], KEPT[formula])
        for formula in told
        if formula not in NOT_TOLD and not is_same(told[formula], KEPT[formula])
    ] == []


def test_every_function_is_compared() -> None:
    compared = {name for formula in FORMULAS if formula not in NOT_TOLD for name in re.findall(r"([A-Z]+)\(", formula)}

    assert FUNCTIONS.keys() <= compared


@pytest.mark.parametrize(
    ("cells", "formula"),
    [
        ({"A1": "5"}, "A1+1"), ({"A1": "5"}, "COUNTIF(A1:A3,5)"), ({"A1": True}, "SUM(A1:A2)"), ({"A1": True}, "A1>1"),
        ({"A1": True}, "COUNT(A1:A2)"), ({"A1": True}, 'A1&"x"'), ({"A1": 0.5}, 'A1&"x"'), ({"A1": "b"}, 'A1>"a"'),
        ({"A1": "Straße", "A2": "STRASSE"}, "A1=A2"), ({"A1": "ß"}, "UPPER(A1)"), ({"A1": "\U0001f388"}, "LEN(A1)"),
        ({"A1": 0.1, "A2": 0.2}, "A1+A2-0.3"), ({"A1": 0.1, "A2": 0.2}, "A1+A2=0.3"), ({"A1": 1.005}, "INT(A1*1000)"),
        ({"A1": 1e17, "A2": 1, "A3": -1e17}, "SUM(A1:A3)"), ({"A1": 5.5}, "MOD(A1,2)"), ({"A1": 0}, "A1^0"),
        ({"A1": -8}, "A1^(1/3)"), ({"A1": 1e308}, "A1*10"), ({"A1": 1}, "A1:A2*2"), ({"A1": 1}, "SUM({1,2})"),
        ({"A1": 1}, "MATCH(1,A1:A3,1)"), ({"A1": 1}, "VLOOKUP(1,A1:B3,2)"), ({"A1": 1}, "VLOOKUP(1,A1:B3,2,TRUE)"),
        ({"A1": 1}, "INDEX(A1:B3,0,1)"), ({"A1": 1}, "DATE(A1,1,1)"), ({"A1": 59}, "DAY(A1)"), ({"A1": 1}, "IF(A1,B9)"),
        ({"A1": "x"}, "IF(A1,1,2)"), ({"A1": 1}, "SUM(A1:A3 A2:A4)"), ({"A1": 1}, "SUM((A1,A2))"),
        ({"A1": 1}, 'TEXT(A1,"0")'), ({"A1": 1}, "XLOOKUP(1,A1:A2,B1:B2)"), ({"A1": 1}, "LARGE(A1:A3,9)"),
        ({"A1": 1}, "ROUND(0.49999999999999994,0)"), ({"A1": 1}, "A1/3&A1"), ({"A1": 1}, "A1:B1"),
        ({"A1": 1}, 'SUMIF(A1:A3,">0",B1:B2)'), ({"A1": 1}, 'COUNTIF(A1:A3,"")'), ({"A1": 1}, 'COUNTIF(A1:A3,"1/2")'),
        ({"A1": 1}, "SUBTOTAL(9,A1:A3)"), ({"A1": 1}, "LET(x,A1,x+1)"), ({"A1": 1}, "A1#"), ({"A1": 1}, "@A1:A3"),
    ],
)  # fmt: skip
def test_what_programs_may_differ_about_is_not_told(cells: dict[str, Told], formula: str) -> None:
    data = with_formula(not_calculated({"S": {**cells, "D1": 1}}), formula)

    _, after = applied(data, SetCells.model_validate({"sheet": "S", "cells": {"A9": 1}}))

    assert values(after, "S", "D")[0] is None


def with_formula(data: bytes, formula: str) -> bytes:
    """Return a workbook with a formula in D1, as no edit would write it."""
    package = Package.read(data)
    content = package.content(SHEET)
    assert NUMBER.search(content)
    package.put(SHEET, NUMBER.sub(f'<c r="D1"><f>{escape(formula)}</f></c>'.encode(), content))
    return package.write().content()
