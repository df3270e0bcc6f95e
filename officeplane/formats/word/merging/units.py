"""Units of a text: its paragraphs and tables, in order; what a field reaches over is one of them."""

from collections.abc import Iterator, Sequence

from officeplane.formats.merging.unit import Unit
from officeplane.formats.word.block import Block
from officeplane.formats.word.comments import comment_id
from officeplane.formats.word.merging.by_look import ByLook
from officeplane.formats.word.merging.context import Context
from officeplane.formats.word.merging.telling import Exactly, Telling
from officeplane.formats.word.names import TBL, P, w
from officeplane.formats.xml import Element


def units_of(context: Context) -> list[Unit]:
    """Return the units of a text; the source of each are its elements."""
    tables = {
        detail.source: detail.id for detail in context.document.reader().tree.by_id.values() if detail.kind == "table"
    }
    exact, by_look = Exactly(context), ByLook(context)
    found: list[Unit] = []
    for blocks in _together(context.body.story.blocks):
        elements = [block.element for block in blocks]
        node_id = _id_of(elements[0], context, tables)
        if node_id is None:
            continue
        found.append(
            Unit(
                node_id,
                Telling(context, exact).told(elements),
                "\n".join(block.marked_text for block in blocks),
                roughly=Telling(context, by_look).told(elements),
                is_title=blocks[0].level > 0,
                tied=frozenset(comment_id(number) for block in blocks for number in block.comment_ids),
                source=elements,
            )
        )
    return found


def _id_of(element: Element, context: Context, tables: dict[Element, str]) -> str | None:
    if element.tag == TBL:
        return tables.get(element)
    first = element if element.tag == P else next(element.iter(P), None)
    return None if first is None else context.ids.get(first)


def _together(blocks: Sequence[Block]) -> Iterator[list[Block]]:
    """Yield what has content, with all over which a field that begins in it reaches."""
    run: list[Block] = []
    depth = 0
    for block in blocks:
        if not block.is_content:
            continue
        run.append(block)
        marks = [mark.get(w("fldCharType")) for mark in block.element.iter(w("fldChar"))]
        depth = max(depth + marks.count("begin") - marks.count("end"), 0)
        if depth == 0:
            yield run
            run = []
    if run:
        yield run
