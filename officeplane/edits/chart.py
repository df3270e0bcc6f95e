"""`chart`: charts on slides and sheets are made, or changed."""

from typing import ClassVar, Self

from pydantic import ConfigDict, Field, model_validator

from officeplane.domain.document import InvalidEditError
from officeplane.edits.chart_fields import ChartChange, ChartFields, NewChart
from officeplane.edits.contract import Edit, Occasion, Result
from officeplane.formats.excel.charts.editing import Cells
from officeplane.formats.excel.workbook import Workbook
from officeplane.formats.opening import Document
from officeplane.formats.powerpoint.presentation import Presentation


class EditChart(Edit):
    """A chart: a new one, or one that is there with other data, of another kind, with other texts."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "create": {
                        "kind": "column",
                        "title": "Sales by region",
                        "data": {
                            "categories": ["Q1", "Q2", "Q3"],
                            "series": [
                                {"name": "North", "values": [12.5, 14, None]},
                                {"name": "South", "values": [9, 11, 10.5]},
                            ],
                        },
                        "into": "slide-257",
                        "alt": "Columns with the sales of two regions in three quarters.",
                    }
                },
                {"create": {"kind": "line", "title": "Sales", "range": "Sheet1!A1:C9", "at": "Sheet1!E2"}},
                {"update": {"nodeId": "chart-chart1", "kind": "bar", "title": "Sales since 2025", "legend": "right"}},
            ]
        }
    )

    task_type: ClassVar = "chart"
    title_for_people: ClassVar = "Make or change a chart"

    create: NewChart | None = Field(
        default=None, description="A new chart: on a slide of `data`, on a sheet of a `range`. Give one of the two."
    )
    update: ChartChange | None = Field(
        default=None,
        description="A chart that is there. What is not named stays, such as colours, fonts and axes. With other "
        "data the series keep their looks by name, or else by their turn.",
    )

    @model_validator(mode="after")
    def _one_of_two(self) -> Self:
        if (self.create is None) == (self.update is None):
            message = "give exactly one of create and update"
            raise ValueError(message)
        if self.update is not None and self.update.is_empty:
            message = "update names nothing to change: give data, range, title, kind or another field"
            raise ValueError(message)
        return self

    def in_excel(self, workbook: Workbook, occasion: Occasion) -> Result:
        fields = self._fields
        _refuse("a workbook", "range and at", data=fields.data, left=fields.left, top=fields.top, into=self._into)
        cells = None if fields.range is None else Cells(fields.range, fields.reading)
        if self.update is not None:
            look = fields.look(self.update.kind)
            occasion.warn(workbook.change_chart(self.update.node_id, look, cells, fields.alt, fields.at, fields.place))
            return {"id": self.update.node_id}
        if self.create is None or cells is None or fields.at is None:
            raise InvalidEditError(
                "a chart in a workbook needs a range that it shows, and at, the cell where it begins"
            )
        return {"id": workbook.insert_chart(fields.at, fields.look(self.create.kind), cells, fields.alt, fields.place)}

    def in_powerpoint(self, presentation: Presentation, occasion: Occasion) -> Result:
        fields = self._fields
        _refuse("a presentation", "data, and into a slide", range=fields.range, at=fields.at)
        given = None if fields.data is None else fields.data.native()
        if self.update is not None:
            look = fields.look(self.update.kind)
            occasion.warn(presentation.change_chart(self.update.node_id, look, given, fields.alt, fields.place))
            return {"id": self.update.node_id}
        if self.create is None or given is None or self.create.into is None:
            raise InvalidEditError(
                "a chart in a presentation needs data that it shows, and into, the slide it is put on"
            )
        look = fields.look(self.create.kind)
        made, warnings = presentation.insert_chart(self.create.into, look, given, fields.alt, fields.place)
        occasion.warn(warnings)
        return {"id": made}

    def targets(self, document: Document) -> list[str]:  # noqa: ARG002
        named = (self.update.node_id if self.update is not None else self._into, self._fields.range, self._fields.at)
        return [each for each in named if each is not None]

    @property
    def _fields(self) -> ChartFields:
        fields = self.create if self.update is None else self.update
        if fields is None:
            message = "one of create and update is given"
            raise AssertionError(message)
        return fields

    @property
    def _into(self) -> str | None:
        return None if self.create is None else self.create.into


def _refuse(where: str, instead: str, **given: object) -> None:
    """Refuse what charts of another format take."""
    for name, value in given.items():
        if value is not None:
            raise InvalidEditError(f"{name!r} says nothing of a chart in {where}, which takes {instead}")
