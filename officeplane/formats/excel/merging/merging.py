"""Merging a workbook: what an upload has changed of its cells is done to the head's.

Cells are the same by their places. Where rows or columns came or went offline, the same is done to the sheet first,
with all that refers to it, as long as nobody else has changed the sheet; else nobody could tell which cells are meant.
"""

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from officeplane.domain.document import InvalidEditError
from officeplane.formats.excel.cells.addresses import Address
from officeplane.formats.excel.merging.beside import grown_tables, names_of, structure_of, warnings_of
from officeplane.formats.excel.merging.book import Book, Held
from officeplane.formats.excel.merging.carrying import Carrying
from officeplane.formats.excel.merging.following import Cells, Following, is_moved, said_in
from officeplane.formats.excel.sheets.sheet_list import Sheet
from officeplane.formats.excel.workbook import Workbook
from officeplane.formats.merging.beside import written_anew
from officeplane.formats.merging.carrying import CannotCarryError
from officeplane.formats.merging.programs import program_of
from officeplane.formats.merging.three_ways import States, Three, settle, states_of
from officeplane.formats.merging.unit import Conflict, MergeConflictError, Merged, Unit

_MOVED_HERE: Final = (
    "rows or columns came or went on this sheet in the document, and the upload has changed cells of it: nobody can "
    "tell which cells are the same"
)
_HUNG_OTHERWISE: Final = (
    "the upload has merged or parted cells, or changed where tables or formulas over several cells lie: do that in the "
    "document as it is now"
)


class _Sheets(NamedTuple):
    """One sheet in all three states."""

    base: Cells
    head: Cells
    upload: Cells


def merge(base: Workbook, upload: Workbook, head: Workbook) -> Merged:
    """Do to the head what an upload has changed of the base; raise `MergeConflictError` if that cannot be.

    The base may be left changed.
    """
    return _Merging(base, upload, head).merged()


