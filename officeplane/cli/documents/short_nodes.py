"""Short ids of nodes: in a narrow window lists show their ends, and commands about the same document take these.

Ids of nodes are one document's own, so what lists have shown of it is remembered for it
alone. All that is remembered is told apart: an end that was shown is never that of two.
"""

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Final, TypeAlias

from pydantic import JsonValue
from rich.cells import cell_len

from officeplane.cli.console import out, show
from officeplane.cli.short_ids import ends_of, remember, remembered, whole_id
from officeplane.cli.state_folder import state_file
from officeplane.cli.texts import printable

Naming: TypeAlias = Callable[[str], str]
"""What a node is called in a list, by its id."""

_SHORTEST: Final = 4
_LONG: Final = re.compile(r"[a-z]+-[0-9a-f]{8,12}")
_NODES: Final = frozenset({
    "after", "before", "chapterId", "commentId", "ids", "into", "nodeId", "pageId", "sectionId", "slideId", "tableId",
    "under",
})  # fmt: skip
"""The fields of edits that name nodes."""


class ShownNodes:
    """The nodes of one document that lists have shown here."""

    def __init__(self, url: str, document_id: str) -> None:
        name = hashlib.sha256(f"{url.rstrip('/')} {document_id}".encode()).hexdigest()
        self._place = state_file("nodes", name[:32])

    def whole(self, given: str) -> str:
        """Return the id that ends so; what is the end of none, such as an address, is returned as it is."""
        return whole_id(given, self._place)

    def whole_in(self, payload: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
        """Return what was typed for the fields of an edit, with whole ids of nodes."""
        return {name: self._named(name, held) for name, held in payload.items()}

    def show(self, lines: Callable[[Naming], Iterable[str]]) -> None:
        """Print lines that name nodes; where the window is too narrow for one of them, by the ends of their ids."""
        named: dict[str, None] = {}

        def whole(node_id: str) -> str:
            if _LONG.fullmatch(node_id):
                named[node_id] = None
            return node_id

        said = [printable(line) for line in lines(whole)]
        console = out()
        if console.is_terminal:
            if any(cell_len(line) > console.width for line in said):
                ends = ends_of({*named, *remembered(self._place)}, _SHORTEST)
                said = [printable(line) for line in lines(lambda node_id: ends.get(node_id, node_id))]
            remember(named, self._place)
        for line in said:
            show(line)

    def _named(self, field: str, held: JsonValue) -> JsonValue:
        match held:
            case str():
                return self.whole(held) if field in _NODES else held
            case list():
                return [self._named(field, one) for one in held]
            case dict():
                return self.whole_in(held)
            case _:
                return held
