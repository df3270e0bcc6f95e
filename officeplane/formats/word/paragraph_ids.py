"""Ids of the paragraphs and rows of a story: those that the file has, and for the others what reading gives them.

Word keeps an id with each paragraph and each row (`w14:paraId`). What has none, or one
that another has already, is given one by what it says and its turn among equals. That
lasts only as long as the text, so the first edit of a story stamps what reading gives;
from then on what an edit adds is named by the task that adds it.
"""

import hashlib
import string
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from officeplane.formats.word.block import Block
from officeplane.formats.word.names import FALLBACK, PARA_ID, TR, P
from officeplane.formats.word.segments import text_of
from officeplane.formats.word.styles import SECTION_LEVEL
from officeplane.formats.xml import Element

_DIGITS: Final = 8
_HEXADECIMAL: Final = frozenset(string.hexdigits)
_NUMBERS: Final = 2**31
"""Word takes ids from 1 up to this."""


@dataclass(slots=True)
class _Nameless:
    """A paragraph or a row without an id of its own, and the ids of its block."""

    element: Element
    said: str
    beside: list[str]


class ParagraphIds:
    """What the paragraphs and rows of one story are called: eight digits each."""

    def __init__(self, part: str) -> None:
        self._part = part
        self._elements: dict[str, Element] = {}
        self._by_block: dict[Block, list[str]] = {}
        self._nameless: list[_Nameless] = []
        self._derived: dict[Element, str] = {}
        self._turns: Counter[str] = Counter()
        self.is_stamped = False

    def learn(self, block: Block) -> None:
        """Take note of a block; until they are stamped, the blocks have to come in order."""
        own = self._by_block[block] = []
        place = block.paragraph if 0 < block.level <= SECTION_LEVEL else None
        for element in _named_in(block):
            number = element.get(PARA_ID, "").lower()
            if _is_valid(number) and number not in self._elements:
                self._elements[number] = element
                own.append(number)
            elif element is not place:
                # Chapters and sections have ids of their own.
                self._nameless.append(_Nameless(element, _said(element), own))

    def forget(self, block: Block) -> None:
        """Note that a block is gone, or is read anew."""
        for number in self._by_block.pop(block, ()):
            del self._elements[number]

    def of(self, element: Element) -> str:
        """Return the id of a paragraph or a row."""
        self._derive()
        return self._derived.get(element) or element.get(PARA_ID, "").lower()

    def find(self, number: str) -> Element | None:
        """Return the paragraph or the row of an id."""
        self._derive()
        return self._elements.get(number)

    def stamp(self) -> None:
        """Write down what reading gives."""
        self._derive()
        for element, number in self._derived.items():
            element.set(PARA_ID, number.upper())
        self._derived.clear()
        self.is_stamped = True

    def name(self, maker: str) -> None:
        """Stamp what has come since then, in the name of the task that made it."""
        nameless, self._nameless = self._nameless, []
        for one in nameless:
            if one.element.getparent() is not None:
                one.element.set(PARA_ID, self._free(one, maker).upper())

    def _derive(self) -> None:
        nameless, self._nameless = self._nameless, []
        for one in nameless:
            self._derived[one.element] = self._free(one, one.said)

    def _free(self, one: _Nameless, fact: str) -> str:
        while True:
            self._turns[fact] += 1
            said = f"{self._part}\0{fact}\0{self._turns[fact]}".encode("utf-8", "surrogatepass")
            number = f"{int.from_bytes(hashlib.sha256(said).digest()[:4], 'big') % _NUMBERS:0{_DIGITS}x}"
            if _is_valid(number) and number not in self._elements:
                self._elements[number] = one.element
                one.beside.append(number)
                return number


def _named_in(block: Block) -> Iterator[Element]:
    found = block.element.iter(P, TR)
    if next(block.element.iter(FALLBACK), None) is None:
        return found
    # The copy of a text box that only old programs show has the ids of what it is a copy of.
    return (element for element in found if next(element.iterancestors(FALLBACK), None) is None)


def _said(element: Element) -> str:
    if element.tag == P:
        return f"paragraph\0{text_of(element)}"
    first = next(element.iter(P), None)
    return f"row\0{'' if first is None else text_of(first)}"


def _is_valid(number: str) -> bool:
    return len(number) == _DIGITS and not set(number) - _HEXADECIMAL and 0 < int(number, 16) < _NUMBERS
