"""Formulas of a sheet's cells: single ones, those that cells share, and those that fill several cells at once."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from itertools import count
from typing import Final, NamedTuple

from officeplane.formats.excel.cells.addresses import Address, Area, area
from officeplane.formats.excel.formulas import references
from officeplane.formats.excel.formulas.shared import place_of
from officeplane.formats.excel.numbers import whole
from officeplane.formats.excel.shifting.formulas import FormulaShift
from officeplane.formats.excel.shifting.members import Common, Key
from officeplane.formats.excel.tags import FORMULA, main
from officeplane.formats.xml import Element

_DATA: Final = main("sheetData")
_SHARED: Final = "shared"


class Note(NamedTuple):
    """A cell whose formula has lost a reference, or has one that could not follow."""

    cell: Address
    is_lost: bool


class CellFormulas:
    """The formulas of one sheet, while its cells still say where they were."""

    def __init__(self, formulas: FormulaShift, root: Element, *, is_own: bool) -> None:
        self._formulas = formulas
        self._is_own = is_own
        self._data = root.find(_DATA)
        self.notes: list[Note] = []
        self.has_changed = False

    def follow(self) -> None:
        """Let all of them follow; those of cells that go are left out."""
        groups: dict[str, list[Element]] = {}
        goes = self._is_own and not self._formulas.shift.inserts
        for formula in () if self._data is None else self._data.iter(FORMULA):
            kind = formula.get("t")
            if kind == _SHARED:
                groups.setdefault(formula.get("si", ""), []).append(formula)
                continue
            if goes and self._is_gone(formula):
                continue
            if formula.text:
                self._set(formula, self._formulas.plain(formula.text, is_own=self._is_own))
            if self._is_own and kind in {"array", "dataTable"}:
                self._move(formula)
        names = _free_names(groups)
        for name, members in groups.items():
            self._follow_group(members, name, names)

    def _is_gone(self, formula: Element) -> bool:
        return self._formulas.shift.cell(_place(formula)) is None

    def _set(self, formula: Element, after: str) -> None:
        if after != formula.text:
            formula.text = after
            self.has_changed = True
        self._note(formula)

    def _note(self, formula: Element) -> None:
        if self._formulas.has_lost or self._formulas.spans_sheets:
            place = _place(formula)
            seat = (self._formulas.shift.cell(place) or place) if self._is_own else place
            self.notes.append(Note(seat, self._formulas.has_lost))

    def _move(self, formula: Element) -> None:
        """Let what fills several cells say which, and a data table where its inputs are."""
        for name in ("ref", "r1", "r2"):
            known = area(formula.get(name))
            moved = None if known is None else self._formulas.shift.area(known)
            if moved is not None and moved != known:
                formula.set(name, str(moved))

    def _follow_group(self, members: list[Element], name: str, names: Iterator[str]) -> None:
        """Let a shared formula follow; where its cells do not read it alike any more it becomes several."""
        shift = self._formulas.shift
        source = next((each for each in members if each.text), None)
        if source is None or not source.text or (not self._is_own and "!" not in source.text):
            return
        places: dict[Element, Address] = {}
        for each in members:
            place = _place(each)
            if self._is_own and shift.cell(place) is None:
                continue
            if each is source or not each.text:
                places[each] = place
            else:
                # It says for itself what it would have been told.
                self._set(each, self._formulas.plain(each.text, is_own=self._is_own))
        if not places:
            return
        shared = _Shared(source.text, _place(source))
        numbers = {shift.of(place) for place in places.values()}
        common = Common(self._formulas, shared.text, shift.of(shared.origin), self._is_own)
        found = common.stretches(numbers, exactly=True)
        firsts = [stretch.first for stretch in found]
        alike: dict[Key, list[Element]] = {}
        for each, place in places.items():
            key = found[bisect_right(firsts, shift.of(place)) - 1].key
            alike.setdefault(key, []).append(each)
        for at, sharing in enumerate(alike.values()):
            heir = source if source in sharing else sharing[0]
            self._share(heir, sharing, places, shared, next(names) if at else name, is_alone=len(alike) == 1)

    def _share(
        self,
        heir: Element,
        members: list[Element],
        places: dict[Element, Address],
        shared: "_Shared",
        name: str,
        *,
        is_alone: bool,
    ) -> None:
        """Have cells that read a formula alike hold it together."""
        shift, place = self._formulas.shift, places[heir]
        rows, columns = place.row - shared.origin.row, place.column - shared.origin.column
        aside = (0, columns) if shift.is_of_rows else (rows, 0)
        text = references.shift(shared.text, *aside) if any(aside) else shared.text
        after = Common(self._formulas, text, shift.of(shared.origin), self._is_own).at(shift.of(place))
        self._set(heir, after)
        if len(members) == 1 and not is_alone:
            for attribute in ("t", "si", "ref"):
                heir.attrib.pop(attribute, None)
            return
        if is_alone and not self._is_own:
            return
        reach = str(_around((shift.cell(places[each]) if self._is_own else None) or places[each] for each in members))
        if heir.get("ref") != reach:
            heir.set("ref", reach)
            self.has_changed = True
        for each in members:
            if each.get("si") != name:
                each.set("si", name)


class _Shared(NamedTuple):
    text: str
    origin: Address


def _free_names(groups: Iterable[str]) -> Iterator[str]:
    """Yield names for further groups of a sheet."""
    return map(str, count(max((whole(name, -1) for name in groups), default=-1) + 1))


def _around(places: Iterable[Address]) -> Area:
    rows, columns = zip(*places, strict=True)
    return Area(min(rows), min(columns), max(rows), max(columns))


def _place(formula: Element) -> Address:
    holder = formula.getparent()
    return Address(1, 1) if holder is None else place_of(holder)
