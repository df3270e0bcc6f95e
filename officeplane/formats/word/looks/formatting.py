"""Formatting: a node, or a text wherever it stands, is given other looks."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from officeplane.domain.document import InvalidEditError
from officeplane.domain.spelling import nearest_name
from officeplane.formats.search import Wanted
from officeplane.formats.word.finder import Finder, Found
from officeplane.formats.word.looks.borders import Borders
from officeplane.formats.word.looks.letters import Letters
from officeplane.formats.word.looks.paragraphs import Paragraphs
from officeplane.formats.word.looks.properties import properties_of, put, take
from officeplane.formats.word.looks.sizes import set_height, set_width
from officeplane.formats.word.names import R_PR, TBL, TC, TEXT_BOX, TR, P, R
from officeplane.formats.word.numbering import Numbering
from officeplane.formats.word.pictures import Pictures
from officeplane.formats.word.segments import run_at, segments
from officeplane.formats.word.story import Story
from officeplane.formats.word.styles import Styles
from officeplane.formats.word.table_edits.editing import set_style
from officeplane.formats.xml import Element

_CELL: Final = "tcPr"
_STYLES_TOLD: Final = 20
_HOLDERS: Final = frozenset((TBL, TR, TC))


@dataclass(frozen=True, slots=True)
class LooksOfText:
    """What to change of letters, of paragraphs, and of cells; None leaves it as it is."""

    letters: Letters
    align: str | None = None
    indent: float | None = None
    before: float | None = None
    after: float | None = None
    line: float | None = None
    style: str | None = None
    """The name of a style, of paragraphs, letters or tables."""
    heading_level: int | None = None
    list_kind: str | None = None
    fill: str | None = None
    vertical: str | None = None
    wrap: bool | None = None
    borders: Borders | None = None
    width: float | None = None
    height: float | None = None


@dataclass(frozen=True, slots=True)
class Formatted:
    """What was formatted: how many paragraphs or occurrences, and the nodes, first the one that was named."""

    times: int
    ids: Sequence[str]


def format_node(finder: Finder, node_id: str, wanted: LooksOfText, maker: str) -> Formatted:
    """Give a node other looks; of a heading, the heading itself and not what is below it."""
    found = finder.find(node_id)
    if found.kind == "picture":
        return _format_picture(finder, node_id, wanted)
    elements = _elements(found)
    cells = [cell for element in elements for cell in element.iter(TC)] if _is_of_cells(elements) else []
    if any(one is not None for one in (wanted.fill, wanted.vertical, wanted.wrap)) and not cells:
        raise InvalidEditError(
            f"{node_id!r} is a {found.kind}: fill, verticalAlign and wrap are for tables, rows and cells"
        )
    if any(one is not None for one in (wanted.width, wanted.height)) and not cells:
        raise InvalidEditError(
            f"{node_id!r} is a {found.kind}: tables, cells and pictures have a width; they and rows have a height"
        )
    paragraphs = [*_paragraphs(elements)]
    if not paragraphs:
        raise InvalidEditError(
            f"{node_id!r} is a {found.kind} and has no text of its own: name the paragraph around it"
        )
    finder.stories.stamp(found.story)
    looks = _Resolved(finder, wanted, of_table=elements[0] if elements[0].tag == TBL else None)
    for paragraph in paragraphs:
        looks.give_whole(paragraph)
    for cell in cells:
        _fill(cell, wanted)
    _draw_and_size(finder, found, elements[0] if cells else None, paragraphs, wanted)
    found.story.reread({block.element for block in found.story.blocks[found.begin : found.end]})
    found.story.name(maker)
    own = node_id if elements[0].tag != P else id_now(finder, found.story, elements[0])
    return Formatted(len(paragraphs), [own])


def format_text(finder: Finder, wanted: Wanted, nth: int | None, looks: LooksOfText, maker: str) -> Formatted:
    """Give a text other looks wherever it stands, or where it does so for the nth time."""
    if any(one is not None for one in (looks.fill, looks.vertical, looks.wrap)):
        raise InvalidEditError("fill, verticalAlign and wrap are for cells: name a table, a row or a cell by nodeId")
    if any(one is not None for one in (looks.borders, looks.width, looks.height)):
        raise InvalidEditError("border, width and height are those of nodes: name a paragraph, a table ... by nodeId")
    places = [
        (story, hit, match) for story in finder.stories.all() for hit in story.find(wanted) for match in hit.matches
    ]  # fmt: skip
    counted = [place for place in places if place[1].counts]
    if not counted:
        raise InvalidEditError(f"{wanted.find!r} does not stand in it")
    if nth is not None:
        if nth > len(counted):
            raise InvalidEditError(f"{wanted.find!r} stands {len(counted)} times in it, there is no {nth}th time")
        places = counted = [counted[nth - 1]]
    for story in {id(story): story for story, _, _ in places}.values():
        finder.stories.stamp(story)
    resolved = _Resolved(finder, looks)
    # From the last on: to take runs apart leaves the places before them as they are.
    for _, hit, match in reversed(places):
        resolved.give_part(hit.paragraph, match.begin, match.end)
    told = [(story, hit.paragraph) for story, hit, _ in counted]
    for story in {id(story): story for story, _, _ in places}.values():
        story.reread({story.blocks[hit.block].element for at, hit, _ in places if at is story})
        story.name(maker)
    return Formatted(len(counted), [*dict.fromkeys(id_now(finder, story, paragraph) for story, paragraph in told)])


class _Resolved:
    """The looks with the styles and the list of this document."""

    def __init__(self, finder: Finder, looks: LooksOfText, *, of_table: Element | None = None) -> None:
        self._styles = styles = finder.stories.styles
        letters, style = looks.letters, None
        if looks.style is not None and of_table is not None:
            set_style(of_table, styles.table(looks.style))
        elif looks.style is not None:
            style = styles.find("paragraph", looks.style)
            of_letters = None if style is not None else styles.find("character", looks.style)
            if style is None and of_letters is None:
                raise InvalidEditError(_no_style(looks.style, styles))
            letters = replace(letters, style=of_letters)
        if looks.heading_level is not None:
            if style is not None:
                raise InvalidEditError("give style or headingLevel: the level of a heading is that of its style")
            style = styles.heading(looks.heading_level) if looks.heading_level else ""
        self._letters = letters
        self._paragraphs = Paragraphs(
            style, _list(finder, looks.list_kind), looks.align, looks.indent, looks.before, looks.after, looks.line
        )

    def give_whole(self, paragraph: Element) -> None:
        """Format a paragraph and its end: numbers of lists, and what is typed there, look like that."""
        if self._letters.says_something:
            for run in [run for run in paragraph.iter(R) if next(run.iterancestors(P)) is paragraph]:
                self._letters.give(properties_of(run, "rPr"))
            own = properties_of(paragraph, "pPr")
            mark = own.find(R_PR)
            self._letters.give(put(own, "pPr", "rPr") if mark is None else mark)
        self._give_around(paragraph)

    def give_part(self, paragraph: Element, begin: int, end: int) -> None:
        """Format a stretch of a paragraph's text, and as a paragraph all of it."""
        if self._letters.says_something:
            for run in _runs(paragraph, begin, end):
                self._letters.give(properties_of(run, "rPr"))
        self._give_around(paragraph)

    def _give_around(self, paragraph: Element) -> None:
        if self._paragraphs.says_something:
            self._paragraphs.give(paragraph, self._styles)


