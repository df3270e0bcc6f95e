"""Headings for tables of contents: those of a text that an instruction lists, each with a bookmark to lead to."""

import hashlib
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Final

from officeplane.formats.word.block import level_of
from officeplane.formats.word.bookmarks import free_number, number_of
from officeplane.formats.word.contents_table.instruction import Instruction
from officeplane.formats.word.finder import Finder
from officeplane.formats.word.list_numbers import ListNumbers
from officeplane.formats.word.names import BOOKMARK_START, FALLBACK, NAME, P_PR, TEXT_BOX, P, element, value
from officeplane.formats.word.segments import text_of
from officeplane.formats.word.styles import Styles
from officeplane.formats.xml import Element

_STYLE: Final = re.compile(r"heading ([1-9])")
_OURS: Final = "_Toc"
_SPACES: Final = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading as it is listed."""

    paragraph: Element
    level: int
    number: str
    text: str


def headings_in(finder: Finder, instruction: Instruction, entries: Collection[Element]) -> Iterator[Heading]:
    """Yield the headings of the text that an instruction lists, in order; entries of contents are none."""
    stories = finder.stories
    numbers = ListNumbers(finder.package, stories.part, stories.styles)
    for paragraph in stories.body.story.container.iter(P):
        if paragraph in entries or next(paragraph.iterancestors(TEXT_BOX, FALLBACK), None) is not None:
            continue
        label = numbers.of(paragraph)
        level = _level(paragraph, instruction, stories.styles)
        text = _SPACES.sub(" ", text_of(paragraph)).strip()
        if level and text:
            yield Heading(paragraph, level, "" if label is None else label.text, text)


class TocBookmarks:
    """The bookmarks that entries lead to, found or made."""

    def __init__(self, finder: Finder) -> None:
        starts = [mark for story in finder.stories.all() for mark in story.root.iter(BOOKMARK_START)]
        self._highest = max(map(number_of, starts), default=-1)
        self._taken = {mark.get(NAME, "") for mark in starts}
        self._root = finder.stories.body.story.root

    def of(self, heading: Element) -> tuple[str, bool]:
        """Return the name of a heading's bookmark, and whether it was made."""
        for mark in heading.iterchildren(BOOKMARK_START):
            if mark.get(NAME, "").startswith(_OURS):
                return mark.get(NAME, ""), False
        name, turn = "", 0
        while not name or name in self._taken:
            said = f"{text_of(heading)}\0{turn}".encode("utf-8", "surrogatepass")
            name, turn = f"{_OURS}{int(hashlib.sha256(said).hexdigest()[:8], 16) % 10**9:09d}", turn + 1
        self._taken.add(name)
        number = free_number(self._highest, self._root)
        self._highest = max(self._highest, number)
        properties = heading.find(P_PR)
        begin = element("bookmarkStart", id=str(number), name=name)
        heading.insert(0 if properties is None else heading.index(properties) + 1, begin)
        heading.append(element("bookmarkEnd", id=str(number)))
        return name, True


def _level(paragraph: Element, instruction: Instruction, styles: Styles) -> int:
    own = value(paragraph.find(P_PR), "pStyle")
    name = "" if own is None else styles.name(own).lower()
    if name in instruction.styles:
        return instruction.styles[name]
    first, last = instruction.reach
    named = _STYLE.fullmatch(name)
    if named is not None and instruction.levels is not None:
        return int(named[1]) if first <= int(named[1]) <= last else 0
    level = level_of(paragraph, styles) if instruction.outlined else 0
    return level if first <= level <= last else 0
