"""Bounds of content: so many pictures and notes may come with one text."""

from collections.abc import Iterable
from typing import Final

from officeplane.domain.document import InvalidEditError
from officeplane.formats.blocks import Block, Note, Picture, lines_of

INSETS_MAX: Final = 1_000
"""Each takes a look at all that there are."""


def check_insets(blocks: Iterable[Block]) -> None:
    """Refuse content with more pictures and notes than are taken."""
    count = sum(isinstance(span, Picture | Note) for block in blocks for line in lines_of(block) for span in line)
    if count > INSETS_MAX:
        raise InvalidEditError(
            f"the content has {count} pictures and notes; {INSETS_MAX} are taken at once: give it in parts"
        )
