"""Rules of sheets as edits name them: what may be typed into cells, and how cells look when they hold something."""

from datetime import date, datetime
from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from officeplane.edits.cell_values import DateCell, DateTimeCell, FormulaCell
from officeplane.edits.contract import Line, Part, Words
from officeplane.formats.excel.formulas.formula import Formula
from officeplane.formats.excel.sheets.conditional_formats import ConditionalFormat, Look
from officeplane.formats.excel.sheets.editing import area_of
from officeplane.formats.excel.sheets.rules import Bound
from officeplane.formats.excel.sheets.validations import Validation

_CELL = "[A-Z]{1,3}[1-9][0-9]{0,6}"
CellName = Annotated[str, Field(pattern=f"^{_CELL}$")]
RangeName = Annotated[str, Field(pattern=f"^{_CELL}(:{_CELL})?$")]
Color = Annotated[str, Field(pattern="^[0-9A-Fa-f]{6}$")]
Operator = Literal[
    "between", "notBetween", "equal", "notEqual", "greaterThan", "lessThan", "greaterThanOrEqual", "lessThanOrEqual"
]
_FormulaText = Annotated[Words, Field(min_length=1, max_length=8_192)]
BoundValue: TypeAlias = (
    Annotated[Words, Field(max_length=255)] | int | float | DateCell | DateTimeCell | FormulaCell | None
)

_RELATIVE = "Cells in it without $ are counted from the first cell of the range, as if it were filled in from there."
_BOUND = 'a number, `{"date": "2026-01-05"}` or `{"formula": "=B1"}`'


class _Rule(Part):
    range: RangeName = Field(description="The cells that it is for, such as `B2:B20`.")
    operator: Operator = Field(default="between", description="How a cell is compared with `value`.")
    value2: BoundValue = Field(default=None, description="With `between` and `notBetween`, the greatest value.")
    formula: _FormulaText | None = Field(
        default=None, description=f"Of the kinds `custom` and `formula`: true where it holds. {_RELATIVE}"
    )


class ValidationRule(_Rule):
    """What may be typed into cells. It takes the place of what was said of them before."""

    kind: Literal["list", "whole", "decimal", "date", "textLength", "custom", "none"] = Field(
        description="`list`: one of `values`, or of the cells in `source`; `whole`, `decimal`, `date`, `textLength`: "
        "compared with `value` by `operator`; `custom`: `formula` is true; `none`: anything again."
    )
    values: Annotated[list[Words | int | float], Field(max_length=255)] | None = Field(
        default=None, description="The choices of a `list`, 255 characters together at most, without commas."
    )
    source: _FormulaText | None = Field(
        default=None, description="The cells with the choices of a `list`, such as `=Lists!$A$2:$A$9`, or a name."
    )
    value: BoundValue = Field(default=None, description=f"What it is compared with, the least one of two: {_BOUND}.")
    allow_blank: bool = Field(default=True, description="Whether a cell may be left empty.")
    message: Annotated[Line, Field(max_length=225)] | None = Field(
        default=None, description="What people are told who type something else."
    )

    def native(self) -> Validation:
        """Return it as the workbook takes it."""
        return Validation(
            area_of(self.range),
            self.kind,
            tuple(map(str, self.values or ())),
            _formula(self.source),
            self.operator,
            _bound(self.value),
            _bound(self.value2),
            _formula(self.formula),
            self.allow_blank,
            self.message,
        )


class ConditionalFormatRule(_Rule):
    """How cells look when they hold something. It comes before the rules that are there, which stay."""

    kind: Literal["cell", "formula", "text", "duplicates", "top", "bottom", "colorScale", "dataBar", "none"] = Field(
        description="`cell`: its value compared with `value` by `operator`; `formula`: true for it; `text`: it has "
        "`text` in it; `duplicates`; `top`, `bottom`: the `count` greatest, least; `colorScale` of 2 or 3 `colors` "
        "from the least to the greatest; `dataBar` of one; `none`: takes all rules of the range away."
    )
    value: BoundValue = Field(
        default=None, description=f"What a `cell` is compared with, the least one of two: a text, {_BOUND}."
    )
    text: Annotated[Line, Field(max_length=255)] | None = Field(default=None, description="What a `text` contains.")
    count: Annotated[int, Field(ge=1, le=1_000)] = Field(default=10, description="How many of `top` or `bottom`.")
    percent: bool = Field(default=False, description="Whether `count` is percent of the cells, up to 100.")
    colors: Annotated[list[Color], Field(max_length=3)] | None = Field(
        default=None, description="Colours `RRGGBB` of a `colorScale` or `dataBar`."
    )
    fill: Color | None = Field(default=None, description="The colour behind, `RRGGBB`.")
    color: Color | None = Field(default=None, description="The colour of the text, `RRGGBB`.")
    bold: bool = Field(default=False, description="Whether the text is bold.")
    italic: bool = Field(default=False, description="Whether the text is italic.")

    def native(self) -> ConditionalFormat:
        """Return it as the workbook takes it."""
        return ConditionalFormat(
            area_of(self.range),
            self.kind,
            Look(self.fill, self.color, self.bold, self.italic),
            self.operator,
            _bound(self.value),
            _bound(self.value2),
            _formula(self.formula),
            self.text,
            self.count,
            self.percent,
            tuple(self.colors or ()),
        )


def _formula(text: str | None) -> Formula | None:
    return None if text is None else Formula(text)


def _bound(given: BoundValue) -> Bound | None:
    match given:
        case DateCell():
            return date.fromisoformat(given.date)
        case DateTimeCell():
            return datetime.fromisoformat(given.date_time)
        case FormulaCell():
            return Formula(given.formula)
        case _:
            return given
