"""Places of tables of contents: the fields that they are, and the paragraphs that these fill."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from officeplane.domain.document import InvalidEditError
from officeplane.formats.word.bookmarks import RANGE_MARKS
from officeplane.formats.word.contents_table.instruction import Instruction, read_instruction
from officeplane.formats.word.names import P_PR, P, w
from officeplane.formats.word.story import Story
from officeplane.formats.xml import Element

_MARK: Final = w("fldChar")
_TEXT: Final = w("instrText")
_SIMPLE: Final = w("fldSimple")
PASSED: Final = RANGE_MARKS | {P_PR, w("proofErr")}
"""What may stand beside a table of contents without saying anything."""


@dataclass(slots=True)
class Place:
    """One table of contents: its first and its last mark, and what it says of itself."""

    begin: Element
    end: Element
    text: str
    instruction: Instruction

    @property
    def first(self) -> Element:
        """The paragraph that it begins in."""
        return next(self.begin.iterancestors(P))

    @property
    def last(self) -> Element:
        """The paragraph that it ends in."""
        return next(self.end.iterancestors(P))

    def paragraphs(self) -> list[Element]:
        """Return the paragraphs that it fills, side by side; what else stands among them is refused."""
        first, last = self.first, self.last
        made = [first]
        while made[-1] is not last:
            following = made[-1].getnext()
            while following is not None and following.tag in RANGE_MARKS:
                following = following.getnext()
            if following is None or following.tag != P:
                raise InvalidEditError(
                    "a table of contents holds something else than paragraphs, such as a table or a control: update it "
                    "in Word"
                )
            made.append(following)
        return made

    def check_alone(self) -> None:
        """Refuse a table of contents that begins behind another text in its paragraph."""
        for one in _top(self.begin, self.first).itersiblings(preceding=True):
            if one.tag not in PASSED:
                raise InvalidEditError(
                    "a table of contents begins in a paragraph that says something else before it: put it into a "
                    "paragraph of its own in Word"
                )

    def behind(self) -> list[Element]:
        """Return what stands behind it in its last paragraph."""
        return [*_top(self.end, self.last).itersiblings()]


@dataclass(slots=True)
class _Open:
    begin: Element
    text: str = ""
    shows: bool = False


def places_in(story: Story) -> list[Place]:
    """Return the tables of contents of a text, in order, those inside others not."""
    found: list[Place] = []
    opened: list[_Open] = []
    for mark in story.container.iter(_MARK, _TEXT, _SIMPLE):
        if mark.tag == _SIMPLE:
            said = read_instruction(mark.get(w("instr"), ""))
            if said is not None and not opened:
                found.append(Place(mark, mark, mark.get(w("instr"), ""), said))
        elif mark.tag == _TEXT:
            if opened and not opened[-1].shows:
                opened[-1].text += mark.text or ""
        elif mark.get(w("fldCharType")) == "begin":
            opened.append(_Open(mark))
        elif mark.get(w("fldCharType")) == "separate":
            if opened:
                opened[-1].shows = True
        elif opened:
            closed = opened.pop()
            said = read_instruction(closed.text)
            if said is not None and not opened:
                found.append(Place(closed.begin, mark, closed.text, said))
    return found


def entries_of(story: Story, places: Sequence[Place]) -> set[Element]:
    """Return the paragraphs from the beginning of each table of contents to its end."""
    found: set[Element] = set()
    ends = {one.first: one.last for one in places}
    last: Element | None = None
    for paragraph in story.container.iter(P):
        last = ends.get(paragraph) if last is None else last
        if last is not None:
            found.add(paragraph)
        if paragraph is last:
            last = None
    return found


def has_marked_entries(story: Story) -> bool:
    """Tell whether a text has fields that mark entries for tables of contents."""
    simple = (one.get(w("instr"), "") for one in story.container.iter(_SIMPLE))
    said = (one.text or "" for one in story.container.iter(_TEXT))
    return any((text.split() or [""])[0].upper() == "TC" for text in (*simple, *said))


def _top(mark: Element, paragraph: Element) -> Element:
    at = mark
    while (parent := at.getparent()) is not None and parent is not paragraph:
        at = parent
    return at
