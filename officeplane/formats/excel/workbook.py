"""A workbook: everything that edits ask of an Excel file."""

from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

from officeplane.domain.document import Format, InvalidEditError, Node
from officeplane.domain.warning import EditWarning
from officeplane.formats.blocks import Block
from officeplane.formats.charts.changing import ChartLook
from officeplane.formats.charts.data import Point
from officeplane.formats.charts.placing import ChartPlace
from officeplane.formats.diff import Readable
from officeplane.formats.excel import reading
from officeplane.formats.excel.cell_reading import FORMATS, FORMULAS, VALUES, CellsWanted, cells, named_sheet
from officeplane.formats.excel.cells.addresses import Area
from officeplane.formats.excel.cells.appending import append_rows
from officeplane.formats.excel.cells.ranges import Given, areas_of, cells_of
from officeplane.formats.excel.cells.searching import Where, fill_all, hits, replace_all
from officeplane.formats.excel.cells.values import Value
from officeplane.formats.excel.cells.writer import SheetWriter
from officeplane.formats.excel.charts.blocks import CellBlock, Formulas, block_of, write_block
from officeplane.formats.excel.charts.editing import Cells, change_sheet_chart, insert_chart
from officeplane.formats.excel.charts.following import ChartFollowing
from officeplane.formats.excel.comments.commenting import Commenting
from officeplane.formats.excel.formulas.formula import Formula
from officeplane.formats.excel.looks.formatting import Formatted, Formatting, format_places
from officeplane.formats.excel.parts import Parts
from officeplane.formats.excel.reader import AreaSource, ExcelReader
from officeplane.formats.excel.recalculation.recalculating import recalculate
from officeplane.formats.excel.sheet_rows import Row, rows
from officeplane.formats.excel.sheets.adding import add_sheet
from officeplane.formats.excel.sheets.copying import Copied, copy_sheet
from officeplane.formats.excel.sheets.deleting import delete_sheet
from officeplane.formats.excel.sheets.drawings import insert_picture, replace_picture
from officeplane.formats.excel.sheets.editing import SheetEditor
from officeplane.formats.excel.sheets.moving import move_sheet, position_beside, sheet_node
from officeplane.formats.excel.sheets.naming import define_name, delete_name
from officeplane.formats.excel.sheets.places import Place, place_at, place_of
from officeplane.formats.excel.sheets.renaming import rename_sheet
from officeplane.formats.excel.sheets.sheet_list import Sheet
from officeplane.formats.excel.shifting.editing import edit_grid
from officeplane.formats.excel.shifting.shift import Shift
from officeplane.formats.excel.table_edits.editing import EditedTable, edit_table
from officeplane.formats.package import Package
from officeplane.formats.pictures.bitmap import Bitmap
from officeplane.formats.reading.reader import node_to_change
from officeplane.formats.reading.room import Part
from officeplane.formats.search import Wanted
from officeplane.formats.signature import Signature
from officeplane.formats.table_change import TableChange

__all__ = ["Formula", "Workbook"]


