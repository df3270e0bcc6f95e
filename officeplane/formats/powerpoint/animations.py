"""Animations: which shapes, and which paragraphs of them, the animations of a slide are aimed at."""

import sys
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Final

from officeplane.formats.powerpoint.insets import Inset
from officeplane.formats.powerpoint.names import attribute_number, p
from officeplane.formats.powerpoint.shapes import properties
from officeplane.formats.xml import Element

ANIMATION: Final = "animation"
_CONTENT: Final = p("cSld")
_TARGET: Final = p("spTgt")
PARAGRAPHS: Final = f"{p('txEl')}/{p('pRg')}"
"""Where a target says which paragraphs of the shape it means."""

_LETTERS: Final = f"{p('txEl')}/{p('charRg')}"


@dataclass(frozen=True, slots=True)
class _Aim:
    """What an animation moves: a shape, or paragraphs of it up to the last of these."""

    shape: str
    last: int | None = None


def animations(root: Element) -> int:
    """Return how many things of a slide are animated."""
    return len(_aims(root))


def animated(root: Element, shapes: Collection[str]) -> list[Inset]:
    """Return the animations of shapes by their numbers, and of all their texts."""
    return [Inset(ANIMATION) for aim in _aims(root) if aim.shape in shapes]


def lost_with_text(root: Element, shape: Element, paragraphs: int) -> list[Inset]:
    """Return the animations of a shape's text that a text of so many paragraphs in its place has none for."""
    lost = (aim.last for aim in _aims(root) if aim.shape == _number(shape))
    return [
        Inset(ANIMATION, "of letters" if last == sys.maxsize else f"of paragraph {last + 1}")
        for last in lost
        if last is not None and last >= paragraphs
    ]


def lost_with_shape(root: Element, shape: Element) -> list[Inset]:
    """Return the animations of a shape and of all its text."""
    return [Inset(ANIMATION) for aim in _aims(root) if aim.shape == _number(shape)]


def _aims(root: Element) -> list[_Aim]:
    """Return what is animated, each once: one animation has several steps."""
    return list(dict.fromkeys(_aim(target) for target in targets(root)))


def targets(root: Element) -> Iterator[Element]:
    """Yield what says at which shape an animation is aimed, or whose click begins it."""
    for child in root:
        if child.tag != _CONTENT:
            yield from child.iter(_TARGET)


def _aim(target: Element) -> _Aim:
    shape = target.get("spid", "")
    found = target.find(PARAGRAPHS)
    if found is not None:
        return _Aim(shape, attribute_number(found, "end", 0))
    return _Aim(shape, None if target.find(_LETTERS) is None else sys.maxsize)


def _number(shape: Element) -> str | None:
    about = properties(shape)
    return None if about is None else about.get("id")
