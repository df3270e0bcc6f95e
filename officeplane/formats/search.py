"""Search: what to look for in a text, the same in all formats."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from officeplane.domain.document import InvalidEditError
from officeplane.formats.patterns.matching import STEPS_MAX, Match, pattern_of
from officeplane.formats.patterns.replacement import Replacement

MATCHES_MAX: Final = 100_000
"""Places at which one look through a document may find a pattern."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Wanted:
    """A text to find, or a pattern; letters may differ in case unless `match_case`."""

    find: str
    match_case: bool = True
    whole_word: bool = False
    regex: bool = False
    under: str | None = None
    """Only in this node and below it."""
    nth: int | None = None
    """Only the occurrence of this number, from 1, of those `under` it."""

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Return where it stands in a text, begin and end, from left to right without overlap."""
        return [match.span for match in self.finder()(text)]

    def finder(self) -> Callable[[str], list[Match]]:
        """Return what tells this of each of the texts of a document, for one look through it."""
        if self.regex:
            return self._fitting()
        if self.match_case and not self.whole_word:
            return self._plain
        pattern = re.escape(self.find)
        if self.whole_word:
            pattern = rf"(?<!\w){pattern}(?!\w)"
        found = re.compile(pattern, 0 if self.match_case else re.IGNORECASE).finditer
        return lambda text: [Match(*match.span()) for match in found(text)]

    def replacing(self, replace: str) -> Callable[[Sequence[Match]], list[str]]:
        """Return what tells what comes in the place of each match of a text; that of a pattern may name its groups."""
        if not self.regex:
            return lambda matches: [replace] * len(matches)
        pattern = pattern_of(self.find, match_case=self.match_case, whole_word=self.whole_word)
        return Replacement(replace, pattern.groups, pattern.names).texts

    def chosen(self, places: Sequence[T]) -> Sequence[T]:
        """Return the occurrences that are meant, of all that there are under the node."""
        return places if self.nth is None else places[self.nth - 1 : self.nth]

    def _plain(self, text: str) -> list[Match]:
        found: list[Match] = []
        at = text.find(self.find)
        while at >= 0:
            found.append(Match(at, at + len(self.find)))
            at = text.find(self.find, at + len(self.find))
        return found

    def _fitting(self) -> Callable[[str], list[Match]]:
        pattern = pattern_of(self.find, match_case=self.match_case, whole_word=self.whole_word)
        count = steps = 0

        def look(text: str) -> list[Match]:
            nonlocal count, steps
            found: list[Match] = []
            search = pattern.search(text)
            for match in search:
                found.append(match)
                if count + len(found) > MATCHES_MAX or steps + search.steps > STEPS_MAX:
                    raise InvalidEditError(
                        f"the pattern {self.find!r} fits at too many places: {count + len(found)} so far; say more "
                        "exactly what is meant, or where (`under`)"
                    )
            count, steps = count + len(found), steps + search.steps
            return found

        return look
