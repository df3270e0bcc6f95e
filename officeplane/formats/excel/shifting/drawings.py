"""Drawings: charts, pictures and shapes stay with the cells that they stand on, as each of them says."""

from collections.abc import Iterator
from typing import Final

from officeplane.formats.excel.beside_cells import beside_cells
from officeplane.formats.excel.numbers import whole
from officeplane.formats.excel.shifting.shift import Shift
from officeplane.formats.xml import Element

_ANCHORS: Final = ("{*}twoCellAnchor", "{*}oneCellAnchor", "{*}anchor")


def shift_anchors(root: Element, shift: Shift) -> Iterator[str]:
    """Move what is anchored in cells; yield what has no size any more because all cells below it are gone."""
    for anchor in beside_cells(root, *_ANCHORS):
        begin, end = anchor.find("{*}from"), anchor.find("{*}to")
        if begin is None or anchor.get("editAs") == "absolute" or anchor.get("moveWithCells") in {"0", "false"}:
            continue
        name = "row" if shift.is_of_rows else "col"
        first, offset = begin.find(f"{{*}}{name}"), begin.find(f"{{*}}{name}Off")
        if first is None:
            continue
        before = whole(first.text, 0)
        after = shift.nearest(before + 1) - 1
        first.text = str(after)
        if shift.point(before + 1) is None and offset is not None:
            offset.text = "0"
        if end is None:
            continue
        last, reach = end.find(f"{{*}}{name}"), end.find(f"{{*}}{name}Off")
        if last is None:
            continue
        if anchor.get("editAs") == "oneCell" or anchor.get("sizeWithCells") in {"0", "false"}:
            last.text = str(min(whole(last.text, 0) + after - before, shift.limit - 1))
        elif _stretch(before, last, reach, shift):
            first.text, last.text = str(shift.at - 1), str(shift.at - 1)
            yield _name(anchor)


def _stretch(before: int, last: Element, reach: Element | None, shift: Shift) -> bool:
    """Move where something ends; whether all that it stood on is gone."""
    was = whole(last.text, 0)
    is_at_edge = reach is None or (reach.text or "").strip() in {"", "0"}
    if is_at_edge and was > before:
        # It ends with the row before, so what comes behind that does not make it larger.
        moved = shift.stretch(before + 1, was)
        last.text = str(shift.at - 1 if moved is None else moved[1])
        return moved is None
    moved = shift.stretch(before + 1, was + 1)
    seat = shift.point(was + 1)
    last.text = str((shift.nearest(was + 1) if seat is None else seat) - 1)
    if seat is None and reach is not None:
        reach.text = "0"
    return moved is None


def _name(anchor: Element) -> str:
    about = next(anchor.iter("{*}cNvPr"), None)
    return "" if about is None else about.get("descr") or about.get("name") or ""
