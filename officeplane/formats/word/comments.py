"""Comments: remarks in a part of their own, tied to a stretch of the text, with answers and a state."""

import re
from collections.abc import Collection, Iterator, Sequence
from typing import Final

from officeplane.formats.package import Package
from officeplane.formats.relationships import Relationships, declare
from officeplane.formats.signature import Signature
from officeplane.formats.word.bookmarks import number_of
from officeplane.formats.word.comment_states import CommentStates, hexadecimal
from officeplane.formats.word.extensions import let_older_ones_pass_over, root_of
from officeplane.formats.word.names import AUTHOR, ID, PARA_ID, P, W, child, element, w
from officeplane.formats.word.segments import fill_run, text_of
from officeplane.formats.word.styles import Styles
from officeplane.formats.xml import Element

_CONTENT_TYPE: Final = "application/vnd.openxmlformats-officedocument.wordprocessingml.comments+xml"
_PART: Final = "word/comments.xml"
_EMPTY: Final = f'<w:comments xmlns:w="{W}"/>'.encode()
_COMMENT: Final = w("comment")
_PREFIX: Final = "comment-"
_LINES: Final = re.compile(r"\r\n|\r|\n")


class Comments:
    """The comments of one document."""

    def __init__(self, package: Package, document_part: str, styles: Styles) -> None:
        self._package = package
        self._arrows = Relationships(package, document_part)
        self._styles = styles
        self._part: str | None = None
        self._states = CommentStates(package, document_part)

    def __iter__(self) -> Iterator[Element]:
        part = self._find()
        if part is not None:
            yield from root_of(self._package, part).iterchildren(_COMMENT)

    @property
    def part(self) -> str | None:
        """The part that holds them, if there are any."""
        return self._find()

    def texts(self) -> dict[str, str]:
        """Return what each comment says, by its number."""
        return {comment.get(ID, ""): said_by(comment) for comment in self}

    def facts(self) -> dict[str, dict[str, str]]:
        """Return of each comment who wrote it and when, whether it is resolved, and which it answers, by its number."""
        threads = _Threads([*self], self._states)
        told: dict[str, dict[str, str]] = {}
        for comment in threads.comments:
            first = threads.first(comment)
            facts = {
                "author": comment.get(AUTHOR, ""),
                "at": comment.get(w("date"), ""),
                "state": "resolved" if self._states.is_resolved(last_id(first)) else "open",
                "inReplyTo": "" if first is comment else comment_id(first.get(ID, "")),
            }
            told[comment.get(ID, "")] = {name: text for name, text in facts.items() if text}
        return told

    def find(self, node_id: str) -> Element | None:
        """Return the comment that is the node of this id, or None."""
        if not node_id.startswith(_PREFIX):
            return None
        return next((comment for comment in self if comment.get(ID) == node_id.removeprefix(_PREFIX)), None)

    def thread(self, comment: Element) -> list[Element]:
        """Return the comment that a thread began with, then its answers in order, by any of them."""
        threads = _Threads([*self], self._states)
        first = threads.first(comment)
        return [first, *(one for one in threads.comments if one is not first and threads.first(one) is first)]

    def is_resolved(self, comment: Element) -> bool:
        """Tell whether the thread of a comment is resolved."""
        return self._states.is_resolved(last_id(self.thread(comment)[0]))

    def add(self, text: str, signature: Signature, mentioned: Collection[int], answered: Element | None = None) -> str:
        """Add a comment that no place refers to yet; return its number, other than all that are mentioned."""
        part = self._find()
        if part is None:
            part = self._part = _PART
            self._package.put(part, _EMPTY)
            declare(self._package, part, _CONTENT_TYPE)
            self._arrows.add("comments", part)
        root = root_of(self._package, part)
        taken = {*mentioned, *map(number_of, self)}
        number = str(signature.number(taken, "comment"))
        made = child(root, "comment", id=number, author=signature.name)
        made.set(w("date"), f"{signature.moment}Z")
        made.set(w("initials"), signature.initials)
        for turn, line in enumerate(_LINES.split(text)):
            self._fill(child(made, "p"), line, is_first=turn == 0)
        let_older_ones_pass_over(root)
        parent_id = "" if answered is None else self._named(answered, signature)
        self._states.add(self._named(made, signature), parent_id, signature)
        self._package.changed(part)
        return number

    def resolve(self, comment: Element, signature: Signature, *, is_resolved: bool) -> None:
        """Say of a whole thread that it is resolved, or that it is open."""
        part = self._find()
        thread = self.thread(comment)
        if part is not None:
            names = [self._named(one, signature) for one in thread]
            let_older_ones_pass_over(root_of(self._package, part))
            self._package.changed(part)
            self._states.resolve(names, is_resolved=is_resolved)

    def remove(self, comments: Sequence[Element]) -> None:
        """Take comments out; the marks in the text that refer to them are somebody else's work."""
        part = self._find()
        if part is None:
            return
        self._states.remove([last_id(comment) for comment in comments])
        for comment in comments:
            root_of(self._package, part).remove(comment)
        self._package.changed(part)

    def reference(self, number: str) -> Element:
        """Return the run that ties a comment to its place."""
        run = element("r")
        self._set_style(run)
        child(run, "commentReference", id=number)
        return run

    def _find(self) -> str | None:
        if self._part is None or self._part not in self._package:
            arrows = self._arrows.of_type("comments")
            self._part = next((arrow.target for arrow in arrows if arrow.target in self._package), None)
        return self._part

    def _named(self, comment: Element, signature: Signature) -> str:
        """Return the id of a comment's last paragraph, by which its state is known; it is given one if it has none."""
        paragraphs = [*comment.iterchildren(P)]
        last = paragraphs[-1] if paragraphs else child(comment, "p")
        known = last.get(PARA_ID, "")
        if not known:
            taken = {hexadecimal(paragraph.get(PARA_ID)) for each in self for paragraph in each.iter(P)}
            known = f"{signature.number(taken, f'paragraph of {comment.get(ID)}'):08X}"
            last.set(PARA_ID, known)
        return known

    def _fill(self, paragraph: Element, line: str, *, is_first: bool) -> None:
        style_id = self._styles.find("paragraph", "annotation text")
        if style_id is not None:
            child(child(paragraph, "pPr"), "pStyle", val=style_id)
        if is_first:
            run = child(paragraph, "r")
            self._set_style(run)
            child(run, "annotationRef")
        fill_run(child(paragraph, "r"), line)

    def _set_style(self, run: Element) -> None:
        style_id = self._styles.find("character", "annotation reference")
        if style_id is not None:
            child(child(run, "rPr"), "rStyle", val=style_id)


class _Threads:
    """Which comment answers which; each thread has one that it began with."""

    def __init__(self, comments: Sequence[Element], states: CommentStates) -> None:
        self.comments = comments
        self._by_id = {name: comment for comment in comments if (name := last_id(comment))}
        self._parents = states.parents()

    def first(self, comment: Element) -> Element:
        """Return the comment that the thread of a comment began with."""
        seen = {comment}
        while (above := self._by_id.get(self._parents.get(last_id(comment), ""))) is not None and above not in seen:
            comment = above
            seen.add(comment)
        return comment


def said_by(comment: Element) -> str:
    """Return what a comment says, line by line."""
    return "\n".join(text_of(paragraph) for paragraph in comment.iter(P))


def last_id(comment: Element) -> str:
    """Return the id of a comment's last paragraph, in small letters; empty when it has none."""
    paragraphs = [*comment.iterchildren(P)]
    return paragraphs[-1].get(PARA_ID, "").lower() if paragraphs else ""


def comment_id(number: str) -> str:
    """Return the id of the node that a comment is."""
    return f"{_PREFIX}{number}"
