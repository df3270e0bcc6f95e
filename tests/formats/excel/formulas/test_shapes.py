"""Where rows stand in a formula is found out once for all that were filled down with it."""

import re
from collections.abc import Iterator

import pytest

from officeplane.formats.excel.formulas.shapes import Shapes


class Looker:
    """Takes what follows a letter for a row, and counts how often it looks."""

    def __init__(self) -> None:
        self.looks = 0

    def __call__(self, formula: str) -> Iterator[tuple[int]]:
        self.looks += 1
        return ((match.end(),) for match in re.finditer(r"[A-Z]+(?=\d)", formula))


def test_formulas_that_differ_in_numbers_alone_are_looked_at_once() -> None:
    looker = Looker()
    shapes = Shapes(looker)

    found = [shapes.of(f"A{row}*0.05+{row}*B{row + 7}") for row in range(1, 2_000)]

    assert looker.looks == 1
    assert [[pieces[place] for (place,) in rows or ()] for pieces, rows in found] == [
        [str(row), str(row + 7)] for row in range(1, 2_000)
    ]


@pytest.mark.parametrize("other", ["B5*2", "A5+2", "A05*2", "A1234567*2", "A5*02", "A5*0", "$A5*2", "A$5*2", "A5*2 "])
def test_what_differs_in_more_than_a_number_is_another_shape(other: str) -> None:
    looker = Looker()
    shapes = Shapes(looker)

    shapes.of("A5*2")
    pieces, _ = shapes.of(other)

    assert looker.looks == 2
    assert "".join(pieces) == other


def test_a_row_that_is_no_number_of_its_own_is_not_told() -> None:
    assert Shapes(lambda _: [(1,)]).of("A1234567") == (["A1234567"], None)
