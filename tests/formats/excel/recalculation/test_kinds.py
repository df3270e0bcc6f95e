"""Formulas that were filled into other cells are read as if each were read alone."""

from hypothesis import given, settings
from hypothesis import strategies as st

from officeplane.formats.excel.cells.addresses import Address, Area
from officeplane.formats.excel.formulas.references import shift
from officeplane.formats.excel.recalculation.kinds import Readings
from officeplane.formats.excel.recalculation.readings import Reader
from officeplane.formats.excel.recalculation.surroundings import KnownTable, Surroundings

SURROUNDINGS = Surroundings(
    {"s": 0, "my sheet": 1, "b2": 2},
    {("rate", None): "S!$A$1", ("rate2", None): "S!$A$1:$B$9", ("rate", 1): "3"},
    {"sold": KnownTable(0, Area(1, 1, 5, 2), True, False, ("n", "name"))},
)
PIECES = [
    "A1", "$B2", "C$3", "$D$4", "A1:B5", "A:A", "$B:C", "3:4", "$2:5", "S!A1", "'My sheet'!B2", "'B2'!C3:D4", "S!B:B",
    '"A1"', '"it""s B2"', "rate", "rate2", "LOG10(A1)", "SUM(A1:A9,B2)", "Sold[n]", "Sold[[#This Row],[n]]", "1E5",
    "2.5", "TRUE", "#REF!", "[1]S!A1", "MyFn2(A1)", "ABC1", "XYZ1", "Ünï1", "A1 ", "IF(A1>B2,C3,0)", "B2!A1", "S:B2!A1",
]  # fmt: skip
FORMULA = st.lists(st.sampled_from(PIECES), min_size=1, max_size=5).map("+".join)


@given(st.lists(st.tuples(FORMULA, st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=8))
@settings(deadline=None, max_examples=300)
def test_a_kind_of_formulas_is_read_in_each_cell_as_if_it_were_alone(cells: list[tuple[str, int, int]]) -> None:
    readings, reader = Readings(), Reader(SURROUNDINGS, 0)

    for formula, down, aside in cells:
        for rows, columns in ((0, 0), (down, aside), (0, aside), (down, 0)):
            at = Address(3 + rows, 6 + columns)
            for text in (formula, shift(formula, rows, columns)):
                assert readings.of(text, reader, at) == Reader(SURROUNDINGS, 0).read(text, at)
