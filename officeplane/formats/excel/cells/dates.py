"""Dates as numbers: days since the first one, of which a workbook has one of two, and times as parts of a day."""

from datetime import date, datetime, time, timedelta
from typing import Final, NamedTuple

from officeplane.domain.document import InvalidEditError
from officeplane.formats.excel.tags import main
from officeplane.formats.package import Package

_ZERO: Final = datetime(1899, 12, 30)  # noqa: DTZ001 - what a sheet holds has no zone
_ZERO_OF_1904: Final = datetime(1904, 1, 1)  # noqa: DTZ001 - the same
_DAY: Final = timedelta(days=1)
_MILLISECOND: Final = timedelta(milliseconds=1)
_DAY_THAT_NEVER_WAS: Final = 60
"""Excel takes 1900 for a leap year, as older programs did."""


class Calendar(NamedTuple):
    """How a workbook counts its days."""

    is_1904: bool

    def number(self, value: date | time) -> float:
        """Return the number that a sheet holds for a date, a time or both; a day before the first is refused."""
        if isinstance(value, time):
            return _since(_ZERO, datetime.combine(_ZERO, value))
        moment = value if isinstance(value, datetime) else datetime.combine(value, time.min)
        number = _since(_ZERO_OF_1904 if self.is_1904 else _ZERO, moment)
        if not self.is_1904 and number < _DAY_THAT_NEVER_WAS + 1:
            number -= 1
        if number < (0 if self.is_1904 else 1):
            first = "1904-01-01" if self.is_1904 else "1900-01-01"
            raise InvalidEditError(f"the dates of this workbook begin at {first}: {value.isoformat()} can only be text")
        return number

    def moment(self, number: float) -> datetime | None:
        """Return the date and time of a number, to the millisecond; None when it is none."""
        if number < 0:
            return None
        try:
            if self.is_1904:
                return _rounded(_ZERO_OF_1904 + timedelta(days=number))
            if int(number) == _DAY_THAT_NEVER_WAS:
                return None
            return _rounded(_ZERO + timedelta(days=number + (1 if number < _DAY_THAT_NEVER_WAS else 0)))
        except (OverflowError, ValueError):
            return None

    def has(self, number: float) -> bool:
        """Tell whether a number is of a day; the first of 1900 is 1, and what is below is a time only."""
        return number >= (0 if self.is_1904 else 1)


def calendar_of(package: Package, workbook: str) -> Calendar:
    """Return how a workbook counts its days."""
    properties = package.tree(workbook).find(main("workbookPr"))
    return Calendar(properties is not None and properties.get("date1904") in {"1", "true"})


def written(value: date | time) -> str:
    """Return a date or time as ISO 8601 has it; milliseconds stand there only if there are any."""
    if not isinstance(value, datetime | time):
        return value.isoformat()
    return value.isoformat(timespec="milliseconds" if value.microsecond else "seconds")


def _since(zero: datetime, moment: datetime) -> float:
    passed = moment - zero
    return passed.days if not passed % _DAY else passed / _DAY


def _rounded(moment: datetime) -> datetime:
    past = timedelta(microseconds=moment.microsecond % 1_000)
    return moment - past + (_MILLISECOND if past * 2 >= _MILLISECOND else timedelta())
