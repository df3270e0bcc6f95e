"""Columns: the stretches of a sheet's columns that have a width or a format of their own."""

from copy import deepcopy
from typing import Final

from lxml import etree

from officeplane.formats.excel.cells.addresses import COLUMNS_MAX
from officeplane.formats.excel.numbers import whole
from officeplane.formats.excel.tags import main
from officeplane.formats.xml import Element

_COLUMNS: Final = main("cols")
_COLUMN: Final = main("col")


class Columns:
    """The stretches, in order."""

    def __init__(self, sheet: Element, data: Element) -> None:
        self._holder = sheet.find(_COLUMNS)
        self._data = data

    def stretches(self) -> list[tuple[int, int, Element]]:
        """Return the first and last column of each stretch, and what is said of it."""
        found = () if self._holder is None else self._holder.iterchildren(_COLUMN)
        stretches = [(whole(each.get("min"), 0), whole(each.get("max"), 0), each) for each in found]
        return sorted((each for each in stretches if 1 <= each[0] <= each[1]), key=lambda each: each[:2])

    def between(self, left: int, right: int, width: float) -> list[Element]:
        """Return the stretches that are these columns and no others: cut where they begin and end, made where missing.

        One that is made has the width that such columns have without it.
        """
        if self._holder is None:
            self._holder = etree.Element(_COLUMNS)
            self._data.addprevious(self._holder)
        found: list[Element] = []
        at = left
        for first, last, each in self.stretches():
            if last < at or first > right:
                continue
            if first > at:
                found.append(self._add(at, first - 1, width, each))
                at = first
            if first < at:
                before = deepcopy(each)
                before.set("max", str(at - 1))
                each.addprevious(before)
                each.set("min", str(at))
            if last > right:
                after = deepcopy(each)
                after.set("min", str(right + 1))
                each.addnext(after)
                each.set("max", str(right))
            found.append(each)
            at = min(last, right) + 1
        if at <= right:
            following = next((each for first, _, each in self.stretches() if first > right), None)
            found.append(self._add(at, right, width, following))
        return found

    def styles(self, left: int, right: int) -> set[str | None]:
        """Return the formats that these columns have."""
        found: set[str | None] = set()
        at = left
        for first, last, each in self.stretches():
            if last < left or first > right:
                continue
            found |= {each.get("style")} if first <= at else {each.get("style"), None}
            at = last + 1
        return found | {None} if at <= right else found

    def usual_style(self) -> str | None:
        """Return the format that most columns have."""
        counts: dict[str | None, int] = {None: COLUMNS_MAX}
        for first, last, each in self.stretches():
            style = each.get("style")
            counts[None] -= last - first + 1
            counts[style] = counts.get(style, 0) + last - first + 1
        return max(counts, key=lambda style: counts[style])

    def _add(self, first: int, last: int, width: float, before: Element | None) -> Element:
        made = etree.Element(_COLUMN, min=str(first), max=str(last), width=f"{width:.10g}")
        if before is not None:
            before.addprevious(made)
        elif self._holder is not None:
            self._holder.append(made)
        return made
