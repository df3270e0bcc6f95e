"""The files of an onslaught: hostile ones of every format and family."""

from collections import defaultdict
from itertools import chain, zip_longest
from random import Random
from typing import Final

from officeplane.domain.document import Format
from tests.fixtures.documents.hostile import Hostile, hostile

_COSTLY: Final = "complex"
"""A family whose files take seconds to make and to refuse."""


def every_hostile_file() -> list[tuple[Format, Hostile]]:
    """Return all of them, of each family in turn, so that the first few are of many kinds."""
    families = defaultdict[tuple[Format, str], list[tuple[Format, Hostile]]](list)
    for kind in Format:
        for file in hostile(kind):
            families[kind, file.family].append((kind, file))
    dice = Random(11)
    in_turn = list(families.values())
    for family in in_turn:
        dice.shuffle(family)
    dice.shuffle(in_turn)
    return [file for file in chain.from_iterable(zip_longest(*in_turn)) if file is not None]


def some_hostile_files(count: int) -> list[tuple[Format, Hostile]]:
    """Return so many, of as many families, and one of those that are costly."""
    files = every_hostile_file()
    costly = [one for one in files if one[1].family == _COSTLY]
    return [*costly[:1], *(one for one in files if one not in costly)][:count]
