"""Stories: the texts of a document, each in a part of its own, as a row of blocks.

The document's body is one, every header, footer and the notes are others. What a
block says is worked out once and kept until the block changes, so that an edit
costs what it touches and not what the document is long.
"""

from bisect import bisect_right
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

from officeplane.formats.package import Package
from officeplane.formats.patterns.matching import Match
from officeplane.formats.search import Wanted
from officeplane.formats.word.block import Block
from officeplane.formats.word.extensions import let_older_ones_pass_over
from officeplane.formats.word.names import SECT_PR
from officeplane.formats.word.paragraph_ids import ParagraphIds
from officeplane.formats.word.segments import replace_matches
from officeplane.formats.word.styles import Styles
from officeplane.formats.xml import Element, take_out

_BETWEEN: Final = "\0"
"""Stands between paragraphs in what is searched: no text that can be looked for has it."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A paragraph in which something was found."""

    block: int
    paragraph: Element
    matches: list[Match]
    counts: bool
    """False for the copy of a text box that only old programs show."""


class Story:
    """The blocks of one part; who changes what is inside one says so with `touch`."""

    def __init__(self, package: Package, part: str, container: Element, styles: Styles | None) -> None:
        self.package = package
        self.part = part
        self.root = package.tree(part)
        self.container = container
        self._styles = styles
        self.blocks = [Block(inner, styles) for inner in container]
        self.version = 0
        """Grows when blocks come, go or may mean something else."""
        # What is searched, block by block, once somebody has searched.
        self._texts: list[str] | None = None
        self._ids: ParagraphIds | None = None

    @property
    def ids(self) -> ParagraphIds:
        """What its paragraphs and rows are called."""
        if self._ids is None:
            self._ids = ParagraphIds(self.part)
            for block in self.blocks:
                self._ids.learn(block)
        return self._ids

    def stamp(self) -> bool:
        """Before its first change, write down what reading calls its paragraphs; return whether this is that."""
        if self.ids.is_stamped:
            return False
        let_older_ones_pass_over(self.root)
        self.ids.stamp()
        self.package.changed(self.part)
        return True

    def name(self, maker: str) -> None:
        """Name the paragraphs that have come since then; `maker` is the task that made them."""
        if self._ids is not None and self._ids.is_stamped:
            self._ids.name(maker)

    @property
    def end(self) -> int:
        """Where the text ends, before what is said of its last section."""
        return len(self.blocks) - (self.section is not None)

    @property
    def section(self) -> Element | None:
        """What is said of the paper of the last section, if anything is."""
        last = self.blocks[-1].element if self.blocks else None
        return last if last is not None and last.tag == SECT_PR else None

    def insert(self, at: int, elements: Sequence[Element]) -> None:
        """Put new blocks before the one at a place, or at the end."""
        if at < len(self.blocks):
            anchor = self.blocks[at].element
            for made in elements:
                anchor.addprevious(made)
        else:
            self.container.extend(elements)
        self._put(at, at, [Block(made, self._styles) for made in elements])

    def remove(self, begin: int, end: int) -> None:
        """Take out the blocks from one place up to another; their elements are empty then."""
        for block in self.blocks[begin:end]:
            take_out(block.element)
        self._put(begin, end, [])

    def place_of(self, element: Element) -> int:
        """Return which block an element is, or is in."""
        top = element
        while (parent := top.getparent()) is not None and parent is not self.container:
            top = parent
        return self.container.index(top)

    def touch(self, at: int) -> None:
        """Note that what is inside a block is no longer what it was."""
        self._put(at, at + 1, [Block(self.blocks[at].element, self._styles)])

    def reread(self, changed: Collection[Element]) -> None:
        """Note that blocks came and went, and that what is inside some of the others is no longer what it was."""
        known = {block.element: block for block in self.blocks if block.element not in changed}
        self._put(0, len(self.blocks), [known.get(one) or Block(one, self._styles) for one in self.container])

    def take_note(self, at: int, changed: Collection[Element]) -> None:
        """Note that some paragraphs of a block say something else; its bookmarks are as they were."""
        self.blocks[at].reread(changed)
        if self._texts is not None:
            self._texts[at : at + 1] = _searched(self.blocks[at : at + 1])
        self.package.changed(self.part)

    def find(self, wanted: Wanted) -> list[Hit]:
        """Return the paragraphs in which a text stands, in order."""
        finder = wanted.finder()
        if wanted.regex:
            # A pattern may say where a paragraph begins, and must not take what is between them for text.
            return [
                Hit(at, one.element, matches, one.counts)
                for at, block in enumerate(self.blocks)
                for one in block.paragraphs
                if one.text and (matches := finder(one.text))
            ]
        if self._texts is None:
            self._texts = _searched(self.blocks)
        begins = list(accumulate(map(len, self._texts), initial=0))
        found: dict[int, list[tuple[int, int]]] = {}
        for begin, end, _ in finder("".join(self._texts)):
            block = bisect_right(begins, begin) - 1
            found.setdefault(block, []).append((begin - begins[block], end - begins[block]))
        return [hit for block, spans in found.items() for hit in self._hits(block, spans)]

    def replace(self, hits: Sequence[Hit], replacing: Callable[[Sequence[Match]], list[str]]) -> None:
        """Replace what was found; the bookmarks in these blocks stay as they are."""
        for hit in hits:
            replace_matches(hit.paragraph, hit.matches, replacing(hit.matches))
        changed = {hit.paragraph for hit in hits}
        for at in {hit.block for hit in hits}:
            self.take_note(at, changed)

    def _hits(self, block: int, spans: list[tuple[int, int]]) -> list[Hit]:
        found: dict[int, list[Match]] = {}
        paragraphs = self.blocks[block].paragraphs
        begins = list(accumulate((len(paragraph.text) + 1 for paragraph in paragraphs), initial=0))
        for begin, end in spans:
            at = bisect_right(begins, begin) - 1
            found.setdefault(at, []).append(Match(begin - begins[at], end - begins[at]))
        return [Hit(block, paragraphs[at].element, inside, paragraphs[at].counts) for at, inside in found.items()]

    def _put(self, begin: int, end: int, blocks: Sequence[Block]) -> None:
        if self._ids is not None:
            for block in self.blocks[begin:end]:
                self._ids.forget(block)
            for block in blocks:
                self._ids.learn(block)
        self.blocks[begin:end] = blocks
        if self._texts is not None:
            self._texts[begin:end] = _searched(blocks)
        self.version += 1
        self.package.changed(self.part)


def _searched(blocks: Sequence[Block]) -> list[str]:
    return [block.searched + _BETWEEN for block in blocks]
