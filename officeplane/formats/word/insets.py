"""Insets: what stands in a text without being text, such as pictures, fields, breaks and notes.

Ends of Word's sections are among them, but outlive the text around them, as comments
do (`preserved_marks`): to lose that text is not to lose them. Links and formatting belong to
the text and go with it.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from officeplane.formats.word.names import BR, FALLBACK, MATH, SDT, SECT_PR, TBL, TR, VAL, P, element_name, value, w
from officeplane.formats.xml import Element

SECTION_BREAK: Final = "section break"
_CONTENTS: Final = "table of contents"
_FIELD: Final = "field"
_FIELD_END: Final = "end of a field"
_PAGE_BREAK: Final = "page break"
_BREAK_BEFORE: Final = w("pageBreakBefore")
_CHANGE: Final = "tracked change"

_INSTRUCTION_ENOUGH: Final = 1_000
_CONTENTS_FIELD: Final = "TOC"
_LINK_FIELD: Final = "HYPERLINK"
_OFF: Final = frozenset(("0", "false", "off"))
_DRAWN: Final = {
    "pic": "picture", "imagedata": "picture", "chart": "chart", "relIds": "diagram", "txbx": "text box",
    "textbox": "text box",
}  # fmt: skip
"""What is drawn, by the first element in it that says so."""


SHOWN: Final = frozenset(
    (
        _CONTENTS, _PAGE_BREAK, SECTION_BREAK, "column break", "picture", "chart", "diagram", "shape", "footnote",
        "endnote", "embedded object", "inserted document",
    )
)  # fmt: skip
"""What has a mark in the text; of the others, such as fields, the text itself is there."""


@dataclass(slots=True)
class Inset:
    """Something that stands in a text, the element that it is, and what it is called if it is called anything."""

    kind: str
    element: Element
    name: str = ""

    @property
    def leads(self) -> bool:
        """Whether it comes before the text of its paragraph, where others may stand anywhere in it."""
        return self.element.tag == _BREAK_BEFORE

    @property
    def paragraph(self) -> Element | None:
        """The paragraph that it stands in, or the first of those in it, or in the row or the table that it is about."""
        around = next(self.element.iterancestors(P), None)
        if around is not None:
            return around
        about = (self.element, *self.element.iterancestors(TR, TBL))
        return next((first for one in about for first in one.iter(P)), None)


def insets_of(block: Element) -> list[Inset]:
    """Return what stands in a block, in order; of fields, where they begin and where they end."""
    found: list[Inset] = []
    if next(block.iter(*_READERS), None) is not None:
        _look(block, found)
    return found


def outermost(insets: Iterable[Inset]) -> Iterator[Inset]:
    """Yield what stands in a row of blocks: each field once, without those inside it; links are none."""
    depth = 0
    for inset in insets:
        if inset.kind == _FIELD_END:
            depth = max(depth - 1, 0)
        elif inset.kind == _FIELD:
            instruction = (inset.name.split() or [""])[0].upper()
            if depth == 0 and instruction == _CONTENTS_FIELD:
                yield Inset(_CONTENTS, inset.element)
            elif depth == 0 and instruction != _LINK_FIELD:
                yield Inset(_FIELD, inset.element, instruction)
            depth += 1
        else:
            yield inset


def _look(element: Element, found: list[Inset]) -> None:
    read = _READERS.get(str(element.tag))
    if read is None or read(element, found):
        for inner in element:
            _look(inner, found)
        if element.tag == _SIMPLE_FIELD:
            found.append(Inset(_FIELD_END, element))


def _control(element: Element, found: list[Inset]) -> bool:
    properties = element.find(w("sdtPr"))
    gallery = None if properties is None else properties.find(f"{w('docPartObj')}/{w('docPartGallery')}")
    is_contents = gallery is not None and gallery.get(VAL) == "Table of Contents"
    name = value(properties, "alias") or value(properties, "tag") or ""
    found.append(Inset(_CONTENTS, element) if is_contents else Inset("content control", element, name))
    return not is_contents


def _simple_field(element: Element, found: list[Inset]) -> bool:
    found.append(Inset(_FIELD, element, element.get(w("instr"), "")))
    return True


def _field_mark(element: Element, found: list[Inset]) -> bool:
    match element.get(w("fldCharType")):
        case "begin":
            found.append(Inset(_FIELD, element))
        case "end":
            found.append(Inset(_FIELD_END, element))
        case _:
            pass
    return False


def _instruction(element: Element, found: list[Inset]) -> bool:
    # It may be spread over many runs; only its first word is of interest.
    if found and found[-1].kind == _FIELD and len(found[-1].name) < _INSTRUCTION_ENOUGH:
        found[-1].name += element.text or ""
    return False


def _drawing(element: Element, found: list[Inset]) -> bool:
    inside = (_DRAWN.get(element_name(inner)) for inner in element.iter())
    named = next((inner for inner in element.iter() if element_name(inner) == "docPr"), None)
    name = "" if named is None else named.get("descr") or named.get("title") or named.get("name") or ""
    found.append(Inset(next(filter(None, inside), "shape"), element, name))
    return False


def _break(element: Element, found: list[Inset]) -> bool:
    kind = {"page": _PAGE_BREAK, "column": "column break"}.get(element.get(w("type"), ""))
    if kind is not None:
        found.append(Inset(kind, element))
    return False


def _break_before(element: Element, found: list[Inset]) -> bool:
    if element.get(VAL) not in _OFF:
        found.append(Inset(_PAGE_BREAK, element))
    return False


def _change(element: Element, found: list[Inset]) -> bool:
    found.append(Inset(_CHANGE, element, f"by {element.get(w('author'), '')}".removesuffix("by ")))
    # What was inserted is in the text, with all that stands in it; what was deleted or otherwise is not.
    return element.tag in {w("ins"), w("moveTo")}


def _skip(_element: Element, _found: list[Inset]) -> bool:
    return False


def _plain(kind: str) -> Callable[[Element, list[Inset]], bool]:
    def read(element: Element, found: list[Inset]) -> bool:
        found.append(Inset(kind, element))
        return False

    return read


_SIMPLE_FIELD: Final = w("fldSimple")
_READERS: Final[Mapping[str, Callable[[Element, list[Inset]], bool]]] = {
    # The copy of a drawing that only old programs show.
    FALLBACK: _skip,
    SDT: _control,
    _SIMPLE_FIELD: _simple_field,
    w("fldChar"): _field_mark,
    w("instrText"): _instruction,
    w("drawing"): _drawing,
    w("pict"): _drawing,
    BR: _break,
    _BREAK_BEFORE: _break_before,
    SECT_PR: _plain(SECTION_BREAK),
    w("footnoteReference"): _plain("footnote"),
    w("endnoteReference"): _plain("endnote"),
    w("object"): _plain("embedded object"),
    w("altChunk"): _plain("inserted document"),
    w("subDoc"): _plain("inserted document"),
    w("sym"): _plain("symbol"),
    MATH: _plain("formula"),
    w("ruby"): _plain("phonetic guide"),
    **{
        w(name): _change
        for name in (
            "ins", "moveTo", "del", "moveFrom", "rPrChange", "pPrChange", "tblPrChange", "tblPrExChange", "trPrChange",
            "tcPrChange", "numberingChange", "cellIns", "cellDel", "cellMerge",
        )
    },
}  # fmt: skip
