"""Numbers of lists as a reader sees them: "4.2", "(b)" or a bullet, counted as Word counts them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from officeplane.formats.package import Package
from officeplane.formats.relationships import Relationships
from officeplane.formats.word.names import P_PR, VAL, value, w
from officeplane.formats.word.styles import Styles
from officeplane.formats.xml import Element

_LEVELS: Final = 9
_PLACE: Final = re.compile(r"%([1-9])")
_ROMAN: Final = (
    (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"), (10, "x"),
    (9, "ix"), (5, "v"), (4, "iv"), (1, "i"),
)  # fmt: skip
_COUNT_MAX: Final = 10_000
"""Beyond it a number is shown in digits: a file may begin to count anywhere."""

_LABEL_MAX: Final = 100
_OFF: Final = frozenset(("0", "false", "off"))


@dataclass(frozen=True, slots=True)
class Label:
    """What stands before a paragraph of a list: a number, or nothing where it is a bullet."""

    text: str
    depth: int
    is_counted: bool
    count: int = 1


@dataclass(slots=True)
class _Level:
    start: int = 1
    format: str = "decimal"
    text: str = ""
    restart: int | None = None
    is_legal: bool = False


@dataclass(slots=True)
class _List:
    abstract: str
    levels: dict[int, _Level]
    starts_anew: dict[int, int] = field(default_factory=dict[int, int])
    """The levels at which the list counts by itself, from these numbers on."""


class ListNumbers:
    """Counts through a text: paragraphs are to be asked for in order, each once."""

    def __init__(self, package: Package, part: str, styles: Styles) -> None:
        self._styles = styles
        root = next(
            (package.tree(arrow.target) for arrow in Relationships(package, part).of_type("numbering")
             if arrow.target in package), None,
        )  # fmt: skip
        self._abstracts = _by_number(root, "abstractNum")
        self._nums = _by_number(root, "num")
        self._lists: dict[str, _List | None] = {}
        self._of_style: dict[str, tuple[str, int] | None] = {}
        self._counts: dict[str, dict[int, int]] = {}
        self._begun: set[tuple[str, int]] = set()

    def of(self, paragraph: Element) -> Label | None:
        """Return what stands before a paragraph, and count it; None when it is in no list."""
        if not self._nums:
            return None
        properties = paragraph.find(P_PR)
        found = self._list_of(properties)
        if found is None:
            return None
        number, depth = found
        known = self._list(number)
        if known is None:
            return None
        level = known.levels.get(depth, _Level())
        self._count(number, known, depth)
        if level.format == "bullet":
            return Label("", depth, is_counted=False)
        counts = self._counts[known.abstract]

        def shown(place: re.Match[str]) -> str:
            at = int(place[1]) - 1
            of_level = known.levels.get(at, _Level())
            count = counts.get(at, known.starts_anew.get(at, of_level.start))
            return _formatted(count, "decimal" if level.is_legal else of_level.format)

        text = _PLACE.sub(shown, level.text) if level.format != "none" else ""
        return Label(text[:_LABEL_MAX].strip(), depth, is_counted=True, count=counts[depth])

    def _count(self, number: str, known: _List, depth: int) -> None:
        counts = self._counts.setdefault(known.abstract, {})
        if depth in known.starts_anew and (number, depth) not in self._begun:
            self._begun.add((number, depth))
            counts.pop(depth, None)
        start = known.starts_anew.get(depth, known.levels.get(depth, _Level()).start)
        counts[depth] = counts[depth] + 1 if depth in counts else start
        for deeper in [other for other in counts if other > depth]:
            restart = known.levels.get(deeper, _Level()).restart
            # By default a level counts anew behind each one above it; a file may name the one that matters, or none.
            if restart is None or (restart > 0 and depth < restart):
                del counts[deeper]

    def _list_of(self, properties: Element | None) -> tuple[str, int] | None:
        direct = None if properties is None else properties.find(w("numPr"))
        number = value(direct, "numId")
        if number is not None:
            own = value(direct, "ilvl")
            if number == "0":
                return None
            if own is not None:
                return number, _whole(own)
        style = value(properties, "pStyle") or self._styles.default("paragraph")
        by_style = None if style is None else self._by_style(style)
        if number is not None:
            return number, 0 if by_style is None else by_style[1]
        return by_style

    def _by_style(self, style: str) -> tuple[str, int] | None:
        if style not in self._of_style:
            self._of_style[style] = self._looked_up(style)
        return self._of_style[style]

    def _looked_up(self, style: str) -> tuple[str, int] | None:
        for found in self._styles.chain(style):
            said = found.find(f"{P_PR}/{w('numPr')}")
            number = value(said, "numId")
            if number is None:
                continue
            if number == "0":
                return None
            own = value(said, "ilvl")
            return number, self._level_for(number, found.get(w("styleId"), "")) if own is None else _whole(own)
        return None

    def _level_for(self, number: str, style: str) -> int:
        """Return the level of a list that says it is for a style."""
        abstract = self._abstract(number)
        for level in () if abstract is None else abstract.iterchildren(w("lvl")):
            if value(level, "pStyle") == style:
                return _whole(level.get(w("ilvl"), "0"))
        return 0

    def _abstract(self, number: str) -> Element | None:
        for _ in range(_LEVELS):
            num = self._nums.get(number)
            found = None if num is None else self._abstracts.get(value(num, "abstractNumId") or "")
            link = value(found, "numStyleLink")
            if link is None:
                return found
            # The list is kept by a style, under that style's own number.
            number = next(
                (said for style in self._styles.chain(link) if (said := _number_in(style)) is not None), ""
            )  # fmt: skip
        return None

    def _list(self, number: str) -> _List | None:
        if number not in self._lists:
            self._lists[number] = self._made(number)
        return self._lists[number]

    def _made(self, number: str) -> _List | None:
        abstract = self._abstract(number)
        if abstract is None:
            return None
        levels = dict(_levels(abstract))
        made = _List(abstract.get(w("abstractNumId"), ""), levels)
        for override in self._nums[number].iterchildren(w("lvlOverride")):
            depth = _whole(override.get(w("ilvl"), "0"))
            levels.update(_levels(override))
            start = value(override, "startOverride")
            if start is not None:
                made.starts_anew[depth] = _whole(start)
        return made


def _by_number(root: Element | None, name: str) -> dict[str, Element]:
    return {} if root is None else {one.get(w(f"{name}Id"), ""): one for one in root.findall(w(name))}


def _number_in(style: Element) -> str | None:
    return value(style.find(f"{P_PR}/{w('numPr')}"), "numId")


def _levels(holder: Element) -> Iterator[tuple[int, _Level]]:
    for found in holder.iterchildren(w("lvl")):
        start, restart = value(found, "start"), value(found, "lvlRestart")
        legal = found.find(w("isLgl"))
        yield (
            _whole(found.get(w("ilvl"), "0")),
            _Level(
                0 if start is None else _whole(start),
                value(found, "numFmt") or "decimal",
                value(found, "lvlText") or "",
                None if restart is None else _whole(restart),
                legal is not None and legal.get(VAL) not in _OFF,
            ),
        )


def _whole(text: str) -> int:
    return min(int(text), 2**31) if text.isascii() and text.isdecimal() else 0


def _formatted(count: int, form: str) -> str:
    if not 0 < count <= _COUNT_MAX:
        return str(count)
    match form:
        case "upperRoman":
            return _roman(count).upper()
        case "lowerRoman":
            return _roman(count)
        case "upperLetter":
            return _letters(count).upper()
        case "lowerLetter":
            return _letters(count)
        case "decimalZero":
            return f"{count:02}"
        case "ordinal":
            return f"{count}{_ordinal_ending(count)}"
        case "none":
            return ""
        case _:
            return str(count)


def _roman(count: int) -> str:
    made = ""
    for size, sign in _ROMAN:
        made += sign * (count // size)
        count %= size
    return made


def _letters(count: int) -> str:
    # After z come aa, bb and so on, as Word counts.
    turns, at = divmod(count - 1, 26)
    return chr(ord("a") + at) * (turns + 1) if turns < _LEVELS else str(count)


def _ordinal_ending(count: int) -> str:
    if count % 100 in {11, 12, 13}:
        return "th"
    return {1: "st", 2: "nd", 3: "rd"}.get(count % 10, "th")
