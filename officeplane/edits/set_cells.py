"""`set_cells`: values and formulas of single cells."""

import json
from collections.abc import Iterable
from typing import Annotated, ClassVar, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from officeplane.domain.warning import EditWarning
from officeplane.edits.contract import Edit, Line, Occasion, Result, Words
from officeplane.formats.excel.workbook import Formula, Workbook
from officeplane.formats.opening import Document

CellName = Annotated[str, Field(pattern=r"^[A-Z]{1,3}[1-9][0-9]{0,6}$")]


class FormulaCell(BaseModel):
    """A formula, as it is typed, with its equals sign or without."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    formula: Annotated[Words, Field(min_length=1, max_length=8_192)] = Field(
        description="The formula in English, with commas between arguments, such as `=SUM(A1:B2)`."
    )


CellValue: TypeAlias = Annotated[Words, Field(max_length=32_767)] | bool | int | float | FormulaCell | None
"""What a cell is given. Text that looks like a formula stays text; None empties the cell."""


def warned_of(cells: Iterable[tuple[str, CellValue]]) -> list[EditWarning]:
    """Return a warning for each cell whose text was perhaps meant as a formula."""
    return [
        EditWarning(
            "formula_as_text",
            f'{name} holds the text {value!r}; to have it calculated, give {{"formula": {json.dumps(value)}}}',
        )
        for name, value in cells
        if isinstance(value, str) and len(value) > 1 and value.startswith("=")
    ]


def native(value: CellValue) -> str | bool | int | float | Formula | None:
    """Return a cell's value as the workbook takes it."""
    return Formula(value.formula.removeprefix("=")) if isinstance(value, FormulaCell) else value


class SetCells(Edit):
    """Cells by name, such as `B2`; their formatting stays."""

    task_type: ClassVar = "set_cells"
    title_for_people: ClassVar = "Set cells"

    sheet: Line = Field(description="The sheet, by its name or its id in the outline.")
    cells: Annotated[dict[CellName, CellValue], Field(min_length=1, max_length=100_000)] = Field(
        description=(
            'What each cell is given, by its name, such as `B2`. Text stays text; a formula is `{"formula": '
            '"=A1*2"}`; null empties the cell.'
        )
    )

    def in_excel(self, workbook: Workbook, occasion: Occasion) -> Result:
        occasion.warn(warned_of(self.cells.items()))
        sheet_id = workbook.set_cells(self.sheet, {name: native(value) for name, value in self.cells.items()})
        return {"id": sheet_id, "cells": len(self.cells)}

    def targets(self, document: Document) -> list[str]:  # noqa: ARG002
        return [f"{self.sheet}!{cell}" for cell in self.cells]
