"""What is seen of formats: letters, fills, lines and places, in the words that edits use."""

from collections.abc import Iterator
from itertools import islice
from typing import Any, Final

from officeplane.formats.excel.cells.addresses import COLUMNS_MAX, ROWS_MAX, Area, letters
from officeplane.formats.excel.cells.grid import Grid
from officeplane.formats.excel.cells.number_formats import NumberFormats
from officeplane.formats.excel.looks.columns import Columns
from officeplane.formats.excel.looks.formatting import usual_width, widths_of
from officeplane.formats.excel.looks.letters import is_on
from officeplane.formats.excel.looks.named_styles import NamedStyles
from officeplane.formats.excel.looks.sizes import INDENT_POINTS
from officeplane.formats.excel.numbers import whole
from officeplane.formats.excel.parts import Parts
from officeplane.formats.excel.sheets.sheet_list import Sheet
from officeplane.formats.excel.stylesheet import BORDERS, CELL_FORMATS, FILLS, FONTS, Stylesheet
from officeplane.formats.excel.tags import main
from officeplane.formats.xml import Element

_STRETCHES_MAX: Final = 100
_SWITCHES: Final = (("bold", "b"), ("italic", "i"), ("underline", "u"), ("strike", "strike"))
_SIDES: Final = ("left", "right", "top", "bottom")
_YES: Final = frozenset(("1", "true"))


class Seen:
    """How the formats of a workbook look, each looked at once."""

    def __init__(self, parts: Parts) -> None:
        self._sheet = Stylesheet(parts.package, parts.workbook)
        self._names = {number: name for name, number in NamedStyles(self._sheet).names.items()}
        self._known: dict[str, dict[str, Any]] = {}

    def of(self, style: str | None) -> dict[str, Any]:
        """Return how cells of a format look."""
        key = style or "0"
        known = self._known.get(key)
        if known is None:
            found = self._sheet.entry(CELL_FORMATS, whole(key, 0))
            known = self._known[key] = {} if found is None else dict(self._facts(found))
        return known

    def unusual(self, style: str | None) -> dict[str, Any]:
        """Return what of that is not as in cells without a format."""
        usual = self.of(None)
        return {name: said for name, said in self.of(style).items() if usual.get(name) != said}

    def _facts(self, format: Element) -> Iterator[tuple[str, Any]]:
        named = whole(format.get("xfId"), 0)
        if named and named in self._names:
            yield "style", self._names[named]
        if (font := self._sheet.entry(FONTS, whole(format.get("fontId"), 0))) is not None:
            yield from _letters(font)
        if (fill := self._sheet.entry(FILLS, whole(format.get("fillId"), 0))) is not None:
            yield from _fill(fill)
        if (border := self._sheet.entry(BORDERS, whole(format.get("borderId"), 0))) is not None:
            lines = dict(_lines(border))
            if lines:
                yield "border", lines
        alignment = format.find(main("alignment"))
        if alignment is None:
            return
        if (align := alignment.get("horizontal", "general")) != "general":
            yield "align", align
        if (vertical := alignment.get("vertical")) is not None:
            yield "verticalAlign", vertical
        if alignment.get("wrapText") in _YES:
            yield "wrap", True
        if steps := whole(alignment.get("indent"), 0):
            yield "indent", steps * INDENT_POINTS


def form_of(parts: Parts, sheet: Sheet, area: Area) -> dict[str, Any]:
    """Return how the cells of an area look, with widths and heights; `mixed` names what they have not in common."""
    grid = parts.grid(sheet)
    seen, codes = Seen(parts), NumberFormats(parts.package, parts.workbook)
    columns = Columns(grid.root, grid.data)
    looks = [{"numberFormat": codes.of_style(style), **seen.of(style)} for style in _styles(grid, columns, area)]
    names = dict.fromkeys(name for look in looks for name in look)
    mixed = [name for name in names if any(look.get(name) != looks[0].get(name) for look in looks)]
    form: dict[str, Any] = {name: looks[0][name] for name in names if name not in mixed}
    if mixed:
        form["mixed"] = mixed
    widths = widths_of(parts)
    usual = widths.points(usual_width(grid, widths))
    form |= _sizes("width", dict(_widths(columns, area, usual, widths.points)))
    if area.bottom != ROWS_MAX:
        form |= _sizes("height", dict(_heights(grid, area)))
    return form


