"""Reading: what a child tells of the states of its document, up to a bounded size."""

from officeplane.domain.document import Node
from officeplane.formats.diff import difference
from officeplane.formats.opening import Document
from officeplane.formats.shown import Measure
from officeplane.sandbox.answers import Compared, Outline, Text
from officeplane.sandbox.shelf import Shelf


class Shown:
    """What is compared of a document, kept as it is now although the document may be edited."""

    def __init__(self, document: Document) -> None:
        compared = document.comparable()
        self._outline = compared.outline()
        Measure().nodes(self._outline)
        self._text = Measure().passed(compared.text())

    def outline(self) -> list[Node]:
        """Return its nodes."""
        return self._outline

    def text(self) -> str:
        """Return what it says."""
        return self._text


def outline(shelf: Shelf, state: str) -> Outline:
    """Return the nodes of a state."""
    nodes = shelf.find(state).document.outline()
    Measure().nodes(nodes)
    return Outline([node.as_json() for node in nodes])


def text(shelf: Shelf, state: str) -> Text:
    """Return what a state says."""
    return Text.of(Measure().passed(shelf.find(state).document.text()))


def compared(shelf: Shelf, before: str, after: str) -> Compared:
    """Return what changed from one state to another."""
    was, now = (Shown(shelf.find(state).document) for state in (before, after))
    return Compared(difference(was, now))
