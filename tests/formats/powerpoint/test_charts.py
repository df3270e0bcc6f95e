"""Charts on slides: made, changed, read, and kept with the workbook in which PowerPoint edits their data."""

import io
from typing import Any

import openpyxl
import pytest
from lxml import etree
from openpyxl.worksheet.table import Table

from officeplane.domain.document import Format, InvalidEditError
from officeplane.edits.add_slide import AddSlide
from officeplane.edits.chart import EditChart
from officeplane.edits.chart_fields import ChartKind
from officeplane.edits.delete_node import DeleteNode
from officeplane.edits.duplicate_node import DuplicateNode
from officeplane.formats.blank import blank
from officeplane.formats.gate import admit
from officeplane.formats.package import Package
from officeplane.formats.powerpoint.presentation import Presentation
from officeplane.formats.reading.showing import NodeWanted, node
from tests.fixtures.documents import powerpoint
from tests.formats.charts.parts import A, C, caches, colours, plots
from tests.formats.excel.books import with_cells
from tests.formats.powerpoint.decks import applied, opened, parts, reopened, slides_of, written

DATA: dict[str, Any] = {
    "categories": ["Q1", "Q2", "Q3"],
    "series": [{"name": "North", "values": [12.5, 14, None]}, {"name": "South", "values": [9, 11, 10]}],
}
SHARES: dict[str, Any] = {"categories": ["a", "b"], "series": [{"name": "Share", "values": [60, 40]}]}
POINTS: dict[str, Any] = {"categories": [1, 2.5], "series": [{"name": "P", "values": [3, 4]}]}
KINDS: tuple[ChartKind, ...] = ("column", "bar", "line", "area", "pie", "doughnut", "scatter")
WORKBOOK = "ppt/embeddings/Microsoft_Excel_Worksheet.xlsx"


def create(**fields: Any) -> EditChart:
    return EditChart.model_validate({"create": fields}, by_alias=True, by_name=False)


def update(node_id: str, **fields: Any) -> EditChart:
    return EditChart.model_validate({"update": {"nodeId": node_id, **fields}}, by_alias=True, by_name=False)


def fitting(kind: str) -> dict[str, Any]:
    return SHARES if kind in {"pie", "doughnut"} else POINTS if kind == "scatter" else DATA


def one_slide() -> tuple[Presentation, str]:
    deck = opened(blank(Format.PPTX, None))
    return deck, applied(deck, AddSlide(title="Sales"))["id"]


def with_chart(**fields: Any) -> tuple[Presentation, str]:
    deck, slide = one_slide()
    return deck, applied(deck, create(**{"kind": "column", "data": DATA, "into": slide, **fields}))["id"]


def told(deck: Presentation, node_id: str) -> dict[str, Any]:
    return node(deck.reader(), NodeWanted(node_id, form=True)).node


def chart(deck: Presentation, name: str = "ppt/charts/chart1.xml") -> Any:
    return etree.fromstring(parts(written(deck))[name])


def workbook(deck: Presentation, name: str = WORKBOOK) -> Any:
    return openpyxl.load_workbook(io.BytesIO(parts(written(deck))[name]))


def rows(deck: Presentation, name: str = WORKBOOK) -> list[tuple[Any, ...]]:
    return list(workbook(deck, name)["Sheet1"].iter_rows(values_only=True))


def opened_book(deck: Presentation) -> Any:
    """Return the workbook of a chart, for a stranger to change."""
    return openpyxl.load_workbook(io.BytesIO(deck.package.content(WORKBOOK)))


def keep_book(deck: Presentation, book: Any) -> None:
    saved = io.BytesIO()
    book.save(saved)
    deck.package.put(WORKBOOK, saved.getvalue(), as_it_is=True)


@pytest.mark.parametrize("kind", KINDS)
def test_a_chart_of_each_kind_is_what_it_was_asked_to_be(kind: ChartKind) -> None:
    deck, slide = one_slide()

    made = applied(deck, create(kind=kind, title="Sales", data=fitting(kind), into=slide, alt="What it shows"))

    shown = told(deck, made["id"])
    assert shown["kind"] == "chart"
    assert shown["facts"] == {"chart": kind, "title": "Sales"}
    assert shown["format"]["alt"] == "What it shows"
    (frame,) = [shape for shape in reopened(written(deck)).slides[0].shapes if shape.has_chart]
    values = [list(series.values) for plot in frame.chart.plots for series in plot.series]
    assert values == [each["values"] for each in fitting(kind)["series"]]


