"""Remarks: what people say of cells, in threads and in notes, as reading tells of it.

Excel shows each thread to its older versions as a note, too. Such a note says
nothing of its own, so it is no remark as long as its thread is there.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from lxml import etree

from officeplane.formats.excel.numbers import whole
from officeplane.formats.excel.sheets.sheet_list import Sheet
from officeplane.formats.excel.tags import main
from officeplane.formats.package import Package
from officeplane.formats.relationships import Relationships
from officeplane.formats.xml import Element

OF_THREAD: Final = "tc="
"""How the author of a note is called that stands for a thread; the thread's id follows."""

_ID_LENGTH: Final = 12


@dataclass(frozen=True, slots=True)
class Remark:
    """A comment of a thread, or a note."""

    id: str
    element: Element
    cell: str
    text: str
    author: str
    at: str = ""
    parent: str = ""
    """The id of the comment that a thread began with, of its answers."""
    is_note: bool = False
    is_resolved: bool = False

    @property
    def first(self) -> str:
        """The id of the comment that its thread began with."""
        return self.parent or self.id

    def facts(self) -> dict[str, Any]:
        """Return what is to be said of it besides its text."""
        state = "resolved" if self.is_resolved else "open"
        said = {
            "cell": self.cell,
            "author": self.author,
            "at": self.at,
            "state": "" if self.is_note else state,
            "inReplyTo": self.parent,
        }
        return {name: text for name, text in said.items() if text}


def remarks_on(package: Package, workbook: str, sheet: Sheet) -> list[Remark]:
    """Return the comments on a sheet, each thread's together, then its notes."""
    if not sheet.part:
        return []
    threads = [*_threads(package, workbook, sheet)]
    known = {OF_THREAD + thread_id(remark.element) for remark in threads}
    return [*threads, *(note for note in _notes(package, sheet) if note.author not in known)]


def fingerprint(remarks: list[Remark], node_id: str) -> list[str] | None:
    """Return what the thread of a comment holds, or what a note does; None when there is none of this id."""
    found = next((remark for remark in remarks if remark.id == node_id), None)
    if found is None:
        return None
    thread = (remark.element for remark in remarks if remark.first == found.first)
    return [etree.tostring(element, encoding="unicode", with_tail=False) for element in thread]


def thread_id(element: Element) -> str:
    """Return the id that a comment of a thread has in the file."""
    return element.get("id", "")


def node_id(sheet: Sheet, guid: str) -> str:
    """Return the id of the node that a comment of a thread is."""
    return f"{sheet.id}.comment-{guid.strip('{}')[-_ID_LENGTH:].lower()}"


def parts_of(package: Package, sheet: Sheet, kind: str) -> list[str]:
    """Return the parts of a sheet that hold its `comments` or its threads (`threadedComment`)."""
    return [arrow.target for arrow in Relationships(package, sheet.part).of_type(kind) if arrow.target in package]


def authors_in(root: Element) -> list[str]:
    """Return who wrote the notes of a part, in the order in which these name them."""
    return [author.text or "" for author in root.iter(main("author"))]


def author_of(note: Element, authors: Sequence[str]) -> str:
    """Return who wrote a note."""
    at = whole(note.get("authorId"), -1)
    return authors[at] if 0 <= at < len(authors) else ""


def _threads(package: Package, workbook: str, sheet: Sheet) -> Iterator[Remark]:
    names = _persons(package, workbook)
    held = [
        element
        for part in parts_of(package, sheet, "threadedComment")
        for element in package.tree(part).iterchildren("{*}threadedComment")
    ]
    by_id = {guid: element for element in held if (guid := thread_id(element))}
    answers: dict[Element, list[Element]] = {element: [] for element in held}
    for element in held:
        above = by_id.get(element.get("parentId", ""))
        if above is not None and above.get("parentId") is None:
            answers[above].append(element)
    answering = {element for each in answers.values() for element in each}
    for first in held:
        if first in answering:
            continue
        for element in (first, *answers[first]):
            yield Remark(
                node_id(sheet, thread_id(element)),
                element,
                first.get("ref", ""),
                element.findtext("{*}text") or "",
                names.get(element.get("personId", ""), ""),
                element.get("dT", ""),
                "" if element is first else node_id(sheet, thread_id(first)),
                is_resolved=first.get("done") in {"1", "true"},
            )


def _notes(package: Package, sheet: Sheet) -> Iterator[Remark]:
    for part in parts_of(package, sheet, "comments"):
        root = package.tree(part)
        authors = authors_in(root)
        for note in root.iter(main("comment")):
            cell = note.get("ref", "")
            text = "".join(held.text or "" for held in note.iter(main("t")))
            yield Remark(f"{sheet.id}.comment-{cell}", note, cell, text, author_of(note, authors), is_note=True)


def _persons(package: Package, workbook: str) -> dict[str, str]:
    return {
        person.get("id", ""): person.get("displayName", "")
        for arrow in Relationships(package, workbook).of_type("person")
        if arrow.target in package
        for person in package.tree(arrow.target).iterchildren("{*}person")
    }
