"""Merges of every edit there is: what it has changed comes into the head, or is refused by name."""

from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import Final, cast

import pytest

from officeplane.domain.document import Format, InvalidEditError
from officeplane.formats.excel.workbook import Workbook
from officeplane.formats.merging.unit import MergeConflictError
from officeplane.formats.opening import Document
from tests.formats.edits_tried import edits_for, occasion
from tests.formats.merging.merges import MAKERS, merged, opened, written

_DOCUMENTS: Final = [
    pytest.param(kind, make, id=f"{kind}-{name}")
    for kind, makers in MAKERS.items()
    for name, make in makers.items()
    # What a table of contents lists is the result of a field; forty slides are no harder than four.
    if name not in {"fields_and_links", "many"}
]

_TRIED: Final = 6
"""How many edits of each document are tried: opening all these files takes its time."""


def _uploads(kind: Format, data: bytes) -> list[tuple[str, bytes]]:
    """Return the document after some of the edits that it can have, of each kind of place, with the edit's type."""
    found: list[tuple[str, bytes]] = []
    numbers = range(len(edits_for(opened(kind, data))))
    for number in numbers[:: max(1, len(numbers) // _TRIED)]:
        document = opened(kind, data)
        edit = edits_for(document)[number]
        with suppress(InvalidEditError):
            edit.apply(document, occasion())
            found.append((edit.task_type, written(document)))
    return found


def _said(document: Document) -> Counter[str]:
    """Return what a document says, but for the results of formulas."""
    if isinstance(document, Workbook):
        items = [
            (sheet["id"], cell["cell"], cell.get("formula", cell["value"]))
            for sheet in document.all_cells(None)
            for cell in cast("list[dict[str, object]]", sheet["cells"])
        ]
        return Counter(map(repr, items))
    return Counter(line for line in document.text().split("\n") if line.strip())


@pytest.mark.parametrize(("kind", "make"), _DOCUMENTS)
def test_what_an_edit_has_changed_comes_into_a_head_that_nobody_has_changed(
    kind: Format, make: Callable[[], bytes]
) -> None:
    data = make()
    outcomes: Counter[str] = Counter()
    for task_type, upload in _uploads(kind, data):
        try:
            document, made = merged(kind, data, upload, data)
        except MergeConflictError:
            outcomes["refused"] += 1
            continue
        outcomes["merged"] += 1
        if not made.warnings:
            assert _said(document) == _said(opened(kind, upload)), task_type

    assert outcomes["merged"]


@pytest.mark.parametrize(("kind", "make"), _DOCUMENTS)
def test_an_upload_that_is_sent_twice_is_merged_once(kind: Format, make: Callable[[], bytes]) -> None:
    data = make()
    for task_type, upload in _uploads(kind, data):
        with suppress(MergeConflictError):
            once, _ = merged(kind, data, upload, data)
            head = written(once)

            _, again = merged(kind, data, upload, head)

            assert again.is_nothing, task_type
