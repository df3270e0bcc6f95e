"""The ledger: what was there before an edit, by what it became, and what of it is put back."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from lxml import etree

from officeplane.formats.word.bookmarks import RANGE_MARKS, node_of
from officeplane.formats.word.names import (
    BOOKMARK_END,
    BOOKMARK_START,
    COMMENT_REFERENCE,
    ID,
    NAME,
    P_PR,
    PARA_ID,
    R_PR,
    TR,
    P,
)
from officeplane.formats.word.tracking.pencil import Pencil
from officeplane.formats.xml import Element

_TEXT_ID: Final = PARA_ID.replace("paraId", "textId")
_MARKS: Final = (*RANGE_MARKS, COMMENT_REFERENCE)


@dataclass(slots=True, eq=False)
class Ledger:
    """What is known of one text while it is tracked."""

    pencil: Pencil
    root: Element
    twins: dict[Element, Element]
    """What each paragraph, table and the like was before the edit."""
    back: set[Element] = field(default_factory=set[Element])
    """What went, and is there again to be seen as deleted."""
    dropped: set[str | None] = field(default_factory=set[str | None])
    """The numbers of bookmarks that went, since others of their names have come."""
    became: dict[Element, Element] = field(default_factory=dict[Element, Element])
    """What came, by what it is part of now."""

    def is_same(self, now: Element, was: Element) -> bool:
        """Tell whether nothing in an element has changed."""
        return etree.tostring(now, with_tail=False) == etree.tostring(was, with_tail=False)

    def note_back(self, one: Element, before: Sequence[Element] = ()) -> None:
        """Note that something is there again; the marks in it are nowhere else then, but for those right before it."""
        self.back.add(one)
        staying = {(mark.tag, mark.get(ID)) for mark in before}
        own = {*one.iter(*_MARKS)}
        for mark in [mark for mark in own if (mark.tag, mark.get(ID)) in staying]:
            own.discard(mark)
            _remove(mark)
        if not own:
            return
        numbers = {(mark.tag, mark.get(ID)) for mark in own}
        others = [mark for mark in self.root.iter(*_MARKS) if mark not in own]
        names = {mark.get(NAME): mark.get(ID) for mark in others if mark.tag == BOOKMARK_START}
        for mark in others:
            if (mark.tag, mark.get(ID)) in numbers:
                _remove(mark)
        # A page that was written anew has its bookmark already.
        self.dropped |= {mark.get(ID) for mark in own if names.get(mark.get(NAME), mark.get(ID)) != mark.get(ID)}
        for mark in own:
            if mark.get(ID) in self.dropped and mark.tag in {BOOKMARK_START, BOOKMARK_END}:
                _remove(mark)

    def complete_marks(self, was: Element) -> None:
        """Put back the other ends of marks that are there again."""
        there = {(mark.tag, mark.get(ID)) for mark in self.root.iter(*RANGE_MARKS)}
        lives = {twin: live for live, twin in self.twins.items()}
        for mark in [*was.iter(*RANGE_MARKS)]:
            name = str(mark.tag)
            other = name.removesuffix("Start") + "End" if name.endswith("Start") else name.removesuffix("End") + "Start"
            if (mark.tag, mark.get(ID)) in there or (other, mark.get(ID)) not in there:
                continue
            around = next((one for one in mark.iterancestors(P) if one in lives), None)
            if around is None:
                continue
            is_leading = not any(one.tag not in {*_MARKS, P_PR} for one in mark.itersiblings(preceding=True))
            home = lives[around]
            properties = home.find(P_PR)
            at = 0 if properties is None else home.index(properties) + 1
            home.insert(at if is_leading else len(home), mark)

    def renew(self, moved: Element) -> None:
        """Have what moved be something new: its ids stay with what is seen as deleted where it was."""
        for one in moved.iter(P, TR):
            one.attrib.pop(PARA_ID, None)
            one.attrib.pop(_TEXT_ID, None)
        for mark in [*moved.iter(BOOKMARK_START)]:
            if node_of(mark) is not None:
                self._remove_bookmark(mark)
        highest = max((number for number, _ in self._drawn(self.root)), default=0)
        for turn, (_, one) in enumerate([*self._drawn(moved)], 1):
            one.set("id", str(highest + turn))

    def is_now(self, come: Element, last: Element, gone: Element) -> None:
        """Note that what came and what went are one paragraph, under the id of what went."""
        number = gone.get(PARA_ID)
        if number is not None:
            last.set(PARA_ID, number)
        self.became[come] = last
        self.back.discard(last)

    def forget(self, one: Element) -> None:
        """Take out what went for good."""
        self.back.discard(one)
        _remove(one)

    def _remove_bookmark(self, begin: Element) -> None:
        number = begin.get(ID)
        for mark in [mark for mark in self.root.iter(*RANGE_MARKS) if mark.get(ID) == number]:
            if "bookmark" in str(mark.tag):
                _remove(mark)

    def _drawn(self, top: Element) -> Iterator[tuple[int, Element]]:
        for one in top.iter("{*}docPr"):
            said = one.get("id", "")
            yield int(said) if said.isdecimal() else 0, one


def _remove(one: Element) -> None:
    parent = one.getparent()
    if parent is None:
        return
    parent.remove(one)
    if one.tag == COMMENT_REFERENCE and all(inner.tag == R_PR for inner in parent):
        # The run of a comment's mark holds nothing else.
        _remove(parent)
