"""Narrowing: the documents, task types, agents and priorities that a key may have to do with, and nothing else.

A list has exact names, and beginnings of names that end in `*`. No list: all there are.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from officeplane.domain.errors import FieldError, InvalidRequestError

WITHOUT_DOCUMENT: Final = "-"
"""What is among documents if one may have to do with tasks that have none; nothing else stands for these."""
ALL_AFTER: Final = "*"
"""What an entry ends in that stands for all names that begin as it does."""
ENTRIES_MAX: Final = 100

Entries = tuple[str, ...] | None

_DOCUMENTS: Final = re.compile(r"-|[A-Za-z0-9][A-Za-z0-9_.:-]{0,127}|([A-Za-z0-9][A-Za-z0-9_.:-]{0,127})?\*")
_TASK_TYPES: Final = re.compile(r"(?!-$)[^\x00-\x1f\ud800-\udfff]{1,200}")
_AGENTS: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@:-]{0,127}|([A-Za-z0-9][A-Za-z0-9._@:-]{0,127})?\*")


@dataclass(frozen=True, slots=True)
class Narrowing:
    """What somebody may have to do with; None: with all there are."""

    documents: Entries = None
    task_types: Entries = None
    most_urgent: int = 0
    """The most urgent priority that may be asked for."""
    agents: Entries = None

    def beyond(self, outer: "Narrowing") -> tuple[str, str] | None:
        """Return something that is in this one and not in another, what it is and its name; None if all of it is."""
        for what, own, others in (
            ("document", self.documents, outer.documents),
            ("task type", self.task_types, outer.task_types),
            ("agent", self.agents, outer.agents),
        ):
            if own is None and others is not None:
                # A list of `*` alone is less: it has no tasks without a document.
                return what, ALL_AFTER
            for entry in own or ():
                if not lies_within(entry, others):
                    return what, entry
        if self.most_urgent < outer.most_urgent:
            return "priority", str(self.most_urgent)
        return None

    def check(self) -> None:
        """Raise when an entry can be no name, nor the beginning of one."""
        wrong = [
            *_wrong("documents", self.documents, _DOCUMENTS),
            *_wrong("taskTypes", self.task_types, _TASK_TYPES),
            *_wrong("agents", self.agents, _AGENTS),
        ]
        if wrong:
            raise InvalidRequestError(f"{wrong[0].field}: {wrong[0].message}", wrong)


NOT_NARROWED: Final = Narrowing()


def fits(name: str | None, entries: Entries) -> bool:
    """Tell whether a name is one of those that a list has; None: that of the document of a task that has none."""
    if entries is None:
        return True
    if name is None:
        return WITHOUT_DOCUMENT in entries
    return any(name.startswith(one[:-1]) if one.endswith(ALL_AFTER) else name == one for one in entries)


def lies_within(entry: str, entries: Entries) -> bool:
    """Tell whether all names that an entry stands for are among those that a list has."""
    if entries is None:
        return True
    if entry == WITHOUT_DOCUMENT:
        return entry in entries
    return any(entry.startswith(one[:-1]) if one.endswith(ALL_AFTER) else entry == one for one in entries)


def _wrong(field: str, entries: Entries, pattern: re.Pattern[str]) -> Iterator[FieldError]:
    if entries is None:
        return
    if not 1 <= len(entries) <= ENTRIES_MAX:
        yield FieldError(field, f"It must have 1 to {ENTRIES_MAX} entries; left out, it is not narrowed.")
    for index, entry in enumerate(entries):
        if pattern.fullmatch(entry) is None:
            yield FieldError(f"{field}.{index}", f"{entry!r} is no name, and not the beginning of one followed by *.")
