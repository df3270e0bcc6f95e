"""Order: which of the things that stayed stand in the order in which they were; the others moved."""

from bisect import bisect_left
from collections.abc import Sequence

from officeplane.formats.xml import Element


def stayed(twins: Sequence[Element | None], old: Sequence[Element]) -> list[tuple[int, int]]:
    """Return the places of as many as possible that are in order, now and before; `twins` are what was before."""
    places = {one: at for at, one in enumerate(old)}
    found = [(at, places[twin]) for at, twin in enumerate(twins) if twin is not None and twin in places]
    ends: list[int] = []
    last: list[int] = []
    before: list[int | None] = []
    for turn, (_, place) in enumerate(found):
        length = bisect_left(ends, place)
        ends[length : length + 1] = [place]
        last[length : length + 1] = [turn]
        before.append(last[length - 1] if length else None)
    kept: list[tuple[int, int]] = []
    turn_now = last[-1] if last else None
    while turn_now is not None:
        kept.append(found[turn_now])
        turn_now = before[turn_now]
    return kept[::-1]
