"""By hand: files edited as one would without this system, by `python -m officeplane.bench.by_hand PLAN`.

Lock the file, load it with the library, edit, save beside it, and let the disk
have the file and the folder. Each process says that it is ready and waits for a
line before it begins, so that no import is measured.
"""

import fcntl
import json
import os
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import docx
import openpyxl
from docx.text.run import Run

Save = Callable[[str], None]
"""Writes an edited file to a path."""


def main(plan: Path) -> None:
    """Do what the plan says, one after the other."""
    orders: list[list[Any]] = json.loads(plan.read_text())
    print("ready", flush=True)  # noqa: T201 - how it says so
    sys.stdin.readline()
    for name, edit, *arguments in orders:
        file = plan.parent / name
        with _locked(file):
            _replace(file, _EDITS[edit](file, arguments))


@contextmanager
def _locked(file: Path) -> Generator[None, None, None]:
    with file.with_name(f"{file.name}.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _add(file: Path, arguments: Sequence[Any]) -> Save:
    document = docx.Document(str(file))
    document.add_paragraph(arguments[0])
    return document.save


def _change(file: Path, arguments: Sequence[Any]) -> Save:
    index, old, new = arguments
    document = docx.Document(str(file))
    # python-docx does not say what a list of runs holds.
    run = cast("Run", document.paragraphs[index].runs[0])  # pyright: ignore[reportUnknownMemberType]
    run.text = run.text.replace(old, new, 1)
    return document.save


def _set_cells(file: Path, arguments: Sequence[Any]) -> Save:
    book = openpyxl.load_workbook(file)
    page = book["Data"]
    for cell, value in arguments[0].items():
        page[cell] = value
    return book.save


def _replace(file: Path, save: Save) -> None:
    beside = file.with_name(f"{file.name}.new")
    save(str(beside))
    _sync(beside)
    beside.replace(file)
    _sync(file.parent)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


_EDITS = {"add": _add, "change": _change, "set_cells": _set_cells}


if __name__ == "__main__":
    main(Path(sys.argv[1]))
