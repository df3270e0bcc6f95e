"""Fields of the edit of charts: what a chart shows, and how it looks."""

from typing import Annotated, Final, Literal, Self, TypeAlias

from pydantic import Field, model_validator

from officeplane.edits.contract import Line, NodeId, Part, Words
from officeplane.edits.image_fields import Points
from officeplane.formats.charts.changing import KEEP, ChartLook, Text
from officeplane.formats.charts.kinds import Kind
from officeplane.formats.charts.placing import ChartPlace
from officeplane.formats.excel.charts.sources import Reading
from officeplane.formats.powerpoint.chart_data import Given

ChartKind = Literal["column", "bar", "line", "area", "pie", "doughnut", "scatter"]
Legend = Literal["right", "left", "top", "bottom", "topRight"]
_POINTS_MAX: Final = 10_000
_SERIES_MAX: Final = 255
_Offset = Annotated[float, Field(ge=-4_032, le=4_032, allow_inf_nan=False)]
_EXACT_MAX: Final = 2**53 - 1
_Number: TypeAlias = Annotated[int, Field(ge=-_EXACT_MAX, le=_EXACT_MAX)] | Annotated[float, Field(allow_inf_nan=False)]
_Category: TypeAlias = Annotated[Words, Field(max_length=1_000)] | _Number


class ChartSeries(Part):
    """Numbers that belong together."""

    name: Annotated[Line, Field(max_length=255)] = Field(description="What the series is called, in the legend.")
    values: Annotated[list[_Number | None], Field(min_length=1, max_length=_POINTS_MAX)] = Field(
        description="Its numbers, one for each category; null where there is none."
    )


class ChartValues(Part):
    """What a chart on a slide shows."""

    categories: Annotated[list[_Category], Field(min_length=1, max_length=_POINTS_MAX)] = Field(
        description="What stands below the values: texts, or numbers; in a `scatter` chart numbers, how far right "
        "each point is."
    )
    series: Annotated[list[ChartSeries], Field(min_length=1, max_length=_SERIES_MAX)] = Field(
        description="The series; a `pie` has one."
    )

    @model_validator(mode="after")
    def _as_many(self) -> Self:
        for each in self.series:
            if len(each.values) != len(self.categories):
                message = (
                    f"the series {each.name!r} has {len(each.values)} values, and there are {len(self.categories)} "
                    "categories: give one value for each, null where there is none"
                )
                raise ValueError(message)
        return self

    def native(self) -> Given:
        """Return them as slides keep them."""
        return Given(tuple(self.categories), tuple((each.name, tuple(each.values)) for each in self.series))


class AxisTitles(Part):
    """What the axes are called."""

    category: Annotated[Line, Field(max_length=1_000)] | None = Field(
        default=None, description="The axis of the categories, of a `scatter` chart that to the right; null for none."
    )
    value: Annotated[Line, Field(max_length=1_000)] | None = Field(
        default=None, description="The axis of the values; null for none."
    )


class ChartFields(Part):
    """What a new chart and one that changes have in common."""

    stacked: bool | None = Field(
        default=None,
        description="Whether the series of a `column`, `bar`, `line` or `area` chart stand on each other; without it "
        "beside each other, or as they do.",
    )
    title: Annotated[Line, Field(max_length=1_000)] | None = Field(
        default=None, description="The title above it; null for none."
    )
    data: ChartValues | None = Field(
        default=None,
        description="On slides: what it shows. It is kept in a workbook inside of the presentation, where PowerPoint "
        "edits it.",
    )
    range: Annotated[str, Field(min_length=1, max_length=300)] | None = Field(
        default=None,
        description="In workbooks: the cells that it shows, such as `Sheet1!A1:C9`, which it goes on showing when they "
        "change. The first row names the series; the first column holds the categories unless it holds numbers that "
        "are no dates, and of a `scatter` chart always holds how far right the points are. `headerRow`, "
        "`categoryColumn` and `seriesIn` say otherwise.",
    )
    header_row: bool = Field(
        default=True, description="Of `range`: whether its first row names the series; else they have no names."
    )
    category_column: bool | None = Field(
        default=None,
        description="Of `range`: whether its first column holds the categories; say true where these are numbers, "
        "such as years.",
    )
    series_in: Literal["columns", "rows"] = Field(
        default="columns",
        description="Of `range`: `rows` where each row is a series; then the first column names them, the first row "
        "holds the categories, and `headerRow` and `categoryColumn` are about these.",
    )
    at: Annotated[str, Field(min_length=1, max_length=200)] | None = Field(
        default=None,
        description="In workbooks: the cell at whose upper left corner it begins, such as `Sheet1!E2`; it lies over "
        "the cells.",
    )
    left: _Offset | None = Field(
        default=None, description="On slides: how far from the left edge, in points. Left out of a new one, in the "
        "free room below the title."
    )  # fmt: skip
    top: _Offset | None = Field(default=None, description="On slides: how far from the upper edge, in points.")
    width: Points | None = Field(
        default=None,
        description="How wide it is, in points. Left out of a new one, as wide as the slide's content, or 360 points "
        "on a sheet.",
    )
    height: Points | None = Field(
        default=None,
        description="How high it is, in points. Left out of a new one, as high as there is room, or 216 points on a "
        "sheet.",
    )
    alt: Annotated[Words, Field(min_length=1, max_length=2_000)] | None = Field(
        default=None, description="A sentence that says what it shows, for those who do not see it."
    )
    legend: Legend | None = Field(
        default=None,
        description="Where the names of the series stand; null for no legend. Left out of a new one, at the bottom "
        "if there are several series, or slices.",
    )
    axis_titles: AxisTitles | None = Field(
        default=None, description="What the axes are called; those that are not named stay as they are."
    )

    def look(self, kind: ChartKind | None) -> ChartLook:
        """Return how the chart is to look."""
        axes = self.axis_titles
        named: frozenset[str] = frozenset() if axes is None else frozenset(axes.model_fields_set)
        return ChartLook(
            None if kind is None else Kind(kind),
            self.stacked,
            self._text("title", self.title),
            self._text("legend", self.legend),
            axes.category if axes is not None and "category" in named else KEEP,
            axes.value if axes is not None and "value" in named else KEEP,
        )

    @property
    def place(self) -> ChartPlace:
        """Where it is to lie, and how large it is to be."""
        return ChartPlace(self.left, self.top, self.width, self.height)

    @property
    def reading(self) -> Reading:
        """How the cells of a range are read."""
        return Reading(self.header_row, self.category_column, self.series_in == "rows")

    def _text(self, name: str, given: str | None) -> Text:
        return given if name in self.model_fields_set else KEEP


class NewChart(ChartFields):
    """A chart to be made."""

    kind: ChartKind = Field(description="What it is drawn as: `column` upright, `bar` lying.")
    into: NodeId | None = Field(default=None, description="In presentations: the slide that it is put on.")


class ChartChange(ChartFields):
    """A chart that is there, and what is other than before; what is not named stays."""

    node_id: NodeId = Field(description="The chart, by its id in the outline.")
    kind: ChartKind | None = Field(
        default=None,
        description="What it is drawn as from now on. Its series keep their colours; what the kind does not have, "
        "such as trend lines, goes, and warnings tell. Combined and 3-D charts are refused.",
    )

    @property
    def is_empty(self) -> bool:
        """Whether it names nothing to change."""
        return self.model_fields_set <= {"node_id", "header_row", "category_column", "series_in"}