class _Merging:
    def __init__(self, base: Workbook, upload: Workbook, head: Workbook) -> None:
        self._head_parts = head.parts
        self._workbook = head
        self._base, self._upload = Book(base.parts), Book(upload.parts)
        self._head = Book(self._head_parts)
        self._conflicts: list[Conflict] = []
        self._made = Merged()
        self._grown: dict[str, dict[str, int]] = {}
        self._strange = frozenset[str]()

    def merged(self) -> Merged:
        self._check_sheets()
        self._refuse()
        sheets = [one for one in self._base.sheets.values() if one.has_cells]
        changed = [one for one in sheets if one.id in self._head.sheets and self._cells_differ(one)]
        self._workbook.charts.begin()
        following = Following(self._base, self._upload, self._head)
        for one in changed:
            following.follow(one)
        self._base, self._head = following.base, following.head
        self._made.changed, self._made.warnings = following.done, following.warnings
        self._conflicts += following.conflicts
        self._refuse()
        exact = self._states()
        warned = [] if exact.upload_is_exact else [written_anew()]
        self._made.warnings[:0] = [*warned, *warnings_of(self._base, self._upload, is_exact=exact.upload_is_exact)]
        chosen = {one.id: self._chosen(one, exact) for one in sheets if one.id in self._head.sheets}
        self._check_structures(chosen)
        self._refuse()
        self._strange = frozenset(self._strange_names())
        for node_id, cells in chosen.items():
            self._write(node_id, cells, exact)
        self._refuse()
        if not self._made.is_nothing:
            self._workbook.recalculate()
            self._workbook.charts.follow()
            self._check(chosen, exact)
            self._refuse()
        return self._made

    def _refuse(self) -> None:
        if self._conflicts:
            raise MergeConflictError(self._conflicts)

    def _check_sheets(self) -> None:
        """Note sheets that came, went or are called otherwise in the upload: these are no cells."""
        was, now, here = self._base.sheets, self._upload.sheets, self._head.sheets
        for node_id, sheet in now.items():
            known = was.get(node_id)
            if known is None:
                self._stands(
                    node_id, None, sheet.name, "the upload has a new sheet: add it to the document as it is now"
                )
            elif known.name != sheet.name:
                self._stands(node_id, known.name, sheet.name, "the upload has renamed a sheet")
            elif node_id not in here and self._cells_differ(known):
                self._stands(node_id, known.name, sheet.name, "the document has this sheet no more")
        for node_id, sheet in was.items():
            if node_id not in now and node_id in here:
                self._stands(node_id, sheet.name, None, "the upload has deleted a sheet")
        order = [[node_id for node_id in book if node_id in was and node_id in now] for book in (was, now)]
        if order[0] != order[1]:
            self._stands(order[1][0], None, None, "the upload has put sheets in another order")

    def _stands(self, node_id: str, base: str | None, upload: str | None, detail: str) -> None:
        here = self._head.sheets.get(node_id)
        self._conflicts.append(Conflict(node_id, base, None if here is None else here.name, upload, detail))

    def _cells_differ(self, sheet: Sheet) -> bool:
        was, now = self._base.cells(sheet), self._upload.cells(self._upload.sheets[sheet.id])
        return said_in(was) != said_in(now)

    def _three(self, sheet: Sheet) -> _Sheets:
        return _Sheets(
            self._base.cells(sheet),
            self._head.cells(self._head.sheets[sheet.id]),
            self._upload.cells(self._upload.sheets[sheet.id]),
        )

    def _states(self) -> States:
        """Return how finely the workbooks are compared: by all cells of all sheets, where their programs differ."""
        packages = [book.parts.package for book in (self._base, self._head, self._upload)]
        if len({program_of(package) for package in packages}) == 1:
            return States()
        units: tuple[dict[str, Unit], ...] = ({}, {}, {})
        for book, found in zip((self._base, self._head, self._upload), units, strict=True):
            for sheet in book.sheets.values():
                if sheet.has_cells:
                    found.update(
                        (f"{sheet.id}!{at}", _unit(f"{sheet.id}!{at}", held)) for at, held in book.cells(sheet).items()
                    )
        base, head, upload = units
        return states_of(base, [*head.values()], [*upload.values()], packages)

    def _chosen(self, sheet: Sheet, states: States) -> list[Address]:
        """Return the cells of a sheet that become what they are in the upload."""
        three = self._three(sheet)
        found: list[Address] = []
        conflicts: list[Conflict] = []
        for at in dict.fromkeys((*three.base, *three.upload)):
            was, now = three.base.get(at), three.upload.get(at)
            if was is not None and now is not None and _is_alike(was, now, is_exact=states.upload_is_exact):
                continue
            place = _place(self._head.sheets[sheet.id], at)
            units = [self._unit_at(place, book, sheet.id, cells, at) for book, cells in self._pairs(three)]
            settled = settle(place, Three(units[0], units[1], units[2]), states)
            if settled.conflict is not None:
                conflicts.append(settled.conflict)
            elif settled.is_taken:
                found.append(at)
        if (found or conflicts) and is_moved(three.base, three.head):
            self._stands(sheet.id, None, None, _MOVED_HERE)
            return []
        self._conflicts += conflicts
        return found

    def _pairs(self, three: _Sheets) -> Iterator[tuple[Book, Cells]]:
        yield from zip((self._base, self._head, self._upload), three, strict=True)

    def _unit_at(self, place: str, book: Book, sheet_id: str, cells: Cells, at: Address) -> Unit:
        held = cells.get(at)
        if held is None:
            # An empty cell is a cell.
            return Unit(place, f"\0{book.exact_format('0')}", "", f"\0{book.rough_format('0')}")
        return _unit(place, held, book.said(book.grid(book.sheets[sheet_id]), held.cell))

    def _check_structures(self, chosen: Mapping[str, list[Address]]) -> None:
        """Note sheets whose cells hang together otherwise: merged cells, tables, formulas that fill several cells."""
        for node_id in chosen:
            was = structure_of(self._base, self._base.sheets[node_id])
            now = structure_of(self._upload, self._upload.sheets[node_id])
            here = structure_of(self._head, self._head.sheets[node_id])
            longer = grown_tables(was, now, here)
            self._grown[node_id] = longer
            tables = [
                {one: area for one, area in each.tables.items() if one not in longer} for each in (was, now, here)
            ]
            was, now, here = (each._replace(tables=left) for each, left in zip((was, now, here), tables, strict=True))
            if now not in (was, here):
                self._stands(node_id, None, None, _HUNG_OTHERWISE)

    def _strange_names(self) -> Iterator[str]:
        """Yield what a formula of the upload may name that the head does not have, or has at other places."""
        for node_id, sheet in self._base.sheets.items():
            if not sheet.has_cells:
                continue
            here = self._head.sheets.get(node_id)
            is_here = here is not None and here.name == sheet.name
            if here is None or not is_here or is_moved(self._base.cells(sheet), self._head.cells(here)):
                yield sheet.name
        here_named = names_of(self._head)
        yield from (name for name, said in names_of(self._upload).items() if here_named.get(name) != said)

    def _write(self, node_id: str, cells: list[Address], states: States) -> None:
        if not cells:
            return
        there, here = self._upload.sheets[node_id], self._head.sheets[node_id]
        now, before = self._upload.cells(there), self._head.cells(here)
        carrying = Carrying(self._upload, there, self._head, here, frozenset(cells), self._strange)
        for at in sorted(cells):
            place = _place(here, at)
            wanted, known = now.get(at), before.get(at)
            try:
                if _content(wanted, is_exact=states.upload_is_exact) != _content(
                    known, is_exact=states.upload_is_exact
                ):
                    carrying.content(at, wanted)
                if self._formats_differ(wanted, known, states):
                    carrying.format(at, wanted)
            except (CannotCarryError, InvalidEditError) as error:
                said = None if wanted is None else self._upload.said(self._upload.grid(there), wanted.cell)
                self._conflicts.append(Conflict(place, None, None, said, str(error)))
                continue
            if known is None:
                self._made.added.append(place)
            elif wanted is None:
                self._made.removed.append(place)
            else:
                self._made.changed.append(place)
        carrying.finish()
        for table in self._head_parts.tables(here):
            if table.id in self._grown[node_id]:
                table.take_rows(self._grown[node_id][table.id])

    def _formats_differ(self, wanted: Held | None, known: Held | None, states: States) -> bool:
        one, other = (None if held is None else held.cell.get("s") for held in (wanted, known))
        if states.upload_is_exact:
            return self._upload.exact_format(one) != self._head.exact_format(other)
        return self._upload.rough_format(one) != self._head.rough_format(other)

    def _check(self, chosen: Mapping[str, list[Address]], states: States) -> None:
        """Compare what has come of the cells with what was to come of them."""
        made = Book(self._head_parts)
        for node_id, cells in chosen.items():
            if not cells:
                continue
            wanted, here = self._upload.cells(self._upload.sheets[node_id]), made.cells(made.sheets[node_id])
            for at in cells:
                place = _place(made.sheets[node_id], at)
                one = self._unit_at(place, self._upload, node_id, wanted, at)
                other = self._unit_at(place, made, node_id, here, at)
                if (one.exactly != other.exactly) if states.upload_is_exact else (one.roughly != other.roughly):
                    detail = "it would not be the same in the document as it is now"
                    self._conflicts.append(Conflict(place, None, other.said, one.said, detail))


def _content(held: Held | None, *, is_exact: bool) -> str:
    """Return what a cell says, and in which letters if these count."""
    if held is None:
        return ""
    return held.content if is_exact else held.content.partition("\0")[0]


def _is_alike(one: Held, other: Held, *, is_exact: bool) -> bool:
    return one.exactly == other.exactly if is_exact else one.roughly == other.roughly


def _unit(place: str, held: Held, said: str = "") -> Unit:
    return Unit(place, held.exactly, said, held.roughly)


def _place(sheet: Sheet, at: Address) -> str:
    name = sheet.name
    return f"{name}!{at}" if name.isidentifier() else f"'{name.replace(chr(39), chr(39) * 2)}'!{at}"
