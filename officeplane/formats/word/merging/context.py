"""Contexts: what a paragraph of one state refers to, told by what it is and not by its number."""

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Final

from officeplane.formats.merging.canonical import Arrows, Canonical, is_relation
from officeplane.formats.relationships import Relationships
from officeplane.formats.word.document import Word
from officeplane.formats.word.finder import Finder
from officeplane.formats.word.names import ID, P_PR, VAL, P, element_name, value, w
from officeplane.formats.word.styles import Styles
from officeplane.formats.xml import Element

W14: Final = "http://schemas.microsoft.com/office/word/2010/wordml"
_STYLED: Final = frozenset((w("pStyle"), w("rStyle"), w("tblStyle"), w("basedOn"), w("next"), w("link")))
_NUM_ID: Final = w("numId")
_NO_LIST: Final = "0"
_SKIPPED: Final = frozenset(
    (
        *map(w, ("proofErr", "lastRenderedPageBreak", "lang", "noProof", "rsid", "cnfStyle", "bookmarkStart")),
        *map(w, ("bookmarkEnd", "commentRangeStart", "commentRangeEnd", "commentReference", "annotationRef")),
    )
)
_SKIPPED_ATTRIBUTES: Final = frozenset(
    (
        *map(w, ("rsid", "rsidR", "rsidRPr", "rsidRDefault", "rsidP", "rsidTr", "rsidSect", "rsidDel")),
        f"{{{W14}}}paraId",
        f"{{{W14}}}textId",
        "{http://schemas.microsoft.com/office/word/2010/wordprocessingDrawing}anchorId",
        "{http://schemas.microsoft.com/office/word/2010/wordprocessingDrawing}editId",
        "{http://www.w3.org/XML/1998/namespace}space",
    )
)
_NUMBERED: Final = frozenset(("docPr", "cNvPr"))


class Context:
    """One state of a text, and what its numbers mean."""

    def __init__(self, document: Word) -> None:
        self.document = document
        self.package = document.package
        self.finder: Finder = document.finder()
        self.stories = self.finder.stories
        self.body = self.stories.body
        self.styles: Styles = self.stories.styles
        self.part = self.stories.part
        self.arrows = Arrows(self.package, self.part)
        self.canonical = self.canonical_of(self.arrows)
        self.lists: Mapping[str, str] = {}
        """What each list is called by its number; those that are not here are told by their number."""

    def canonical_of(self, arrows: Arrows, *, with_lists: bool = True) -> Canonical:
        """Return what writes the elements of a part canonically; lists by their numbers unless these mean nothing."""
        styles = self.styles

        def read(element: Element, name: str, said: str) -> str | None:
            if is_relation(name):
                return arrows.told(said)
            if name == VAL and element.tag in _STYLED:
                return styles.name(said)
            if name == VAL and element.tag == _NUM_ID and with_lists:
                return self.list_named(said)
            if name in {ID, "id"} and (name == ID or element_name(element) in _NUMBERED):
                return None
            return said

        return Canonical(_SKIPPED, _SKIPPED_ATTRIBUTES, read, frozenset((w("t"), w("delText"), w("instrText"))))

    def list_named(self, number: str) -> str:
        """Return what a list is called in all states."""
        return number if number == _NO_LIST else self.lists.get(number, f"new {number}")

    @cached_property
    def ids(self) -> Mapping[Element, str]:
        """The id of each paragraph of the text as reading gives it, and of those in tables and controls."""
        held = self.body.structure
        blocks = self.body.story.blocks
        found = {one: f"p-{self.body.story.ids.of(one)}" for block in blocks for one in block.element.iter(P)}
        return found | {blocks[place.begin].paragraph: place.id for place in held.by_id.values() if place.is_heading}

    @cached_property
    def nums(self) -> Mapping[str, Element]:
        """The lists by their numbers."""
        root = self._numbering
        return {} if root is None else {one.get(_NUM_ID, ""): one for one in root.iterchildren(w("num"))}

    @cached_property
    def abstracts(self) -> Mapping[str, Element]:
        """What each list is like, by its number."""
        root = self._numbering
        if root is None:
            return {}
        by_number = {one.get(w("abstractNumId"), ""): one for one in root.iterchildren(w("abstractNum"))}
        named = {number: value(one, "abstractNumId") or "" for number, one in self.nums.items()}
        return {number: by_number[abstract] for number, abstract in named.items() if abstract in by_number}

    @property
    def _numbering(self) -> Element | None:
        arrows = Relationships(self.package, self.part).of_type("numbering")
        return next((self.package.tree(arrow.target) for arrow in arrows if arrow.target in self.package), None)

    def list_of(self, paragraph: Element) -> str | None:
        """Return the number of the list that a paragraph says it is in."""
        properties = paragraph.find(P_PR)
        return value(None if properties is None else properties.find(w("numPr")), "numId")

    def call_lists_as(self, base: "Context | None" = None) -> None:
        """Call lists what the same are called in another state: those of its paragraphs that both have."""
        if base is None:
            self.lists = {number: number for number in self.abstracts}
            return
        known = {node_id: base.list_of(one) for one, node_id in base.ids.items()}
        self.lists = _paired((known.get(node_id), self.list_of(one)) for one, node_id in self.ids.items())


def _paired(pairs: Iterable[tuple[str | None, str | None]]) -> dict[str, str]:
    """Pair lists by the first paragraph that is in both: who has gone to another list since then has changed."""
    named: dict[str, str] = {}
    taken: set[str] = set()
    for was, now in pairs:
        if was and now and _NO_LIST not in (was, now) and was not in taken and now not in named:
            named[now] = was
            taken.add(was)
    return named
