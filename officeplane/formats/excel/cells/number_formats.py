"""Number formats: how a cell shows its number, and whether that makes it a date."""

import re
from typing import Final, NamedTuple

from officeplane.formats.excel.cells.dates import Calendar, calendar_of, written
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
_CODES: Final = f"{main('numFmts')}/{main('numFmt')}"


class Look(NamedTuple):
    """How a style shows numbers."""

    code: str
    has_days: bool
    has_times: bool


class NumberFormats:
    """The formats of a workbook's cells, by the number of their style; styles may come to it, and none changes."""

    def __init__(self, package: Package, workbook: str) -> None:
        self.calendar: Calendar = calendar_of(package, workbook)
        self._package = package
        self._workbook = workbook
        self._codes: dict[int, str] = {}
        self._known: dict[str, Look] = {}

    def of(self, cell: Element) -> str:
        """Return the format of a cell, as people write it."""
        return self.of_style(cell.get("s", "0"))

    def of_style(self, style: str) -> str:
        """Return the format that cells of a style have."""
        return self.look(style).code

    def date(self, cell: Element, number: float) -> dict[str, str] | None:
        """Return the date, the time or both that a number is in its cell; None when it is none."""
        _, has_days, has_times = self.look(cell.get("s"))
        moment = self.calendar.moment(number) if has_days or has_times else None
        if moment is None:
            return None
        if not has_days or not self.calendar.has(number):
            return {"time": written(moment.time())} if has_times and 0 <= number < 1 else None
        is_midnight = moment.time() == moment.min.time()
        return {"date": written(moment.date())} if is_midnight and not has_times else {"dateTime": written(moment)}

    def look(self, style: str | None) -> Look:
        """Return how a style shows numbers."""
        style = style or "0"
        found = self._known.get(style)
        if found is None:
            at = whole(style, -1)
            part = styles_part(self._package, self._workbook)
            root = None if part is None else self._package.tree(part)
            formats = None if root is None else root.find(main("cellXfs"))
            own = _own(formats[at]) if formats is not None and 0 <= at < len(formats) else None
            number = 0 if own is None else whole(own.get("numFmtId"), 0)
            if number not in self._codes and root is not None:
                self._codes = {**BUILT_IN, **codes_in(root)}
            code = self._codes.get(number, _GENERAL)
            found = self._known[style] = look_of(code, is_date=number in _DATES_OF_THE_EAST)
        return found


def styles_part(package: Package, workbook: str) -> str | None:
    """Return the part that holds the formats of a workbook."""
    found = Relationships(package, workbook).of_type("styles")
    return found[0].target if found and found[0].target in package else None


def look_of(code: str, *, is_date: bool = False) -> Look:
    """Return what a format shows."""
    plain = _NO_LETTERS.sub("", code.partition(";")[0]).replace(_GENERAL, "")
    is_date = is_date or _OF_DATES.search(plain) is not None
    has_times = is_date and _OF_TIMES.search(plain) is not None
    return Look(code, is_date and (_OF_DAYS.search(plain) is not None or not has_times), has_times)


def codes_in(root: Element) -> dict[int, str]:
    """Return the formats that a workbook has besides the built-in ones, by number, given the root of its styles."""
    return {whole(one.get("numFmtId"), -1): one.get("formatCode", "") for one in root.iterfind(_CODES)}


def _own(format: Element) -> Element:
    return format if format.tag == main("xf") else next(format.iterfind(f"{{*}}Fallback/{main('xf')}"), format)
