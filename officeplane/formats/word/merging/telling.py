"""Telling: what a block of a text says and how, so that two states of it can be compared.

Told exactly is everything but what programs write anew without being asked: where runs begin, the marks of the
spelling, numbers of what is referred to, results of fields. Told by its look is what a reader would name: for files of
programs that write everything anew, however they were asked.
"""

from collections.abc import Iterator, Mapping
from typing import Final, Protocol

from officeplane.formats.word.merging.context import Context
from officeplane.formats.word.names import (
    ALTERNATIVES,
    BOOKMARK_START,
    BR,
    FALLBACK,
    ID,
    NAME,
    P_PR,
    R_ID,
    R_PR,
    SDT,
    TBL,
    TC,
    TR,
    P,
    R,
    element_name,
    value,
    w,
)  # fmt: skip
from officeplane.formats.xml import Element

_COMPUTED: Final = frozenset(
    (
        "AUTHOR", "CREATEDATE", "DATE", "FILENAME", "INDEX", "NOTEREF", "NUMPAGES", "PAGE", "PAGEREF", "PRINTDATE",
        "REF", "SAVEDATE", "SECTION", "SECTIONPAGES", "SEQ", "STYLEREF", "TIME", "TITLE", "TOC",
    )
)  # fmt: skip
"""Fields whose results are computed: to change one is to change nothing."""
_SILENT: Final = frozenset(
    map(
        w,
        (
            "proofErr", "lastRenderedPageBreak", "commentRangeStart", "commentRangeEnd", "commentReference",
            "bookmarkEnd", "annotationRef", "footnoteRef", "endnoteRef",
        ),
    )
)  # fmt: skip
_CLEAR: Final = frozenset(map(w, ("smartTag", "customXml", "sdtContent")))
_LETTERS: Final = {w("tab"): "\t", w("cr"): "\n", w("noBreakHyphen"): "\u2011", w("softHyphen"): "\u00ad"}
_TEXTS: Final = frozenset(map(w, ("t", "delText")))
_CHANGES: Final = frozenset(map(w, ("ins", "del", "moveFrom", "moveTo")))
_DRAWN: Final = frozenset(map(w, ("drawing", "pict", "object")))
_NOTES: Final = {w("footnoteReference"): "footnote", w("endnoteReference"): "endnote"}


class Form(Protocol):
    """How finely blocks are told."""

    def letters(self, run: Element, paragraph: Element | None) -> str:
        """Tell the format of a run."""
        ...

    def paragraph(self, paragraph: Element) -> str:
        """Tell the format of a paragraph."""
        ...

    def drawn(self, element: Element) -> str:
        """Tell what is drawn."""
        ...

    def table(self, element: Element) -> str:
        """Tell the format of a table, a row or a cell."""
        ...

    def other(self, element: Element) -> str:
        """Tell what is nothing of all that."""
        ...


