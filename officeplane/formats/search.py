"""Search: what to look for in a text, the same in all formats."""

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Wanted:
    """A text to find; letters may differ in case unless `match_case`."""

    find: str
    match_case: bool = True
    whole_word: bool = False

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Return where it stands in a text, begin and end, from left to right without overlap."""
        if self.match_case and not self.whole_word:
            found: list[tuple[int, int]] = []
            at = text.find(self.find)
            while at >= 0:
                found.append((at, at + len(self.find)))
                at = text.find(self.find, at + len(self.find))
            return found
        pattern = re.escape(self.find)
        if self.whole_word:
            pattern = rf"(?<!\w){pattern}(?!\w)"
        return [match.span() for match in re.finditer(pattern, text, 0 if self.match_case else re.IGNORECASE)]
