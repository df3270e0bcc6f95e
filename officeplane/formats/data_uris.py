"""Data URIs: pictures in the middle of a text, which is read with something short in the place of each.

To look through megabytes of base64 for signs of Markdown takes seconds and finds none.
"""

import re
from typing import Final

_URI: Final = re.compile(r"data:[A-Za-z0-9.+/;=-]{0,100}base64,[A-Za-z0-9+/=%_-]{64,}")


def length_without_pictures(text: str) -> int:
    """Return how many characters a text has besides what its data URIs hold."""
    return len(text) - sum(len(found[0]) for found in _URI.finditer(text)) if "base64," in text else len(text)


class KeptAside:
    """A text whose data URIs are kept aside."""

    def __init__(self, text: str) -> None:
        self._held: list[str] = []
        self._sign = "data:held"
        while self._sign in text:
            self._sign += "-"
        self.text = _URI.sub(self._hold, text) if "base64," in text else text
        """The text without them."""
        self._sign_of_one = re.compile(re.escape(self._sign) + r"([0-9]+);")

    def __bool__(self) -> bool:
        return bool(self._held)

    def restored(self, text: str) -> str:
        """Return a part of the text with what stood in it."""
        return self._sign_of_one.sub(lambda found: self._held[int(found[1])], text) if self._sign in text else text

    def _hold(self, found: re.Match[str]) -> str:
        self._held.append(found[0])
        return f"{self._sign}{len(self._held) - 1};"
