"""Fields of `format`: colours, measures, lines and room."""

from typing import Annotated, Final, Literal, Self, TypeAlias

from pydantic import AfterValidator, Field, model_validator

from officeplane.edits.contract import Part

Color: TypeAlias = Annotated[
    str, AfterValidator(lambda color: color.removeprefix("#").upper()), Field(pattern=r"^#?[0-9A-Fa-f]{6}$")
]
"""`RRGGBB`, as in `C00000`."""

Points: TypeAlias = Annotated[float, Field(ge=0, le=1_584, allow_inf_nan=False)]
LettersAsked: TypeAlias = tuple[
    bool | None, bool | None, bool | None, bool | None, str | None, str | None, str | None, float | None
]
BorderStyle: TypeAlias = Literal["none", "hair", "dotted", "dashed", "thin", "medium", "thick", "double"]
BorderSide: TypeAlias = Literal["all", "outline", "inside", "top", "bottom", "left", "right"]


OF_WORKBOOKS: Final = (
    "bold", "italic", "underline", "strike", "color", "font", "size", "style", "align", "vertical_align", "indent",
    "number_format", "fill", "border", "wrap", "width", "height",
)  # fmt: skip
OF_TEXTS: Final = (
    "bold", "italic", "underline", "strike", "color", "highlight", "font", "size", "style", "heading_level",
    "list_kind", "align", "vertical_align", "indent", "spacing", "fill", "border", "wrap", "width", "height",
)  # fmt: skip
OF_SLIDES: Final = (
    "bold", "italic", "underline", "strike", "color", "highlight", "font", "size", "list_kind", "align",
    "vertical_align", "indent", "spacing", "fill", "border", "wrap", "width", "height",
)  # fmt: skip
"""What each kind of document has of what `format` can change."""


class Border(Part):
    """Lines around or between cells, or around paragraphs of a text."""

    style: BorderStyle = Field(description="What kind of line; `none` takes lines away.")
    sides: Annotated[list[BorderSide], Field(min_length=1)] = Field(
        default=["all"],
        description="Where: `all` is every side of every cell, `outline` is around the range, `inside` between its "
        "cells, `top`, `bottom`, `left` and `right` are edges of the range. Lines at other sides stay. In a text the "
        "range is the table, row, cell or paragraphs that are named; equal paragraphs in a row have one box.",
    )
    color: Color | None = Field(default=None, description="`RRGGBB`; left out, the colour that lines have, or black.")


class Spacing(Part):
    """Room around the lines of a paragraph, in points."""

    before: Points | None = Field(default=None, description="Above the paragraph, in points.")
    after: Points | None = Field(default=None, description="Below the paragraph, in points.")
    line: Annotated[float, Field(ge=4, le=1_584, allow_inf_nan=False)] | None = Field(
        default=None,
        description="From line to line, in points (not a factor): for one and a half lines of 12 points, 18.",
    )

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if self.before is None and self.after is None and self.line is None:
            message = "give before, after or line"
            raise ValueError(message)
        return self
