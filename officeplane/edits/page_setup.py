"""`page_setup`: paper, margins, columns, headers, footers and page numbers of sections, and breaks before nodes."""

from typing import Annotated, ClassVar, Final, Literal, Self, TypeAlias

from pydantic import ConfigDict, Field, model_validator

from officeplane.edits.contract import (
    BASE64_MAX,
    CONTENT_OF_NODES,
    Content,
    Discard,
    Edit,
    NodeId,
    Occasion,
    Part,
    Result,
)
from officeplane.formats.opening import Document
from officeplane.formats.word.document import Word
from officeplane.formats.word.pages.headers import Kind
from officeplane.formats.word.pages.paper import SIZES, Layout
from officeplane.formats.word.pages.setting_up import Setup, set_up

Points: TypeAlias = Annotated[float, Field(ge=0, le=1_584, allow_inf_nan=False)]
_NUMBERS: Final = {
    "1": "decimal", "i": "lowerRoman", "I": "upperRoman", "a": "lowerLetter", "A": "upperLetter",
}  # fmt: skip
_HEADER: Final = "one story for all pages of the section but first and even ones that are set to differ"


class Margins(Part):
    """How far the text stays away from the edges of the page, in points; what is left out stays."""

    top: Points | None = Field(default=None, description="Above the text, in points.")
    right: Points | None = Field(default=None, description="Right of the text, in points.")
    bottom: Points | None = Field(default=None, description="Below the text, in points.")
    left: Points | None = Field(default=None, description="Left of the text, in points.")


class PaperSize(Part):
    """A paper that has no name, in points (72 an inch)."""

    width: Annotated[float, Field(ge=72, le=1_584, allow_inf_nan=False)] = Field(
        description="From left to right, in points; wider than high is landscape."
    )
    height: Annotated[float, Field(ge=72, le=1_584, allow_inf_nan=False)] = Field(
        description="From top to bottom, in points."
    )


class PageNumbers(Part):
    """How pages are numbered, and where the number is shown."""

    start: Annotated[int, Field(ge=0, le=32_767)] | None = Field(
        default=None, description="The number of the section's first page; left out, numbers go on as they did."
    )
    format: Literal["1", "i", "I", "a", "A"] | None = Field(
        default=None, description="What the first numbers look like: `1`, `i`, `I`, `a` or `A`."
    )
    position: Literal["top-left", "top-center", "top-right", "bottom-left", "bottom-center", "bottom-right"] | None = (
        Field(
            default=None,
            description="Shows the number in a paragraph at the end of the header (`top-`) or footer (`bottom-`); "
            "nothing is added where one has a page number already.",
        )
    )


class PageSetup(Edit):
    """How pages look: of the section in which a node begins, or without one of the whole document.

    A section is Word's here, not a heading: a stretch of the text with paper, margins, columns, header and footer of
    its own. To turn one table on its side: `break` before it with `orientation: landscape`, then `break` before what
    follows it with `portrait`.
    """

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "nodeId": "p-1a2b3c4d",
                    "break": "nextPage",
                    "orientation": "landscape",
                    "margins": {"left": 54, "right": 54},
                    "pageNumbers": {"position": "bottom-center"},
                }
            ]
        }
    )

    task_type: ClassVar = "page_setup"
    title_for_people: ClassVar = "Set up pages"
    payload_bytes_max: ClassVar = BASE64_MAX

    node_id: NodeId | None = Field(
        default=None,
        description="A node of the text, by its id as reading gives it: the section in which it begins is set up. Left "
        "out: all sections.",
    )
    break_before: Literal["page", "column", "nextPage", "continuous", "evenPage", "oddPage"] | None = Field(
        default=None,
        alias="break",
        description="Begins anew before the node. `page` and `column`: the node begins a page or a column, in the same "
        "section. `nextPage`, `evenPage`, `oddPage`, `continuous`: a new section begins with it, on the next (even, "
        "odd) page or on the same one, and everything else that is given is about the new section, which reaches to "
        "the end of the section that was there.",
    )
    orientation: Literal["portrait", "landscape"] | None = Field(
        default=None, description="Which way the pages lie; their sides change places, margins stay as they are named."
    )
    size: Literal["A3", "A4", "A5", "Letter", "Legal", "Tabloid"] | PaperSize | None = Field(
        default=None,
        description="The paper by name, lying as the pages do, or `{width, height}` in points, which lies as it is "
        "given unless `orientation` says otherwise.",
    )
    margins: Margins | None = Field(
        default=None, description='Margins in points, such as `{"top": 72, "left": 54}`; sides left out stay.'
    )
    columns: Annotated[int, Field(ge=1, le=45)] | None = Field(
        default=None, description="How many columns of equal width the text has; 1 is one text over the whole width."
    )
    header: Content | None = Field(
        default=None,
        description=f"What stands above the text, {_HEADER}; null takes it away, left out it stays. Other sections "
        f"keep what they have. {CONTENT_OF_NODES}",
    )
    footer: Content | None = Field(
        default=None, description="What stands below the text, in the same way; null takes it away, left out it stays."
    )
    page_numbers: PageNumbers | None = Field(
        default=None, description='How pages are numbered, such as `{"start": 1, "position": "bottom-center"}`.'
    )
    discard: Discard = False

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if self.break_before is not None and self.node_id is None:
            message = "a break stands before a node: give nodeId, or leave break out"
            raise ValueError(message)
        if not self._setup().is_of_sections and self.break_before is None:
            message = "give break, orientation, size, margins, columns, header, footer or pageNumbers"
            raise ValueError(message)
        return self

    def in_word(self, document: Word, occasion: Occasion) -> Result:
        done = set_up(
            document.finder(), self.node_id, self._setup(), occasion.task_id, occasion.fresh_id, occasion.picture_number
        )
        occasion.give_up(done.replaced, discard=self.discard)
        # To name a header in order to take it away is consent.
        occasion.give_up(done.removed, discard=True)
        occasion.warn(done.warnings)
        own = self.node_id or next(iter(done.beside.values()), "document")
        beside: Result = {str(kind): node_id for kind, node_id in done.beside.items()}
        pages: Result = {"pages": done.pages} if done.pages else {}
        return {"id": own, "sections": done.sections, **pages, **beside}

    def targets(self, document: Document) -> list[str]:  # noqa: ARG002
        return [] if self.node_id is None else [self.node_id]

    def _setup(self) -> Setup:
        margins = {} if self.margins is None else self.margins.model_dump(by_alias=False, exclude_none=True)
        numbers = self.page_numbers or PageNumbers()
        beside: dict[Kind, str | None] = {}
        # null says something, too.
        if "header" in self.model_fields_set:
            beside["header"] = self.header
        if "footer" in self.model_fields_set:
            beside["footer"] = self.footer
        size = self.size
        layout = Layout(
            orientation=self.orientation,
            size=(size.width, size.height) if isinstance(size, PaperSize) else SIZES[size] if size else None,
            is_size_upright=isinstance(size, str),
            margins=margins,
            columns=self.columns,
            first_number=numbers.start,
            number_format=None if numbers.format is None else _NUMBERS[numbers.format],
        )
        return Setup(layout, self.break_before, beside, _number_at(numbers.position))


def _number_at(position: str | None) -> tuple[Kind, str] | None:
    if position is None:
        return None
    where, _, align = position.partition("-")
    return ("header" if where == "top" else "footer"), align
