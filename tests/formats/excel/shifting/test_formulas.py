"""References after a shift, compared with a model that knows cells and nothing else."""

from dataclasses import dataclass
from time import process_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from officeplane.formats.excel.cells.addresses import letters
from officeplane.formats.excel.shifting.formulas import FormulaShift
from officeplane.formats.excel.shifting.shift import Axis, Shift

SHEETS = ["Data", "My Sheet", "O'Hara", "Last"]
MAX = {Axis.ROWS: 1_048_576, Axis.COLUMNS: 16_384}


def followed(formula: str, shift: Shift, sheet: str = "Data", *, is_own: bool = True) -> str:
    return FormulaShift(shift, sheet, SHEETS).plain(formula, is_own=is_own)


def inserted(at: int, count: int = 1, axis: Axis = Axis.ROWS) -> Shift:
    return Shift(axis, at, count, inserts=True)


def deleted(at: int, count: int = 1, axis: Axis = Axis.ROWS) -> Shift:
    return Shift(axis, at, count, inserts=False)


@dataclass(frozen=True)
class Reference:
    """A reference to a rectangle, as it was written."""

    sheet: str | None
    first: tuple[int, int]
    last: tuple[int, int] | None
    held: tuple[bool, bool, bool, bool]

    def __str__(self) -> str:
        prefix = "" if self.sheet is None else {"Data": "Data!", "Last": "Last!"}.get(
            self.sheet, "'" + self.sheet.replace("'", "''") + "'!"
        )  # fmt: skip
        one = _cell(*self.first, self.held[:2])
        return prefix + (one if self.last is None else f"{one}:{_cell(*self.last, self.held[2:])}")


def _cell(row: int, column: int, held: tuple[bool, ...]) -> str:
    return f"{'$' * held[1]}{letters(column)}{'$' * held[0]}{row}"


def modelled(reference: Reference, shift: Shift, sheet: str) -> str:
    """Say what a reference is afterwards: which of its rows or columns are left, and where the outer ones are."""
    if (reference.sheet or "Data") != sheet:
        return str(reference)
    side = 0 if shift.axis is Axis.ROWS else 1
    last = reference.last or reference.first
    low, high = sorted((reference.first[side], last[side]))
    # Each line of the sheet as it was, in the order in which they are now; what is new has no number.
    lines: list[int | None] = list(range(1, 121))
    if shift.inserts:
        lines[shift.at - 1 : shift.at - 1] = [None] * shift.count
    else:
        del lines[shift.at - 1 : shift.at - 1 + shift.count]
    seats = [place for place, line in enumerate(lines, 1) if line is not None and low <= line <= high]
    if not seats:
        return str(Reference(reference.sheet, (1, 1), None, (False, False, False, False))).replace("A1", "#REF!")
    ends = {low: min(seats), high: max(seats)} if low != high else {low: seats[0]}

    def moved(cell: tuple[int, int]) -> tuple[int, int]:
        return (ends[cell[0]], cell[1]) if side == 0 else (cell[0], ends[cell[1]])

    return str(
        Reference(
            reference.sheet, moved(reference.first), reference.last and moved(reference.last), reference.held
        )
    )  # fmt: skip


CELLS = st.tuples(st.integers(1, 60), st.integers(1, 60))
REFERENCES = st.builds(
    Reference,
    sheet=st.none() | st.sampled_from(SHEETS),
    first=CELLS,
    last=st.none() | CELLS,
    held=st.tuples(*[st.booleans()] * 4),
)
SHIFTS = st.builds(Shift, st.sampled_from(Axis), st.integers(1, 40), st.integers(1, 9), st.booleans())
BETWEEN = st.sampled_from(
    ["+", "*", ",", '&"A1:B9"&', "-LOG10(5)*", "^Sales[A1]+", '&TEXT(1,"Data!A3")&', "=TRUE+", "/'[1]Data'!A3-",
     "+A1B2+", " + Taxe9.x - ", "+#REF!-", "+2.5E3*", '<>INDIRECT("A5")+', "&SUM(Sales[[#All],[B7]:[C9]])&"]
)  # fmt: skip


