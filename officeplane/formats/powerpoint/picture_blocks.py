"""Pictures in content for a slide, where they lie beside the text and not in it."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from officeplane.formats.blocks import Block, Item, Line, Paragraph, Picture, Quote, Table, with_lines
from officeplane.formats.content_bounds import check_insets


class Parted(NamedTuple):
    """Content without its pictures, and these."""

    blocks: Sequence[Block]
    pictures: list[Picture]


def parted(blocks: Iterable[Block]) -> Parted:
    """Take the pictures out of content; what was nothing else is gone."""
    blocks = list(blocks)
    check_insets(blocks)
    pictures: list[Picture] = []

    def without(line: Line) -> Line:
        pictures.extend(span for span in line if isinstance(span, Picture))
        return tuple(span for span in line if not isinstance(span, Picture))

    left: list[Block] = []
    for block in blocks:
        count = len(pictures)
        rest = with_lines(block, without)
        is_bare = isinstance(rest, Paragraph | Quote | Item) and not any(span.text.strip() for span in rest.line)
        if len(pictures) == count or not is_bare:
            left.append(rest)
    return Parted(left, pictures)


def is_drawn(block: Block) -> bool:
    """Tell whether a block needs no place for text: a table, or a paragraph of pictures alone."""
    return isinstance(block, Table) or (bool(parted([block]).pictures) and not parted([block]).blocks)


def without_pictures_of_title(line: Line) -> tuple[Line, list[Block]]:
    """Return the line of a title, and its pictures as a paragraph of the body."""
    pictures = tuple(span for span in line if isinstance(span, Picture))
    return tuple(span for span in line if not isinstance(span, Picture)), [Paragraph(pictures)] if pictures else []
