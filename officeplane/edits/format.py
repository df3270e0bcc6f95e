"""`format`: how letters, paragraphs and cells look; what is not named stays."""

from typing import Annotated, ClassVar, Final, Literal, Self

from pydantic import ConfigDict, Field, model_validator
from pydantic.alias_generators import to_camel

from officeplane.domain.document import InvalidEditError
from officeplane.domain.warning import EditWarning
from officeplane.edits.contract import IDS_TOLD, Line, NodeId, Occasion, Result, Words
from officeplane.edits.format_fields import (
    OF_SLIDES,
    OF_TEXTS,
    OF_WORKBOOKS,
    Border,
    BorderStyle,
    Color,
    LettersAsked,
    Points,
    Spacing,
)
from officeplane.edits.format_slides import looks_of_slide
from officeplane.edits.tracked import TrackedEdit
from officeplane.formats.excel.cells.number_codes import number_code
from officeplane.formats.excel.looks.change import Edge, FormatChange
from officeplane.formats.excel.looks.formatting import Formatting
from officeplane.formats.excel.looks.lines import Lines
from officeplane.formats.excel.looks.sizes import steps_of
from officeplane.formats.excel.workbook import Workbook
from officeplane.formats.opening import Document
from officeplane.formats.powerpoint.nodes import slide_id_of
from officeplane.formats.powerpoint.presentation import Presentation
from officeplane.formats.search import Wanted
from officeplane.formats.word.document import Word
from officeplane.formats.word.looks.borders import Borders
from officeplane.formats.word.looks.formatting import LooksOfText, format_node, format_text
from officeplane.formats.word.looks.letters import Letters

_WHERE: Final = ("node_id", "find", "nth", "range", *TrackedEdit.model_fields)
_SIZE_OF_TEXTS_MAX: Final = 1_638
_FONT_SIZE_OF_CELLS_MAX: Final = 409
_FONT_NAME_OF_CELLS_MAX: Final = 31


