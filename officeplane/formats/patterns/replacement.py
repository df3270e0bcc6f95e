"""Replacement: what comes in the place of a match, with what the pattern's groups hold."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from officeplane.domain.document import InvalidEditError
from officeplane.formats.patterns.matching import Match

LENGTH_MAX: Final = 10_000_000
"""Letters of all replacements of an edit in one text: groups that are named often make much of little."""
_REFERENCE: Final = re.compile(r"\\(?:([0-9]{1,2})|g<([^<>\\]{0,100})>|(.)|$)", re.DOTALL)
_LETTERS: Final = {"n": "\n", "t": "\t", "\\": "\\"}


class Replacement:
    """A text in which groups of a pattern are named."""

    def __init__(self, text: str, groups: int, names: Mapping[str, int]) -> None:
        self._groups = groups
        self._names = names
        self._parts: list[str | int] = []
        at = 0
        for found in _REFERENCE.finditer(text):
            self._parts += (text[at : found.start()], self._meant(found))
            at = found.end()
        self._parts.append(text[at:])

    def texts(self, matches: Sequence[Match]) -> list[str]:
        """Return what comes in the place of each match."""
        made: list[str] = []
        length = 0
        for match in matches:
            parts = [part if isinstance(part, str) else match.groups[part] for part in self._parts]
            length += sum(map(len, parts))
            if length > LENGTH_MAX:
                raise InvalidEditError(f"the replacements in one paragraph would have more than {LENGTH_MAX} letters")
            made.append("".join(parts))
        return made

    def _meant(self, found: re.Match[str]) -> str | int:
        number, name, letter = found.groups()
        if letter in _LETTERS:
            return _LETTERS[letter]
        if name in self._names:
            return self._names[name]
        digits = number or name or ""
        if digits.isascii() and digits.isdecimal() and int(digits) <= self._groups:
            return int(digits)
        if digits:
            raise InvalidEditError(
                f"`replace` has {found[0]} at letter {found.start() + 1}, and the pattern has "
                f"{self._groups or 'no'} groups{self._listed}"
            )
        raise InvalidEditError(
            f"`replace` has {found[0]} at letter {found.start() + 1}; it knows \\1, \\g<name>, \\0 for the whole, \\n, "
            "\\t, and \\\\ for the character itself"
        )

    @property
    def _listed(self) -> str:
        return f": {', '.join(sorted(self._names)[:10])}" if self._names else ""
