"""Beside the cells: how cells hang together, and what a sheet has that is no cell, which is the head's."""

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from officeplane.domain.warning import EditWarning
from officeplane.formats.excel.cells.addresses import Area
from officeplane.formats.excel.comments.remarks import remarks_on
from officeplane.formats.excel.merging.book import Book
from officeplane.formats.excel.sheets.defined_names import names_in
from officeplane.formats.excel.sheets.sheet_list import Sheet
from officeplane.formats.excel.tags import RELATION, main
from officeplane.formats.merging.beside import differing, differing_whole, properties_differing
from officeplane.formats.merging.canonical import Arrows, Canonical, is_relation
from officeplane.formats.xml import Element

_BESIDE: Final = {
    "cols": "widths of columns", "conditionalFormatting": "conditional formats", "dataValidations": "rules for input",
    "hyperlinks": "links", "drawing": "pictures or charts", "autoFilter": "a filter", "sheetProtection": "protection",
    "pageSetup": "how a sheet is printed", "pageMargins": "how a sheet is printed",
    "headerFooter": "what is printed around a sheet",
    "rowBreaks": "breaks between pages", "colBreaks": "breaks between pages", "sheetPr": "the colour of a tab",
}  # fmt: skip
_MADE_BY_PROGRAMS: Final = ("_xlnm._FilterDatabase",)
_OF_ROWS: Final = ("ht", "hidden", "outlineLevel")


class Structure(NamedTuple):
    """How the cells of a sheet hang together."""

    merges: frozenset[str]
    joint: frozenset[str]
    tables: Mapping[str, Area]


def structure_of(book: Book, sheet: Sheet) -> Structure:
    """Return how the cells of a sheet hang together."""
    grid = book.grid(sheet)
    merged = grid.root.find(main("mergeCells"))
    merges = () if merged is None else (one.get("ref", "") for one in merged)
    joint = (str(area) for area in grid.joint if area.size > 1)
    return Structure(
        frozenset(merges), frozenset(joint), {one.id: one.area for one in book.parts.tables(sheet)}
    )  # fmt: skip


def grown_tables(was: Structure, now: Structure, here: Structure) -> dict[str, int]:
    """Return the last rows of the tables that have only become longer in the upload, and are as they were here."""
    return {
        node_id: area.bottom
        for node_id, area in now.tables.items()
        if (known := was.tables.get(node_id)) is not None
        and here.tables.get(node_id) == known
        and (area.top, area.left, area.right) == (known.top, known.left, known.right)
        and area.bottom > known.bottom
    }


def warnings_of(was: Book, now: Book, *, is_exact: bool) -> Iterator[EditWarning]:
    """Yield what an upload has changed besides cells."""
    yield from differing(_remarks(was), _remarks(now), "a comment")
    yield from differing(_names(was), _names(now), "a name")
    yield from differing(_states(was), _states(now), "whether a sheet is hidden")
    yield from properties_differing(was.parts.package, now.parts.package)
    if is_exact:
        for node_id, sheet in was.sheets.items():
            if node_id in now.sheets:
                yield from _of_sheet(was, sheet, now, now.sheets[node_id])


def names_of(book: Book) -> dict[str, str]:
    """Return what names and tables stand for, by what formulas call them."""
    tables = {one.name: f"{one.id} {one.column_names}" for one in book.parts.all_tables()}
    return {name.removeprefix("name-"): said for name, said in _names(book).items()} | tables


def _of_sheet(was: Book, before: Sheet, now: Book, after: Sheet) -> Iterator[EditWarning]:
    told = [_children(book, sheet) for book, sheet in ((was, before), (now, after))]
    for what in dict.fromkeys(_BESIDE.values()):
        yield from differing_whole(told[0].get(what, []), told[1].get(what, []), f"{what} on {before.name!r}")
    if before.has_cells and after.has_cells:
        rows = [_rows(book, sheet) for book, sheet in ((was, before), (now, after))]
        yield from differing_whole(rows[0], rows[1], f"heights of rows on {before.name!r}, or which are hidden")


def _children(book: Book, sheet: Sheet) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    if sheet.part not in book.parts.package:
        return found
    arrows = Arrows(book.parts.package, sheet.part)

    def read(element: Element, name: str, said: str) -> str | None:
        if name == "style" and element.tag == main("col"):
            return book.exact_format(said)
        return arrows.told(said) if is_relation(name) or name == RELATION else said

    canonical = Canonical(read=read)
    for one in book.parts.package.tree(sheet.part):
        what = _BESIDE.get(str(one.tag).rpartition("}")[2])
        if what is not None:
            found.setdefault(what, []).append(canonical.of(one))
    return found


def _rows(book: Book, sheet: Sheet) -> list[str]:
    found: list[str] = []
    grid = book.grid(sheet)
    for number in grid.numbers:
        row = grid.row(number)
        said = [] if row is None else [row.get(name, "") for name in _OF_ROWS]
        if row is not None and any(said) and (row.get("customHeight") or said[1] or said[2]):
            found.append(f"{number} {said}")
    return found


def _remarks(book: Book) -> dict[str, str]:
    return {
        one.id: f"{one.text}\0{one.is_resolved}"
        for sheet in book.sheets.values()
        for one in remarks_on(book.parts.package, book.parts.workbook, sheet)
    }


def _names(book: Book) -> dict[str, str]:
    names = names_in(book.parts.package.tree(book.parts.workbook))
    return {
        f"name-{one.get('name', '')}": "".join((one.text or "").split())
        for one in names
        if one.get("name") not in _MADE_BY_PROGRAMS
    }


def _states(book: Book) -> dict[str, str]:
    return {node_id: str(sheet.is_hidden) for node_id, sheet in book.sheets.items()}
