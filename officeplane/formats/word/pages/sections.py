"""Word's sections: stretches of a text with a paper of their own, and the breaks before them.

They have nothing to do with the sections that headings begin. What is said of one stands
at its end: in its last paragraph, or, of the last one, at the end of the text. How it
begins is said there, too.
"""

from copy import deepcopy
from typing import Final

from officeplane.domain.document import InvalidEditError
from officeplane.formats.word.body import Body
from officeplane.formats.word.finder import Found
from officeplane.formats.word.looks.properties import place_in, properties_of, put, take
from officeplane.formats.word.names import BR, P_PR, SECT_PR, TBL, P, child, element, w, with_section
from officeplane.formats.xml import Element

_SECTION: Final = "sectPr"
_REFERENCES: Final = ("headerReference", "footerReference")


class Sections:
    """The sections of a text that may be changed."""

    def __init__(self, body: Body) -> None:
        self._body = body
        if not any(one.getparent() is body.story.container for one in self.all()):
            body.story.insert(len(body.story.blocks), [element(_SECTION)])

    def all(self) -> list[Element]:
        """Return what is said of each section, in order."""
        return [
            one
            for one in self._body.story.container.iter(SECT_PR)
            if (holder := one.getparent()) is self._body.story.container
            or (holder is not None and holder.tag == P_PR and _is_of_paragraph(holder))
        ]

    def of(self, at: int) -> Element:
        """Return the section that holds a block."""
        sections = self.all()
        return next((one for one in sections if self._body.story.place_of(one) >= at), sections[-1])

    def changed(self, section: Element) -> None:
        """Note that something else is said of a section."""
        self._body.story.touch(self._body.story.place_of(section))

    def begin(self, found: Found, kind: str) -> Element:
        """Begin a new section before a node, on the same paper as what is before it; return it."""
        at = self._top(found)
        section = self.of(at)
        blocks = self._body.story.blocks
        first = max(
            (self._body.story.place_of(one) + 1 for one in self.all() if self._body.story.place_of(one) < at), default=0
        )
        before = [place for place in range(first, at) if blocks[place].is_content]
        if not before and first == 0:
            raise InvalidEditError(f"{found.id!r} begins the document: no section can begin before it")
        if before:
            self._end(before[-1], at, section)
            # What was in the middle of a section had no first page, and no number to begin with.
            take(section, "titlePg", *_REFERENCES)
            numbers = section.find(w("pgNumType"))
            if numbers is not None:
                numbers.attrib.pop(w("start"), None)
        put(section, _SECTION, "type", val=kind)
        self.changed(section)
        return section

    def break_before(self, found: Found, kind: str) -> None:
        """Have a node begin on another page, or in the next column."""
        at = self._top(found)
        block = self._body.story.blocks[at].element
        paragraph = None if block.tag == TBL else next(block.iter(P), None)
        if paragraph is None:
            made = element("p")
            child(child(made, "r"), "br", type=kind)
            self._body.put_beside(block, made, before=True)
            return
        if kind == "page":
            put(properties_of(paragraph, "pPr"), "pPr", "pageBreakBefore")
        elif next((one.get(w("type")) for one in paragraph.iter(BR)), None) != kind:
            run = element("r")
            child(run, "br", type=kind)
            properties = paragraph.find(P_PR)
            paragraph.insert(0 if properties is None else 1, run)
        self._body.story.touch(at)

    def _top(self, found: Found) -> int:
        """Return the block that a node begins with; one inside a table or a text box is refused."""
        story = self._body.story
        at = next((i for i in range(found.begin, found.end) if story.blocks[i].is_content), found.begin)
        block = story.blocks[at].element
        begins = found.place is not None or found.element is block or next(block.iter(P), None) is found.element
        if (
            found.story is not story
            or not begins
            or (block.tag == TBL and found.place is None and found.kind != "table")
        ):
            raise InvalidEditError(
                f"{found.id!r} is a {found.kind} inside of something: breaks stand before paragraphs, headings, tables "
                "and pages of the text itself"
            )
        return at

    def _end(self, last: int, at: int, section: Element) -> None:
        """End a section like another one behind its last block, before a block."""
        ended = deepcopy(section)
        ended.tail = None
        take(ended, "sectPrChange")
        block = self._body.story.blocks[last]
        if block.element.tag == P and block.section_break is None:
            place_in(properties_of(block.element, "pPr"), "pPr", ended)
            self._body.story.touch(last)
        else:
            self._body.put_beside(self._body.story.blocks[at].element, with_section(ended), before=True)


def _is_of_paragraph(properties: Element) -> bool:
    holder = properties.getparent()
    return holder is not None and holder.tag == P
