"""Turns: formulas in an order in which those that one reads come before it."""

from collections.abc import Callable, Iterable, Iterator

from officeplane.formats.excel.recalculation.formulas import Seat


def in_turn(starts: Iterable[Seat], read_by: Callable[[Seat], Iterator[Seat]]) -> Iterator[Seat]:
    """Yield formulas and those that they read, each after these; those that read each other in a circle are left out.

    This is Tarjan's search for circles, without recursion: a chain may be as long as a sheet.
    """
    numbers: dict[Seat, int] = {}
    reach: dict[Seat, int] = {}
    waiting: list[Seat] = []
    settled: set[Seat] = set()
    reading_itself: set[Seat] = set()
    for start in starts:
        path: list[tuple[Seat, Iterator[Seat]]] = []
        following: Seat | None = None if start in numbers else start
        while following is not None or path:
            if following is not None:
                numbers[following] = reach[following] = len(numbers)
                waiting.append(following)
                path.append((following, read_by(following)))
            seat, needed = path[-1]
            found = next(needed, None)
            following = found if found is not None and found not in numbers else None
            if found is None:
                path.pop()
                if path:
                    before = path[-1][0]
                    reach[before] = min(reach[before], reach[seat])
                if reach[seat] == numbers[seat]:
                    is_alone = waiting[-1] is seat and seat not in reading_itself
                    settled.update(_taken(waiting, seat))
                    if is_alone:
                        yield seat
            elif following is None and found not in settled:
                reach[seat] = min(reach[seat], numbers[found])
                if found is seat:
                    reading_itself.add(seat)


def _taken(waiting: list[Seat], last: Seat) -> Iterator[Seat]:
    """Take from the end of what waits, up to one."""
    while True:
        seat = waiting.pop()
        yield seat
        if seat is last:
            return
