"""The pencil: makes the marks of tracked changes, by one person at one time."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final

from officeplane.domain.document import InvalidEditError
from officeplane.formats.word.bookmarks import RANGE_MARKS, number_of
from officeplane.formats.word.looks.properties import place_in, properties_of
from officeplane.formats.word.names import AUTHOR, P_PR, R_PR, element, w
from officeplane.formats.word.review.names import CHANGES
from officeplane.formats.xml import Element

DATE: Final = w("date")


@dataclass(slots=True)
class Pencil:
    """Who changes something and when; `fresh` gives numbers that are in nobody's hands, among those `taken`."""

    author: str
    at: datetime
    fresh: Callable[[set[int]], int]
    taken: set[int] = field(default_factory=set[int])
    given: list[int] = field(default_factory=list[int])
    """The numbers of the changes that were made."""

    def learn(self, roots: Iterable[Element]) -> None:
        """Take note of the numbers that changes and bookmarks have."""
        self.taken = {number_of(mark) for root in roots for mark in root.iter(*CHANGES, *RANGE_MARKS)}

    def mark(self, name: str) -> Element:
        """Return a new mark, such as `ins`."""
        number = self.fresh(self.taken)
        self.taken.add(number)
        self.given.append(number)
        at = self.at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        return element(name, id=str(number), author=self.author, date=at)

    def is_own(self, change: Element) -> bool:
        """Tell whether a change is by the same person."""
        return change.get(AUTHOR) == self.author

    def mark_end(self, paragraph: Element, name: str) -> None:
        """Note that the end of a paragraph came or went, unless that is noted already."""
        properties = properties_of(paragraph, "pPr")
        own = properties.find(R_PR)
        if own is None:
            own = element("rPr")
            place_in(properties, "pPr", own)
        if own.find(w(name)) is None:
            place_in(own, "rPr", self.mark(name))

    def mark_row(self, row: Element, name: str) -> None:
        """Note that a row came or went."""
        properties = row.find(w("trPr"))
        if properties is None:
            properties = element("trPr")
            # Exceptions from the table's properties come first.
            row.insert(sum(inner.tag == w("tblPrEx") for inner in row), properties)
        if properties.find(w(name)) is not None:
            return
        rest = [inner for inner in properties if inner.tag == w("trPrChange") or (inner.tag == w("del") != w(name))]
        properties.insert(properties.index(rest[0]) if rest else len(properties), self.mark(name))

    def keep_before(self, now: Element, kind: str, before: Iterable[Element], known: Element | None) -> None:
        """Note in properties what they were; `known` is what was noted of that already."""
        change = f"{kind}Change"
        there = now.find(w(change))
        noted = there if known is None else known
        if noted is not None and not self.is_own(noted):
            who = noted.get(AUTHOR, "")
            raise InvalidEditError(
                f"how it looks there is a tracked change of {who!r} already, and there can be one: accept or reject "
                "that first with review_changes, or format it with changeMode direct"
            )
        if noted is not None:
            # Who changes again what is theirs goes on with it: rejected, it is what it was before the first time.
            if there is None:
                now.append(noted)
            return
        made = self.mark(change)
        was = element(kind)
        was.extend(before)
        made.append(was)
        now.append(made)


def end_of(paragraph: Element) -> Element | None:
    """Return the properties of a paragraph's end."""
    return paragraph.find(f"{P_PR}/{R_PR}")
