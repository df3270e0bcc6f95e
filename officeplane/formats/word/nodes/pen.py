"""The pen: writes blocks of content into the paragraphs of one story, and makes new ones that look like others."""

from collections.abc import Mapping
from copy import deepcopy
from typing import Final

from officeplane.domain.document import InvalidEditError
from officeplane.domain.warning import Loss
from officeplane.formats.blocks import Block, Code, Heading, Item, Line, Quote, Rule, Span, Table
from officeplane.formats.commonmark import written
from officeplane.formats.links import Links
from officeplane.formats.markdown import TEXTS, read
from officeplane.formats.word.block import level_of
from officeplane.formats.word.brought import Brought
from officeplane.formats.word.content import Contents
from officeplane.formats.word.finder import Finder
from officeplane.formats.word.names import P_PR, R_PR, SECT_PR, P, R, element, element_name, w
from officeplane.formats.word.nodes.leaves import leaves
from officeplane.formats.word.nodes.letters import letters_of
from officeplane.formats.word.nodes.rewriting import Old, Rewriting
from officeplane.formats.word.nodes.run_formats import base_of, strip_run
from officeplane.formats.word.page_width import text_width
from officeplane.formats.word.story import Story
from officeplane.formats.word.writer import Writer
from officeplane.formats.xml import Element

_HEADING_MAX: Final = 6
_BEFORE_NUMBERS: Final = ("pStyle", "keepNext", "keepLines", "pageBreakBefore", "framePr", "widowControl")
_OF_KIND: Final = (w("pStyle"), w("numPr"), w("outlineLvl"))
_STAYS: Final = frozenset((*_OF_KIND, SECT_PR, w("pageBreakBefore"), w("framePr"), w("pPrChange"), R_PR))
_ANY_ITEM: Final = Item((), ordered=False, depth=0, begins_list=True)


