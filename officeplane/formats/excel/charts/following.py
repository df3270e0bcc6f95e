"""Following: what charts remember of cells stays true when the cells are others.

Values are remembered anew. Results of formulas that have to be calculated first are
forgotten: programs draw what they remember until then, and it would be wrong.
"""

from collections.abc import Iterator
from typing import Final, NamedTuple

from officeplane.formats.charts.caches import NUMBERS, REFERENCES, TEXTS, forget, keep, remembered
from officeplane.formats.charts.data import Point, point_text
from officeplane.formats.charts.names import c, is_on, local
from officeplane.formats.excel.charts.cells import ChartCells, Seen
from officeplane.formats.excel.charts.listing import charts_of
from officeplane.formats.excel.parts import Parts
from officeplane.formats.xml import Element

_ELSEWHERE: Final = "["
"""A formula with it names another workbook, which nothing here can change."""

_OTHER_CACHES: Final = frozenset(("dlblRangeCache", "lvl"))
_LABELS: Final = frozenset((c("cat"), c("xVal"), c("tx")))


class _Named(NamedTuple):
    """A place in a chart that names cells."""

    part: str
    reference: Element
    formula: str
    visible_only: bool


class ChartFollowing:
    """What the charts of a workbook show, before and after an edit."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._before: dict[Element, Seen | None] = {}
        self._stamp: tuple[int, ...] | None = None

    def begin(self) -> None:
        """Note what charts show now."""
        named, stamp = list(self._named()), self._stamp_now()
        if stamp != self._stamp or self._before.keys() != {each.reference for each in named}:
            self._note(named, stamp)

    def follow(self) -> None:
        """Have charts remember what their cells hold, if any cells are others since."""
        stamp = self._stamp_now()
        if stamp == self._stamp:
            return
        named = list(self._named())
        before = self._before
        self._note(named, stamp)
        for each in named:
            after = self._before[each.reference]
            # What was not there before, such as in a copied sheet, remembers what the original does.
            if self._renew(each, before.get(each.reference, after), after):
                self._parts.package.changed(each.part)

    def _note(self, named: list[_Named], stamp: tuple[int, ...]) -> None:
        cells = ChartCells(self._parts) if named else None
        self._before = {
            each.reference: None if cells is None else cells.seen(each.formula, visible_only=each.visible_only)
            for each in named
        }
        self._stamp = stamp

    def _named(self) -> Iterator[_Named]:
        package = self._parts.package
        for sheet in self._parts.sheets.all:
            for chart in charts_of(package, sheet.part) if sheet.part else ():
                root = package.tree(chart.part)
                frame = root.find(c("chart"))
                visible_only = frame is not None and is_on(frame, "plotVisOnly", otherwise=False)
                for formula in root.iter("{*}f"):
                    reference = formula.getparent()
                    if reference is not None and formula.text:
                        yield _Named(chart.part, reference, formula.text, visible_only)

    def _stamp_now(self) -> tuple[int, ...]:
        """Return what is another as soon as any cell is."""
        parts = self._parts
        names = [sheet.part for sheet in parts.sheets.all if sheet.part]
        times = map(parts.package.times_changed, (*names, parts.workbook, parts.strings_part or ""))
        return (len(names), *times)

    def _renew(self, named: _Named, before: Seen | None, after: Seen | None) -> bool:
        reference = named.reference
        if after is None:
            if _ELSEWHERE in named.formula:
                return False
            return _forget_all(reference)
        if reference.tag not in {NUMBERS, TEXTS}:
            return (before != after or bool(after.stale)) and _forget_all(reference)
        if before == after and not after.stale:
            return False
        known = remembered(reference)
        is_stale = any(at < len(known) and known[at] is not None for at in after.stale)
        if not known or (before == after and not is_stale):
            return False
        points = after.points
        if reference.tag == NUMBERS and _labels(reference) and any(isinstance(point, str) for point in points):
            for cache in list(reference.iterchildren(c("numCache"))):
                reference.remove(cache)
            reference.tag = TEXTS
            known = ()
        if reference.tag == TEXTS:
            old = before.points if before is not None else ()
            points = tuple(self._text(at, point, old, known) for at, point in enumerate(points))
        code = next((cache.findtext(c("formatCode")) for cache in reference.iterchildren(c("numCache"))), None)
        keep(reference, points, code)
        return True

    @staticmethod
    def _text(at: int, point: Point, old: tuple[Point, ...], known: tuple[Point, ...]) -> Point:
        if at < len(old) and at < len(known) and old[at] == point and point is not None:
            # As the cell shows it, which only the program knows that wrote it down.
            return known[at]
        return None if point is None else point_text(point)


def _forget_all(reference: Element) -> bool:
    gone = [child for child in reference if isinstance(child.tag, str) and local(child) in _OTHER_CACHES]
    for child in gone:
        reference.remove(child)
    had = len(reference)
    if reference.tag in REFERENCES:
        forget(reference)
    return bool(gone) or len(reference) != had


def _labels(reference: Element) -> bool:
    holder = reference.getparent()
    return holder is not None and holder.tag in _LABELS