def test_what_a_chart_shows_is_read_as_a_table() -> None:
    deck, made = with_chart()

    assert told(deck, made)["content"].splitlines() == [
        "|  | North | South |",
        "| --- | --- | --- |",
        "| Q1 | 12.5 | 9 |",
        "| Q2 | 14 | 11 |",
        "| Q3 |  | 10 |",
    ]


def test_data_are_kept_in_a_workbook_that_passes_the_gate_and_agrees_with_the_chart() -> None:
    deck, _ = with_chart()

    held = parts(written(deck))
    assert admit(held[WORKBOOK]) is Format.XLSX
    assert rows(deck) == [(None, "North", "South"), ("Q1", 12.5, 9), ("Q2", 14, 11), ("Q3", None, 10)]
    assert caches(chart(deck)) == {
        "Sheet1!$B$1": ["North"],
        "Sheet1!$C$1": ["South"],
        "Sheet1!$A$2:$A$4": ["Q1", "Q2", "Q3"],
        "Sheet1!$B$2:$B$4": ["12.5", "14", None],
        "Sheet1!$C$2:$C$4": ["9", "11", "10"],
    }


def test_a_chart_lies_in_the_free_room_or_where_it_is_put() -> None:
    deck, free = with_chart()
    slide = slides_of(deck)[0].id

    placed = applied(deck, create(kind="pie", data=SHARES, into=slide, left=10, top=20, width=100, height=50))
    crowded = applied(deck, create(kind="pie", data=SHARES, into=slide))

    assert told(deck, free)["format"]["y"] > 100
    form = told(deck, placed["id"])["format"]
    assert [form[name] for name in ("x", "y", "width", "height")] == [10, 20, 100, 50]
    assert [warning["code"] for warning in crowded["warnings"]] == ["overflow"]


def test_the_legend_and_the_titles_of_axes_are_said_or_not() -> None:
    deck, made = with_chart(legend="topRight", axisTitles={"category": "Quarter", "value": "EUR"}, stacked=True)
    _, alone = other = with_chart(legend=None)

    shown = told(deck, made)
    assert shown["format"]["legend"] == "topRight"
    assert shown["format"]["axisTitles"] == {"category": "Quarter", "value": "EUR"}
    assert shown["facts"] == {"chart": "column", "stacked": True}
    assert "legend" not in told(other[0], alone)["format"]


def test_other_data_take_the_place_of_the_old_in_the_chart_and_in_its_workbook() -> None:
    deck, made = with_chart(title="Sales")

    applied(deck, update(made, data={"categories": ["Q4"], "series": [{"name": "South", "values": [1]}]}))

    assert rows(deck) == [(None, "South"), ("Q4", 1)]
    assert caches(chart(deck)) == {"Sheet1!$B$1": ["South"], "Sheet1!$A$2": ["Q4"], "Sheet1!$B$2": ["1"]}
    assert colours(chart(deck)) == ["accent2"]  # that of the series of this name
    assert told(deck, made)["facts"] == {"chart": "column", "title": "Sales"}


def test_more_series_get_colours_of_their_own() -> None:
    deck, made = with_chart()
    more = [*DATA["series"], {"name": "East", "values": [1, 2, 3]}, {"name": "West", "values": [3, 2, 1]}]

    applied(deck, update(made, data={**DATA, "series": more}))

    assert colours(chart(deck)) == ["accent1", "accent2", "accent3", "accent4"]
    assert [each.get("val") for each in chart(deck).iter(f"{C}idx")] == ["0", "1", "2", "3"]
    assert rows(deck)[0] == (None, "North", "South", "East", "West")


def test_another_series_has_the_looks_of_the_last_but_for_a_colour_that_is_its_own() -> None:
    deck, made = with_chart(kind="scatter", data=POINTS)
    part = deck.package.tree("ppt/charts/chart1.xml")
    for colour in [*part.iter(f"{A}schemeClr")]:
        if "ser" in {etree.QName(around).localname for around in colour.iterancestors()}:
            colour.tag = f"{A}srgbClr"
            colour.set("val", "123456")
    deck.package.changed("ppt/charts/chart1.xml")

    more = [*POINTS["series"], {"name": "Q", "values": [1, 2]}]
    applied(deck, update(made, data={**POINTS, "series": more}))

    first, second = chart(deck).iter(f"{C}ser")
    assert len(first.findall(f".//{A}srgbClr")) == 2
    assert second.find(f".//{A}srgbClr") is None
    assert second.find(f"{C}spPr/{A}ln/{A}noFill") is not None