def _styles(grid: Grid, columns: Columns, area: Area) -> set[str]:
    """Return the formats that there are in an area, also where no cells are."""
    found: set[str] = set()
    full, width = 0, area.right - area.left + 1
    for number in grid.numbers:
        row = grid.row(number) if area.top <= number <= area.bottom else None
        if row is None:
            continue
        cells = list(grid.cells_in(Area(number, area.left, number, area.right)))
        found.update(cell.get("s", "0") for cell in cells)
        if len(cells) == width:
            full += 1
        elif row.get("customFormat") in _YES:
            full += 1
            found.add(row.get("s", "0"))
    if full < area.bottom - area.top + 1:
        found.update(style or "0" for style in columns.styles(area.left, area.right))
    return found


def _letters(font: Element) -> Iterator[tuple[str, Any]]:
    for name, tag in _SWITCHES:
        if is_on(font, tag):
            yield name, True
    if (color := _color(font.find(main("color")))) is not None:
        yield "color", color
    if (named := font.find(main("name"))) is not None:
        yield "font", named.get("val", "")
    if (size := font.find(main("sz"))) is not None:
        yield "size", _number(size.get("val"))


def _fill(fill: Element) -> Iterator[tuple[str, Any]]:
    pattern = fill.find(main("patternFill"))
    if pattern is None:
        if len(fill):
            yield "fill", "gradient"
        return
    kind = pattern.get("patternType", "none")
    if kind == "solid":
        yield "fill", _color(pattern.find(main("fgColor"))) or "none"
    elif kind != "none":
        yield "fill", kind


def _lines(border: Element) -> Iterator[tuple[str, dict[str, str]]]:
    for side in _SIDES:
        line = border.find(main(side))
        if line is not None and (style := line.get("style", "none")) != "none":
            color = _color(line.find(main("color")))
            yield side, {"style": style, **({} if color is None else {"color": color})}


def _color(color: Element | None) -> str | None:
    """Return a colour as `RRGGBB`, or as what it is of the theme or the palette; None for the reader's own."""
    if color is None:
        return None
    if rgb := color.get("rgb"):
        return rgb[-6:].upper()
    for name in ("theme", "indexed"):
        if color.get(name) is not None:
            tint = f" tint {color.get('tint')}" if color.get("tint") else ""
            return f"{name} {color.get(name)}{tint}"
    return None


def _number(text: str | None) -> float:
    try:
        found = float(text or "")
    except ValueError:
        return 0
    return int(found) if found.is_integer() else found


def _widths(columns: Columns, area: Area, usual: float, points: Any) -> Iterator[tuple[str, float]]:
    at = area.left
    for first, last, stretch in columns.stretches():
        if last < at or first > area.right:
            continue
        if first > at:
            yield _named(at, first - 1), usual
        at = max(at, first)
        width = _number(stretch.get("width"))
        yield _named(at, min(last, area.right)), round(points(width), 2) if width else usual
        at = min(last, COLUMNS_MAX) + 1
    if at <= area.right:
        yield _named(at, area.right), usual


def _heights(grid: Grid, area: Area) -> Iterator[tuple[str, float]]:
    """Yield the heights that rows say they have; others are as high as what is in them."""
    begin, last, height = 0, 0, 0.0
    for number in grid.numbers:
        row = grid.row(number) if area.top <= number <= area.bottom else None
        found = 0.0 if row is None else _number(row.get("ht"))
        if found and found == height and number == last + 1:
            last = number
            continue
        if height:
            yield f"{begin}:{last}", height
        begin, last, height = number, number, found
    if height:
        yield f"{begin}:{last}", height


def _sizes(name: str, stretches: dict[str, float]) -> dict[str, Any]:
    if not stretches:
        return {}
    if len(set(stretches.values())) == 1 and (name == "width" or len(stretches) == 1):
        return {name: next(iter(stretches.values()))}
    return {f"{name}s": dict(islice(stretches.items(), _STRETCHES_MAX))}


def _named(first: int, last: int) -> str:
    return letters(first) if first == last else f"{letters(first)}:{letters(last)}"
