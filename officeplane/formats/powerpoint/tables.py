"""Tables: rows of text as a table on a slide."""

from collections.abc import Sequence
from typing import Final

from officeplane.domain.document import InvalidEditError
from officeplane.formats.blocks import Line, Span, Table
from officeplane.formats.powerpoint.geometry import Area, place
from officeplane.formats.powerpoint.names import DRAWING, a, alone, p, under
from officeplane.formats.powerpoint.paragraphs import PARAGRAPH, text_of
from officeplane.formats.powerpoint.runs import Links, write_line
from officeplane.formats.powerpoint.shapes import FRAME
from officeplane.formats.xml import Element

_URI: Final = "http://schemas.openxmlformats.org/drawingml/2006/table"
ROWS_MAX: Final = 1_000
COLUMNS_MAX: Final = 75
"""How many rows and columns a table on a slide has at most."""

ROW_HEIGHT: Final = 370_840
"""How high a row of a new table is if there is room."""

_POINT: Final = 12_700
_PADDING: Final = 7.2
_SIZES: Final = range(7, 18)


def as_table(rows: Sequence[Sequence[str]], header: Sequence[str] | None) -> Table:
    """Return rows of plain text as a table."""
    all_rows = ([] if header is None else [header], rows)
    return Table(
        tuple(tuple((Span(cell),) for cell in row) for some in all_rows for row in some), 0 if header is None else 1
    )


def table_frame(table: Table, area: Area, style: str, links: Links, number: int) -> Element:
    """Return a shape that holds a table, in the given area."""
    frame = alone(FRAME)
    about = under(frame, p("nvGraphicFramePr"))
    under(about, p("cNvPr"), id=str(number), name=f"Table {number - 1}")
    under(under(about, p("cNvGraphicFramePr")), a("graphicFrameLocks"), noGrp="1")
    under(about, p("nvPr"))
    height = _row_height(table, area)
    place(under(frame, p("xfrm")), Area(area.x, area.y, area.width, height * len(table.rows)))
    data = under(under(frame, a("graphic")), a("graphicData"), uri=_URI)
    data.append(table_element(table, area, style, links))
    return frame


def table_element(table: Table, area: Area, style: str, links: Links) -> Element:
    """Return `a:tbl`, as wide as the area."""
    columns = max((len(row) for row in table.rows), default=0)
    if columns == 0:
        raise InvalidEditError("the table has no cells")
    if len(table.rows) > ROWS_MAX or columns > COLUMNS_MAX:
        raise InvalidEditError(
            f"a table of {len(table.rows)} rows and {columns} columns is too large for a slide, which takes "
            f"{ROWS_MAX} and {COLUMNS_MAX}: give it in parts"
        )
    made = alone(a("tbl"))
    properties = under(made, a("tblPr"), **({"firstRow": "1"} if table.header_rows else {}), bandRow="1")
    under(properties, a("tableStyleId")).text = style
    grid = under(made, a("tblGrid"))
    for column in range(columns):
        width = area.width * (column + 1) // columns - area.width * column // columns
        under(grid, a("gridCol"), w=str(max(width, 1)))
    height = _row_height(table, area)
    size = int((height / _POINT - _PADDING) / 1.2)
    attributes = {"sz": str(max(size, _SIZES.start) * 100)} if size < _SIZES.stop else {}
    for cells in table.rows:
        row = under(made, a("tr"), h=str(height))
        for cell in (*cells, *((),) * (columns - len(cells))):
            _cell(row, cell, links, attributes)
    return made


def _cell(row: Element, line: Line, links: Links, attributes: dict[str, str]) -> None:
    cell = under(row, a("tc"))
    text = under(cell, a("txBody"))
    under(text, a("bodyPr"))
    under(text, a("lstStyle"))
    paragraph = under(text, PARAGRAPH)
    write_line(paragraph, line, links, attributes=attributes)
    if attributes and not line:
        under(paragraph, a("endParaRPr"), **attributes)
    under(cell, a("tcPr"))


def _row_height(table: Table, area: Area) -> int:
    smallest = int((_SIZES.start * 1.2 + _PADDING) * _POINT)
    return max(min(ROW_HEIGHT, area.height // max(len(table.rows), 1)), smallest)


def rows_of(table: Element) -> list[str]:
    """Return the text of a table, a line for each row, its cells separated by tabs."""
    return ["\t".join(_cell_text(cell) for cell in row.iterfind(a("tc"))) for row in table.iterfind(a("tr"))]


def _cell_text(cell: Element) -> str:
    return " ".join(text_of(paragraph) for paragraph in cell.iter(PARAGRAPH)).replace("\n", " ")


def graphic_uri(frame: Element) -> str:
    """Return what kind of thing a frame holds: a table, a chart, a diagram."""
    data = frame.find(f"{{{DRAWING}}}graphic/{{{DRAWING}}}graphicData")
    return "" if data is None else data.get("uri", "")