def test_a_workbook_keeps_what_is_beside_the_data() -> None:
    deck, made = with_chart()
    beside = with_cells(deck.package.content(WORKBOOK), "Sheet1", {"A7": "a note", "F1": 4})
    deck.package.put(WORKBOOK, beside, as_it_is=True)

    applied(deck, update(made, data=SHARES))

    sheet = workbook(deck)["Sheet1"]
    assert (sheet["A7"].value, sheet["F1"].value, sheet["B1"].value, sheet["C1"].value) == ("a note", 4, "Share", None)


def test_a_note_below_the_data_makes_room_for_more_of_them() -> None:
    deck, made = with_chart()
    beside = with_cells(deck.package.content(WORKBOOK), "Sheet1", {"B5": "a note"})
    deck.package.put(WORKBOOK, beside, as_it_is=True)

    applied(deck, update(made, data={"categories": [*"abcdef"], "series": [{"name": "S", "values": [*range(6)]}]}))

    assert workbook(deck)["Sheet1"]["B8"].value == "a note"
    assert caches(chart(deck))["Sheet1!$B$2:$B$7"] == ["0", "1", "2", "3", "4", "5"]


def test_data_that_have_no_room_beside_others_get_a_sheet_of_their_own() -> None:
    deck, made = with_chart()
    book = opened_book(deck)
    book["Sheet1"].merge_cells("A3:A5")
    keep_book(deck, book)

    applied(deck, update(made, data={"categories": [*"abcdef"], "series": [{"name": "S", "values": [*range(6)]}]}))
    once = workbook(deck).sheetnames
    applied(deck, update(made, data=SHARES))

    assert once == workbook(deck).sheetnames == ["Sheet1", "Chart data"]
    assert [cell.value for cell in workbook(deck)["Sheet1"][2]] == ["Q1", 12.5, 9]
    assert caches(chart(deck))["'Chart data'!$B$2:$B$3"] == ["60", "40"]


def test_a_table_around_the_data_grows_with_them() -> None:
    deck, made = with_chart()
    book = opened_book(deck)
    sheet: Any = book.active
    sheet["A1"] = "Quarter"
    sheet.add_table(Table(displayName="Table1", ref="A1:C4"))
    keep_book(deck, book)

    more = [*DATA["series"], {"name": "East", "values": [1, 2, 3]}]
    applied(deck, update(made, data={**DATA, "series": more}))

    table = workbook(deck)["Sheet1"].tables["Table1"]
    assert (table.ref, [column.name for column in table.tableColumns]) == (
        "A1:D4",
        ["Quarter", "North", "South", "East"],
    )


def test_charts_that_share_a_workbook_part_ways_when_one_is_changed() -> None:
    deck, made = with_chart()
    slide = slides_of(deck)[0].id
    twin = applied(deck, DuplicateNode(node_id=slide))["id"]
    links = deck.package.tree("ppt/charts/_rels/chart2.xml.rels")
    links[0].set("Target", "../embeddings/Microsoft_Excel_Worksheet.xlsx")
    deck.package.changed("ppt/charts/_rels/chart2.xml.rels")

    applied(deck, update(made, data=SHARES))

    other = next(each.id for each in deck.reader().tree.by_id[twin].children if each.kind == "chart")
    assert "North" in told(deck, other)["content"]
    assert rows(deck)[0] == (None, "North", "South")


@pytest.mark.parametrize("before", ["column", "bar", "line", "area"])
@pytest.mark.parametrize("after", ["column", "bar", "line", "area", "doughnut"])
def test_a_chart_is_drawn_as_another_kind_with_its_data_and_titles(before: ChartKind, after: ChartKind) -> None:
    deck, made = with_chart(kind=before, title="Sales")
    content = told(deck, made)["content"]

    applied(deck, update(made, kind=after))

    shown = told(deck, made)
    assert shown["facts"] == {"chart": after, "title": "Sales"}
    assert shown["content"] == content
    assert len(plots(chart(deck))) == 1