class Pen:
    """Writes in one story."""

    def __init__(self, finder: Finder, story: Story, contents: Contents, brought: Brought) -> None:
        self._finder = finder
        self._styles = finder.stories.styles
        self.contents = contents
        section = finder.stories.body.story.section
        self.writer = Writer(
            finder.package, finder.stories.part, self._styles, text_width(section), beside=story.part, below=0,
            insets=brought.run,
        )  # fmt: skip
        self._read: tuple[Element, Old] | None = None
        self._rewriting = Rewriting(Links(finder.package, story.part), contents.target, self._styles, brought)

    def block(self, paragraph: Element) -> Block:
        """Return what a paragraph says, whatever its number is if it is an item."""
        is_item = self._finder.kind_of(paragraph) == "item"
        return self.contents.of_paragraph(paragraph, self.level(paragraph), _ANY_ITEM if is_item else None)

    def level(self, paragraph: Element) -> int:
        """Return the level of the heading that a paragraph is, or 0."""
        return level_of(paragraph, self._styles)

    def is_said(self, paragraph: Element, new: Block | str) -> bool:
        """Tell whether a paragraph says something already, as what it is."""
        before = self.block(paragraph)
        old = self._old(paragraph, before, new)
        if not self._differs(before, new) and old.says(line_of(new)):
            return True
        # It is about to be written: to read it again is half of what that takes.
        self._read = paragraph, old
        return False

    def write(self, paragraph: Element, new: Block | str, node_id: str, *, keep_format: bool) -> list[Loss]:
        """Have a paragraph say something else; return what is lost with what it said."""
        before = self.block(paragraph)
        is_other = self._differs(before, new)
        old = (
            self._old(paragraph, before, new) if self._read is None or self._read[0] is not paragraph else self._read[1]
        )
        self._read = None
        losses = self._rewriting.write(paragraph, old, line_of(new), node_id)
        if not isinstance(new, str) and is_other:
            self._restyle(paragraph, self.writer.elements([new])[0])
        if not keep_format:
            self._strip(paragraph, keeps_emphasis=not isinstance(new, str))
        return losses

    def made_like(self, like: Element, new: Block | str) -> Element:
        """Return a new paragraph in the formatting of one that is of the same kind."""
        made = element("p")
        properties = like.find(P_PR)
        if properties is not None:
            made.append(deepcopy(properties))
            for own in [own for own in made[0] if own.tag in {SECT_PR, w("pPrChange")}]:
                made[0].remove(own)
        text = next((run for run in like.iter(R) if run.find(w("t")) is not None), None)
        self._rewriting.fill(made, line_of(new), base_of(text, like), is_exact=not isinstance(new, str))
        return made

    def is_alike(self, paragraph: Element, new: Block | str) -> bool:
        """Tell whether new content is of the kind that a paragraph is."""
        return isinstance(new, str) or not self._differs(self.block(paragraph), new, both_ways=True)

    def _old(self, paragraph: Element, before: Block, new: Block | str) -> Old:
        if isinstance(new, str):
            return Old(leaves(paragraph, lambda _: ""), None)
        line = leaves(paragraph, self.contents.shown)
        length = sum(len(leaf.text) for leaf in line)
        if isinstance(before, Code):
            return Old(line, None)
        if not isinstance(before, Table) and all(_is_plain(span) for span in line_of(before)):
            return Old(line, line_of(before))
        # As it would be read again: only so can it be compared with what somebody has read and changed.
        again = read(written([before]), TEXTS).blocks
        for looks in (
            line_of(again[0]) if len(again) == 1 and not isinstance(again[0], Table) else (),
            line_of(before),
        ):
            if sum(len(letters_of(span)) for span in looks) == length:
                return Old(line, looks)
        return Old(line, (Span("".join(leaf.text for leaf in line)),))

    def _differs(self, before: Block, new: Block | str, *, both_ways: bool = False) -> bool:
        """Tell whether new content asks for another kind of paragraph; plain text leaves what there is."""
        match new:
            case Heading(level):
                return not isinstance(before, Heading) or min(before.level, _HEADING_MAX) != level
            case Item() | Quote() | Code():
                return type(before) is not type(new)
            case _:
                return both_ways and isinstance(before, Heading | Item | Quote | Code | Rule)

    def _restyle(self, paragraph: Element, made: Element) -> None:
        properties = paragraph.find(P_PR)
        if properties is None:
            properties = element("pPr")
            paragraph.insert(0, properties)
        for own in [own for own in properties if own.tag in _OF_KIND]:
            properties.remove(own)
        asked = made.find(P_PR)
        wanted: Mapping[str, Element] = {} if asked is None else {element_name(one): one for one in asked}
        if "numPr" in wanted:
            at = sum(element_name(own) in _BEFORE_NUMBERS for own in properties)
            properties.insert(at, wanted["numPr"])
        if "pStyle" in wanted:
            properties.insert(0, wanted["pStyle"])

    def _strip(self, paragraph: Element, *, keeps_emphasis: bool) -> None:
        properties = paragraph.find(P_PR)
        if properties is not None:
            for own in [own for own in properties if own.tag not in _STAYS]:
                properties.remove(own)
        link = self._styles.find("character", "Hyperlink")
        for run in paragraph.iter(R):
            if next(run.iterancestors(P), None) is paragraph and run.find(w("t")) is not None:
                strip_run(run, link, keeps_emphasis=keeps_emphasis)


def line_of(block: Block | str) -> Line:
    """Return the line of content for one paragraph; what has none is refused."""
    match block:
        case str():
            return (Span(block),) if block else ()
        case Code(text):
            return (Span(text),)
        case Rule():
            return ()
        case Table():
            raise InvalidEditError(
                "a table cannot take the place of a paragraph: put it beside it with insert_content, then delete_node"
            )
        case _:
            return block.line


def _is_plain(span: Span) -> bool:
    return type(span) is Span and "\n" not in span.text and span == Span(span.text)
