"""Content: what paragraphs and tables of a text say, as blocks that can be written as CommonMark."""

from collections.abc import Iterator, Mapping
from typing import Final

from officeplane.formats.blocks import (
    Block,
    Code,
    Heading,
    Item,
    Line,
    Note,
    Paragraph,
    Picture,
    Quote,
    Rule,
    Span,
    Table,
)
from officeplane.formats.package import Package
from officeplane.formats.relationships import Relationships
from officeplane.formats.word.block import inside
from officeplane.formats.word.names import (
    ALTERNATIVES,
    BR,
    FALLBACK,
    ID,
    P_PR,
    R_ID,
    R_PR,
    SDT,
    TAB,
    TC,
    TR,
    VAL,
    P,
    R,
    T,
    element_name,
    value,
    w,
)
from officeplane.formats.word.segments import text_of
from officeplane.formats.word.stories import Stories
from officeplane.formats.xml import Element

_OFF: Final = frozenset(("0", "false", "off", "none"))
_TEXTS: Final[Mapping[str, str]] = {
    TAB: "\t",
    w("ptab"): "\t",
    BR: "\n",
    w("cr"): "\n",
    w("noBreakHyphen"): "\u2011",
}
_LEFT_OUT: Final = frozenset((w("del"), w("moveFrom"), w("rt"), P_PR, R_PR, FALLBACK))
_FIXED: Final = ("courier", "consolas", "monospace", "menlo", "mono")
INSET: Final = "\N{OBJECT REPLACEMENT CHARACTER}"
"""The letter for which a picture or the mark of a note counts."""

_NOTES: Final = {w("footnoteReference"): "", w("endnoteReference"): "e"}


class Contents:
    """Reads what parts of stories say; `pictures` has the id of each picture's node by its element."""

    def __init__(self, package: Package, stories: Stories, pictures: Mapping[Element, tuple[str, str]]) -> None:
        self._package = package
        self._stories = stories
        self._links: dict[str, dict[str, str]] = {}
        self._styles = stories.styles
        self._pictures = pictures

    def of_paragraph(self, paragraph: Element, level: int, item: Item | None) -> Block:
        """Return what a paragraph says: a heading of a level, an item of a list, or text."""
        line = self.line(paragraph)
        if level:
            return Heading(level, line)
        if item is not None:
            return Item(line, item.ordered, item.depth, item.begins_list, item.start)
        name = self._style_name(paragraph)
        if name == "html preformatted":
            return Code(text_of(paragraph))
        if name in {"quote", "intense quote"}:
            return Quote(line)
        if not line and _is_ruled(paragraph):
            return Rule()
        return Paragraph(line)

    def of_table(self, table: Element) -> Table:
        """Return a table's rows; a cell of several paragraphs has them in one line."""
        rows = [[self._cell(cell) for cell in inside(row, TC)] for row in inside(table, TR)]
        headers = 0
        for row in inside(table, TR):
            mark = row.find(f"{w('trPr')}/{w('tblHeader')}")
            if mark is None or mark.get(VAL) in _OFF:
                break
            headers += 1
        return Table(tuple(tuple(row) for row in rows), headers)

    def line(self, paragraph: Element) -> Line:
        """Return the text of a paragraph in stretches of one formatting."""
        spans: list[Span] = []
        for span in self._spans(paragraph, None):
            last = spans[-1] if spans else None
            if type(last) is type(span) is Span and last is not None and _alike(last, span):
                spans[-1] = Span(last.text + span.text, span.bold, span.italic, span.strike, span.code, span.link)
            else:
                spans.append(span)
        return tuple(spans)

    def shown(self, held: Element) -> str:
        """Return what a line is compared by in place of something in a run that is no text."""
        return "".join(INSET for _ in self._inset(held))

    def target(self, link: Element) -> str | None:
        """Return where a link leads outside, or None."""
        root = link.getroottree().getroot()
        part = next((story.part for story in self._stories.all() if story.root is root), "")
        if part not in self._links:
            arrows = Relationships(self._package, part)
            self._links[part] = {arrow.id: arrow.target for arrow in arrows if arrow.is_external}
        return self._links[part].get(link.get(R_ID, ""))

    def _cell(self, cell: Element) -> Line:
        spans: list[Span] = []
        for paragraph in cell.iter(P):
            if next(paragraph.iterancestors(TC), None) is cell:
                line = self.line(paragraph)
                spans += [Span(" "), *line] if spans and line else line
        return tuple(spans)

    def _spans(self, parent: Element, link: str | None) -> Iterator[Span]:
        for inner in parent:
            if inner.tag in _LEFT_OUT:
                continue
            if inner.tag == R:
                yield from self._run(inner, link)
            elif inner.tag == w("hyperlink"):
                yield from self._spans(inner, self.target(inner) or link)
            elif element_name(inner) in {"oMath", "oMathPara"}:
                yield Span("".join(held.text or "" for held in inner.iter("{*}t")))
            elif isinstance(inner.tag, str) and (inner.tag == SDT or len(inner)):
                yield from self._spans(inner, link)

    def _run(self, run: Element, link: str | None) -> Iterator[Span]:
        properties = run.find(R_PR)
        bold, italic = _is_on(properties, "b"), _is_on(properties, "i")
        strike, code = _is_on(properties, "strike") or _is_on(properties, "dstrike"), _is_fixed(properties)
        text = ""
        for held in run:
            if held.tag == T:
                text += held.text or ""
            elif (shown := _TEXTS.get(str(held.tag))) is not None:
                text += shown
            elif held.tag in _NOTES or held.tag == ALTERNATIVES or held in self._pictures:
                if text:
                    yield Span(text, bold, italic, strike, code, link)
                    text = ""
                yield from self._inset(held)
        if text:
            yield Span(text, bold, italic, strike, code, link)

    def _inset(self, held: Element) -> Iterator[Span]:
        if held.tag in _NOTES:
            yield Note(f"{_NOTES[str(held.tag)]}{held.get(ID, '')}")
            return
        for found in (held, *held.iter(w("drawing"), w("pict"))) if held.tag == ALTERNATIVES else (held,):
            if found in self._pictures:
                node_id, name = self._pictures[found]
                yield Picture(name, link=f"node:{node_id}")
                return

    def _style_name(self, paragraph: Element) -> str:
        style = value(paragraph.find(P_PR), "pStyle")
        return "" if style is None else self._styles.name(style).lower()


def _is_ruled(paragraph: Element) -> bool:
    """Tell whether there is a line above or below a paragraph, and no box around it."""
    borders = paragraph.find(f"{P_PR}/{w('pBdr')}")
    drawn = {element_name(one) for one in borders if one.get(VAL) not in {"nil", "none"}} if borders is not None else ()
    return bool(drawn) and "left" not in drawn


def _alike(one: Span, other: Span) -> bool:
    return (one.bold, one.italic, one.strike, one.code, one.link) == (
        other.bold, other.italic, other.strike, other.code, other.link,
    )  # fmt: skip


def _is_on(properties: Element | None, name: str) -> bool:
    found = None if properties is None else properties.find(w(name))
    return found is not None and found.get(VAL) not in _OFF


def _is_fixed(properties: Element | None) -> bool:
    fonts = None if properties is None else properties.find(w("rFonts"))
    name = "" if fonts is None else fonts.get(w("ascii"), "").lower()
    return any(sign in name for sign in _FIXED)
