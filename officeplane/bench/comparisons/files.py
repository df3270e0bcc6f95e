"""Files edited by hand: the library, a lock on the file, and the disk; in as many processes as there are cores."""

import asyncio
import json
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from officeplane.bench.office_files import cells, name, sheet, small_edits, text_document
from officeplane.bench.programs import ProgramEndedError
from officeplane.bench.scenario import Comparison, Limit
from officeplane.bench.scenarios import hot_file, many_files, wide_sheet
from officeplane.bench.servers import Servers
from officeplane.cores import cores

MANY: Final = Limit(
    "many_files_by_hand", "load, edit, save ten-page files with python-docx, a process per core", "edits/s"
)
HOT: Final = Limit("hot_file_by_hand", "load, edit, save one 200-page file with python-docx", "edits/s")
SHEET: Final = Limit("sheet_by_hand", "load, set, save a sheet of 20,000 rows with openpyxl", "edits/s")

_BOOK: Final = "book.xlsx"
_SHARE: Final = 4
"""The first of so many parts of the edits: the rate of the others is the same, and they take long."""


async def _many(servers: Servers) -> list[float]:
    size = many_files.sized(servers)
    files = {name(number): text_document(number, many_files.PAGES) for number in range(size.documents)}
    edits = small_edits(size.edits, size.documents, many_files.PAGES)
    return [await _rate(servers, files, [edit.by_hand() for edit in edits[: len(edits) // _SHARE]])]


async def _hot(servers: Servers) -> list[float]:
    edits = small_edits(hot_file.sized(servers), 1, hot_file.PAGES)
    files = {name(0): text_document(0, hot_file.PAGES)}
    return [await _rate(servers, files, [edit.by_hand() for edit in edits[: len(edits) // _SHARE]])]


async def _sheet(servers: Servers) -> list[float]:
    orders = [
        [_BOOK, "set_cells", cells(number, wide_sheet.CELLS, wide_sheet.ROWS)]
        for number in range(servers.sized(4, at_least=2))
    ]
    return [await _rate(servers, {_BOOK: sheet(wide_sheet.ROWS, wide_sheet.COLUMNS)}, orders)]


async def _rate(servers: Servers, files: Mapping[str, bytes], orders: Sequence[Sequence[object]]) -> float:
    """Return how many orders a second were carried out."""
    folder = servers.folder / f"by-hand-{len(list(servers.folder.iterdir()))}"
    folder.mkdir()
    for file, content in files.items():
        (folder / file).write_bytes(content)
    count = cores()
    share = -(-len(orders) // count)
    processes: list[asyncio.subprocess.Process] = []
    try:
        for number in range(count):
            plan = folder / f"plan-{number}.json"
            plan.write_text(json.dumps(orders[number * share : (number + 1) * share]))
            processes.append(await _started(servers, plan))
        began = time.perf_counter()
        for process in processes:
            assert process.stdin is not None  # noqa: S101 - it is a pipe
            process.stdin.write(b"go\n")
        for process in processes:
            if await process.wait():
                raise ProgramEndedError(f"Editing by hand ended with exit code {process.returncode}.")
        return len(orders) / (time.perf_counter() - began)
    finally:
        for process in processes:
            if process.returncode is None:
                process.kill()
                await process.wait()
            servers.guard.release(process.pid)


async def _started(servers: Servers, plan: Path) -> asyncio.subprocess.Process:
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "officeplane.bench.by_hand", str(plan), stdin=pipe, stdout=pipe
    )
    servers.guard.guard(process.pid)
    assert process.stdout is not None  # noqa: S101 - it is a pipe
    await process.stdout.readline()
    return process


MANY_FILES: Final = Comparison((MANY,), _many)
HOT_FILE: Final = Comparison((HOT,), _hot)
WIDE_SHEET: Final = Comparison((SHEET,), _sheet)
