"""`set_cells`: values and formulas of cells and ranges."""

from collections.abc import Iterator
from typing import Annotated, ClassVar, TypeAlias

from pydantic import ConfigDict, Field

from officeplane.edits.cell_values import FORMS, CellValue, FormulaCell, native, warned_of
from officeplane.edits.contract import Edit, Line, Occasion, Result
from officeplane.formats.excel.workbook import Workbook
from officeplane.formats.opening import Document

__all__ = ["CellValue", "FormulaCell", "Rows", "SetCells"]

_CELL = "[A-Z]{1,3}[1-9][0-9]{0,6}"
CellName = Annotated[str, Field(pattern=f"^{_CELL}(:{_CELL})?$")]
_Row: TypeAlias = Annotated[list[CellValue], Field(min_length=1, max_length=16_384)]
Rows: TypeAlias = Annotated[list[_Row], Field(min_length=1, max_length=100_000)]


class SetCells(Edit):
    """Cells by name, such as `B2`, or ranges, such as `B2:D4`; their formatting stays."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "sheet": "Plan",
                    "cells": {
                        "A1": "Rent",
                        "B1": {"date": "2026-01-05"},
                        "C1": {"value": 0.25, "format": "0.00%"},
                        "D1": {"formula": "=C1*2"},
                        "A3:B4": [["North", 120], ["South", None]],
                        "C3:C4": {"formula": "=B3*2"},
                    },
                }
            ]
        }
    )

    task_type: ClassVar = "set_cells"
    title_for_people: ClassVar = "Set cells"

    sheet: Line = Field(description="The sheet, by its name or its id in the outline.")
    cells: Annotated[dict[CellName, CellValue | Rows], Field(min_length=1, max_length=100_000)] = Field(
        description=(
            "What each cell is given, by its name, such as `B2`; or each range, such as `B2:D4`: a list of rows, as "
            "many and as wide as the range, or one value for all of its cells. A formula for all of them is that of "
            f"the first, and follows in the others as if it were filled in. {FORMS} No cell may be named twice."
        )
    )

    def in_excel(self, workbook: Workbook, occasion: Occasion) -> Result:
        occasion.warn(warned_of(self._texts()))
        given = {
            name: [[native(value) for value in row] for row in held] if isinstance(held, list) else native(held)
            for name, held in self.cells.items()
        }
        sheet_id, written = workbook.set_cells(self.sheet, given)
        return {"id": sheet_id, "cells": written}

    def targets(self, document: Document) -> list[str]:  # noqa: ARG002
        return [f"{self.sheet}!{cell}" for cell in self.cells]

    def _texts(self) -> Iterator[tuple[str, CellValue]]:
        for name, held in self.cells.items():
            if isinstance(held, list):
                yield from ((f"a cell of {name}", value) for row in held for value in row)
            else:
                yield name, held
