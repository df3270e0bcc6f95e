"""What stands in the text of a part, found without parsing it: tags, their attributes, and what these say."""

import html
import re
from collections.abc import Iterator
from typing import Final

NAME: Final = rb"<(?:[^\s<>/:\"'=]+:)?"
"""How a tag begins, whatever its prefix."""

REST: Final = rb"((?:[^<>\"']++|\"[^\"<]*+\"|'[^'<]*+')*+)>"
"""What follows a tag's name, to its end."""


def values(attribute: re.Pattern[bytes], attributes: bytes) -> Iterator[str]:
    """Yield what an attribute says; the pattern has a group for each kind of quotation marks."""
    for value in attribute.finditer(attributes):
        yield unescaped(value[1] or value[2] or b"")


def unescaped(value: bytes) -> str:
    """Return a text with its references replaced."""
    return html.unescape(value.decode("utf-8", "replace"))