class ApplyFormat(TrackedEdit):
    """How something looks. Say what it is (`nodeId`, `find` or `range`) and what to change; all else stays.

    In texts: letters, styles, levels of headings, lists, alignment, room and lines of paragraphs, fill, lines and sizes
    of cells, sizes of pictures. In workbooks: letters, fill, borders, alignment, number formats of cells, widths of
    columns, heights of rows. On slides: letters, lists, alignment and room of paragraphs, fill, line and size of
    shapes, tables and cells.
    """

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "range": "Sheet1!A1:F1",
                    "bold": True,
                    "fill": "DDEBF7",
                    "border": {"style": "thin", "sides": ["bottom"]},
                }
            ]
        }
    )

    task_type: ClassVar = "format"
    title_for_people: ClassVar = "Change the format"

    node_id: NodeId | None = Field(
        default=None,
        description="What to format, by its id as reading gives it (outline, find, nodes). In workbooks the id of a "
        "sheet (all its cells), of its range in use, of a table, of a name, or an address such as `Sheet1!B2`. On "
        "slides a shape, a title, a picture, a table, a row or a cell of one, or the notes of a slide. Exactly one of "
        "`nodeId`, `find` and `range` is given.",
    )
    find: Annotated[Words, Field(min_length=1, max_length=10_000)] | None = Field(
        default=None,
        description="A text, as it stands in the document, capitals included: every occurrence of it is formatted; in "
        "workbooks, the whole cells whose text holds it. On slides only letters and paragraphs are formatted so.",
    )
    nth: Annotated[int, Field(ge=1)] | None = Field(
        default=None, description="With `find`: only this occurrence, counted from 1 in the order of the document."
    )
    range: Line | None = Field(
        default=None,
        description="Cells of a workbook: `Sheet1!A1:C9`, whole columns `Sheet1!B:D`, whole rows `Sheet1!2:2`. The "
        "sheet by its name, in quotes where Excel wants them (`'My sheet'!A1`), or by its id.",
    )
    bold: bool | None = Field(default=None, description="Whether letters are bold.")
    italic: bool | None = Field(default=None, description="Whether letters are italic.")
    underline: bool | None = Field(default=None, description="Whether letters are underlined.")
    strike: bool | None = Field(default=None, description="Whether letters are struck through.")
    color: Color | None = Field(default=None, description="The colour of the letters, `RRGGBB` such as `C00000`.")
    highlight: Color | None = Field(
        default=None, description="The colour behind letters, `RRGGBB`; in workbooks give `fill`."
    )
    font: Line | None = Field(default=None, description="The name of the font, such as `Arial`.")
    size: Annotated[float, Field(ge=1, le=4_000, allow_inf_nan=False)] | None = Field(
        default=None, description="The size of the letters in points, such as 11."
    )
    style: Line | None = Field(
        default=None,
        description="A style of the document by its name, applied before all else that is given here: in workbooks a "
        "cell style such as `Good`, in texts one of paragraphs or tables. It has to be in the document.",
    )
    heading_level: Annotated[int, Field(ge=0, le=9)] | None = Field(
        default=None, description="In texts: the level of a heading, 1 to 9; 0 makes it body text."
    )
    list_kind: Literal["bullet", "number", "none"] | None = Field(
        default=None, alias="list", description="In texts and on slides: what list the paragraphs are items of."
    )
    align: Literal["left", "center", "right", "justify"] | None = Field(
        default=None, description="Where lines stand between left and right."
    )
    vertical_align: Literal["top", "center", "bottom"] | None = Field(
        default=None,
        description="Where the content of cells stands between top and bottom; on slides, the text of shapes, too.",
    )
    indent: Points | None = Field(
        default=None,
        description="How far in from the left (in cells aligned right: from the right), in points. Workbooks have "
        "steps of 6.75 points, to which it is rounded; 0 takes it away.",
    )
    spacing: Spacing | None = Field(default=None, description="In texts and on slides: room around paragraphs.")
    number_format: Annotated[Line, Field(max_length=255)] | None = Field(
        default=None,
        description="Of cells in workbooks: a code of Excel in English, such as `#,##0.00`, `yyyy-mm-dd`, `0.0%` or "
        '`#,##0.00 "€"`; or `general`, `integer`, `number`, `percent`, `currency`, `accounting`, `date`, `time`, '
        "`datetime`, `scientific`, `fraction`, `text`, which look as is usual where they are read. It changes how "
        "numbers are shown, not what cells hold: a text such as `2026-01-05` does not become a date.",
    )
    fill: Color | Literal["none"] | None = Field(
        default=None, description="The colour of cells or shapes, `RRGGBB`, or `none`."
    )
    border: Border | BorderStyle | None = Field(
        default=None,
        description="Lines of cells, or in a text also of paragraphs: a style for all sides of all of them, such as "
        "`thin` or `none`, or an object with `style`, `sides` and `color`. On slides also the line around a shape or a "
        "picture, which has no sides.",
    )
    wrap: bool | None = Field(
        default=None,
        description="Whether texts in cells that are too long go on in another line; on slides, those of shapes.",
    )
    width: Annotated[Points, Field(gt=0)] | None = Field(
        default=None,
        description="Width in points; of workbooks, that of the columns in which the cells are. Excel's usual column, "
        "8.43 characters wide, has 48 points; a character more is 5.25. In a text that of a table (its columns in "
        "proportion), of a cell's column, or of a picture, on slides also of a shape; a picture keeps its proportions "
        "unless both are given.",
    )
    height: Annotated[Points, Field(gt=0)] | None = Field(
        default=None,
        description="Height in points; of workbooks, that of the rows in which the cells are, usually 15. In a text "
        "that of a row, of a cell's row, of each row of a table (at least: more where the text needs it), or of a "
        "picture. On slides that of a shape, a table, a row, or of the row of a cell, which grows with its text.",
    )

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if sum(each is not None for each in (self.node_id, self.find, self.range)) != 1:
            message = "give exactly one of nodeId, find and range"
            raise ValueError(message)
        if self.nth is not None and self.find is None:
            message = "nth counts occurrences of find: give find, or leave nth out"
            raise ValueError(message)
        if not self._given():
            message = "say what to change, such as bold, fill or numberFormat"
            raise ValueError(message)
        return self

    def in_word(self, document: Word, occasion: Occasion) -> Result:
        self._check("text", OF_TEXTS)
        if self.range is not None:
            raise InvalidEditError("a text has no ranges of cells: give nodeId or find")
        if self.size is not None and self.size > _SIZE_OF_TEXTS_MAX:
            raise InvalidEditError(f"size {self.size:g} is more than the {_SIZE_OF_TEXTS_MAX} points that Word takes")
        finder, looks = document.finder(), self._looks()
        if self.node_id is not None:
            done = format_node(finder, self.node_id, looks, occasion.task_id)
        else:
            done = format_text(finder, Wanted(self.find or ""), self.nth, looks, occasion.task_id)
        return {"id": done.ids[0], "formatted": done.times, "ids": list(done.ids[:IDS_TOLD])}

    def in_excel(self, workbook: Workbook, occasion: Occasion) -> Result:
        self._check("workbook", OF_WORKBOOKS)
        wanted = self._formatting()
        places = workbook.cells_with(Wanted(self.find)) if self.find is not None else []
        if self.node_id is not None:
            places = [workbook.place_of(self.node_id)]
        elif self.range is not None:
            places = [workbook.place_at(self.range)]
        elif not places:
            raise InvalidEditError(f"{self.find!r} stands in no cell that holds a text; name cells by their address")
        if self.nth is not None:
            if self.nth > len(places):
                raise InvalidEditError(f"{self.find!r} stands {len(places)} times in it, there is no {self.nth}th time")
            places = [places[self.nth - 1]]
        places = list(dict.fromkeys(places))
        held = workbook.give_format(places, wanted)
        if wanted.change.number_format not in (None, "@") and held.texts and not held.numbers:
            occasion.warn([_about_texts(held.texts, str(places[0]))])
        ids = [str(place) for place in places[:IDS_TOLD]]
        return {"id": self.node_id or ids[0], "formatted": len(places), "ids": ids}

    def in_powerpoint(self, presentation: Presentation, occasion: Occasion) -> Result:
        self._check("presentation", OF_SLIDES)
        if self.range is not None:
            raise InvalidEditError("a presentation has no ranges of cells: give nodeId or find")
        looks = looks_of_slide(self)
        if self.find is None:
            node_id = self.node_id or ""
            slides = [slide_id_of(node_id)]
            before = presentation.overflows(slides)
            times, ids = presentation.format_node(node_id, looks), [node_id]
        else:
            if looks.is_of_place:
                raise InvalidEditError(
                    "verticalAlign, fill, border, wrap, width and height are for shapes and cells: name one by nodeId"
                )
            wanted = Wanted(self.find, nth=self.nth)
            slides = presentation.places_of(wanted)
            before = presentation.overflows(slides)
            places = presentation.format_text(wanted, looks)
            times, ids = len(places), [*dict.fromkeys(places)]
        occasion.warn(presentation.overflows(slides), but=before)
        return {"id": ids[0], "formatted": times, "ids": ids[:IDS_TOLD]}

    def targets(self, document: Document) -> list[str]:
        if self.find is not None:
            return list(dict.fromkeys(document.places_of(Wanted(self.find))))
        return [self.node_id or self.range or ""]

    def _looks(self) -> LooksOfText:
        """Return what to change in a text."""
        spacing = self.spacing or Spacing.model_construct()
        border = self.lines
        return LooksOfText(
            Letters(*self.letters),
            align=self.align,
            indent=self.indent,
            before=spacing.before,
            after=spacing.after,
            line=spacing.line,
            style=self.style,
            heading_level=self.heading_level,
            list_kind=self.list_kind,
            fill=self.fill,
            vertical=self.vertical_align,
            wrap=self.wrap,
            borders=None if border is None else Borders(border.style, frozenset(border.sides), border.color),
            width=self.width,
            height=self.height,
        )

    def _formatting(self) -> Formatting:
        """Return what to change in cells."""
        if self.size is not None and self.size > _FONT_SIZE_OF_CELLS_MAX:
            raise InvalidEditError(
                f"size {self.size:g} is more than the {_FONT_SIZE_OF_CELLS_MAX} points that cells take"
            )
        if self.font is not None and len(self.font) > _FONT_NAME_OF_CELLS_MAX:
            raise InvalidEditError(f"the font name {self.font!r} is longer than {_FONT_NAME_OF_CELLS_MAX} characters")
        if self.indent and self.align in {"center", "justify"}:
            raise InvalidEditError(f"cells that are aligned {self.align} have no indent: align them left or right")
        border = self.lines
        return Formatting(
            FormatChange(
                style=self.style,
                number_format=None if self.number_format is None else number_code(self.number_format),
                bold=self.bold,
                italic=self.italic,
                underline=self.underline,
                strike=self.strike,
                color=self.color,
                font=self.font,
                size=self.size,
                fill=self.fill,
                align=self.align,
                vertical=self.vertical_align,
                wrap=self.wrap,
                indent=None if self.indent is None else steps_of(self.indent),
            ),
            None if border is None else Lines(frozenset(border.sides), Edge(border.style, border.color)),
            self.width,
            self.height,
        )

    @property
    def letters(self) -> LettersAsked:
        """What to change of letters, in the order in which texts and slides take it."""
        return (
            self.bold, self.italic, self.underline, self.strike, self.color, self.highlight, self.font, self.size,
        )  # fmt: skip

    @property
    def lines(self) -> Border | None:
        """What lines to draw."""
        return Border(style=self.border) if isinstance(self.border, str) else self.border

    def _given(self) -> list[str]:
        """Return the names of what is to be changed."""
        names = (name for name in type(self).model_fields if name not in _WHERE)
        return [name for name in names if getattr(self, name) is not None]

    def _check(self, kind: str, known: tuple[str, ...]) -> None:
        """Refuse what a kind of document has no such thing as."""
        strange = [_outside(name) for name in self._given() if name not in known]
        if strange:
            raise InvalidEditError(
                f"a {kind} has no {', '.join(strange)}; there, format changes {', '.join(map(_outside, known))}"
            )


def _outside(name: str) -> str:
    return "list" if name == "list_kind" else to_camel(name)


def _about_texts(texts: int, place: str) -> EditWarning:
    return EditWarning(
        "not_a_number",
        f"no cell of it holds a number, and {texts} hold text, which numberFormat does not change; set_cells gives "
        "cells numbers and dates",
        place,
    )
