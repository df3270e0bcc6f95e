import pytest

from officeplane.domain.document import InvalidEditError
from officeplane.formats.excel.cells.number_codes import NAMED, number_code


@pytest.mark.parametrize("name", NAMED)
def test_a_name_stands_for_a_code_that_is_one_itself(name: str) -> None:
    assert number_code(f" {name.upper()} ") == NAMED[name]
    assert number_code(NAMED[name]) == NAMED[name]


@pytest.mark.parametrize(
    "code",
    [
        "0", "#,##0.00", "yyyy-mm-dd", "dd.mm.yyyy hh:mm", "[h]:mm:ss", "mm:ss.000", "0.0%", '0.0 "kg"', "0.00E+00",
        "[Red]-0;[Blue]0;\\-;@", "[$€-407] #,##0.00", "[>=1000]#,##0,;0", "_-* #,##0.00_-", "# ??/100", "h:mm AM/PM",
        "[$-409]d-mmm-yy;@", "General", '"Q"0', "[Color 10]0", "0.0,,", "0.000E+000", 'General" pieces"', ";;;",
        "d/m/yy",
    ],
)  # fmt: skip
def test_a_code_that_excel_reads_is_taken_as_it_is(code: str) -> None:
    assert number_code(code) == code


def test_characters_that_mean_nothing_are_quoted_as_excel_does_it() -> None:
    assert number_code("#,##0.00 €") == '#,##0.00 "€"'
    assert number_code("yyyy年m月d日") == 'yyyy"年"m"月"d"日"'
    assert number_code("0元整") == '0"元整"'


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("0 kg", "'k' at position 2"),
        ('0 "kg', "'\"' at position 2"),
        ("0;0;0;0;0", "5 sections"),
        ("yyyy 0", "dates, of digits"),
        ("0 @", "of text"),
        ("[Rot]0", "\\[Rot\\] is no colour"),
        ("0]", "'\\]'"),
        ("0\\", "position 1"),
        ("0E", "one section"),
        ('0" ""', "'\"' at position 4"),
        ("AM/PM", "one section"),
        ("0" * 256, "longer than 255"),
        ("dollars", "'o'"),
    ],
)
def test_what_is_no_code_is_refused_with_its_place(code: str, reason: str) -> None:
    with pytest.raises(InvalidEditError, match=reason):
        number_code(code)
