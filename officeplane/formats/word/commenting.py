"""Commenting: remarks on what a text says, answers to them, and their end."""

from typing import Final

from officeplane.domain.document import InvalidEditError
from officeplane.domain.warning import Loss
from officeplane.formats.search import Wanted
from officeplane.formats.signature import Signature
from officeplane.formats.word.anchors import (
    anchor_around,
    anchor_at,
    anchor_beside,
    anchor_inside,
    is_shown,
    marks_of,
)
from officeplane.formats.word.bookmarks import number_of
from officeplane.formats.word.choosing import nth_of, places_of
from officeplane.formats.word.comments import comment_id, said_by
from officeplane.formats.word.finder import Finder, Found
from officeplane.formats.word.names import COMMENT_REFERENCE, ID, TEXT_BOX, P, w
from officeplane.formats.word.nodes.rewriting import drop_empty
from officeplane.formats.word.story import Hit, Story
from officeplane.formats.xml import Element

_ASIDES: Final = {"header": "a header", "footer": "a footer", "footnotes": "a note", "endnotes": "a note"}
"""Where Word takes no notice of comments, although the format allows them."""

_COMMENTS_MAX: Final = 32_767
"""Word opens no file with more."""

_FIELD: Final = w("fldChar")


class Commenting:
    """Changes the comments of one document, in the name of one person."""

    def __init__(self, finder: Finder, signature: Signature) -> None:
        self._finder = finder
        self._comments = finder.comments
        self._signature = signature

    def add(self, node_id: str, text: str, find: str | None, nth: int | None) -> str:
        """Comment on a node, or on words in it; return the comment's id."""
        found = self._finder.find(node_id)
        self._check(found)
        if find is None:
            return self._on_node(found, text)
        places = places_of(Wanted(find, under=node_id), self._finder)
        chosen = nth_of(places, nth or 1)
        if not chosen:
            times = sum(len(hit.matches) for _, hits in places for hit in hits if hit.counts)
            standing = f"stands {times} times" if times else "does not stand"
            instead = "a smaller `nth`" if times else "words as the node says them"
            raise InvalidEditError(f"{find!r} {standing} in {node_id!r}: give {instead}, or leave `find` out")
        ((story, hits),) = chosen
        return self._on_words(story, next(hit for hit in hits if hit.counts), text)

    def add_at(self, find: str, text: str) -> str:
        """Comment on the first place where words stand; return the comment's id."""
        story = self._finder.stories.body.story
        for hit in story.find(Wanted(find)):
            if hit.counts:
                return self._on_words(story, hit, text)
        raise InvalidEditError(
            f"{find!r} does not stand in the text; headers, footers and notes cannot be commented on"
        )

    def reply(self, to: str, text: str) -> str:
        """Answer a comment; return the answer's id."""
        thread = self._comments.thread(self._find(to))
        first, last = thread[0].get(ID, ""), thread[-1].get(ID, "")
        marks = [mark for mark in marks_of(self._finder.stories, [first, last]) if is_shown(mark)]
        beside = last if any(mark.get(ID) == last for mark in marks) else first
        marks = [mark for mark in marks if mark.get(ID) == beside]
        if not any(mark.tag == COMMENT_REFERENCE for mark in marks):
            raise InvalidEditError(f"nothing in the text refers to {to!r}, so that nobody would see an answer")
        story = self._finder.stories.of(marks[0])
        self._check_story(story, to)
        self._finder.stories.stamp(story)
        tops = {_top_of(story, mark) for mark in marks}
        number = self._comments.add(text, self._signature, self._mentioned(), thread[0])
        anchor_beside(marks, number, self._comments.reference(number))
        # A mark may stand between paragraphs; then there is another beside it now.
        story.reread(tops)
        return comment_id(number)

    def resolve(self, of: str, *, is_resolved: bool) -> str:
        """Say that a thread is resolved, or that it is open; return the id of the comment that it began with."""
        comment = self._find(of)
        self._comments.resolve(comment, self._signature, is_resolved=is_resolved)
        return comment_id(self._comments.thread(comment)[0].get(ID, ""))

    def delete(self, node_id: str) -> list[Loss]:
        """Take a comment away; return its answers, which go with it if the thread began with it."""
        comment = self._find(node_id)
        thread = self._comments.thread(comment)
        gone = thread if comment is thread[0] else [comment]
        losses = [Loss("reply", comment_id(one.get(ID, "")), said_by(one)) for one in gone if one is not comment]
        numbers = [one.get(ID, "") for one in gone]
        marks = [*marks_of(self._finder.stories, numbers)]
        for story in self._finder.stories.all():
            own = [mark for mark in marks if self._finder.stories.of(mark) is story]
            if own:
                self._finder.stories.stamp(story)
                changed = {_top_of(story, mark) for mark in own}
                for mark in own:
                    _take_out(mark)
                story.reread(changed)
        self._comments.remove(gone)
        return losses

    def _find(self, node_id: str) -> Element:
        comment = self._comments.find(node_id)
        if comment is None:
            known = ", ".join(comment_id(one.get(ID, "")) for one in self._comments)
            there_are = f"there are {known[:300]}" if known else "the document has none"
            raise InvalidEditError(f"there is no comment {node_id!r}: {there_are}")
        return comment

    def _check(self, found: Found) -> None:
        self._check_story(found.story, found.id)
        if found.kind == "comment":
            raise InvalidEditError(f"{found.id!r} is a comment, on which there are no others: give it to `reply`")

    def _on_node(self, found: Found, text: str) -> str:
        is_heading = found.place is not None and found.place.is_heading
        elements = found.elements[:1] if is_heading else found.elements
        element = elements[0]
        within = next(element.iterancestors(P), None)
        paragraphs = [one for top in elements for one in top.iter(P) if _is_in_text(one)]
        if within is None and not paragraphs:
            raise InvalidEditError(f"{found.id!r} has no paragraph to comment on")
        self._finder.stories.stamp(found.story)
        number = self._comments.add(text, self._signature, self._mentioned())
        reference = self._comments.reference(number)
        if within is None:
            ends = (paragraphs[0], paragraphs[-1])
            anchor_around(*ends, number, reference)
        else:
            # Word has no comments inside text boxes: what holds the box is commented on.
            outer = [*element.iterancestors(P)][-1]
            ends = (outer, outer)
            if element.tag in {P, _FIELD}:
                anchor_around(outer, outer, number, reference)
            else:
                anchor_inside(outer, element, number, reference)
        for at in {found.story.place_of(one) for one in ends}:
            found.story.touch(at)
        return comment_id(number)

    def _on_words(self, story: Story, hit: Hit, text: str) -> str:
        self._finder.stories.stamp(story)
        number = self._comments.add(text, self._signature, self._mentioned())
        reference = self._comments.reference(number)
        outer = [*hit.paragraph.iterancestors(P)]
        if outer:
            anchor_around(outer[-1], outer[-1], number, reference)
        else:
            anchor_at(hit.paragraph, hit.matches[0].span, number, reference)
        story.touch(hit.block)
        return comment_id(number)

    def _check_story(self, story: Story, node_id: str) -> None:
        kind = next((aside.kind for aside in self._finder.stories.asides if aside.story is story), "")
        if kind:
            instead = " that refers to it" if kind in {"footnotes", "endnotes"} else ""
            raise InvalidEditError(
                f"{node_id!r} stands beside the text, in {_ASIDES[kind]}, where Word has no comments: comment on a "
                f"node of the text{instead}"
            )

    def _mentioned(self) -> set[int]:
        """Return the numbers that texts refer to; some of them may be of comments that are not there."""
        if sum(1 for _ in self._comments) >= _COMMENTS_MAX:
            raise InvalidEditError(f"there are {_COMMENTS_MAX:,} comments, and Word opens no more: delete some first")
        stories = self._finder.stories.all()
        return {number_of(mark) for story in stories for mark in story.root.iter(COMMENT_REFERENCE)}


def _is_in_text(paragraph: Element) -> bool:
    return next(paragraph.iterancestors(TEXT_BOX), None) is None


def _top_of(story: Story, element: Element) -> Element:
    return story.blocks[story.place_of(element)].element


def _take_out(mark: Element) -> None:
    parent = mark.getparent()
    if parent is not None:
        paragraph = next(mark.iterancestors(P), parent)
        parent.remove(mark)
        if mark.tag == COMMENT_REFERENCE:
            drop_empty(parent, paragraph)
