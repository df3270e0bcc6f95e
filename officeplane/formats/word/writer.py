"""The writer: blocks of content become paragraphs and tables of a document."""

from collections.abc import Iterable, Sequence

from officeplane.formats.blocks import Block, Code, Heading, Item, Line, Paragraph, Quote, Rule, Table
from officeplane.formats.links import Links
from officeplane.formats.package import Package
from officeplane.formats.word.line_writer import Insets, LineWriter
from officeplane.formats.word.names import TBL, child, element
from officeplane.formats.word.numbering import DEPTH_MAX, Numbering
from officeplane.formats.word.segments import fill_run
from officeplane.formats.word.styles import LEVELS, SECTION_LEVEL, Styles
from officeplane.formats.word.tables import table
from officeplane.formats.xml import Element


class Writer:
    """Makes the elements of one part in the styles of its document.

    `beside` is a part other than that of the body, which has links of its own; headings stand `below` so many levels;
    `insets` makes what is no text.
    """

    def __init__(
        self, package: Package, part: str, styles: Styles, width: int, *, beside: str | None = None,
        below: int = SECTION_LEVEL, insets: Insets | None = None,
    ) -> None:  # fmt: skip
        self._lines = LineWriter(Links(package, beside or part), styles, insets)
        self._below = below
        self._styles = styles
        self._numbering = Numbering(package, part)
        self._width = width
        # The list that goes on at each depth, by its number and whether it counts.
        self._lists: dict[int, tuple[str, bool]] = {}

    def elements(self, content: Iterable[Block]) -> list[Element]:
        """Return what the blocks become; an empty content is an empty paragraph."""
        self._lists.clear()
        made: list[Element] = []
        for block in content:
            for one in self._made(block):
                if made and made[-1].tag == TBL and one.tag == TBL:
                    # Word joins tables that touch.
                    made.append(element("p"))
                made.append(one)
        return made or [element("p")]

    def heading(self, level: int, line: Line) -> Element:
        """Return a heading in the document's own style."""
        return self._paragraph(line, self._styles.heading(level))

    def table(self, rows: Sequence[Sequence[Line]], header_rows: int, style: str | None) -> Element:
        """Return a table in a style of this name, or in the document's grid, or with lines of its own."""
        style_id = self._styles.find("table", "Table Grid") if style is None else self._styles.table(style)
        columns = max((len(row) for row in rows), default=1)

        def fill(paragraph: Element, line: Line, is_header: bool) -> None:
            self._lines.fill(paragraph, line, bold=is_header, columns=columns)

        return table(rows, header_rows, style_id, self._width, fill)

    def _made(self, block: Block) -> list[Element]:
        match block:
            case Heading(level, line):
                return [self.heading(min(level + self._below, LEVELS), line)]
            case Paragraph(line):
                return [self._paragraph(line, None)]
            case Item():
                return [self._item(block)]
            case Quote(line):
                return [self._paragraph(line, self._styles.quote())]
            case Code(text):
                return [self._code(text)]
            case Table(rows, header_rows):
                return [self.table(rows, header_rows, None)] if any(rows) else []
            case Rule():
                return [_rule()]

    def _paragraph(self, line: Line, style_id: str | None) -> Element:
        made = element("p")
        if style_id is not None:
            child(child(made, "pPr"), "pStyle", val=style_id)
        self._lines.fill(made, line)
        return made

    def _code(self, text: str) -> Element:
        made = element("p")
        child(child(made, "pPr"), "pStyle", val=self._styles.code())
        fill_run(child(made, "r"), text)
        return made

    def _item(self, item: Item) -> Element:
        depth = min(item.depth, DEPTH_MAX)
        made = element("p")
        properties = child(made, "pPr")
        style_id = self._styles.find("paragraph", "List Paragraph")
        if style_id is not None:
            child(properties, "pStyle", val=style_id)
        numbers = child(properties, "numPr")
        child(numbers, "ilvl", val=str(depth))
        child(numbers, "numId", val=self._list(item, depth))
        if style_id is not None:
            child(properties, "contextualSpacing")
        self._lines.fill(made, item.line)
        return made

    def _list(self, item: Item, depth: int) -> str:
        for deeper in [known for known in self._lists if known > depth]:
            del self._lists[deeper]
        known = self._lists.get(depth)
        if known is None or item.begins_list or known[1] != item.ordered:
            number = self._numbering.counted(depth, item.start) if item.ordered else self._numbering.bullets()
            known = self._lists[depth] = number, item.ordered
        return known[0]


def _rule() -> Element:
    made = element("p")
    border = child(child(made, "pPr"), "pBdr")
    child(border, "bottom", val="single", sz="6", space="1", color="auto")
    return made