@given(st.lists(st.tuples(BETWEEN, REFERENCES), min_size=1, max_size=6), SHIFTS, st.sampled_from(SHEETS))
@settings(deadline=None, max_examples=400)
def test_every_reference_of_a_formula_is_where_a_simple_model_says(
    stretches: list[tuple[str, Reference]], shift: Shift, sheet: str
) -> None:
    formula = "1" + "".join(f"{between}{reference}" for between, reference in stretches)

    after = followed(formula, shift, sheet, is_own=sheet == "Data")

    assert after == "1" + "".join(f"{between}{modelled(it, shift, sheet)}" for between, it in stretches)


@given(st.lists(st.tuples(BETWEEN, REFERENCES), min_size=1, max_size=6), SHIFTS)
@settings(deadline=None, max_examples=200)
def test_what_is_inserted_and_deleted_again_leaves_formulas_as_they_were(
    stretches: list[tuple[str, Reference]], shift: Shift
) -> None:
    formula = "1" + "".join(f"{between}{reference}" for between, reference in stretches)
    there = Shift(shift.axis, shift.at, shift.count, inserts=True)
    back = Shift(shift.axis, shift.at, shift.count, inserts=False)

    assert followed(followed(formula, there), back) == formula


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("SUM(A:A,$B:$C)+SUM(3:5)+$2:2", "SUM(A:A,$B:$C)+SUM(5:7)+$2:2"),
        ("SUM(A1:A1048576)", "SUM(A1:A1048576)"),
        ("SUM(A9:A1048576)", "SUM(A11:A1048576)"),
        ("A1048575", "#REF!"),
        ("data!A3+'Data'!A3+DATA!$A$3", "data!A5+'Data'!A5+DATA!$A$5"),
        ("Data!A3:Data!B4", "Data!A5:Data!B6"),
        ("Data!A:A+Data!3:3+Data!rate", "Data!A:A+Data!5:5+Data!rate"),
        ("INDEX(A:A,3):B9", "INDEX(A:A,3):B11"),
        ("A3 : B4", "A5 : B6"),
        ("(A3:B4 B3:C4,D9)", "(A5:B6 B5:C6,D11)"),
        ("#REF!A5+[1]Data!A5+[1]!name+#REF!B3:B4", "#REF!A5+[1]Data!A5+[1]!name+#REF!B3:B4"),
        ("ZZZ9+XFE9+XFD9+A1048577", "ZZZ9+XFE9+XFD11+A1048577"),
        ("LOG10(A9)+_xlfn.LET(_xlpm.A9,1,_xlpm.A9)", "LOG10(A11)+_xlfn.LET(_xlpm.A9,1,_xlpm.A9)"),
        ("_xlfn.ANCHORARRAY(A9)", "_xlfn.ANCHORARRAY(A11)"),
        ("{1,2;3,4}*A9%", "{1,2;3,4}*A11%"),
        ("Größe!A9+A9é+・A9", "Größe!A9+A9é+・A9"),
        ("Sales[[A9]:[B'[9]]+Sales[#Totals]", "Sales[[A9]:[B'[9]]+Sales[#Totals]"),
        ('"A9""A9"&A9', '"A9""A9"&A11'),
        ("'It''s'!A9+'O''Hara'!A9", "'It''s'!A9+'O''Hara'!A9"),
        ("Sales[A9", "Sales[A9"),
    ],
)
def test_two_rows_before_the_third_move_what_is_a_reference_and_nothing_else(before: str, after: str) -> None:
    assert followed(before, inserted(3, 2)) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("A1+D1+$E2", "A1+B1+$C2"),
        ("B1+Data!C5", "#REF!+Data!#REF!"),
        ("SUM(A:D)+SUM($B:$C)+SUM(1:3)", "SUM(A:B)+SUM(#REF!)+SUM(1:3)"),
        ("SUM(B2:E9)", "SUM(B2:C9)"),
        ("SUM(E9:B2)", "SUM(C9:B2)"),
        ("SUM(A1:XFD1)", "SUM(A1:XFD1)"),
    ],
)
def test_two_columns_less_take_their_references_with_them(before: str, after: str) -> None:
    assert followed(before, deleted(2, 2, Axis.COLUMNS)) == after


