"""Page width: how much room a line of text has, and what stands in it."""

from typing import Final

from officeplane.formats.word.names import w
from officeplane.formats.xml import Element

_USUAL: Final = 9026
_LEAST: Final = 1440
_USUAL_HEIGHT: Final = 13_958
_TWENTIETHS: Final = 20
_PADDING: Final = 216
"""What a cell keeps free on its left and right, unless somebody says otherwise."""


def text_width(section: Element | None) -> int:
    """Return the width between the margins of a section, in twentieths of a point."""
    size = None if section is None else section.find(w("pgSz"))
    margins = None if section is None else section.find(w("pgMar"))
    if size is None or margins is None:
        return _USUAL
    try:
        return max(
            int(size.get(w("w"), "")) - int(margins.get(w("left"), "")) - int(margins.get(w("right"), "")), _LEAST
        )
    except ValueError:
        return _USUAL


def room_for_text(section: Element | None) -> tuple[float, float]:
    """Return the width of a column and the height between the margins of a section, in points."""
    width = text_width(section)
    columns = None if section is None else section.find(w("cols"))
    count = _whole(columns, "num", 1)
    if columns is not None and 1 < count <= 45:
        width = max((width - (count - 1) * _whole(columns, "space", 720)) // count, _LEAST)
    size = None if section is None else section.find(w("pgSz"))
    margins = None if section is None else section.find(w("pgMar"))
    height = _USUAL_HEIGHT
    if size is not None and margins is not None:
        height = _whole(size, "h", 0) - abs(_whole(margins, "top", 0)) - abs(_whole(margins, "bottom", 0))
    return width / _TWENTIETHS, max(height, _LEAST) / _TWENTIETHS


def width_of_cell(cell: Element) -> float | None:
    """Return how much room a cell says that it has, in points."""
    found = cell.find(f"{w('tcPr')}/{w('tcW')}")
    if found is None or found.get(w("type"), "dxa") != "dxa" or (width := _whole(found, "w", 0)) <= _PADDING:
        return None
    return (width - _PADDING) / _TWENTIETHS


def width_in_column(width: float, columns: int) -> float:
    """Return how much room each cell has in a new table that is so wide, in points."""
    return max(width / columns - _PADDING / _TWENTIETHS, 1.0)


def _whole(element: Element | None, name: str, otherwise: int) -> int:
    try:
        return int("" if element is None else element.get(w(name), ""))
    except ValueError:
        return otherwise
