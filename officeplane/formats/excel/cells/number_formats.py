"""Number formats: how a cell shows its number, and whether that makes it a date."""

import re
from datetime import datetime, timedelta
from typing import Final

from officeplane.formats.excel.numbers import whole
from officeplane.formats.excel.tags import main
from officeplane.formats.package import Package
from officeplane.formats.relationships import Relationships
from officeplane.formats.xml import Element

BUILT_IN: Final = {
    0: "General", 1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00", 5: '"$"#,##0_);("$"#,##0)',
    6: '"$"#,##0_);[Red]("$"#,##0)', 7: '"$"#,##0.00_);("$"#,##0.00)', 8: '"$"#,##0.00_);[Red]("$"#,##0.00)',
    9: "0%", 10: "0.00%", 11: "0.00E+00", 12: "# ?/?",
    13: "# ??/??", 14: "m/d/yyyy", 15: "d-mmm-yy", 16: "d-mmm", 17: "mmm-yy", 18: "h:mm AM/PM", 19: "h:mm:ss AM/PM",
    20: "h:mm", 21: "h:mm:ss", 22: "m/d/yyyy h:mm", 37: "#,##0 ;(#,##0)", 38: "#,##0 ;[Red](#,##0)",
    39: "#,##0.00;(#,##0.00)", 40: "#,##0.00;[Red](#,##0.00)",
    41: '_(* #,##0_);_(* (#,##0);_(* "-"_);_(@_)', 42: '_("$"* #,##0_);_("$"* (#,##0);_("$"* "-"_);_(@_)',
    43: '_(* #,##0.00_);_(* (#,##0.00);_(* "-"??_);_(@_)',
    44: '_("$"* #,##0.00_);_("$"* (#,##0.00);_("$"* "-"??_);_(@_)',
    45: "mm:ss", 46: "[h]:mm:ss", 47: "mmss.0",
    48: "##0.0E+0", 49: "@",
}  # fmt: skip
"""The formats that every workbook has without saying so, by number; dates and amounts of money show as is usual where
they are read."""

_DATES_OF_THE_EAST: Final = frozenset((*range(27, 37), *range(50, 59)))
_NO_LETTERS: Final = re.compile(r'"[^"]*"|\\.|_.|\*.|\[(?!h+\]|m+\]|s+\])[^\[\]]*\]', re.IGNORECASE)
_OF_DATES: Final = re.compile(r"[dmyhs]", re.IGNORECASE)
_OF_DAYS: Final = re.compile(r"[dy]", re.IGNORECASE)
_OF_TIMES: Final = re.compile(r"[hs]", re.IGNORECASE)
_GENERAL: Final = "General"
_FIRST: Final = datetime(1899, 12, 30)  # noqa: DTZ001 - what a sheet holds has no zone
_FIRST_OF_1904: Final = datetime(1904, 1, 1)  # noqa: DTZ001 - the same
_DAY_THAT_NEVER_WAS: Final = 60
"""Excel takes 1900 for a leap year, as older programs did."""


class NumberFormats:
    """The formats of a workbook's cells, by the number of their style."""

    def __init__(self, package: Package, workbook: str) -> None:
        properties = package.tree(workbook).find(main("workbookPr"))
        self._is_1904 = properties is not None and properties.get("date1904") in {"1", "true"}
        part = next(
            (arrow.target for arrow in Relationships(package, workbook).of_type("styles") if arrow.target in package),
            None,
        )
        root = None if part is None else package.tree(part)
        self._codes = {} if root is None else _codes(root)
        formats = None if root is None else root.find(main("cellXfs"))
        self._numbers = [] if formats is None else [whole(_own(one).get("numFmtId"), 0) for one in formats]
        self._known: dict[str, tuple[str, bool, bool]] = {}

    def of(self, cell: Element) -> str:
        """Return the format of a cell, as people write it."""
        return self.of_style(cell.get("s", "0"))

    def of_style(self, style: str) -> str:
        """Return the format that cells of a style have."""
        return self._look(style)[0]

    def date(self, cell: Element, number: float) -> str | None:
        """Return the date or time that a number is in its cell, as ISO 8601 has it; None when it is none."""
        _, has_days, has_times = self._look(cell.get("s", "0"))
        if not has_days and not has_times:
            return None
        try:
            moment = self._moment(number)
        except (OverflowError, ValueError):
            return None
        if not has_days:
            return moment.time().isoformat("seconds") if 0 <= number < 1 else None
        is_midnight = not has_times and moment.time() == datetime.min.time()
        return moment.date().isoformat() if is_midnight else moment.isoformat("T", "seconds")

    def _moment(self, number: float) -> datetime:
        if number < 0:
            raise ValueError
        if self._is_1904:
            return _rounded(_FIRST_OF_1904 + timedelta(days=number))
        if int(number) == _DAY_THAT_NEVER_WAS:
            raise ValueError
        return _rounded(_FIRST + timedelta(days=number + (1 if number < _DAY_THAT_NEVER_WAS else 0)))

    def _look(self, style: str) -> tuple[str, bool, bool]:
        found = self._known.get(style)
        if found is None:
            at = whole(style, -1)
            number = self._numbers[at] if 0 <= at < len(self._numbers) else 0
            code = self._codes.get(number, BUILT_IN.get(number, _GENERAL))
            plain = _NO_LETTERS.sub("", code.partition(";")[0]).replace(_GENERAL, "")
            is_date = number in _DATES_OF_THE_EAST or _OF_DATES.search(plain) is not None
            has_times = is_date and _OF_TIMES.search(plain) is not None
            has_days = is_date and (_OF_DAYS.search(plain) is not None or not has_times)
            found = self._known[style] = (code, has_days, has_times)
        return found


def _codes(root: Element) -> dict[int, str]:
    holder = root.find(main("numFmts"))
    return {} if holder is None else {whole(one.get("numFmtId"), -1): one.get("formatCode", "") for one in holder}


def _own(format: Element) -> Element:
    return format if format.tag == main("xf") else next(format.iterfind(f"{{*}}Fallback/{main('xf')}"), format)


def _rounded(moment: datetime) -> datetime:
    return (moment + timedelta(microseconds=500_000)).replace(microsecond=0)
