"""Searching and replacing in the texts of cells; formulas and their results are left alone."""

from collections.abc import Iterator
from dataclasses import dataclass

from officeplane.formats.excel.cells.addresses import Address
from officeplane.formats.excel.cells.texts import read, replace, spans_in
from officeplane.formats.excel.cells.values import shared_number, string_item
from officeplane.formats.excel.cells.writer import SheetWriter
from officeplane.formats.excel.formulas.shared import place_of
from officeplane.formats.excel.parts import Parts
from officeplane.formats.excel.sheets.sheet_list import Sheet
from officeplane.formats.excel.tags import FORMULA
from officeplane.formats.search import Wanted
from officeplane.formats.xml import Element


@dataclass(frozen=True, slots=True)
class Hit:
    """A cell whose text holds what was looked for."""

    sheet: Sheet
    cell: Element
    item: Element
    spans: list[tuple[int, int]]
    is_shared: bool

    @property
    def at(self) -> Address:
        """Where the cell is."""
        return place_of(self.cell)

    @property
    def places(self) -> list[str]:
        """The cell's node id, once for each occurrence."""
        return [f"{self.sheet.name}!{self.at}"] * len(self.spans)


def hits(parts: Parts, wanted: Wanted) -> Iterator[Hit]:
    """Yield the cells whose text holds what is looked for, sheet by sheet, row by row."""
    strings = parts.strings
    shared = {at: spans for at in range(len(strings.items)) if (spans := wanted.spans(strings.text(at)))}
    for sheet in parts.sheets.all:
        if not sheet.has_cells:
            continue
        for _, cell in parts.grid(sheet).cells():
            kind = cell.get("t")
            if kind == "s":
                number = shared_number(cell)
                if number in shared:
                    yield Hit(sheet, cell, strings.items[number], shared[number], is_shared=True)
            elif kind in {"inlineStr", "str"} and cell.find(FORMULA) is None:
                item = string_item(cell, strings)
                if item is not None and (spans := spans_in(item, wanted)):
                    yield Hit(sheet, cell, item, spans, is_shared=False)


def replace_all(parts: Parts, wanted: Wanted, with_text: str) -> list[str]:
    """Replace a text wherever it stands; return the node of each replacement."""
    found = list(hits(parts, wanted))
    replace_in(parts, found, with_text)
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
    replace_in(parts, [hit for hit in found if hit.cell not in typed], text)
    for writer in writers.values():
        writer.finish()
    return [place for hit in found for place in hit.places]


def replace_in(parts: Parts, found: list[Hit], with_text: str) -> None:
    """Replace what was found, each text once however many cells share it."""
    done: set[Element] = set()
    shared_by = {hit.item for hit in found if hit.is_shared}
    writers: dict[str, SheetWriter] = {}
    for hit in found:
        if hit.item not in done:
            done.add(hit.item)
            replace(hit.item, hit.spans, with_text)
        writer = writers.get(hit.sheet.id)
        if writer is None:
            writer = writers[hit.sheet.id] = SheetWriter(parts, hit.sheet)
        writer.follow(hit.cell, read(hit.item), is_inline=not hit.is_shared)
    if shared_by and parts.strings_part is not None:
        parts.package.changed(parts.strings_part)
        parts.strings.forget()
    for writer in writers.values():
        writer.finish()
