"""Reading a workbook in parts: sheets, tables, charts, names and comments as nodes, cells by their addresses."""

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from officeplane.formats.blocks import Block, Heading, Line, Span, Table
from officeplane.formats.charts.telling import facts_of
from officeplane.formats.commonmark import written
from officeplane.formats.excel.cells.addresses import Area
from officeplane.formats.excel.cells.implied_addresses import column_of
from officeplane.formats.excel.cells.values import shown
from officeplane.formats.excel.charts.listing import Chart, charts_of
from officeplane.formats.excel.charts.reading import told_form, told_table
from officeplane.formats.excel.comments.remarks import remarks_on
from officeplane.formats.excel.formulas.calculation import count_stale, is_stale
from officeplane.formats.excel.formulas.shared import formula_of, place_of
from officeplane.formats.excel.looks.seen import form_of
from officeplane.formats.excel.parts import Parts
from officeplane.formats.excel.reading import STALE_MARK, text_of_sheet
from officeplane.formats.excel.sheet_rows import CellText, rows
from officeplane.formats.excel.sheets.pictures import SheetPicture, pictures_on
from officeplane.formats.excel.sheets.places import WHOLE, area_or_lines, told, unquoted
from officeplane.formats.excel.sheets.settings import settings_of
from officeplane.formats.excel.sheets.sheet_list import Sheet
from officeplane.formats.excel.tags import FORMULA, main
from officeplane.formats.pictures.drawing import blip_in, shown_by
from officeplane.formats.pictures.parts import bytes_of
from officeplane.formats.reading.detail import Detail, Tree
from officeplane.formats.reading.reader import Searched
from officeplane.formats.shown import Measure

_CELL: Final = "cell"
_RANGE: Final = "range"
_CONTENT_CELLS_MAX: Final = 100_000
"""What a sheet has beyond so many cells is read by rows (`/cells`)."""


class AreaSource(NamedTuple):
    """Cells that are a node."""

    sheet: Sheet
    area: Area