class Telling:
    """Tells one block; a field may begin in one of its paragraphs and end in another."""

    def __init__(self, context: Context, form: Form) -> None:
        self._context = context
        self._form = form
        self._told: list[str] = []
        self._letters: str | None = None
        self._fields: list[_Field] = []

    def told(self, elements: list[Element]) -> str:
        """Return the blocks as one text."""
        for element in elements:
            self._block(element)
        return "".join(self._told)

    def _block(self, element: Element) -> None:
        if element.tag == P:
            self._paragraph(element)
        elif element.tag == TBL:
            self._table(element)
        elif element.tag == SDT:
            self._say(f"\x01control {self._form.other(element)}")
            self._blocks(element.find(w("sdtContent")))
            self._say("\x01/control")
        elif element.tag in _CHANGES or element.tag in _CLEAR:
            self._blocks(element)
        elif element.tag not in _SILENT and element.tag != BOOKMARK_START and isinstance(element.tag, str):
            self._say(f"\x01{self._form.other(element)}")

    def _blocks(self, holder: Element | None) -> None:
        for inner in () if holder is None else holder:
            self._block(inner)

    def _paragraph(self, paragraph: Element) -> None:
        if not self._is_computed:
            self._say(f"\x01p {self._form.paragraph(paragraph)}")
        self._inline(paragraph, paragraph)

    def _table(self, table: Element) -> None:
        self._say(f"\x01table {self._form.table(table)}")
        for row in table.iter(TR):
            if next(row.iterancestors(TBL), None) is not table:
                continue
            self._say(f"\x01row {self._form.table(row)}")
            for cell in row.iter(TC):
                if next(cell.iterancestors(TR), None) is row:
                    self._say(f"\x01cell {self._form.table(cell)}")
                    self._blocks(cell)
        self._say("\x01/table")

    def _inline(self, holder: Element, paragraph: Element) -> None:
        for inner in holder:
            tag = inner.tag
            if tag == R:
                self._run(inner, paragraph)
            elif tag == w("hyperlink"):
                anchor = inner.get(w("anchor"), "")
                self._say(f"\x01link {self._context.arrows.told(inner.get(R_ID, ''))}#{anchor}")
                self._inline(inner, paragraph)
                self._say("\x01/link")
            elif tag == w("fldSimple"):
                self._fields.append(_Field(inner.get(w("instr"), ""), is_result=True))
                self._say_field()
                self._inline(inner, paragraph)
                self._end_field()
            elif tag in _CHANGES:
                who = f"{inner.get(w('author'), '')} {inner.get(w('date'), '')}"
                self._say(f"\x01{element_name(inner)} {who}")
                self._inline(inner, paragraph)
                self._say("\x01/")
            elif tag == SDT:
                self._say(f"\x01control {self._form.other(inner)}")
                content = inner.find(w("sdtContent"))
                if content is not None:
                    self._inline(content, paragraph)
                self._say("\x01/control")
            elif tag in _CLEAR:
                self._inline(inner, paragraph)
            elif tag == BOOKMARK_START:
                # Those that begin so are made by programs.
                if not inner.get(NAME, "").startswith("_"):
                    self._say(f"\x01bookmark {inner.get(NAME, '')}")
            elif tag not in _SILENT and tag != P_PR and isinstance(tag, str):
                self._say(f"\x01{self._form.other(inner)}")

    def _run(self, run: Element, paragraph: Element) -> None:
        for inner in run:
            tag = inner.tag
            if tag == w("fldChar"):
                self._field_mark(inner)
            elif tag == w("instrText"):
                if self._fields and not self._fields[-1].is_result:
                    self._fields[-1].instruction += inner.text or ""
            elif self._is_computed or tag == R_PR or tag in _SILENT:
                continue
            elif tag in _TEXTS:
                self._write(inner.text or "", run, paragraph)
            elif tag in _LETTERS:
                self._write(_LETTERS[str(tag)], run, paragraph)
            elif tag == BR and inner.get(w("type"), "textWrapping") == "textWrapping":
                self._write("\n", run, paragraph)
            elif tag in _NOTES:
                self._say(f"\x01{_NOTES[str(tag)]} {inner.get(ID, '')}")
            elif tag in _DRAWN or tag == ALTERNATIVES:
                for one in drawn_in(inner):
                    self._say(f"\x01drawn {self._form.drawn(one)}")
            elif isinstance(tag, str):
                self._say(f"\x01{self._form.other(inner)}")

    def _write(self, text: str, run: Element, paragraph: Element) -> None:
        if not text:
            return
        letters = self._form.letters(run, paragraph)
        if letters != self._letters:
            self._say(f"\x02{letters}\x03")
            self._letters = letters
        self._told.append(text)

    def _say(self, told: str) -> None:
        if not self._is_computed:
            self._told.append(told)
            self._letters = None

    @property
    def _is_computed(self) -> bool:
        return any(one.is_result and one.is_computed for one in self._fields)

    def _field_mark(self, mark: Element) -> None:
        match mark.get(w("fldCharType")):
            case "begin":
                self._fields.append(_Field(""))
            case "separate" if self._fields:
                self._say_field()
                self._fields[-1].is_result = True
            case "end" if self._fields:
                if not self._fields[-1].is_result:
                    self._say_field()
                self._end_field()
            case _:
                pass

    def _say_field(self) -> None:
        field = self._fields.pop()
        self._say(f"\x01field {field.told}")
        self._fields.append(field)

    def _end_field(self) -> None:
        self._fields.pop()
        self._say("\x01/field")


class _Field:
    def __init__(self, instruction: str, *, is_result: bool = False) -> None:
        self.instruction = instruction
        self.is_result = is_result

    @property
    def is_computed(self) -> bool:
        return (self.instruction.split() or [""])[0].upper() in _COMPUTED

    @property
    def told(self) -> str:
        said = " ".join(self.instruction.split())
        for noise in ("\\* MERGEFORMAT", "\\* ARABIC", "\\* Arabic"):
            said = said.replace(noise, "")
        return said.strip()


def drawn_in(element: Element) -> Iterator[Element]:
    """Yield what is drawn, of alternatives the one for programs of today."""
    if element.tag in _DRAWN:
        yield element
        return
    first = next((one for one in element if one.tag != FALLBACK), None)
    for one in () if first is None else first.iter(*_DRAWN):
        if next(one.iterancestors(*_DRAWN), None) is None:
            yield one


class Exactly:
    """Tells everything."""

    def __init__(self, context: Context) -> None:
        self._canonical = context.canonical

    def letters(self, run: Element, paragraph: Element | None) -> str:  # noqa: ARG002 - as others need it
        """Tell the format of a run."""
        return self._canonical.sorted_inside(run.find(R_PR))

    def paragraph(self, paragraph: Element) -> str:
        """Tell the format of a paragraph; of the end of a section only what kind it is."""
        properties = paragraph.find(P_PR)
        if properties is None:
            return ""
        told = [
            f"section {value(one, 'type') or ''}" if one.tag == w("sectPr") else self._canonical.of(one)
            for one in properties
            if isinstance(one.tag, str) and (one.tag != R_PR or len(one))
        ]
        return "".join(sorted(told))

    def drawn(self, element: Element) -> str:
        """Tell what is drawn."""
        return self._canonical.of(element)

    def table(self, element: Element) -> str:
        """Tell the format of a table, a row or a cell."""
        names: Mapping[str, tuple[str, ...]] = {
            TBL: ("tblPr", "tblGrid"), TR: ("tblPrEx", "trPr"), TC: ("tcPr",)
        }  # fmt: skip
        return "".join(self._canonical.sorted_inside(element.find(w(name))) for name in names[str(element.tag)])

    def other(self, element: Element) -> str:
        """Tell what is nothing of all that; of a control what it is, not what is in it."""
        if element.tag == SDT:
            return self._canonical.sorted_inside(element.find(w("sdtPr")))
        return self._canonical.of(element)
