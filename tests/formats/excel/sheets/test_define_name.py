import json
from typing import Any

import pytest

from officeplane.domain.document import InvalidEditError
from officeplane.edits.contract import Result
from officeplane.edits.define_name import DefineName
from officeplane.formats.reading.listing import ListWanted, listed
from tests.fixtures.documents import excel
from tests.formats.excel.books import MAIN, applied, assert_sound, differing, opened, part, reopened

BOOK = "xl/workbook.xml"


def defined(data: bytes, **payload: Any) -> tuple[Result, bytes]:
    edit = DefineName.model_validate_json(json.dumps(payload))
    (told,), after = applied(data, edit)
    assert_sound(after)
    return told, after


def names(data: bytes) -> list[tuple[Any, ...]]:
    items = listed(opened(data).reader(), ListWanted("sheets")).items
    return [(i["name"], i["refersTo"], i.get("sheet"), i.get("comment")) for i in items if i["kind"] == "name"]


def test_a_name_is_defined_for_the_workbook_or_for_a_sheet() -> None:
    told, after = defined(excel.hard(), name="Rate", refersTo="=0.19", comment="Tax")
    _, local = defined(after, name="Rate", refersTo="='Q1 ''Plan'''!$A$1:$A$3", sheet="sheet-2")

    assert told == {"id": "name-Rate"}
    assert names(local)[-2:] == [
        ("Rate", "=0.19", None, "Tax"), ("Rate", "='Q1 ''Plan'''!$A$1:$A$3", "Q1 'Plan'", None),
    ]  # fmt: skip
    assert reopened(local).defined_names["Rate"].attr_text == "0.19"
    assert reopened(local)["Q1 'Plan'"].defined_names["Rate"].attr_text == "'Q1 ''Plan'''!$A$1:$A$3"
    assert differing(excel.hard(), after) == {BOOK}


def test_a_name_gets_another_meaning_and_keeps_what_is_not_named() -> None:
    _, before = defined(excel.hard(), name="Rate", refersTo="=0.19", comment="Tax")

    _, after = defined(before, name="RATE", refersTo="=Data!$B$2+1")

    assert names(after)[-1] == ("Rate", "=Data!$B$2+1", None, "Tax")


def test_a_workbook_without_names_gets_its_list_at_its_place() -> None:
    _, after = defined(excel.plain(), name="All", refersTo="=SUM(Sheet1!$A:$A,Sheet1!$1:$2)")

    assert names(after) == [("All", "=SUM(Sheet1!$A:$A,Sheet1!$1:$2)", None, None)]
    _, none = defined(after, name="all", refersTo=None)
    assert part(none, BOOK).find(f"{MAIN}definedNames") is None


@pytest.mark.parametrize(
    ("payload", "words"),
    [
        ({"name": "two words"}, "cannot be a name"),
        ({"name": "2nd"}, "cannot be a name"),
        ({"name": "a" * 256}, "at most 255"),
        ({"name": "Q1"}, "as a cell"),
        ({"name": "XFD1048576"}, "as a cell"),
        ({"name": "R1C1"}, "as a cell"),
        ({"name": "r"}, "as a cell"),
        ({"name": "True"}, "as a cell or a value"),
        ({"name": "_xlnm.Print_Area"}, "Excel's own"),
        ({"name": "sales"}, "name of a table"),
        ({"name": "x", "refersTo": "=Data!B2:B5"}, r"write \$B\$2"),
        ({"name": "x", "refersTo": "=$B$2"}, "of no sheet"),
        ({"name": "x", "refersTo": "=Nowhere!$B$2"}, "no sheet of that name"),
        ({"name": "x", "refersTo": "=SUM("}, "cannot be read"),
        ({"name": "x", "refersTo": '=WEBSERVICE("http://a")'}, "reaches outside"),
        ({"name": "x", "refersTo": None}, "there is no name x"),
        ({"name": "Amounts", "refersTo": None, "sheet": "Data"}, "there is no name Amounts of the sheet 'Data'"),
        ({"name": "_xlnm.Print_Area", "refersTo": None, "sheet": "Data"}, "Excel's own"),
        ({"name": "Amounts", "refersTo": None, "comment": "x"}, "has no comment"),
        ({"name": "x", "sheet": "Nowhere"}, "there is no sheet 'Nowhere'"),
    ],
)
def test_what_excel_would_not_take_is_refused(payload: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidEditError, match=words):
        defined(excel.hard(), **{"refersTo": "=1", **payload})


@pytest.mark.parametrize("name", ["Größe", "_x", "\\tax", "Q1.total", "ABCD1", "R2D2", "税率"])
def test_other_names_are_taken(name: str) -> None:
    _, after = defined(excel.hard(), name=name, refersTo="=1")

    assert name in [known for known, *_ in names(after)]


def test_a_deleted_name_tells_who_used_it() -> None:
    rows = (
        "<row r='1'><c r='A1'><f>Rate*2</f></c><c r='B1'><f>Two!Rate+\"Rate\"</f></c><c r='C1'><f>Rates</f></c></row>"
    )
    _, data = defined(excel.small(rows, names=("One", "Two")), name="Rate", refersTo="=1")
    _, data = defined(data, name="Twice", refersTo="=rate*2")
    _, data = defined(data, name="Rate", refersTo="=3", sheet="Two")

    told, after = defined(data, name="rate", refersTo=None)
    again, _ = defined(after, name="Rate", refersTo=None, sheet="Two")

    assert [warning["detail"] for warning in told["warnings"]] == [
        "the name Twice used the name rate and says #NAME? now", "One!A1 used the name rate and says #NAME? now",
    ]  # fmt: skip
    assert [warning["detail"] for warning in again["warnings"]] == ["One!B1 used the name Rate and says #NAME? now"]


def test_a_local_name_whose_place_another_takes_is_not_missed() -> None:
    _, data = defined(excel.small("<row r='1'><c r='A1'><f>Rate</f></c></row>"), name="Rate", refersTo="=1")
    _, data = defined(data, name="Rate", refersTo="=2", sheet="Sheet1")

    told, _ = defined(data, name="Rate", refersTo=None, sheet="Sheet1")

    assert "warnings" not in told


def test_that_somebody_else_has_defined_it_meanwhile_can_be_told() -> None:
    book = opened(excel.hard())
    (target,) = DefineName(name="Rate", refers_to="=1").targets(book)

    before = book.fingerprint(target)
    book.define_name("Other", "1", None, None)
    beside = book.fingerprint(target)
    book.define_name("rate", "2", None, None)

    assert before == beside != book.fingerprint(target)


def test_the_example_can_be_done() -> None:
    (example,) = DefineName.model_json_schema(by_alias=True)["examples"]

    defined(excel.small("", names=("Plan",)), **example)
