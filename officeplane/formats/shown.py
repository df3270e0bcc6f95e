"""What is shown of a document: its text or its outline, as long as that is no flood.

A file can say more than it holds: a text that is kept once may stand in any number of
cells. So what is shown is measured while it is made.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from officeplane.domain.document import Node
from officeplane.domain.errors import TooLargeToShowError

SHOWN_BYTES_MAX: Final = 8 * 1024 * 1024
_NODE_BYTES: Final = 96
"""What a node takes as JSON besides its id and its text."""


class Measure:
    """Counts what is going to be shown, and refuses what is too much."""

    def __init__(self) -> None:
        self._left = SHOWN_BYTES_MAX

    def passed(self, text: str) -> str:
        """Return a text that is going to be shown; `TooLargeToShowError` when there is no room for it."""
        self._take(_bytes_of(text) + 1)
        return text

    def nodes(self, nodes: Iterable[Node]) -> None:
        """Count nodes with all below them."""
        for node in _walk(nodes):
            self._take(_bytes_of(node.id) + _bytes_of(node.text) + _NODE_BYTES)

    def _take(self, size: int) -> None:
        self._left -= size
        if self._left < 0:
            raise TooLargeToShowError


def _walk(nodes: Iterable[Node]) -> Iterator[Node]:
    for node in nodes:
        yield node
        yield from _walk(node.children)


def _bytes_of(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
