"""Reading: what a child tells of the states of its document, up to a bounded size."""

from officeplane.domain.document import InvalidEditError, Node, UnsupportedDocumentError
from officeplane.domain.errors import NodeNotFoundError
from officeplane.domain.representation import RepresentationWanted
from officeplane.formats.diff import difference
from officeplane.formats.excel.cell_reading import CellsWanted
from officeplane.formats.excel.workbook import Workbook
from officeplane.formats.kept_links import kept_in
from officeplane.formats.opening import Document
from officeplane.formats.powerpoint.presentation import Presentation
from officeplane.formats.reading import finding, listing, outlining, showing
from officeplane.formats.reading.differing import DiffWanted, differences
from officeplane.formats.reading.finding import FindWanted
from officeplane.formats.reading.listing import ListWanted
from officeplane.formats.reading.outlining import OutlineWanted
from officeplane.formats.reading.reader import found as found_node
from officeplane.formats.reading.showing import NodeWanted
from officeplane.formats.reading.telling import TextWanted, text_under, told
from officeplane.formats.representations import representing
from officeplane.formats.shown import Measure
from officeplane.sandbox.answers import (
    Compared,
    Items,
    KeptTold,
    Outline,
    PictureBytes,
    Represented,
    TakenSlide,
    Text,
    TextPart,
)
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


def nodes(shelf: Shelf, state: str, wanted: OutlineWanted) -> Items:
    """Return the nodes of a state that are wanted, as many as there is room for."""
    return Items(*outlining.outline(shelf.find(state).reader, wanted))


def node(shelf: Shelf, state: str, wanted: NodeWanted) -> Items:
    """Return one node of a state."""
    shown = showing.node(shelf.find(state).reader, wanted)
    return Items([shown.node], shown.next)


def found(shelf: Shelf, state: str, wanted: FindWanted) -> Items:
    """Return the places in a state at which a text stands."""
    return Items(*finding.find(shelf.find(state).reader, wanted))


def text_part(shelf: Shelf, state: str, wanted: TextWanted) -> TextPart:
    """Return a part of what a state says."""
    opened = shelf.find(state)
    whole = opened.document.text() if wanted.under is None else text_under(opened.reader, wanted.under)
    kept, following = told(whole, wanted)
    return TextPart(following, [kept.encode("utf-8", "surrogatepass")])


def listed(shelf: Shelf, state: str, wanted: ListWanted) -> Items:
    """Return the changes, comments, pictures or sheets of a state."""
    opened = shelf.find(state)
    if wanted.what == "sheets":
        _workbook(opened.document)
    return Items(*listing.listed(opened.reader, wanted))


def picture(shelf: Shelf, state: str, node_id: str) -> PictureBytes:
    """Return the bytes of a picture of a state; what is none, or is not in the file, is not there."""
    reader = shelf.find(state).reader
    detail = found_node(reader, node_id)
    content = reader.picture(detail) if detail.kind == "picture" else None
    if content is None:
        raise NodeNotFoundError(node_id)
    return PictureBytes([content])


def taken_slide(shelf: Shelf, state: str, slide_id: str) -> TakenSlide:
    """Return the file of one slide of a state."""
    document = shelf.find(state).document
    if not isinstance(document, Presentation):
        raise InvalidEditError(f"slides are taken from presentations, and this is a {document.format}")
    return TakenSlide([document.take_slide(slide_id)])


def kept(shelf: Shelf, state: str) -> KeptTold:
    """Return what a state has in it that only the policy `standard` lets in."""
    return KeptTold(kept_in(shelf.find(state).document.package))


def represented(shelf: Shelf, state: str, wanted: RepresentationWanted) -> Represented:
    """Return a state as something else than its file."""
    opened = shelf.find(state)
    told = representing.represented(opened.document, opened.reader, wanted)
    # Half of a pair may stand in a cell; no other program would read it.
    return Represented([told.encode("utf-8", "replace")])


def cells(shelf: Shelf, state: str, wanted: CellsWanted) -> Items:
    """Return what cells of a state hold."""
    return Items(*_workbook(shelf.find(state).document).cells(wanted))


def compared_part(shelf: Shelf, before: str, after: str, wanted: DiffWanted) -> Items:
    """Return a part of what changed from one state to another."""
    was, now = shelf.find(before), shelf.find(after)
    texts = ("", "")
    if wanted.format == "unified":
        one, other = (Measure().passed(opened.document.comparable().text()) for opened in (was, now))
        texts = (one, other)
    return Items(*differences(was.reader, now.reader, texts, wanted))


def _workbook(document: Document) -> Workbook:
    if not isinstance(document, Workbook):
        raise UnsupportedDocumentError(
            "other_format", f"Only an xlsx has sheets and cells; this is a {document.format}."
        )
    return document


def compared(shelf: Shelf, before: str, after: str) -> Compared:
    """Return what changed from one state to another."""
    was, now = (Shown(shelf.find(state).document) for state in (before, after))
    return Compared(difference(was, now))
