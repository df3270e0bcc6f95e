"""Charts on sheets: made of ranges, changed, moved, and read."""

from datetime import date
from typing import Any

import pytest

from officeplane.domain.document import Format, InvalidEditError
from officeplane.edits.chart import EditChart
from officeplane.edits.chart_fields import ChartKind
from officeplane.edits.copy_sheet import CopySheet
from officeplane.edits.delete_sheet import DeleteSheet
from officeplane.formats.blank import blank
from officeplane.formats.excel.workbook import Formula, Workbook
from officeplane.formats.reading.showing import NodeWanted, node
from tests.fixtures.documents import excel
from tests.formats.charts.parts import caches, colours
from tests.formats.excel.books import (
    Cells,
    applied,
    assert_sound,
    differing,
    occasion,
    opened,
    part,
    parts,
    reopened,
    with_cells,
)

TABLE: Cells = {"A1:C4": [["", "North", "South"], ["Q1", 1, 2], ["Q2", 3, None], ["Q3", 5, 1.5]]}
KINDS: tuple[ChartKind, ...] = ("column", "bar", "line", "area", "doughnut", "scatter")
CHART = "xl/charts/chart1.xml"


def create(**fields: Any) -> EditChart:
    return EditChart.model_validate(
        {"create": {"kind": "column", "range": "Sheet1!A1:C4", "at": "Sheet1!E2", **fields}},
        by_alias=True,
        by_name=False,
    )


def update(**fields: Any) -> EditChart:
    return EditChart.model_validate({"update": {"nodeId": "chart-chart1", **fields}}, by_alias=True, by_name=False)


def book_with(cells: Cells = TABLE) -> bytes:
    return with_cells(blank(Format.XLSX, None), "Sheet1", cells)


def told(data: bytes | Workbook, node_id: str = "chart-chart1") -> dict[str, Any]:
    book = opened(data) if isinstance(data, bytes) else data
    return node(book.reader(), NodeWanted(node_id, form=True)).node


def shown(data: bytes) -> dict[str, list[str | None]]:
    return caches(part(data, CHART))


@pytest.mark.parametrize("kind", KINDS)
def test_a_chart_of_each_kind_shows_a_range(kind: ChartKind) -> None:
    cells = "Sheet1!B1:C4" if kind == "scatter" else "Sheet1!A1:C4"

    (made,), data = applied(book_with(), create(kind=kind, title="Sales", range=cells, alt="What it shows"))

    assert_sound(data)
    assert made == {"id": "chart-chart1"}
    found = told(data)
    assert found["facts"] == {"chart": kind, "title": "Sales"}
    assert found["format"].items() >= {"cell": "E2", "width": 360, "height": 216, "alt": "What it shows"}.items()
    sheet: Any = reopened(data)["Sheet1"]
    assert len(sheet._charts) == 1


def test_the_first_row_names_the_series_and_the_first_column_holds_the_categories() -> None:
    _, data = applied(book_with(), create())

    assert shown(data) == {
        "Sheet1!$B$1": ["North"],
        "Sheet1!$C$1": ["South"],
        "Sheet1!$A$2:$A$4": ["Q1", "Q2", "Q3"],
        "Sheet1!$B$2:$B$4": ["1", "3", "5"],
        "Sheet1!$C$2:$C$4": ["2", None, "1.5"],
    }
    assert told(data)["content"].splitlines()[2:] == ["| Q1 | 1 | 2 |", "| Q2 | 3 |  |", "| Q3 | 5 | 1.5 |"]


def test_a_first_column_of_numbers_is_a_series_unless_something_else_is_said() -> None:
    years = book_with({"A1:B3": [["Year", "Sales"], [2025, 10], [2026, 12]]})

    _, both = applied(years, create(range="Sheet1!A1:B3"))
    _, one = applied(years, create(range="Sheet1!A1:B3", categoryColumn=True))

    assert "Sheet1!$A$1" in shown(both)
    assert shown(one) == {
        "Sheet1!$B$1": ["Sales"], "Sheet1!$A$2:$A$3": ["2025", "2026"], "Sheet1!$B$2:$B$3": ["10", "12"],
    }  # fmt: skip


def test_a_first_column_of_dates_holds_categories_and_keeps_their_format() -> None:
    dates = book_with({"A1:B2": [["Day", "Sales"], [date(2026, 1, 5), 10]]})

    _, data = applied(dates, create(range="Sheet1!A1:B2"))

    assert shown(data)["Sheet1!$A$2"] == ["46027"]
    assert b"<c:formatCode>m/d/yyyy</c:formatCode>" in parts(data)[CHART]


def test_a_range_without_names_and_one_whose_rows_are_series_say_so() -> None:
    _, bare = applied(book_with(), create(range="Sheet1!B2:C4", headerRow=False))
    _, across = applied(book_with(), create(seriesIn="rows"))

    assert [*shown(bare)] == ["Sheet1!$B$2:$B$4", "Sheet1!$C$2:$C$4"]
    assert shown(across) == {
        "Sheet1!$A$2": ["Q1"], "Sheet1!$A$3": ["Q2"], "Sheet1!$A$4": ["Q3"],
        "Sheet1!$B$1:$C$1": ["North", "South"], "Sheet1!$B$2:$C$2": ["1", "2"],
        "Sheet1!$B$3:$C$3": ["3", None], "Sheet1!$B$4:$C$4": ["5", "1.5"],
    }  # fmt: skip


