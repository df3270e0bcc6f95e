"""Pieces: the line of a paragraph letter by letter, each with what is around it and how it looks.

Whether text lies in one run or in ten is nothing that a reader sees. What a line says is
compared by units: words, single signs, things that are drawn, and whole fields.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from officeplane.formats.word.bookmarks import RANGE_MARKS
from officeplane.formats.word.names import COMMENT_REFERENCE, ID, P_PR, R_PR, SDT, R, T, element, w
from officeplane.formats.word.tracking.looks import drawn, look_of, said
from officeplane.formats.xml import Element

DELETED_TEXT: Final = w("delText")
GONE: Final = frozenset((w("del"), w("moveFrom")))
COME: Final = frozenset((w("ins"), w("moveTo")))
_SIMPLE: Final = w("fldSimple")
_CONTENT: Final = w("sdtContent")
_SHELLS: Final = GONE | COME | {
    w("hyperlink"), w("smartTag"), w("customXml"), w("dir"), w("bdo"), _SIMPLE, SDT,
}  # fmt: skip
_OF_SHELLS: Final = frozenset((w("smartTagPr"), w("customXmlPr"), w("sdtPr"), w("sdtEndPr")))
_SILENT: Final = RANGE_MARKS | {
    w("proofErr"), w("lastRenderedPageBreak"), w("annotationRef"), COMMENT_REFERENCE,
}  # fmt: skip
_MARK: Final = w("fldChar")
_MARK_TYPE: Final = w("fldCharType")
_INSTRUCTIONS: Final = frozenset((w("instrText"), w("delInstrText")))
Key: TypeAlias = tuple[object, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Shell:
    """What is around pieces: a link, a control, what another inserted; two that say the same are one."""

    element: Element
    key: str


@dataclass(slots=True, eq=False)
class Piece:
    """A letter, or something else that a run holds or that stands beside runs."""

    leaf: Element
    run: Element | None
    path: tuple[Shell, ...]
    letter: str = ""
    look: tuple[str, ...] = ()
    """How its letters look."""
    deed: str = ""
    """`ins` or `del`, once it is known what became of it."""
    was: Element | None = None
    """The run as which it looked before, where it looks otherwise now."""

    @property
    def is_silent(self) -> bool:
        """Tell whether it stands in the line without being part of it."""
        return not isinstance(self.leaf.tag, str) or self.leaf.tag in _SILENT

    @property
    def around(self) -> tuple[str, ...]:
        """What it stands in."""
        return tuple(shell.key for shell in self.path) if self.path else ()

    @property
    def says(self) -> str:
        """What it is, without its look."""
        if self.letter:
            return self.letter
        if self.leaf.tag == _MARK:
            return f"field {self.leaf.get(_MARK_TYPE)}"
        if self.leaf.tag in _INSTRUCTIONS:
            return f"instruction {self.leaf.text}"
        return drawn(self.leaf)

    @property
    def number(self) -> tuple[str, str]:
        """What tells a mark from others of its kind."""
        return str(self.leaf.tag), self.leaf.get(ID, "")


@dataclass(slots=True, eq=False)
class Unit:
    """What comes and goes as a whole."""

    key: Key
    pieces: list[Piece] = field(default_factory=list[Piece])


def pieces_of(paragraph: Element) -> list[Piece]:
    """Return the line of a paragraph."""
    return [*_walk(paragraph, ())]


def units_of(pieces: Sequence[Piece]) -> list[Unit]:
    """Return the units of a line, without what is silent in it."""
    made: list[Unit] = []
    speaking = [piece for piece in pieces if not piece.is_silent]
    ends = _fields(speaking)
    word = False
    at = 0
    while at < len(speaking):
        piece = speaking[at]
        if at in ends:
            made.append(_field(speaking[at : ends[at]]))
            at, word = ends[at], False
            continue
        is_letter = piece.letter.isalnum()
        if is_letter and word and made[-1].pieces[-1].around == piece.around:
            made[-1].key = (str(made[-1].key[0]) + piece.letter, piece.around)
            made[-1].pieces.append(piece)
        else:
            made.append(Unit((piece.says, piece.around), [piece]))
        word = is_letter
        at += 1
    return made


def as_tracked(unit: Unit) -> list[Piece]:
    """Return what of a unit can be marked: a field in its short form cannot, and takes the long one."""
    first = unit.pieces[0]
    depth = next((at for at, shell in enumerate(first.path) if shell.element.tag == _SIMPLE), None)
    if depth is None:
        return unit.pieces
    simple = first.path[depth].element
    path = first.path[:depth]
    instruction = element("instrText")
    instruction.text = simple.get(w("instr"), "")
    begin, middle, end = (element("fldChar", fldCharType=kind) for kind in ("begin", "separate", "end"))
    shown = [
        Piece(one.leaf, one.run, (*one.path[:depth], *one.path[depth + 1 :]), one.letter, one.look)
        for one in unit.pieces
        if one.leaf is not simple
    ]
    run = element("r") if first.run is None else first.run
    marks = [Piece(one, run, path, "", first.look) for one in (begin, instruction, middle, end)]
    return [*marks[:-1], *shown, marks[-1]]


def _walk(parent: Element, path: tuple[Shell, ...]) -> Iterator[Piece]:
    for inner in parent:
        if not isinstance(inner.tag, str):
            yield Piece(inner, None, path)
        elif inner.tag in {P_PR, *_OF_SHELLS}:
            continue
        elif inner.tag == R:
            yield from _letters(inner, path)
        elif inner.tag in _SHELLS:
            shell = Shell(inner, _shell_key(inner))
            held = inner.find(_CONTENT) if inner.tag == SDT else inner
            found = [] if held is None else [*_walk(held, (*path, shell))]
            if not found and inner.tag in {SDT, _SIMPLE}:
                # It is there, though it holds nothing.
                yield Piece(inner, None, path)
            yield from found
        else:
            yield Piece(inner, None, path)


def _letters(run: Element, path: tuple[Shell, ...]) -> Iterator[Piece]:
    look = look_of(run.find(R_PR))
    for held in run:
        if held.tag in {T, DELETED_TEXT}:
            for letter in held.text or "":
                yield Piece(held, run, path, letter, look)
        elif held.tag != R_PR:
            yield Piece(held, run, path, "", look)


def _shell_key(shell: Element) -> str:
    own = [said(inner) for inner in shell if inner.tag in _OF_SHELLS]
    attributes = sorted(item for item in shell.attrib.items() if "rsid" not in item[0])
    return f"{shell.tag!s}{attributes}{own}"


def _fields(pieces: Sequence[Piece]) -> dict[int, int]:
    """Return where fields begin and end that lie wholly in a line."""
    found: dict[int, int] = {}
    opened: list[int] = []
    simple: dict[Element, int] = {}
    for at, piece in enumerate(pieces):
        around = next((shell.element for shell in piece.path if shell.element.tag == _SIMPLE), None)
        if around is None and piece.leaf.tag == _SIMPLE:
            around = piece.leaf
        if around is not None and not opened:
            found[simple.setdefault(around, at)] = at + 1
        kind = piece.leaf.get(_MARK_TYPE) if piece.leaf.tag == _MARK else None
        if kind == "begin":
            opened.append(at)
        elif kind == "end" and opened:
            begin = opened.pop()
            if not opened:
                found[begin] = at + 1
    return found


def _field(pieces: list[Piece]) -> Unit:
    """Return a field as one unit, which says the same in its short and in its long form."""
    unit = Unit((), pieces)
    parts: list[str] = []
    for piece in as_tracked(unit):
        says = piece.says
        if parts and says.startswith("instruction ") and parts[-1].startswith("instruction "):
            parts[-1] += says.removeprefix("instruction ")
        else:
            parts.append(says)
    first = pieces[0]
    around = tuple(shell.key for shell in first.path if shell.element.tag != _SIMPLE)
    unit.key = ("field", tuple(parts), around)
    return unit
