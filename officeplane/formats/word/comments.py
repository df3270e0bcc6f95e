"""Comments: remarks in a part of their own, tied to a stretch of the text."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Final

from officeplane.formats.package import Package
from officeplane.formats.relationships import Relationships, declare
from officeplane.formats.word.names import ID, PARA_ID, P, W, child, element, w
from officeplane.formats.word.segments import fill_run, text_of
from officeplane.formats.word.styles import Styles
from officeplane.formats.xml import Element, is_storable

_CONTENT_TYPE: Final = "application/vnd.openxmlformats-officedocument.wordprocessingml.comments+xml"
_PART: Final = "word/comments.xml"
_EMPTY: Final = f'<w:comments xmlns:w="{W}"/>'.encode()
_COMMENT: Final = w("comment")
_W15: Final = "{http://schemas.microsoft.com/office/word/2012/wordml}"
_PREFIX: Final = "comment-"
_INITIALS_MAX: Final = 9
_LINES: Final = re.compile(r"\r\n|\r|\n")


class Comments:
    """The comments of one document."""

    def __init__(self, package: Package, document_part: str, styles: Styles) -> None:
        self._package = package
        self._arrows = Relationships(package, document_part)
        self._styles = styles
        self._part: str | None = None

    def __iter__(self) -> Iterator[Element]:
        part = self._find()
        if part is not None:
            yield from self._package.tree(part).iterchildren(_COMMENT)

    @property
    def part(self) -> str | None:
        """The part that holds them, if there are any."""
        return self._find()

    def texts(self) -> dict[str, str]:
        """Return what each comment says, by its number."""
        return {comment.get(ID, ""): "\n".join(text_of(paragraph) for paragraph in comment.iter(P)) for comment in self}

    def facts(self) -> dict[str, dict[str, str]]:
        """Return of each comment who wrote it and when, whether it is resolved, and which it answers, by its number."""
        ends = {self._last_id(comment): comment.get(ID, "") for comment in self}
        states = {state.get(_W15 + "paraId", "").lower(): state for state in self._states()}
        told: dict[str, dict[str, str]] = {}
        for comment in self:
            facts = {"author": comment.get(w("author"), ""), "at": comment.get(w("date"), "")}
            state = states.get(self._last_id(comment))
            if state is not None:
                facts["state"] = "resolved" if state.get(_W15 + "done") in {"1", "true"} else "open"
                number = ends.get(state.get(_W15 + "paraIdParent", "").lower(), "")
                facts["inReplyTo"] = comment_id(number) if number else ""
            told[comment.get(ID, "")] = {name: text for name, text in facts.items() if text}
        return told

    def _states(self) -> Iterator[Element]:
        for arrow in self._arrows.of_type("commentsExtended"):
            if arrow.target in self._package:
                yield from self._package.tree(arrow.target)

    def _last_id(self, comment: Element) -> str:
        paragraphs = [*comment.iterchildren(P)]
        return paragraphs[-1].get(PARA_ID, "").lower() if paragraphs else ""

    def find(self, node_id: str) -> Element | None:
        """Return the comment that is the node of this id, or None."""
        if not node_id.startswith(_PREFIX):
            return None
        return next((comment for comment in self if comment.get(ID) == node_id.removeprefix(_PREFIX)), None)

    def add(self, text: str, author: str, at: datetime, mentioned: list[str]) -> str:
        """Add a comment that no place refers to yet; return its number, other than all that are mentioned."""
        part = self._find()
        if part is None:
            part = self._part = _PART
            self._package.put(part, _EMPTY)
            declare(self._package, part, _CONTENT_TYPE)
            self._arrows.add("comments", part)
        numbers = [comment.get(ID, "") for comment in self] + mentioned
        number = str(max((int(known) for known in numbers if known.isdecimal()), default=-1) + 1)
        name = author if is_storable(author) else "".join(char for char in author if is_storable(char))
        made = child(self._package.tree(part), "comment", id=number, author=name)
        made.set(w("date"), at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"))
        made.set(w("initials"), _initials(name))
        for turn, line in enumerate(_LINES.split(text)):
            self._fill(child(made, "p"), line, is_first=turn == 0)
        self._package.changed(part)
        return number

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


def comment_id(number: str) -> str:
    """Return the id of the node that a comment is."""
    return f"{_PREFIX}{number}"


def _initials(author: str) -> str:
    return "".join(word[0] for word in author.split())[:_INITIALS_MAX].upper()
