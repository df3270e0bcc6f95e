"""Leaves: what the line of a paragraph consists of, one after the other, with the fields among them.

A leaf is what a run holds: a text, a tab, a picture, the mark of a field. Formulas and
what was deleted under tracked changes are one leaf each. Bookmarks, the ends of
comments and the like are none: they stay where they are, whatever comes and goes around them.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from officeplane.formats.word.names import BR, COMMENT_REFERENCE, P_PR, R_PR, TAB, P, R, T, element_name, w
from officeplane.formats.xml import Element

_CHARACTERS: Final = {TAB: "\t", w("ptab"): "\t", BR: "\n", w("cr"): "\n", w("noBreakHyphen"): "\u2011"}
_DELETED: Final = frozenset((w("del"), w("moveFrom")))
_PASSED: Final = frozenset((P_PR, R_PR, P, w("sdtPr"), w("sdtEndPr"), w("rubyPr"), w("smartTagPr"), w("customXmlPr")))
_STAYS: Final = frozenset((COMMENT_REFERENCE, w("footnoteRef"), w("endnoteRef"), w("annotationRef"), *_DELETED))
_SIMPLE: Final = w("fldSimple")
_MARK: Final = w("fldChar")
_MARK_TYPE: Final = w("fldCharType")
_INSTRUCTION: Final = w("instrText")


@dataclass(slots=True, eq=False)
class Leaf:
    """One element of a line, what is read of it, and where in the line that begins."""

    element: Element
    text: str
    begin: int

    @property
    def end(self) -> int:
        """Where in the line it ends."""
        return self.begin + len(self.text)

    @property
    def is_text(self) -> bool:
        """Tell whether it can be cut anywhere."""
        return self.element.tag == T

    @property
    def stays(self) -> bool:
        """Tell whether it stays when the text around it goes."""
        return self.element.tag in _STAYS


@dataclass(slots=True)
class Field:
    """A field by its leaves: from the first to the last, `instruction` tells what it is."""

    first: int
    last: int = -1
    instruction: str = ""

    @property
    def is_link(self) -> bool:
        """Tell whether it is a link, whose text is like any other."""
        return (self.instruction.split() or [""])[0].upper() == "HYPERLINK"


def leaves(paragraph: Element, shown: Callable[[Element], str]) -> list[Leaf]:
    """Return what a line consists of; `shown` tells how what is no text is read."""
    made: list[Leaf] = []
    at = 0
    for element in _walk(paragraph):
        if element.tag == T:
            text = element.text or ""
        elif element.tag in _CHARACTERS:
            text = _CHARACTERS[str(element.tag)]
        elif element_name(element) in {"oMath", "oMathPara"}:
            text = "".join(held.text or "" for held in element.iter("{*}t"))
        else:
            text = shown(element)
        made.append(Leaf(element, text, at))
        at += len(text)
    return made


def fields(line: Sequence[Leaf]) -> tuple[list[Field], list[int]]:
    """Return the fields that lie wholly in a line, and the marks of those that reach out of it."""
    found: list[Field] = []
    half: list[int] = []
    opened: list[Field] = []
    simple: dict[Element, Field] = {}
    for at, leaf in enumerate(line):
        around = next(leaf.element.iterancestors(_SIMPLE), None)
        if around is not None:
            simple.setdefault(around, Field(at, at, "")).last = at
        kind = leaf.element.get(_MARK_TYPE) if leaf.element.tag == _MARK else None
        if leaf.element.tag == _INSTRUCTION and opened:
            opened[-1].instruction += leaf.element.text or ""
        elif kind == "begin":
            opened.append(Field(at))
        elif kind == "end" and opened:
            field = opened.pop()
            field.last = at
            found.append(field)
        elif kind is not None and not opened:
            half.append(at)
    half += [field.first for field in opened]
    return [*found, *simple.values()], half


def marks_of(line: Sequence[Leaf], field: Field) -> list[Leaf]:
    """Return the leaves that make a field, without what it shows."""
    inside = line[field.first : field.last + 1]
    return [leaf for leaf in inside if leaf.element.tag in {_MARK, _INSTRUCTION}]


def _walk(parent: Element) -> Iterator[Element]:
    for inner in parent:
        if not isinstance(inner.tag, str) or inner.tag in _PASSED:
            continue
        if inner.tag == R:
            yield from (held for held in inner if isinstance(held.tag, str) and held.tag != R_PR)
        elif inner.tag in _DELETED or element_name(inner) in {"oMath", "oMathPara"}:
            yield inner
        else:
            yield from _walk(inner)