def test_a_scatter_chart_and_one_of_categories_become_each_other_where_these_are_numbers() -> None:
    deck, made = with_chart(kind="scatter", data=POINTS, axisTitles={"value": "EUR"})

    applied(deck, update(made, kind="line"))
    as_line = told(deck, made)
    applied(deck, update(made, kind="scatter"))

    assert as_line["facts"] == {"chart": "line"}
    assert told(deck, made)["facts"] == {"chart": "scatter"}
    assert as_line["format"]["axisTitles"] == told(deck, made)["format"]["axisTitles"] == {"value": "EUR"}


def test_series_keep_their_colours_when_they_are_drawn_otherwise() -> None:
    deck, made = with_chart()
    part = deck.package.tree("ppt/charts/chart1.xml")
    next(part.iter("{*}schemeClr")).set("val", "accent6")
    deck.package.changed("ppt/charts/chart1.xml")

    applied(deck, update(made, kind="line"))

    assert colours(chart(deck)) == ["accent6", "accent2"]


def test_what_another_kind_does_not_have_is_told_and_labels_stand_where_it_wants_them() -> None:
    deck, made = with_chart(axisTitles={"value": "EUR"}, data=SHARES)
    part = deck.package.tree("ppt/charts/chart1.xml")
    for series in part.iter(f"{C}ser"):
        values = series.find(f"{C}cat")
        assert values is not None
        values.addprevious(
            etree.fromstring(f'<dLbls xmlns="{C[1:-1]}"><dLblPos val="outEnd"/><showVal val="1"/></dLbls>')
        )
        values.addprevious(etree.fromstring(f'<trendline xmlns="{C[1:-1]}"><trendlineType val="linear"/></trendline>'))
    deck.package.changed("ppt/charts/chart1.xml")

    result = applied(deck, update(made, kind="pie"))

    assert [warning["detail"] for warning in result["warnings"]] == ["trend line of 'Share'", "title 'EUR' of an axis"]
    assert chart(deck).find(f".//{C}dLblPos") is None
    assert chart(deck).find(f".//{C}showVal") is not None


def test_stacking_comes_and_goes() -> None:
    deck, made = with_chart(kind="bar")

    applied(deck, update(made, stacked=True))
    stacked = told(deck, made)["facts"], chart(deck).find(f".//{C}overlap").get("val")
    applied(deck, update(made, stacked=False))

    assert stacked == ({"chart": "bar", "stacked": True}, "100")
    assert told(deck, made)["facts"] == {"chart": "bar"}
    assert chart(deck).find(f".//{C}overlap") is None


def test_what_an_update_does_not_name_stays_byte_for_byte() -> None:
    deck = opened(powerpoint.illustrated())
    made = next(each.id for each in deck.reader().tree.by_id.values() if each.kind == "chart")
    before = parts(written(deck))

    applied(deck, update(made, title="Other"))

    after = parts(written(deck))
    (changed,) = [name for name in before if before[name] != after.get(name)]
    assert changed.startswith("ppt/charts/chart")
    assert told(deck, made)["facts"]["title"] == "Other"


def test_a_title_keeps_its_looks_and_goes_when_nothing_is_given() -> None:
    deck, made = with_chart(title="Sales")
    size = next(chart(deck).iter(f"{C}title")).find(".//{*}defRPr").get("sz")

    applied(deck, update(made, title="Other"))
    kept = next(chart(deck).iter(f"{C}title")).find(".//{*}defRPr").get("sz")
    applied(deck, update(made, title=None))

    assert kept == size
    assert "title" not in told(deck, made)["facts"]
    assert chart(deck).find(f"{C}chart/{C}autoTitleDeleted").get("val") == "1"


def test_a_chart_is_moved_and_described() -> None:
    deck, made = with_chart()

    applied(deck, update(made, left=5, height=100, alt="Other words"))

    form = told(deck, made)["format"]
    assert (form["x"], form["height"], form["alt"]) == (5, 100, "Other words")


def test_a_chart_leaves_with_its_workbook() -> None:
    deck, made = with_chart()

    applied(deck, DeleteNode(node_id=made))

    assert not [name for name in parts(written(deck)) if "charts/" in name or "embeddings/" in name]