def test_a_reference_to_several_sheets_stays_and_is_told_of_where_it_would_have_moved() -> None:
    formulas = FormulaShift(inserted(3), "My Sheet", SHEETS)

    assert formulas.plain("SUM('Data:O''Hara'!A9)", is_own=False) == "SUM('Data:O''Hara'!A9)"
    assert formulas.spans_sheets
    assert formulas.plain("SUM('Data:O''Hara'!A1)+SUM(Data:Last!B:B)", is_own=False)
    assert not formulas.spans_sheets
    assert formulas.plain("SUM('My Sheet:My Sheet'!A9)", is_own=False) == "SUM('My Sheet:My Sheet'!A10)"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Data!$A$9", "Data!$A$10"),
        ("Data!A9", "Data!A9"),
        ("Data!$A$1:A9", "Data!$A$1:A9"),
        ("SUM(Data!$A$1:$A$9)+Data!A$9", "SUM(Data!$A$1:$A$10)+Data!A$10"),
        ("Data!$A:$A,Data!$3:$4", "Data!$A:$A,Data!$4:$5"),
    ],
)
def test_a_name_follows_where_it_is_held_and_is_counted_from_its_user_elsewhere(before: str, after: str) -> None:
    assert FormulaShift(inserted(3), "Data", SHEETS).name(before, is_own=False) == after


@pytest.mark.parametrize(
    "word", ["A9+", "名", "Data!", "'", "'x'", "[", "[']", "a:", "A1:", '"', "$A$", "A ", "#REF!", "1."]
)
def test_a_formula_follows_soon_however_odd_it_is(word: str) -> None:
    formula = word * (30_000 // len(word))
    begun = process_time()

    followed(formula, inserted(3))

    assert process_time() - begun < 3


@given(st.text(alphabet="AB19$:!'\"[]()#,&{}. |xé", max_size=40), SHIFTS)
@settings(deadline=None, max_examples=300)
def test_any_text_is_lived_with(formula: str, shift: Shift) -> None:
    assert isinstance(followed(formula, shift), str)


WORDS = st.sampled_from([
    "A#", "$B#", "C$#", "D#:E#", "$A$#:F#", "#:#", "$#:$#", "A:C", "LOG#(A#)", "Q#_#", "XFE#", "ab#", "1E#", "#.#",
    "#%", '"A#"', "MyFn#(B#)", "Sold[A#]", "[#]S!A#", "{#,#}", "Data!A#", "'My Sheet'!A#", "Q#!A#", "#REF!A#", "A# ",
    "0#", "é#",
])  # fmt: skip
FILLED = st.lists(WORDS, min_size=1, max_size=4).map("+".join)
NUMBERS = st.one_of(st.integers(0, 9), st.integers(1, 120), st.integers(999_990, 1_048_600))


@given(FILLED, st.lists(st.lists(NUMBERS, min_size=16, max_size=16), min_size=2, max_size=5), SHIFTS)
@settings(deadline=None, max_examples=400)
def test_formulas_that_were_filled_down_follow_as_if_each_were_alone(
    formula: str, filled: list[list[int]], shift: Shift
) -> None:
    together, closer = FormulaShift(shift, "Data", SHEETS), FormulaShift(shift, "Data", SHEETS)

    for numbers in filled:
        text = "".join(f"{piece}{number}" for piece, number in zip(formula.split("#"), numbers, strict=False))
        before = together.count
        after = together.plain(text, is_own=True)
        # What names a sheet is always looked at letter by letter.
        assert f"{after}&Last!A1" == closer.plain(f"{text}&Last!A1", is_own=True)
        assert together.has_lost == closer.has_lost
        assert together.count - before == (after != text)
