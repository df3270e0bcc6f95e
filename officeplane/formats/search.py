"""Search: what to look for in a text, the same in all formats."""

import re
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Wanted:
    """A text to find; letters may differ in case unless `match_case`."""

    find: str
    match_case: bool = True
    whole_word: bool = False

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Return where it stands in a text, begin and end, from left to right without overlap."""
        return self.finder()(text)

    def finder(self) -> Callable[[str], list[tuple[int, int]]]:
        """Return what tells this of each of many texts."""
        if self.match_case and not self.whole_word:
            return self._plain_spans
        pattern = re.escape(self.find)
        if self.whole_word:
            pattern = rf"(?<!\w){pattern}(?!\w)"
        found = re.compile(pattern, 0 if self.match_case else re.IGNORECASE).finditer
        return lambda text: [match.span() for match in found(text)]

    def _plain_spans(self, text: str) -> list[tuple[int, int]]:
        found: list[tuple[int, int]] = []
        at = text.find(self.find)
        while at >= 0:
            found.append((at, at + len(self.find)))
            at = text.find(self.find, at + len(self.find))
        return found