def test_who_changed_a_chart_in_between_is_noticed() -> None:
    deck, made = with_chart()
    before = deck.fingerprint(made)

    applied(deck, update(made, data=SHARES))

    assert update(made, title="x").targets(deck) == [made]
    assert deck.fingerprint(made) != before


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"kind": "pie", "data": DATA}, "a pie shows one series"),
        ({"kind": "pie", "data": SHARES, "stacked": True}, "no series that could be stacked"),
        ({"kind": "scatter", "data": DATA}, "have to be numbers"),
        ({"kind": "pie", "data": SHARES, "axisTitles": {"value": "EUR"}}, "no such axis"),
        ({"kind": "line"}, "needs data"),
        ({"kind": "line", "data": DATA, "range": "Sheet1!A1:B2"}, "'range' says nothing of a chart in a presentation"),
        ({"kind": "line", "data": DATA, "at": "Sheet1!A1"}, "'at' says nothing"),
        ({"kind": "line", "data": DATA, "into": "slide-999"}, "no slide 'slide-999'"),
    ],
)
def test_a_chart_that_cannot_be_is_refused(fields: dict[str, Any], said: str) -> None:
    deck, slide = one_slide()

    with pytest.raises(InvalidEditError, match=said):
        applied(deck, create(**{"into": slide, **fields}))


@pytest.mark.parametrize(
    ("change", "fields", "said"),
    [
        (("barChart", "bar3DChart"), {"kind": "line"}, "the kind 3-D column, which is not changed here"),
        (("barChart", "stockChart"), {"data": DATA}, "data of a stock chart cannot be changed"),
        (("<c:barChart>", "<c:lineChart/><c:barChart>"), {"kind": "line"}, "combined of several kinds"),
        (("<c:barChart>", "<c:lineChart/><c:barChart>"), {"data": SHARES}, "draws its 2 series in several ways"),
        (("<c:chart>", "<c:pivotSource/><c:chart>"), {"data": DATA}, "shows a pivot table"),
        (("none", "none"), {"kind": "pie"}, "give data or range with one"),
        (("none", "none"), {"kind": "scatter"}, "the chart's categories are texts"),
    ],
)
def test_charts_that_cannot_be_changed_rightly_are_refused_by_name(
    change: tuple[str, str], fields: dict[str, Any], said: str
) -> None:
    deck, made = with_chart()
    held = deck.package.content("ppt/charts/chart1.xml").decode()
    end = (change[0], change[1]) if change[0].startswith("<") else (f"c:{change[0]}>", f"c:{change[1]}>")
    deck.package.put("ppt/charts/chart1.xml", held.replace(*end).encode())

    with pytest.raises(InvalidEditError, match=said):
        applied(deck, update(made, **fields))


def test_a_workbook_that_cannot_be_opened_is_named_and_nothing_is_written() -> None:
    deck, made = with_chart()
    deck.package.put(WORKBOOK, b"not a workbook", as_it_is=True)

    with pytest.raises(InvalidEditError, match="a workbook that cannot be edited here"):
        applied(deck, update(made, data=SHARES))


def test_a_chart_without_a_workbook_gets_one_with_its_new_data() -> None:
    deck, made = with_chart()
    root = deck.package.tree("ppt/charts/chart1.xml")
    for held in root.findall(f"{C}externalData"):
        root.remove(held)
    deck.package.changed("ppt/charts/chart1.xml")

    applied(deck, update(made, data=SHARES))

    own = "ppt/embeddings/Microsoft_Excel_Worksheet1.xlsx"
    assert rows(deck, own) == [(None, "Share"), ("a", 60), ("b", 40)]
    assert Package.read(written(deck)).content("ppt/charts/_rels/chart1.xml.rels").count(b"embeddings/") == 2


@pytest.mark.parametrize(
    ("categories", "values", "said"),
    [
        (["a", "b"], [1], "has 1 values, and there are 2 categories"),
        (["a"], [10**400], "less than or equal"),
        (["a"], [float("inf")], "finite number"),
        ([True], [1], "valid"),
    ],
)
def test_data_that_no_chart_can_show_are_no_payload(categories: list[Any], values: list[Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        create(
            kind="line", into="slide-1", data={"categories": categories, "series": [{"name": "s", "values": values}]}
        )


def test_a_slide_says_only_that_there_is_a_chart() -> None:
    deck, made = with_chart()
    slide = made.partition(".")[0]

    assert told(deck, slide)["content"] == "# Sales"
    assert node(deck.reader(), NodeWanted(slide)).node["marks"] == {"chart": 1}