def _list(finder: Finder, kind: str | None) -> str | None:
    if kind is None or kind == "none":
        return None if kind is None else ""
    numbering = Numbering(finder.package, finder.stories.part)
    return numbering.bullets() if kind == "bullet" else numbering.counted(0, 1)


def _no_style(name: str, styles: Styles) -> str:
    nearest = nearest_name(name, styles.names("paragraph"))
    meant = "" if nearest is None else f"; did you mean {nearest!r}?"
    known = ", ".join(repr(one) for one in sorted(styles.names("paragraph"))[:_STYLES_TOLD])
    return f"the document has no style {name!r}{meant} Those of paragraphs are {known}"


def _fill(cell: Element, looks: LooksOfText) -> None:
    properties = properties_of(cell, _CELL)
    if looks.fill is not None:
        color = "auto" if looks.fill == "none" else looks.fill
        put(properties, _CELL, "shd", val="clear", color="auto", fill=color)
    if looks.vertical is not None:
        put(properties, _CELL, "vAlign", val=looks.vertical)
    if looks.wrap is not None:
        take(properties, "noWrap")
        if not looks.wrap:
            put(properties, _CELL, "noWrap")


def _draw_and_size(
    finder: Finder, found: Found, held: Element | None, paragraphs: Sequence[Element], looks: LooksOfText
) -> None:
    """Give lines, a width and a height to what `held` cells, or lines to paragraphs."""
    if looks.width is not None and held is not None:
        set_width(held, looks.width, found.id)
    if looks.height is not None and held is not None:
        set_height(held, looks.height, found.id)
    if looks.borders is None:
        return
    if held is not None:
        looks.borders.around_cells(held)
        return
    if any(
        next(one.iterancestors(TBL), None) is not next(found.element.iterancestors(TBL), None) for one in paragraphs
    ):
        raise InvalidEditError(
            f"{found.id!r} is a {found.kind} that holds a table: give its paragraphs and it lines by themselves"
        )
    looks.borders.around_paragraphs(paragraphs, finder.stories.styles)


def _format_picture(finder: Finder, node_id: str, looks: LooksOfText) -> Formatted:
    if replace(looks, width=None, height=None) != LooksOfText(Letters()):
        raise InvalidEditError(f"{node_id!r} is a picture: format gives it a width and a height, and nothing else")
    Pictures(finder).resize(node_id, looks.width, looks.height)
    return Formatted(1, [node_id])


def _elements(found: Found) -> Sequence[Element]:
    """Return what is formatted of a node: of a chapter its heading, of a page that is a table this."""
    if found.place is not None and found.place.is_heading:
        return found.elements[:1]
    if found.kind == "table":
        return [one for one in found.elements if one.tag == TBL]
    return found.elements


def _is_of_cells(elements: Sequence[Element]) -> bool:
    return bool(elements) and all(element.tag in _HOLDERS for element in elements)


def _paragraphs(elements: Iterable[Element]) -> Iterator[Element]:
    """Yield the paragraphs of a node, but not those of text boxes in it."""
    for element in elements:
        around = set(element.iterancestors(TEXT_BOX))
        for paragraph in element.iter(P):
            if set(paragraph.iterancestors(TEXT_BOX)) == around:
                yield paragraph


def _runs(paragraph: Element, begin: int, end: int) -> list[Element]:
    """Return the runs that say a stretch of a paragraph's text and nothing else."""
    run_at(paragraph, end)
    run_at(paragraph, begin)
    found: dict[Element, None] = {}
    at = 0
    for segment in segments(paragraph):
        run = segment.element.getparent()
        if begin <= at < end and run is not None and run.tag == R:
            found[run] = None
        at += len(segment.text)
    return [*found]


def id_now(finder: Finder, story: Story, paragraph: Element) -> str:
    """Return the id of a paragraph as reading gives it."""
    body = finder.stories.body
    if story is body.story:
        for place in body.structure.by_id.values():
            if place.is_heading and story.blocks[place.begin].paragraph is paragraph:
                return place.id
    return f"p-{story.ids.of(paragraph)}"