class Workbook:
    """An Excel file on its parts. Sheets are named by their names, or by the ids of their nodes."""

    format: ClassVar[Format] = Format.XLSX

    def __init__(self, package: Package) -> None:
        self.package = package
        self._parts = Parts(package)
        self.charts = ChartFollowing(self._parts)
        """What its charts show, which follows what edits do to cells."""

    @property
    def parts(self) -> Parts:
        """What it is made of."""
        return self._parts

    def outline(self) -> list[Node]:
        """Return the sheets with their used range, tables and charts."""
        return reading.outline(self._parts, tells_stale=True)

    def text(self) -> str:
        """Return the whole text: each sheet's name and its rows, cells separated by tabs; stale results are marked."""
        return reading.text(self._parts, tells_stale=True)

    def reader(self) -> ExcelReader:
        """Return it as it is read in parts; it says what is true until the next edit."""
        return ExcelReader(self._parts)

    def cells(self, wanted: CellsWanted) -> Part:
        """Return what cells hold, with types, formulas and formats."""
        return cells(self._parts, wanted)

    def rows(self, sheet: str | None) -> Iterator[Row]:
        """Yield the rows of a sheet that say something, of the first one if none is named."""
        return rows(self._parts, sheet)

    def all_cells(self, sheet: str | None) -> list[dict[str, object]]:
        """Return sheets with all that their cells hold: one by its name or id, or all of them."""
        sheets = self._parts.sheets.all if sheet is None else [named_sheet(self._parts, sheet)]
        wanted = CellsWanted(show=(VALUES, FORMULAS, FORMATS))
        return [
            {"id": one.id, "name": one.name, "cells": self.cells(wanted._replace(sheet=one.id)).items} for one in sheets
        ]

    def comparable(self) -> Readable:
        """Return it as it is compared: that all results are stale since an edit is no difference."""
        return _WithoutMarks(self._parts)

    def recalculate(self) -> None:
        """Bring the results of formulas in order after an edit."""
        recalculate(self._parts)

    def places_of(self, wanted: Wanted) -> list[str]:
        """Return the cell of each occurrence of a text, in order."""
        found = hits(self._parts, wanted, self._where(wanted))
        return [*wanted.chosen([place for hit in found for place in hit.places])]

    def fingerprint(self, target: str) -> str | None:
        """Return a hash of what a node, a cell (`Sheet!B2`) or a sheet (`Sheet!`) holds; None when there is none."""
        return reading.fingerprint(self._parts, target)

    def set_cells(self, sheet_name: str, cells: Mapping[str, Given]) -> tuple[str, int]:
        """Give cells and ranges their contents; return the sheet's node id and how many cells there are of them."""
        sheet = self._parts.sheets.with_cells(sheet_name)
        given = cells_of(areas_of(cells))
        writer = SheetWriter(self._parts, sheet, given.keys())
        for at in sorted(given):
            writer.fill(at, *given[at])
        writer.finish()
        return sheet.id, len(given)

    def append_rows(self, sheet_name: str, rows: Sequence[Sequence[Value]]) -> tuple[str, int]:
        """Write rows below the last one that holds anything; return the sheet's node id and the first row's number."""
        return append_rows(self._parts, sheet_name, rows)

    def add_sheet(self, name: str, position: int | None, blocks: list[Block]) -> str:
        """Add a sheet before the one at `position`, or at the end; return its node id."""
        return add_sheet(self._parts, name, position, blocks)

    def rename_sheet(self, sheet: str, name: str) -> str:
        """Give a sheet another name, and let what names it follow; return its node id."""
        return rename_sheet(self._parts, sheet, name)

    def delete_sheet(self, sheet: str) -> tuple[str, list[str]]:
        """Remove a sheet; return the id of the node that it was, and the places that referred to it."""
        return delete_sheet(self._parts, sheet)

    def place_of(self, node_id: str) -> Place:
        """Return the cells that a node is."""
        return place_of(self._parts, node_id)

    def place_at(self, range: str) -> Place:
        """Return the cells of an address, also of whole columns and rows, such as `Sheet1!B:B`."""
        return place_at(self._parts, range)

    def cells_with(self, wanted: Wanted) -> list[Place]:
        """Return the cells whose text holds what is looked for, once for each occurrence."""
        return [Place(hit.sheet, Area(*hit.at, *hit.at)) for hit in hits(self._parts, wanted) for _ in hit.matches]

    def give_format(self, places: Sequence[Place], wanted: Formatting) -> Formatted:
        """Give cells another format."""
        return format_places(self._parts, places, wanted)

    def copy_sheet(self, sheet: str, name: str | None, position: int | None) -> Copied:
        """Copy a sheet; without a name it is called as by Excel, without a position it stands behind the original."""
        return copy_sheet(self._parts, sheet, name, position)

    def move_sheet(self, sheet: str, position: int) -> str:
        """Put a sheet where this many are before it, or at the end; return its node id."""
        return move_sheet(self._parts, sheet, position)

    def position_beside(self, node_id: str, side: str, beside: str) -> int:
        """Return how many sheets are before one that is put right before or after another."""
        return position_beside(self._parts, node_id, side, beside)

    def sheet_node(self, node_id: str) -> str:
        """Return the id of a sheet; another node is refused."""
        return sheet_node(self._parts, node_id)

    def define_name(self, name: str, refers_to: str, sheet: str | None, comment: str | None) -> str:
        """Have a name stand for cells or a value, in the workbook or on one sheet; return its node id."""
        return define_name(self._parts, name, refers_to, sheet, comment)

    def delete_name(self, name: str, sheet: str | None) -> list[str]:
        """Take a name back; return the places that used it and that nothing stands for now."""
        return delete_name(self._parts, name, sheet)

    def sheet_editor(self, sheet: str) -> SheetEditor:
        """Return a sheet, for what may be done to it besides its cells."""
        return SheetEditor(self._parts, sheet)

    def edit_grid(self, sheet: str, shift: Shift) -> tuple[str, int, list[EditWarning]]:
        """Insert or delete rows or columns; return the sheet's node id, how many references follow, and warnings."""
        return edit_grid(self._parts, sheet, shift)

    def edit_table(self, table_id: str, change: TableChange) -> EditedTable:
        """Change cells, rows and columns of a table; return how large it is then, and what to warn of."""
        return edit_table(self._parts, table_id, change)

    def sheet_id(self, sheet: str) -> str | None:
        """Return the node id of a sheet by its name or id, None when there is none."""
        found = self._parts.sheets.find(sheet)
        return None if found is None else found.id

    def insert_image(self, at: str, bitmap: Bitmap, alt: str, width: float | None) -> str:
        """Put a picture at a cell; return its node id."""
        return insert_picture(self._parts, at, bitmap, alt, width)

    def replace_image(self, node_id: str, bitmap: Bitmap, alt: str | None, width: float | None) -> None:
        """Show another picture at the place of one."""
        replace_picture(self._parts, node_id, bitmap, alt, width)

    def commenting(self, signature: Signature) -> Commenting:
        """Return what changes its comments in somebody's name."""
        return Commenting(self._parts, signature)

    def insert_chart(self, at: str, look: ChartLook, cells: Cells, alt: str | None, place: ChartPlace) -> str:
        """Put a chart of cells at a cell; return its node id."""
        return insert_chart(self._parts, at, look, cells, alt, place)

    def change_chart(
        self, node_id: str, look: ChartLook, cells: Cells | None, alt: str | None, at: str | None, place: ChartPlace
    ) -> list[EditWarning]:
        """Change a chart; return what to warn of."""
        return change_sheet_chart(self._parts, node_id, look, cells, alt, at, place)

    def block_of(self, formulas: Sequence[Formulas]) -> CellBlock | None:
        """Return the block in which the series of a chart lie, None if they lie otherwise."""
        return block_of(self._parts, formulas)

    def write_block(self, block: CellBlock, rows: Sequence[Sequence[Point]]) -> CellBlock | None:
        """Put rows in place of a block; None, and all is as it was last written, where there is no room for them."""
        try:
            written = write_block(self._parts, block, rows)
        except InvalidEditError:
            written = None
        if written is None:
            self.package.rollback()
        return written

    def replace_text(self, wanted: Wanted, replace: str) -> list[str]:
        """Replace a text where it is meant; return the cell of each place at which it stands under the node."""
        return replace_all(self._parts, wanted, replace, self._where(wanted))

    def fill(self, wanted: Wanted, value: str | float | bool) -> list[str]:
        """Put a value in place of a placeholder; return the cell of each."""
        return fill_all(self._parts, wanted, value)

    def _where(self, wanted: Wanted) -> Where | None:
        if wanted.under is None:
            return None
        found = node_to_change(self.reader(), wanted.under)
        match found.source:
            case Sheet() as sheet:
                return Where(sheet)
            case AreaSource(sheet, area):
                return Where(sheet, area)
            case _:
                raise InvalidEditError(
                    f"{wanted.under!r} is a {found.kind}, which has no cells; give a sheet or a range"
                )


class _WithoutMarks:
    """A workbook that does not say which of its results are stale."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def outline(self) -> list[Node]:
        return reading.outline(self._parts, tells_stale=False)

    def text(self) -> str:
        return reading.text(self._parts, tells_stale=False)
