"""The stretch of a text in which anything has changed, with what stands right around it."""

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Final

from officeplane.formats.word.bookmarks import RANGE_MARKS
from officeplane.formats.word.names import w
from officeplane.formats.word.tracking.ledger import Ledger
from officeplane.formats.xml import Element

_SILENT: Final = RANGE_MARKS | {w("proofErr")}


@dataclass(frozen=True, slots=True)
class Stretch:
    """From one block up to another that stay as they are, or from the beginning, or to the end."""

    first: Element | None
    last: Element | None
    now: Sequence[Element]
    """Copies of what stands there after the edit."""
    was: Sequence[Element]

    def of(self, container: Element) -> list[Element]:
        """Return what stands there."""
        begin = 0 if self.first is None else container.index(self.first)
        end = len(container) if self.last is None else container.index(self.last) + 1
        return list(container)[begin:end]


def changed_stretch(ledger: Ledger, now: Element, was: Element) -> Stretch | None:
    """Return where a text differs from what it was; None when it does not."""
    new, old = list(now), list(was)
    shorter = min(len(new), len(old))
    begin = behind = 0
    while begin < shorter and _stays(ledger, new[begin], old[begin]):
        begin += 1
    if begin == len(new) == len(old):
        return None
    while behind < shorter - begin and _stays(ledger, new[-1 - behind], old[-1 - behind]):
        behind += 1
    first = next((at for at in range(begin - 1, -1, -1) if new[at].tag not in _SILENT), None)
    last = next((at for at in range(len(new) - behind, len(new)) if new[at].tag not in _SILENT), None)
    end = 0 if last is None else len(new) - last - 1
    return Stretch(
        None if first is None else new[first],
        None if last is None else new[last],
        deepcopy(new[first or 0 : len(new) - end]),
        deepcopy(old[first or 0 : len(old) - end]),
    )


def _stays(ledger: Ledger, one: Element, other: Element) -> bool:
    twin = ledger.twins.get(one)
    return (twin is other or (twin is None and one.tag == other.tag)) and ledger.is_same(one, other)
