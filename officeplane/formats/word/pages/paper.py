"""Paper: how large the pages of a section are, which way they lie, their margins, columns and numbers."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from officeplane.domain.document import InvalidEditError
from officeplane.formats.word.looks.properties import have
from officeplane.formats.word.names import w
from officeplane.formats.xml import Element

SIZES: Final[Mapping[str, tuple[float, float]]] = {
    "A3": (841.9, 1190.55), "A4": (595.3, 841.9), "A5": (419.55, 595.3), "Letter": (612, 792), "Legal": (612, 1008),
    "Tabloid": (792, 1224),
}  # fmt: skip
"""Usual papers, in points, upright."""

_SECTION: Final = "sectPr"
_TWENTIETHS: Final = 20
_USUAL_PAPER: Final = (12_240, 15_840)
_USUAL_MARGINS: Final = {
    "top": "1440", "right": "1440", "bottom": "1440", "left": "1440", "header": "720", "footer": "720", "gutter": "0",
}  # fmt: skip
_USUAL_SPACE: Final = 720
_ROOM_MIN: Final = 720


@dataclass(frozen=True, slots=True)
class Layout:
    """What to change of a section's pages; None leaves it as it is. Lengths are in points."""

    orientation: str | None = None
    size: tuple[float, float] | None = None
    is_size_upright: bool = False
    """Whether the size is that of a usual paper, which lies as the section's pages do."""
    margins: Mapping[str, float] = field(default_factory=dict[str, float])
    columns: int | None = None
    first_number: int | None = None
    number_format: str | None = None

    @property
    def says_something(self) -> bool:
        """Whether anything is to be changed."""
        return self != Layout()

    def give(self, section: Element) -> None:
        """Change a section; pages with no room for a text are refused."""
        if self.size is not None or self.orientation is not None:
            self._give_paper(section)
        if self.margins:
            known = have(section, _SECTION, "pgMar")
            for name, usual in _USUAL_MARGINS.items():
                own = known.get(w(name), usual)
                known.set(w(name), _twentieths(self.margins[name]) if name in self.margins else own)
        if self.columns is not None:
            columns = have(section, _SECTION, "cols")
            for one in list(columns):
                columns.remove(one)
            for name in ("equalWidth", "num"):
                columns.attrib.pop(w(name), None)
            if self.columns > 1:
                columns.set(w("num"), str(self.columns))
            columns.set(w("space"), columns.get(w("space"), str(_USUAL_SPACE)))
        if self.first_number is not None:
            have(section, _SECTION, "pgNumType").set(w("start"), str(self.first_number))
        if self.number_format is not None:
            have(section, _SECTION, "pgNumType").set(w("fmt"), self.number_format)
        if self.size or self.orientation or self.margins or self.columns:
            _check_room(section)

    def _give_paper(self, section: Element) -> None:
        paper = have(section, _SECTION, "pgSz")
        sides = _whole(paper, "w", _USUAL_PAPER[0]), _whole(paper, "h", _USUAL_PAPER[1])
        lies = "landscape" if sides[0] > sides[1] else "portrait"
        if self.size is not None:
            sides = round(self.size[0] * _TWENTIETHS), round(self.size[1] * _TWENTIETHS)
            paper.attrib.pop(w("code"), None)
            if not self.is_size_upright:
                lies = "landscape" if sides[0] > sides[1] else "portrait"
        lies = self.orientation or lies
        short, long = sorted(sides)
        for name, length in zip(("w", "h"), (long, short) if lies == "landscape" else (short, long), strict=True):
            paper.set(w(name), str(length))
        paper.attrib.pop(w("orient"), None)
        if lies == "landscape":
            paper.set(w("orient"), lies)


def _check_room(section: Element) -> None:
    paper, margins, columns = (section.find(w(name)) for name in ("pgSz", "pgMar", "cols"))
    wide, high = _whole(paper, "w", _USUAL_PAPER[0]), _whole(paper, "h", _USUAL_PAPER[1])
    left, right, gutter = (_whole(margins, name, int(_USUAL_MARGINS[name])) for name in ("left", "right", "gutter"))
    top, bottom = (abs(_whole(margins, name, int(_USUAL_MARGINS[name]))) for name in ("top", "bottom"))
    count = _whole(columns, "num", 1)
    room = (wide - left - right - gutter - (count - 1) * _whole(columns, "space", _USUAL_SPACE)) // max(count, 1)
    for what, left_over in (("wide", room), ("high", high - top - bottom)):
        if left_over < _ROOM_MIN:
            raise InvalidEditError(
                f"the text would be {left_over / _TWENTIETHS:g} points {what} on paper of {wide / _TWENTIETHS:g} x "
                f"{high / _TWENTIETHS:g} points: give smaller margins, fewer columns or a larger size"
            )


def _twentieths(points: float) -> str:
    return str(round(points * _TWENTIETHS))


def _whole(said: Element | None, name: str, otherwise: int) -> int:
    try:
        return int("" if said is None else said.get(w(name), ""))
    except ValueError:
        return otherwise
