"""Remarks: what people say of slides, as reading tells of it.

There are two forms. In the older one a comment is pinned to a place of a slide, has
a number of its author's, and says in an extension which it answers. In the newer one
it is tied to a slide, a shape or words, holds its answers, and has a state.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from officeplane.formats.package import Package
from officeplane.formats.powerpoint.names import attribute_number, p
from officeplane.formats.powerpoint.paragraphs import PARAGRAPH, text_of
from officeplane.formats.relationships import Relationships
from officeplane.formats.xml import Element

MODERN: Final = "http://schemas.microsoft.com/office/powerpoint/2018/8/main"
P15: Final = "http://schemas.microsoft.com/office/powerpoint/2012/main"
UNITS_A_POINT: Final = 8
"""Places of older comments are in 576ths of an inch."""

_COMMENTS: Final = "comments"
_SHAPES: Final = ("{*}spMk", "{*}picMk", "{*}graphicFrameMk", "{*}cxnSpMk")
_ID_LENGTH: Final = 12


@dataclass(frozen=True, slots=True)
class Remark:
    """A comment on a slide, or an answer to one."""

    id: str
    part: str
    element: Element
    text: str
    author: str
    at: str
    is_modern: bool = False
    is_resolved: bool = False
    parent: str = ""
    """The id of the comment that a thread began with, of its answers."""
    shape: str = ""
    """The id of the shape that it is about, where it is about one."""
    words: tuple[int, int] | None = None
    """Where in the text of the shape the words begin that it is about, and how long they are."""

    @property
    def first(self) -> str:
        """The id of the comment that its thread began with."""
        return self.parent or self.id

    def facts(self, about: str = "") -> dict[str, Any]:
        """Return what is to be said of it besides its text; `about` is what the shape says that it is about."""
        state = "resolved" if self.is_resolved else "open"
        said = {
            "author": self.author,
            "at": self.at,
            "state": state if self.is_modern else "",
            "inReplyTo": self.parent,
            "shape": self.shape,
            "about": "" if self.words is None else about[self.words[0] : sum(self.words)],
        }
        return {name: text for name, text in said.items() if text} | self._place()

    def _place(self) -> dict[str, float]:
        pin = None if self.is_modern or self.parent else self.element.find(p("pos"))
        if pin is None:
            return {}
        return {name: attribute_number(pin, name, 0) / UNITS_A_POINT for name in ("x", "y")}


def remarks_on(package: Package, part: str, slide_id: str, authors: Mapping[str, str]) -> list[Remark]:
    """Return the comments on a slide, each with its answers behind it."""
    found: list[Remark] = []
    for name in comment_parts(package, part):
        root = package.tree(name)
        if root.tag == p("cmLst"):
            found += _classic(root, name, slide_id, authors)
        else:
            found += _modern(root, name, slide_id, authors)
    return found


def comment_parts(package: Package, part: str) -> list[str]:
    """Return the parts that hold the comments on a slide."""
    arrows = Relationships(package, part).of_type(_COMMENTS)
    return [arrow.target for arrow in arrows if arrow.target in package]


def authors_of(package: Package, main: str) -> dict[str, str]:
    """Return the names of those who comment, by their ids, in both of the forms that there are."""
    arrows = Relationships(package, main)
    parts = [arrow.target for kind in ("commentAuthors", "authors") for arrow in arrows.of_type(kind)]
    return {
        author.get("id", ""): author.get("name", "")
        for part in parts
        if part in package
        for author in package.tree(part)
        if isinstance(author.tag, str)
    }


def number_of(comment: Element) -> tuple[str, str]:
    """Return whose comment an older one is, and which of theirs."""
    return comment.get("authorId", ""), comment.get("idx", "")


def answered_by(comment: Element) -> tuple[str, str] | None:
    """Return the number of what an older comment answers; None when it begins a thread."""
    parent = next(comment.iter(f"{{{P15}}}parentCm"), None)
    return None if parent is None else number_of(parent)


def classic_id(slide_id: str, comment: Element) -> str:
    """Return the id of the node that an older comment is."""
    return f"{slide_id}.comment-{'-'.join(number_of(comment))}"


def modern_id(slide_id: str, comment: Element) -> str:
    """Return the id of the node that a newer comment is."""
    return f"{slide_id}.comment-{comment.get('id', '').strip('{}')[-_ID_LENGTH:].lower()}"


def _classic(root: Element, part: str, slide_id: str, authors: Mapping[str, str]) -> Iterator[Remark]:
    held = root.findall(p("cm"))
    by_number = {number_of(comment): comment for comment in held}
    answers: dict[Element, list[Element]] = {comment: [] for comment in held}
    for comment in held:
        answered = answered_by(comment)
        above = None if answered is None else by_number.get(answered)
        if above is not None and answered_by(above) is None:
            answers[above].append(comment)
    answering = {comment for each in answers.values() for comment in each}
    for first in held:
        if first in answering:
            continue
        for comment in (first, *answers[first]):
            yield Remark(
                classic_id(slide_id, comment), part, comment, comment.findtext(p("text")) or "",
                authors.get(comment.get("authorId", ""), ""), comment.get("dt", ""),
                parent="" if comment is first else classic_id(slide_id, first),
            )  # fmt: skip


def _modern(root: Element, part: str, slide_id: str, authors: Mapping[str, str]) -> Iterator[Remark]:
    for first in root.iterchildren(f"{{{MODERN}}}cm"):
        is_resolved = first.get("status", "active") != "active"
        shape = next((one.get("id", "") for one in first.iter(*_SHAPES)), "")
        mark = next(first.iter("{*}txMk"), None)
        words = None if mark is None else (attribute_number(mark, "cp", 0), attribute_number(mark, "len", 0))
        for comment in (first, *first.iterfind(f"{{{MODERN}}}replyLst/{{{MODERN}}}reply")):
            said = comment.find(f"{{{MODERN}}}txBody")
            yield Remark(
                modern_id(slide_id, comment), part, comment,
                "" if said is None else "\n".join(text_of(each) for each in said.iterchildren(PARAGRAPH)),
                authors.get(comment.get("authorId", ""), ""), comment.get("created", ""),
                is_modern=True, is_resolved=is_resolved,
                parent="" if comment is first else modern_id(slide_id, first),
                shape=f"{slide_id}.{shape}" if shape else "",
                words=words,
            )  # fmt: skip
