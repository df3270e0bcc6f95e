"""Signatures: in whose name something is said in a document, when, and by which ids it will be known."""

import hashlib
from collections.abc import Container
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final
from uuid import UUID

from officeplane.formats.xml import is_storable

_INITIALS_MAX: Final = 9
_NUMBERS: Final = 2**28


@dataclass(frozen=True, slots=True)
class Signature:
    """Who says something and when; nothing else that is said has the same `seed`."""

    author: str
    at: datetime
    seed: str

    @property
    def name(self) -> str:
        """The author, as a file can hold it."""
        return self.author if is_storable(self.author) else "".join(filter(is_storable, self.author))

    @property
    def initials(self) -> str:
        """The first letters of the author's names."""
        return "".join(word[0] for word in self.name.split())[:_INITIALS_MAX].upper()

    @property
    def moment(self) -> str:
        """When, in UTC, to the second."""
        return self.at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S")

    def number(self, taken: Container[int], use: str) -> int:
        """Return a number above 0 that nothing else has had or will have; the same one each time."""
        turn = 0
        while True:
            turn += 1
            number = 1 + int.from_bytes(self._digest(use, turn)[:8], "big") % (_NUMBERS - 1)
            if number not in taken:
                return number

    def guid(self, taken: Container[str], use: str) -> str:
        """Return an id of the form `{8-4-4-4-12}` that nothing else has; the same one each time."""
        turn = 0
        while True:
            turn += 1
            guid = "{" + str(UUID(bytes=self._digest(use, turn)[:16], version=4)).upper() + "}"
            if guid not in taken:
                return guid

    def _digest(self, use: str, turn: int) -> bytes:
        return hashlib.sha256(f"{self.seed}\0{use}\0{turn}".encode("utf-8", "surrogatepass")).digest()
