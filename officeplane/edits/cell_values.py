"""What a cell may be given: the same forms in which reading a workbook tells what is in it."""

import json
from collections.abc import Iterable
from datetime import date, datetime, time
from typing import Annotated, Any, Final, Literal, TypeAlias, cast

from pydantic import AfterValidator, Discriminator, Field, Tag

from officeplane.domain.warning import EditWarning
from officeplane.edits.contract import Part, Words
from officeplane.formats.excel.cells.values import CellError, Formatted, Plain, Value
from officeplane.formats.excel.formulas.formula import Formula

_CLOCK: Final = r"[0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{3})?)?"
_DAY: Final = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"


def _parsed(kind: type[date | time], name: str) -> AfterValidator:
    def check(text: str) -> str:
        try:
            kind.fromisoformat(text)
        except ValueError:
            message = f"there is no {name} {text}"
            raise ValueError(message) from None
        return text

    return AfterValidator(check)


_Day: TypeAlias = Annotated[str, Field(pattern=f"^{_DAY}$"), _parsed(date, "date")]
_Time: TypeAlias = Annotated[str, Field(pattern=f"^{_CLOCK}$"), _parsed(time, "time")]
_Moment: TypeAlias = Annotated[str, Field(pattern=f"^{_DAY}T{_CLOCK}$"), _parsed(datetime, "date and time")]


class FormulaCell(Part):
    """A formula, as it is typed, with its equals sign or without."""

    formula: Annotated[Words, Field(min_length=1, max_length=8_192)] = Field(
        description="The formula in English, with commas between arguments, such as `=SUM(A1:B2)`."
    )


class DateCell(Part):
    """A day."""

    date: _Day = Field(description="A day as `2026-01-05`. The cell shows it as a date.")


class TimeCell(Part):
    """A time of day."""

    time: _Time = Field(description="A time of day as `09:30` or `09:30:15`. The cell shows it as a time.")


class DateTimeCell(Part):
    """A day with a time."""

    date_time: _Moment = Field(
        description="A day and time as `2026-01-05T09:30`, without a time zone, of which Excel knows none."
    )


class ErrorCell(Part):
    """An error as a value."""

    error: Literal["#N/A", "#DIV/0!", "#NAME?", "#NULL!", "#NUM!", "#REF!", "#VALUE!"] = Field(
        description="An error that is no result, such as `#N/A` where there is no value."
    )


_KEYS: Final = {
    "value": "FormattedCell", "formula": "FormulaCell", "date": "DateCell", "time": "TimeCell",
    "dateTime": "DateTimeCell", "error": "ErrorCell",
}  # fmt: skip


def _kind(given: Any) -> str | None:
    if isinstance(given, dict):
        return next((key for key in _KEYS if key in cast("dict[str, Any]", given)), None)
    return next((key for key, name in _KEYS.items() if name == type(given).__name__), None)


_PlainObject: TypeAlias = Annotated[
    Annotated[FormulaCell, Tag("formula")]
    | Annotated[DateCell, Tag("date")]
    | Annotated[TimeCell, Tag("time")]
    | Annotated[DateTimeCell, Tag("dateTime")]
    | Annotated[ErrorCell, Tag("error")],
    Discriminator(
        _kind,
        custom_error_type="cell_object",
        custom_error_message="An object for a cell has formula, date, time, dateTime or error.",
    ),
]
_Text: TypeAlias = Annotated[Words, Field(max_length=32_767)]
PlainValue: TypeAlias = _Text | bool | int | float | _PlainObject | None
"""What a cell is given. Text that looks like a formula, a number or a date stays text; None empties the cell."""


class FormattedCell(Part):
    """A value with its number format."""

    value: PlainValue = Field(description="The value, in any of the other forms; null empties the cell.")
    format: Annotated[Words, Field(min_length=1, max_length=255)] = Field(
        description="How the cell shows numbers from now on, as Excel has it in English: `0.00%`, `#,##0.00`, "
        "`yyyy-mm-dd`, `#,##0 [$€-407]`, `General`."
    )


_AnyObject: TypeAlias = Annotated[
    Annotated[FormulaCell, Tag("formula")]
    | Annotated[DateCell, Tag("date")]
    | Annotated[TimeCell, Tag("time")]
    | Annotated[DateTimeCell, Tag("dateTime")]
    | Annotated[ErrorCell, Tag("error")]
    | Annotated[FormattedCell, Tag("value")],
    Discriminator(
        _kind,
        custom_error_type="cell_object",
        custom_error_message="An object for a cell has formula, date, time, dateTime or error, or value and format.",
    ),
]
CellValue: TypeAlias = _Text | bool | int | float | _AnyObject | None
"""The same, perhaps with a number format."""

FORMS: Final = (
    'A string stays text, whatever it looks like; numbers, true and false are such; `{"date": "2026-01-05"}`, '
    '`{"time": "09:30"}` and `{"dateTime": "2026-01-05T09:30"}` are dates and times; `{"formula": "=A1*2"}` is a '
    'formula; `{"value": 0.25, "format": "0.00%"}` has a number format with it; null empties the cell.'
)
"""What to tell of a field that holds values of cells."""


def native(given: CellValue) -> Value:
    """Return a cell's value as the workbook takes it."""
    return Formatted(_plain(given.value), given.format) if isinstance(given, FormattedCell) else _plain(given)


def _plain(given: PlainValue) -> Plain:
    match given:
        case FormulaCell():
            return Formula(given.formula.removeprefix("="))
        case DateCell():
            return date.fromisoformat(given.date)
        case TimeCell():
            return time.fromisoformat(given.time)
        case DateTimeCell():
            return datetime.fromisoformat(given.date_time)
        case ErrorCell():
            return CellError(given.error)
        case _:
            return given


def warned_of(cells: Iterable[tuple[str, CellValue]]) -> list[EditWarning]:
    """Return a warning for each cell whose text was perhaps meant as a formula."""
    texts = ((name, given.value if isinstance(given, FormattedCell) else given) for name, given in cells)
    return [
        EditWarning(
            "formula_as_text",
            f'{name} holds the text {value!r}; to have it calculated, give {{"formula": {json.dumps(value)}}}',
        )
        for name, value in texts
        if isinstance(value, str) and len(value) > 1 and value.startswith("=")
    ]
