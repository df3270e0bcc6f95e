"""Bookmarks that people name, and those that links to nodes need."""

import hashlib
import re
from collections.abc import Iterator
from typing import Final

from officeplane.domain.document import InvalidEditError
from officeplane.domain.spelling import nearest_name
from officeplane.domain.warning import EditWarning
from officeplane.formats.word.bookmarks import free_number, number_of
from officeplane.formats.word.finder import Finder
from officeplane.formats.word.looks.formatting import id_now
from officeplane.formats.word.marks.stretches import paragraphs_of
from officeplane.formats.word.names import BOOKMARK_END, BOOKMARK_START, ID, NAME, P_PR, P, element, w
from officeplane.formats.word.story import Story
from officeplane.formats.xml import Element, take_off

_HIDDEN: Final = "_"
_OF_LINKS: Final = "_Ref"
_FIELD: Final = re.compile(r'\b(?:REF|PAGEREF|NOTEREF|HYPERLINK\s+\\l)\s+"?([^\s"\\]+)', re.IGNORECASE)


def put_bookmark(finder: Finder, node_id: str, name: str) -> str:
    """Name a node by a bookmark around it; return the node's id."""
    known = next((mark for _, mark in _starts(finder) if mark.get(NAME, "").lower() == name.lower()), None)
    if known is not None:
        raise InvalidEditError(
            f"there is a bookmark {known.get(NAME)!r} already: give another name, or delete it first"
        )
    found = finder.find(node_id)
    paragraphs = paragraphs_of(found)
    finder.stories.stamp(found.story)
    _mark(finder, found.story, paragraphs[0], paragraphs[-1], name)
    return node_id


def delete_bookmark(finder: Finder, name: str) -> tuple[str, list[EditWarning]]:
    """Take a bookmark away; return where it was, and warnings of what leads there."""
    starts = {mark.get(NAME, ""): (story, mark) for story, mark in _starts(finder)}
    if name not in starts:
        nearest = nearest_name(name, [one for one in starts if not one.startswith(_HIDDEN)])
        meant = "" if nearest is None else f"; did you mean {nearest!r}?"
        raise InvalidEditError(f"the document has no bookmark {name!r}{meant}")
    story, mark = starts[name]
    finder.stories.stamp(story)
    around = next(mark.iterancestors(P), None)
    if around is None:
        around = next((one for later in mark.itersiblings() for one in later.iter(P)), None)
    ends = [one for one in story.root.iter(BOOKMARK_END) if one.get(ID) == mark.get(ID)]
    for one in (mark, *ends):
        at = story.place_of(one)
        is_block = one.getparent() is story.container
        take_off(one)
        if is_block:
            story.reread(())
        else:
            story.touch(at)
    place = "" if around is None else id_now(finder, finder.stories.of(around), around)
    return place, [EditWarning("reference_lost", told, place) for told in _told_of(finder, name)]


def bookmark_for_link(finder: Finder, node_id: str) -> str:
    """Return the name of a bookmark at which a node begins, made if there is none that lasts."""
    found = finder.find(node_id)
    if found.story is not finder.stories.body.story:
        raise InvalidEditError(f"{node_id!r} is a {found.kind} beside the text: links lead to nodes of the text itself")
    paragraph = paragraphs_of(found)[0]
    for mark in paragraph.iterchildren(BOOKMARK_START):
        name = mark.get(NAME, "")
        if not name.startswith(_HIDDEN) or name.startswith(_OF_LINKS):
            return name
    finder.stories.stamp(found.story)
    taken = {mark.get(NAME, "").lower() for _, mark in _starts(finder)}
    turn = 0
    while True:
        turn += 1
        name = f"{_OF_LINKS}{int(hashlib.sha256(f'{node_id}/{turn}'.encode()).hexdigest()[:8], 16) % 10**9:09d}"
        if name.lower() not in taken:
            _mark(finder, found.story, paragraph, paragraph, name)
            return name


def mark_around(finder: Finder, first: Element, last: Element, name: str) -> tuple[Element, Element]:
    """Put a bookmark around paragraphs of a text; who does that says that they changed."""
    highest = max((number_of(mark) for _, mark in _starts(finder)), default=-1)
    number = str(free_number(highest, first.getroottree().getroot()))
    begin, end = element("bookmarkStart", id=number, name=name), element("bookmarkEnd", id=number)
    properties = first.find(P_PR)
    first.insert(0 if properties is None else first.index(properties) + 1, begin)
    last.append(end)
    return begin, end


def _mark(finder: Finder, story: Story, first: Element, last: Element, name: str) -> None:
    for one in mark_around(finder, first, last, name):
        story.touch(story.place_of(one))


def _starts(finder: Finder) -> Iterator[tuple[Story, Element]]:
    return ((story, mark) for story in finder.stories.all() for mark in story.root.iter(BOOKMARK_START))


def _told_of(finder: Finder, name: str) -> Iterator[str]:
    for story in finder.stories.all():
        for link in story.root.iter(w("hyperlink")):
            if link.get(w("anchor")) == name:
                said = "".join(one.text or "" for one in link.iter(w("t")))
                yield f"the link {said!r} led to the bookmark {name!r}, and leads nowhere now"
        simple = [one.get(w("instr"), "") for one in story.root.iter(w("fldSimple"))]
        for said in [*simple, "".join(one.text or "" for one in story.root.iter(w("instrText")))]:
            for match in _FIELD.finditer(said):
                if match[1] == name:
                    yield f"a field names the bookmark {name!r}, and finds nothing when it is updated"
