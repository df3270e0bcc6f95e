"""A wide sheet: 500 cells at a time in 20,000 rows, while the workbook is open already."""

import asyncio
import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import openpyxl

from officeplane.bench.figures import Figure
from officeplane.bench.office import open_office
from officeplane.bench.office_files import cells, name, sheet
from officeplane.bench.scenario import Scenario
from officeplane.bench.servers import Servers

ROWS: Final = 20_000
COLUMNS: Final = 6
CELLS: Final = 500


@dataclass(frozen=True, slots=True)
class WideSheet:
    """How quickly cells were set, an edit at a time, and how many do not have their value."""

    edits: int
    cells: int
    per_second: float
    lost: int

    def figures(self) -> Sequence[Figure]:
        return [Figure("rate", self.per_second, "edits/s", "sheet_by_hand"), Figure("cells lost", self.lost, "")]


async def _measure(servers: Servers) -> WideSheet:
    edits = [cells(number, CELLS, ROWS) for number in range(1, 1 + servers.sized(20, at_least=4))]
    file = await asyncio.to_thread(sheet, ROWS, COLUMNS)
    async with open_office(servers) as office:
        await office.put(name(0), file)
        await office.work_off([_task(cells(0, CELLS, ROWS))])
        seconds = await office.work_off([_task(edit) for edit in edits])
        page = openpyxl.load_workbook(io.BytesIO(await office.content(name(0))))["Data"]
        lost = sum(page[cell].value != value for edit in edits for cell, value in edit.items())
        return WideSheet(len(edits), CELLS, len(edits) / seconds, lost)


def _task(wanted: dict[str, int]) -> dict[str, object]:
    return {"taskType": "set_cells", "documentId": name(0), "payload": {"sheet": "Data", "cells": wanted}}


WIDE_SHEET: Final = Scenario("wide-sheet", "set_cells of 500 cells in 20,000 x 6, open already", _measure)
