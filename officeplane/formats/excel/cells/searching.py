"""Searching and replacing in the texts of cells; formulas and their results are left alone."""

from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from dataclasses import replace as replaced

from lxml import etree

from officeplane.formats.excel.cells.addresses import Address, Area
from officeplane.formats.excel.cells.texts import read, replace
from officeplane.formats.excel.cells.values import shared_number, string_item
from officeplane.formats.excel.cells.writer import SheetWriter
from officeplane.formats.excel.formulas.shared import place_of
from officeplane.formats.excel.parts import Parts
from officeplane.formats.excel.sheets.sheet_list import Sheet
from officeplane.formats.excel.tags import FORMULA, INLINE, VALUE
from officeplane.formats.patterns.matching import Match
from officeplane.formats.search import Wanted
from officeplane.formats.xml import Element


@dataclass(frozen=True, slots=True)
class Hit:
    """A cell whose text holds what was looked for."""

    sheet: Sheet
    cell: Element
    item: Element
    matches: Sequence[Match]
    is_shared: bool

    @property
    def at(self) -> Address:
        """Where the cell is."""
        return place_of(self.cell)

    @property
    def places(self) -> list[str]:
        """The cell's node id, once for each occurrence."""
        return [f"{self.sheet.name}!{self.at}"] * len(self.matches)


@dataclass(frozen=True, slots=True)
class Where:
    """The cells that are meant: of a sheet, or of an area in it."""

    sheet: Sheet
    area: Area | None = None


def hits(parts: Parts, wanted: Wanted, where: Where | None = None) -> Iterator[Hit]:
    """Yield the cells whose text holds what is looked for, sheet by sheet, row by row."""
    strings, finder = parts.strings, wanted.finder()
    shared: dict[int, list[Match]] = {}
    for sheet in parts.sheets.all:
        if not sheet.has_cells or (where is not None and where.sheet.id != sheet.id):
            continue
        for cell in _cells(parts, sheet, where):
            kind = cell.get("t")
            if kind == "s":
                number = shared_number(cell)
                if not 0 <= number < len(strings.items):
                    continue
                if number not in shared:
                    shared[number] = finder(strings.text(number))
                if shared[number]:
                    yield Hit(sheet, cell, strings.items[number], shared[number], is_shared=True)
            elif kind in {"inlineStr", "str"} and cell.find(FORMULA) is None:
                item = string_item(cell, strings)
                if item is not None and (matches := finder(read(item))):
                    yield Hit(sheet, cell, item, matches, is_shared=False)


def replace_all(parts: Parts, wanted: Wanted, with_text: str, where: Where | None = None) -> list[str]:
    """Replace a text where it is meant; return the node of each place at which it stands in these cells."""
    found = list(hits(parts, wanted, where))
    meant = found if wanted.nth is None else [*_nth_of(found, wanted.nth)]
    if where is not None or wanted.nth is not None:
        # Other cells may share these texts, and are not meant.
        meant = [_of_its_own(hit) for hit in meant]
    replace_in(parts, meant, wanted.replacing(with_text))
    return [place for hit in found for place in hit.places]


def fill_all(parts: Parts, wanted: Wanted, value: str | float | bool) -> list[str]:
    """Give cells that are nothing but a placeholder the value itself, and longer texts its text."""
    found = list(hits(parts, wanted))
    text = str(value).lower() if isinstance(value, bool) else str(value)
    whole = [] if isinstance(value, str) else [hit for hit in found if read(hit.item) == wanted.find]
    writers: dict[str, SheetWriter] = {}
    typed: set[Element] = set()
    for hit in whole:
        writer = writers.get(hit.sheet.id)
        if writer is None:
            writer = writers[hit.sheet.id] = SheetWriter(parts, hit.sheet)
        if not any(table.is_header(hit.at) for table in writer.tables):
            typed.add(hit.cell)
            writer.set(hit.at, value)
    replace_in(parts, [hit for hit in found if hit.cell not in typed], wanted.replacing(text))
    for writer in writers.values():
        writer.finish()
    return [place for hit in found for place in hit.places]


def replace_in(parts: Parts, found: Sequence[Hit], replacing: Callable[[Sequence[Match]], list[str]]) -> None:
    """Replace what was found, each text once however many cells share it."""
    done: set[Element] = set()
    shared_by = {hit.item for hit in found if hit.is_shared}
    writers: dict[str, SheetWriter] = {}
    for hit in found:
        if hit.item not in done:
            done.add(hit.item)
            replace(hit.item, [match.span for match in hit.matches], replacing(hit.matches))
        writer = writers.get(hit.sheet.id)
        if writer is None:
            writer = writers[hit.sheet.id] = SheetWriter(parts, hit.sheet)
        writer.follow(hit.cell, read(hit.item), is_inline=not hit.is_shared)
    if shared_by and parts.strings_part is not None:
        parts.package.changed(parts.strings_part)
        parts.strings.forget()
    for writer in writers.values():
        writer.finish()


def _cells(parts: Parts, sheet: Sheet, where: Where | None) -> Iterator[Element]:
    grid = parts.grid(sheet)
    if where is None or where.area is None:
        return (cell for _, cell in grid.cells())
    return grid.cells_in(where.area)


def _nth_of(found: Sequence[Hit], nth: int) -> Iterator[Hit]:
    """Yield the place of a number, from 1; nothing if there are not so many."""
    before = 0
    for hit in found:
        at = nth - before - 1
        if 0 <= at < len(hit.matches):
            yield replaced(hit, matches=hit.matches[at : at + 1])
        before += len(hit.matches)


def _of_its_own(hit: Hit) -> Hit:
    """Give a cell that shares its text one that lies in it."""
    if not hit.is_shared:
        return hit
    own = etree.Element(INLINE)
    own.extend(deepcopy(child) for child in hit.item)
    hit.cell.set("t", "inlineStr")
    for value in hit.cell.findall(VALUE):
        hit.cell.replace(value, own)
    return replaced(hit, item=own, is_shared=False)
