"""Formulas to compare: `told.json` has each with what LibreOffice makes of it, written anew by `python -m` this module.

A new one is added there with null.
"""

import io
import json
import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Final

import openpyxl
from lxml import etree

TOLD: Final = Path(__file__).with_name("told.json")
Told = float | str | bool | None

INPUTS: Final[dict[str, Told]] = {
    "A1": 3, "A2": 1.5, "A3": -2, "A4": 7, "A5": 0.1, "A6": 1250.75, "A7": 12, "A8": 5,
    "B1": "north", "B2": "South", "B3": "north", "B4": "east", "B5": "South", "B6": None, "B7": "North", "B8": "west",
    "C1": 10, "C2": 20, "C3": 30, "C4": 40, "C5": 50, "C6": 60, "C7": 70, "C8": 80,
    "D1": "x", "D2": 4, "D3": None, "D4": "y", "D5": 6, "D6": None, "D7": "=1/0", "D8": "=NA()",
    "E1": True, "E2": False, "E3": 46027, "E4": 46081, "E5": 61, "E6": 45292.75, "E7": "  two  words ", "E8": "Ünï",
    "F1": 0.1, "F2": 0.2, "F3": 0.3, "F4": 2.675, "F5": 1.005, "F6": -2.5, "F7": 1e15, "F8": 123456789.123,
    "G1": "=A1*2", "G2": "=G1+A2", "G3": '=IF(G2>5,"much","little")', "G4": "=D7", "G5": "=B6", "G6": '=""',
    "H1": "apple", "H2": "banana", "H3": "cherry", "H4": "Banana", "I1": 1.25, "I2": 2.5, "I3": 3.75, "I4": 9,
    "J1": 11, "K1": 22, "L1": 33, "J2": "a", "K2": "b", "L2": "c",
}  # fmt: skip
"""A sheet called `In`."""

FORMULAS: Final[tuple[str, ...]] = tuple(json.loads(TOLD.read_text(encoding="utf-8")))
"""What stands in column A of the sheet `Out`, each in a row of its own; references without a sheet are to `In`."""

_CELLS: Final = re.compile(r'"(?:[^"]|"")*"|\b([A-L]\d?(?::[A-L]\d*)|[A-L]\d|\d:\d)(?![\w(])')


def on_inputs(formula: str) -> str:
    """Return a formula that stands on another sheet than what it reads."""
    return _CELLS.sub(lambda match: match[0] if match[1] is None else f"In!{match[1]}", formula)


def workbook() -> bytes:
    """Return a workbook without any results."""
    book = openpyxl.Workbook()
    inputs = book.active
    assert inputs is not None
    inputs.title = "In"
    for cell, value in INPUTS.items():
        inputs[cell] = value
    out = book.create_sheet("Out")
    for row, formula in enumerate(FORMULAS, 1):
        out.cell(row, 1, f"={on_inputs(formula)}")
    held = io.BytesIO()
    book.save(held)
    return held.getvalue()


def told_by_libreoffice(data: bytes, program: str = "soffice") -> list[Told]:
    """Return what LibreOffice makes of each formula."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "in.xlsx")
        source.write_bytes(data)
        subprocess.run(
            [program, f"-env:UserInstallation=file://{folder}/profile", "--headless", "--convert-to",
             "xlsx:Calc MS Excel 2007 XML", "--outdir", f"{folder}/out", str(source)],
            check=True, capture_output=True, timeout=200,
        )  # fmt: skip
        return values(Path(folder, "out", "in.xlsx").read_bytes(), "Out")


def values(data: bytes, sheet: str, column: str = "A") -> list[Told]:
    """Return what is in a column of a sheet, dates as numbers."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        names = [each.get("name") for each in etree.fromstring(archive.read("xl/workbook.xml")).iter("{*}sheet")]
        root = etree.fromstring(archive.read(f"xl/worksheets/sheet{names.index(sheet) + 1}.xml"))
        part = "xl/sharedStrings.xml"
        items = etree.fromstring(archive.read(part)) if part in archive.namelist() else ()
        strings = ["".join(text.text or "" for text in item.iter("{*}t")) for item in items]
    found: dict[int, Told] = {}
    for cell in root.iter("{*}c"):
        match = re.fullmatch(rf"{column}(\d+)", cell.get("r", ""))
        value = cell.find("{*}v")
        if match is None:
            continue
        text = None if value is None else value.text or ""
        kind = cell.get("t", "n")
        if text is None:
            told: Told = "" if kind == "str" else None
        elif kind == "b":
            told = text == "1"
        elif kind == "s":
            told = strings[int(text)]
        elif kind == "n":
            told = float(text)
        else:
            told = text
        found[int(match[1])] = told
    return [found.get(row) for row in range(1, max(found) + 1)]


if __name__ == "__main__":
    told = told_by_libreoffice(workbook())
    table = dict(zip(FORMULAS, told, strict=True))
    TOLD.write_text(json.dumps(table, indent=0, ensure_ascii=False) + "\n", encoding="utf-8")
    sys.stdout.write(f"{len(table)} formulas\n")
