"""The formulas of a workbook: where each stands, and what finds them again; known from one edit to the next."""

from collections.abc import Iterable
from dataclasses import dataclass

from officeplane.formats.excel.cells.addresses import Address, Area
from officeplane.formats.excel.cells.grid import Grid
from officeplane.formats.excel.recalculation.dependents import Dependents
from officeplane.formats.excel.recalculation.readings import Reading
from officeplane.formats.excel.recalculation.surroundings import Surroundings
from officeplane.formats.xml import Element


@dataclass(slots=True, eq=False)
class Seat:
    """A formula in its cell."""

    sheet: int
    at: Address
    cell: Element
    reading: Reading
    fills: Area | None
    """The cells that it fills, where these are several or calculated by office programs alone."""
    has_result: bool
    is_gone: bool = False

    @property
    def results(self) -> Area:
        """The cells that show what it comes to."""
        return self.fills or Area(*self.at, *self.at)


class Formulas:
    """All formulas of cells, as long as they mean what they meant and stand where they stood."""

    def __init__(self, surroundings: Surroundings) -> None:
        self.surroundings = surroundings
        self.grids: dict[str, Grid] = {}
        """The sheets that were looked through, by their parts, as they were then."""
        self.dependents = Dependents()
        self.everything: set[Seat] = set()
        self.of_places: set[Seat] = set()
        self.without_result: set[Seat] = set()
        self._by_name: dict[str, list[Seat]] = {}
        self._seats: dict[tuple[int, Address], Seat] = {}

    def __len__(self) -> int:
        return len(self._seats)

    def add(self, seat: Seat) -> None:
        """Take a formula in."""
        self._seats[seat.sheet, seat.at] = seat
        self.dependents.add(seat)
        if seat.reading.reads_everything:
            self.everything.add(seat)
        if seat.reading.is_of_places:
            self.of_places.add(seat)
        if not seat.has_result:
            self.without_result.add(seat)
        for name in seat.reading.names:
            self._by_name.setdefault(name, []).append(seat)

    def drop(self, sheet: int, at: Address) -> None:
        """Forget the formula of a cell, if it had one."""
        seat = self._seats.pop((sheet, at), None)
        if seat is not None:
            seat.is_gone = True
            for held in (self.everything, self.of_places, self.without_result):
                held.discard(seat)

    def at(self, sheet: int, at: Address) -> Seat | None:
        """Return the formula of a cell."""
        return self._seats.get((sheet, at))

    def using(self, names: Iterable[str]) -> Iterable[Seat]:
        """Yield the formulas that use any of some names, in small letters."""
        return (seat for name in names for seat in self._by_name.get(name, ()) if not seat.is_gone)

    def all(self) -> set[Seat]:
        """Return all of them."""
        return set(self._seats.values())

    def note_result(self, seat: Seat, *, is_there: bool) -> None:
        """Note whether a formula has a result now."""
        seat.has_result = is_there
        (self.without_result.discard if is_there else self.without_result.add)(seat)