class ExcelReader:
    """The nodes of one state of a workbook; its cells are no nodes of the tree, there may be millions."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._stale = is_stale(parts.package, parts.workbook)
        self.tree = Tree([*map(self._sheet, parts.sheets.all), *self._names()])

    def at(self, node_id: str) -> Detail | None:
        """Return the node of an address, such as `Sheet1!B2:C9`, made for the moment."""
        name, mark, place = node_id.rpartition("!")
        sheet = self._parts.sheets.find(unquoted(name)) if mark else None
        found = area_or_lines(place)
        if sheet is None or found is None or not sheet.has_cells:
            return None
        return Detail(node_id, _CELL if found.size == 1 else _RANGE, name=told(found), source=AreaSource(sheet, found))

    def said(self, detail: Detail) -> str:
        """Return what a node says, rows by line and cells by tab."""
        if isinstance(detail.source, Sheet):
            return text_of_sheet(self._parts, detail.source)
        if isinstance(detail.source, AreaSource):
            rows = self._rows(*detail.source)
            return "\n".join("\t".join(row) for row in rows)
        return detail.text or detail.name

    def content(self, detail: Detail, enough: int | None = None) -> str | None:
        """Return a sheet, a range or a table as a table of CommonMark, its first row as the header."""
        if isinstance(detail.source, Sheet):
            grid = self._parts.grid(detail.source) if detail.source.has_cells else None
            used = None if grid is None else grid.used_range()
            return "" if used is None else self._table(detail.source, used)
        if isinstance(detail.source, AreaSource):
            return self._table(*detail.source)
        if isinstance(detail.source, Chart):
            return written(told_table(self._parts, detail.source.part), enough)
        return detail.text or None

    def blocks(self) -> Iterator[Block]:
        """Yield each sheet's name and its cells as a table; rows and columns that say nothing are left out."""
        for sheet in self._parts.sheets.all:
            yield Heading(1, (Span(sheet.name),))
            held = [row for _, row in rows(self._parts, sheet.id)]
            columns = sorted({column for row in held for column in row})
            measure = Measure()
            lines = tuple(tuple(_line(row, column, measure) for column in columns) for row in held)
            if lines:
                yield Table(lines, 1)

    def form(self, detail: Detail) -> dict[str, Any]:
        """Return where a picture lies and how large it is, or how the cells of a range or sheet look in common."""
        match detail.source:
            case SheetPicture():
                return detail.source.form()
            case Chart():
                return told_form(self._parts, detail.source.part)
            case AreaSource():
                return form_of(self._parts, *detail.source)
            case Sheet() if detail.source.has_cells:
                return form_of(self._parts, detail.source, WHOLE)
            case _:
                return {}

    def searched(self, under: Detail | None) -> Iterator[Searched]:
        """Yield every text and formula of cells, then what names, comments and charts say."""
        source = None if under is None else under.source
        place = source if isinstance(source, AreaSource) else None
        owner = source if isinstance(source, Sheet) else None
        if under is None or place is not None or owner is not None:
            for sheet in self._parts.sheets.all:
                if (place is None or place.sheet.id == sheet.id) and (owner is None or owner.id == sheet.id):
                    yield from self._cells(sheet, None if place is None else place.area)
        for detail in self.tree.below(under):
            if (text := detail.text or detail.name) and detail.kind not in {_RANGE, _CELL}:
                yield Searched(detail.id, detail.kind, text)

    def picture(self, detail: Detail) -> bytes | None:
        """Return the bytes of a picture; None when the file has none of it."""
        source = detail.source
        blip = blip_in(source.element) if isinstance(source, SheetPicture) else None
        return None if blip is None else bytes_of(self._parts.package, source.part, shown_by(blip))

    def _cells(self, sheet: Sheet, within: Area | None) -> Iterator[Searched]:
        if not sheet.has_cells:
            return
        grid, strings = self._parts.grid(sheet), self._parts.strings
        cells = (cell for _, cell in grid.cells()) if within is None else grid.cells_in(within)
        for cell in cells:
            formula = formula_of(grid, cell) if cell.find(FORMULA) is not None else None
            text = shown(cell, strings) or ""
            node_id = f"{sheet.name}!{place_of(cell)}"
            if formula is not None:
                yield Searched(node_id, "formula", f"={formula}", sheet.id)
            if text:
                yield Searched(node_id, _CELL, text, sheet.id)

    def _sheet(self, sheet: Sheet) -> Detail:
        made = Detail(sheet.id, "sheet", sheet.name, is_title=True, is_coarse=True, source=sheet)
        if sheet.is_hidden:
            made.facts["hidden"] = True
        made.facts |= settings_of(self._parts, sheet)
        if sheet.has_cells:
            grid = self._parts.grid(sheet)
            used = grid.used_range()
            if used is not None:
                held = Detail(
                    f"range-{sheet.number}", _RANGE, name=str(used), is_coarse=True, source=AreaSource(sheet, used)
                )
                stale = count_stale(self._parts.package, self._parts.workbook, grid.root)
                if stale:
                    held.marks["stale"] = stale
                made.children.append(held)
            for table in self._parts.tables(sheet):
                facts = {"name": table.name, "range": str(table.area)}
                made.children.append(
                    Detail(
                        table.id, "table", name=f"{table.name} {table.area}", is_coarse=True, facts=facts, mark="table",
                        source=AreaSource(sheet, table.area),
                    )
                )  # fmt: skip
        for chart in charts_of(self._parts.package, sheet.part):
            facts = facts_of(self._parts.package.tree(chart.part))
            made.children.append(
                Detail(chart.id, "chart", name=chart.title, is_coarse=True, mark="chart", facts=facts, source=chart)
            )
        made.children += self._pictures(sheet)
        made.children += self._comments(sheet)
        return made

    def _pictures(self, sheet: Sheet) -> Iterator[Detail]:
        for picture in pictures_on(self._parts.package, sheet.part):
            about = picture.about
            name = about.get("descr") or about.get("name") or ""
            number = about.get("id", "")
            yield Detail(f"{sheet.id}.picture-{number}", "picture", name=name, mark="picture", source=picture)

    def _comments(self, sheet: Sheet) -> Iterator[Detail]:
        for remark in remarks_on(self._parts.package, self._parts.workbook, sheet):
            yield Detail(remark.id, "comment", remark.text, mark="comment", facts=remark.facts())

    def _names(self) -> Iterator[Detail]:
        holder = self._parts.package.tree(self._parts.workbook).find(main("definedNames"))
        sheets = self._parts.sheets.all
        for defined in () if holder is None else holder.iterchildren(main("definedName")):
            name, local = defined.get("name", ""), defined.get("localSheetId", "")
            scope = (
                sheets[int(local)].name if local.isascii() and local.isdecimal() and int(local) < len(sheets) else ""
            )
            facts = {"refersTo": f"={defined.text or ''}", **({"sheet": scope} if scope else {})}
            if defined.get("comment"):
                facts["comment"] = defined.get("comment", "")
            if not name.startswith("_xlnm."):
                yield Detail(f"name-{name}", "name", name=name, facts=facts)

    def _table(self, sheet: Sheet, found: Area) -> str:
        rows: tuple[tuple[Line, ...], ...] = tuple(
            tuple((Span(text),) if text else () for text in row) for row in self._rows(sheet, found)
        )
        return written([Table(rows, 1)]) if rows else ""

    def _rows(self, sheet: Sheet, found: Area) -> Iterator[list[str]]:
        """Yield the rows of an area that hold anything, as wide as what they hold together."""
        grid, strings = self._parts.grid(sheet), self._parts.strings
        measure = Measure()
        rows: dict[int, dict[int, str]] = {}
        for turn, cell in enumerate(grid.cells_in(found)):
            if turn == _CONTENT_CELLS_MAX:
                break
            text = self._shown(shown(cell, strings), formula_of(grid, cell))
            if text:
                rows.setdefault(place_of(cell).row, {})[column_of(cell)] = measure.passed(text)
        columns = sorted({column for row in rows.values() for column in row})
        between = Measure()
        for row in rows.values():
            yield [between.passed(row.get(column, "")) for column in columns]

    def _shown(self, value: str | None, formula: str | None) -> str:
        if value is None:
            return f"={formula}{STALE_MARK}"
        return value + (STALE_MARK if self._stale and formula is not None else "")


def _line(row: Mapping[int, CellText], column: int, measure: Measure) -> Line:
    said = row.get(column)
    # What is empty takes some room, too.
    text = measure.passed("" if said is None else said.text)
    return (Span(text),) if text else ()
