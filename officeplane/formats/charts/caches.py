"""Caches: what a chart remembers of the cells that it shows, and how it names them."""

from collections.abc import Iterator
from typing import Final

from lxml import etree

from officeplane.formats.charts.data import GENERAL, Point, Shown, point_text
from officeplane.formats.charts.names import c, said, under
from officeplane.formats.xml import Element, take_out

NUMBERS: Final = c("numRef")
TEXTS: Final = c("strRef")
LEVELS: Final = c("multiLvlStrRef")
REFERENCES: Final = (NUMBERS, TEXTS, LEVELS)
_CACHES: Final = {NUMBERS: "numCache", TEXTS: "strCache", LEVELS: "multiLvlStrCache"}
_POINTS_MAX: Final = 1_048_576


def refer(holder: Element, shown: Shown, *, numbers_only: bool = False) -> None:
    """Have a holder, such as `c:val`, name cells and remember what they hold; it forgets what it named before."""
    code = next((each.findtext(c("formatCode")) for each in holder.iter(c("numCache"), c("numLit"))), None)
    for child in list(holder):
        take_out(child)
    is_text = shown.is_text and not numbers_only
    made = under(holder, "strRef" if is_text else "numRef")
    under(made, "f").text = shown.formula
    keep(made, shown.points, code if code and shown.code == GENERAL else shown.code)


def name_by(series: Element, shown: Shown) -> None:
    """Have the name of a series be what cells hold."""
    holder = series.find(c("tx"))
    if holder is None:
        holder = etree.Element(c("tx"))
        before = series.find(c("order"))
        if before is None:
            series.insert(0, holder)
        else:
            before.addnext(holder)
    for child in list(holder):
        holder.remove(child)
    made = under(holder, "strRef")
    under(made, "f").text = shown.formula
    keep(made, shown.points)


def keep(reference: Element, points: tuple[Point, ...], code: str | None = None) -> None:
    """Have a reference remember these values; what is not known is left out, and so is text among numbers."""
    forget(reference)
    is_text = reference.tag == TEXTS
    cache = etree.Element(c(_CACHES[TEXTS if is_text else NUMBERS]))
    formula = reference.find(c("f"))
    if formula is None:
        reference.insert(0, cache)
    else:
        formula.addnext(cache)
    if not is_text:
        under(cache, "formatCode").text = code or GENERAL
    under(cache, "ptCount", str(len(points)))
    for at, point in enumerate(points):
        if point is None or (isinstance(point, str) and not is_text):
            continue
        made = under(cache, "pt")
        made.set("idx", str(at))
        under(made, "v").text = point_text(point)


def forget(reference: Element) -> str | None:
    """Take away what a reference remembers; return how its numbers were shown."""
    code = None
    for name in _CACHES.values():
        for cache in reference.findall(c(name)):
            code = cache.findtext(c("formatCode")) or code
            take_out(cache)
    return code


def remembered(holder: Element | None) -> tuple[Point, ...]:
    """Return what a holder remembers, or says without naming cells; of texts in levels the innermost."""
    cache = None if holder is None else next(holder.iter(*map(c, (*_CACHES.values(), "strLit", "numLit"))), None)
    if cache is None:
        literal = None if holder is None else holder.findtext(c("v"))
        return () if literal is None else (literal,)
    level = cache.find(c("lvl"))
    points = dict(
        _points(cache if level is None else level, as_text=not str(cache.tag).endswith(("numCache", "numLit")))
    )
    count = _whole(said(cache, "ptCount"), max(points, default=-1) + 1)
    return tuple(points.get(at) for at in range(min(count, _POINTS_MAX)))


def formula_of(holder: Element | None) -> str | None:
    """Return what names the cells that a holder shows; None when it names none."""
    reference = None if holder is None else next(holder.iterchildren(*REFERENCES), None)
    return None if reference is None else reference.findtext(c("f"))


def _points(level: Element, *, as_text: bool) -> Iterator[tuple[int, Point]]:
    for point in level.iterchildren(c("pt")):
        text = point.findtext(c("v"))
        if text is not None:
            yield _whole(point.get("idx"), 0), text if as_text else _number(text)


def _number(text: str) -> Point:
    try:
        found = float(text)
    except ValueError:
        return text
    return found if found == found and abs(found) != float("inf") else text  # noqa: PLR0124 - NaN is not itself


def _whole(text: str | None, otherwise: int) -> int:
    return int(text) if text is not None and text.isascii() and text.isdecimal() and len(text) < 10 else otherwise