def test_a_result_that_nobody_has_calculated_is_not_remembered() -> None:
    book = book_with({"A1:B3": [["", "Sales"], ["a", 1], ["b", Formula('=INDIRECT("B2")')]]})

    _, data = applied(book, create(range="Sheet1!A1:B3"))

    assert shown(data)["Sheet1!$B$2:$B$3"] == ["1", None]
    assert told(data)["content"].endswith(r"| b | \[stale\] |")


def test_a_chart_finds_a_drawing_that_is_there_and_its_sheet_name_is_quoted() -> None:
    (made,), data = applied(excel.hard(), create(range="'Q1 ''Plan'''!A1:B4", at="Data!A20", headerRow=False))

    assert_sound(data)
    assert {*parts(data)} - {*parts(excel.hard())} == {"xl/charts/chart3.xml", "xl/theme/theme1.xml"}
    assert told(data, made["id"])["format"]["series"][0]["values"].startswith("'Q1 ''Plan'''!$")


def test_a_chart_leaves_with_its_sheet_and_is_copied_with_it() -> None:
    _, data = applied(book_with(), create(), CopySheet(sheet="Sheet1", name="Copy"))
    _, without = applied(data, DeleteSheet(sheet="Sheet1"))

    assert told(data, "chart-chart2")["content"] == told(data)["content"]
    assert [name for name in parts(without) if "charts/" in name] == ["xl/charts/chart2.xml"]


def test_an_update_keeps_what_it_does_not_name() -> None:
    _, data = applied(book_with(), create(title="Sales", legend="left"))

    _, after = applied(data, update(title="Other", axisTitles={"value": "EUR"}))

    assert differing(data, after) == {CHART}
    assert shown(after) == shown(data)
    assert told(after)["format"].items() >= {"legend": "left", "axisTitles": {"value": "EUR"}}.items()


def test_another_range_takes_the_place_of_the_old_with_the_looks_of_the_series() -> None:
    _, data = applied(book_with(), create())

    _, after = applied(data, update(range="Sheet1!A1:B3"))
    _, other = applied(data, update(range="Sheet1!B1:C4", kind="line", categoryColumn=True))

    assert [*shown(after)] == ["Sheet1!$B$1", "Sheet1!$A$2:$A$3", "Sheet1!$B$2:$B$3"]
    assert colours(part(other, CHART)) == ["accent2"]
    assert told(other)["facts"] == {"chart": "line"}


def test_a_chart_is_moved_on_its_sheet_and_given_a_size() -> None:
    _, data = applied(book_with(), create())

    _, after = applied(data, update(at="Sheet1!B10", width=100))
    _, high = applied(after, update(height=50, alt="Words"))

    assert told(after)["format"].items() >= {"cell": "B10", "width": 100, "height": 216}.items()
    assert told(high)["format"].items() >= {"cell": "B10", "width": 100, "height": 50, "alt": "Words"}.items()


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (create(range=None), "needs a range"),
        (create(at=None), "needs a range that it shows, and at"),
        (create(at="E2"), "names no sheet"),
        (create(range="Sheet1!A1:C1"), "only the names of series"),
        (create(range="Sheet1!A1:A4", categoryColumn=True), "holds 0 series"),
        (create(range="Nowhere!A1:B2"), "there is no sheet 'Nowhere'"),
        (create(kind="pie"), "a pie shows one series"),
        (create(kind="scatter"), "have to be numbers"),
        (create(left=4), "'left' says nothing of a chart in a workbook"),
        (create(into="sheet-1"), "'into' says nothing"),
        (update(nodeId="chart-chart7", title="x"), "there is no chart 'chart-chart7'"),
        (update(at="Other!A1"), "stays there"),
    ],
)
def test_a_chart_that_cannot_be_is_refused(edit: EditChart, said: str) -> None:
    book = opened(applied(book_with(), create())[1])
    book.add_sheet("Other", None, [])

    with pytest.raises(InvalidEditError, match=said):
        edit.apply(book, occasion())


def test_a_chart_on_a_sheet_of_its_own_is_changed_but_not_moved() -> None:
    (_,), data = applied(excel.hard(), update(nodeId="chart-chart2", kind="line", title="Other"))

    assert told(data, "chart-chart2")["facts"] == {"chart": "line", "title": "Other"}
    with pytest.raises(InvalidEditError, match="fills a sheet of its own"):
        applied(excel.hard(), update(nodeId="chart-chart2", width=50))


@pytest.mark.parametrize(
    ("payload", "said"),
    [
        ({}, "give exactly one"),
        ({"update": {"nodeId": "chart-chart1"}}, "names nothing to change"),
        ({"create": {"kind": "line"}, "update": {"nodeId": "chart-chart1", "title": "x"}}, "give exactly one"),
    ],
)
def test_what_is_not_one_of_the_two_or_changes_nothing_is_no_payload(payload: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        EditChart.model_validate(payload, by_alias=True, by_name=False)


def test_a_whole_column_is_as_long_as_what_stands_in_it() -> None:
    _, data = applied(book_with(), create(range="Sheet1!A:B"))

    assert shown(data)["Sheet1!$B$2:$B$4"] == ["1", "3", "5"]
    with pytest.raises(InvalidEditError, match="or none that hold anything"):
        applied(blank(Format.XLSX, None), create(range="Sheet1!A:B"))
