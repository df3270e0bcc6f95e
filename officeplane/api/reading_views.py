"""Documents read in parts, as the API shows them: only what there is to say is said."""

from typing import Annotated, Any, Literal

from pydantic import Field
from starlette.responses import Response

from officeplane.api.etags import etag
from officeplane.api.reading_parameters import next_cursor
from officeplane.api.views import View

Marks = Annotated[
    dict[str, int],
    Field(
        description="What stands in it without being text, and how many of each; what stands in a node that is listed "
        "below it is told there.",
        examples=[{"table 5x3": 1, "picture": 2, "comment": 3}],
    ),
]
Facts = dict[str, Any]


class PartView(View):
    """A part of a revision."""

    revision: int = Field(description="The revision that this is of: the `baseRevision` of edits that build on it.")
    truncated: bool = Field(description="Whether there is more, beyond `maxTokens` or `limit`.")
    next: str | None = Field(description="The `cursor` that the rest begins at.")


class OutlineNodeView(View):
    """A node of an outline."""

    id: str = Field(description="What edits and other calls name it by.", examples=["section-1a2b3c4d"])
    kind: str = Field(
        description="`chapter`, `section`, `heading` or `page` of a text; `chapter` or `slide` of a presentation; "
        "`sheet`, `range`, `table` or `chart` of a workbook; and more.",
        examples=["section"],
    )
    level: int | None = Field(
        default=None,
        description="Of a `heading`: from 3 on; those of the first two levels are chapters and sections.",
        examples=[3],
    )
    number: str | None = Field(default=None, description="The number that a reader sees before it.", examples=["4.2"])
    text: str | None = Field(
        default=None,
        description="The title of a heading, slide or sheet, the name of a picture; other texts with `texts=true`.",
        examples=["Payment"],
    )
    words: int | None = Field(
        default=None,
        description="How many words are in it and below it; not told again of the only page of a heading.",
        examples=[210],
    )
    marks: Marks = Field(default={})
    parent: str | None = Field(
        default=None, description="The node that it is in, where an earlier answer has told of that one."
    )
    children: tuple["OutlineNodeView", ...] = Field(default=(), description="The nodes in it.")


class OutlineView(PartView):
    """What a revision is made of."""

    nodes: tuple[OutlineNodeView, ...] = Field(description="The nodes at the top, each with those in it.")


class ParentView(View):
    """A node around another."""

    id: str
    kind: str


class NeighbourView(View):
    """A node beside another."""

    id: str
    kind: str
    text: str | None = Field(default=None, description="How it begins.")


class InnerNodeView(View):
    """A node in another one."""

    id: str = Field(description="What other calls name it by.", examples=["p-1a2b3c4d"])
    kind: str = Field(
        description="`paragraph`, `item` of a list, `heading`, `table`, `row`, `cell`, `picture`, `footnote`, "
        "`comment`, `change`, `shape` and so on.",
        examples=["paragraph"],
    )
    level: int | None = Field(default=None, description="Of headings: 1 is the highest.")
    number: str | None = Field(default=None, description="The number that a reader sees before it.", examples=["(b)"])
    name: str | None = Field(default=None, description="What it is called: a picture's alternative text.")
    text: str | None = Field(default=None, description="What it says itself.")
    words: int | None = Field(default=None, description="How many words are in it and below it.")
    marks: Marks = Field(default={})
    facts: Facts = Field(default={}, description="What else is to say of it, such as a table's rows and columns.")
    format: Facts = Field(
        default={},
        description="With `with=format`: what CommonMark cannot say; sizes are in points.",
        examples=[{"style": "Body Text", "alignment": "justify"}],
    )
    children: tuple["InnerNodeView", ...] = Field(default=(), description="The nodes in it, as far down as `depth`.")


class ShownNodeView(InnerNodeView):
    """A node, and what is around it."""

    content: str | None = Field(
        default=None,
        description="What it says as CommonMark with tables; pictures as `![alt](node:ID)`, notes as `[^1]`. "
        "Not there for what is no text.",
        examples=["Payment is due within **thirty** days."],
    )
    parent: ParentView | None = Field(default=None, description="The node that it is in.")
    page: str | None = Field(default=None, description="The id of the node around it that outlines list.")
    previous: NeighbourView | None = Field(default=None, description="The node before it in the same parent.")
    following: NeighbourView | None = Field(default=None, description="The node behind it in the same parent.")
    children_left_out: bool = Field(
        default=False, description="`true` where `children` ends early for want of room: ask for them by their ids."
    )


class NodeAnswerView(PartView):
    """One node of a revision."""

    node: ShownNodeView


class FoundView(View):
    """A place at which a text stands."""

    id: str = Field(description="The node whose text it is in.", examples=["p-1a2b3c4d"])
    kind: str = Field(description="What that node is.", examples=["paragraph"])
    position: int = Field(description="How many characters of the node's text come before it.", examples=[17])
    text: str = Field(description="Some words around it.", examples=["…is due within thirty days of the…"])
    nth: int | None = Field(default=None, description="Its turn, from 1, where it stands in the node several times.")
    of: int | None = Field(default=None, description="How many times it stands in the node, if several.")
    page: str | None = Field(
        default=None, description="The node around it that outlines list, such as the page that `edit_page` names."
    )


class FindView(PartView):
    """Where in a revision a text stands."""

    items: tuple[FoundView, ...] = Field(description="The places, in the order of the document.")


class TextView(PartView):
    """What a revision says, or a part of it."""

    text: str = Field(description="The text, line by line, with marks such as `[picture]` for what is no text.")


class ListedView(View):
    """A node of a list."""

    id: str = Field(description="What other calls name it by.", examples=["comment-3"])
    parent: str | None = Field(default=None, description="The node that it is in.", examples=["p-1a2b3c4d"])
    page: str | None = Field(default=None, description="The node around it that outlines list.")


class ChangeView(ListedView):
    """A tracked change."""

    kind: Literal["change"]
    change: str = Field(description="`insertion`, `deletion` or `format`.", examples=["insertion"])
    text: str | None = Field(default=None, description="What was inserted or deleted.", examples=["thirty"])
    author: str | None = Field(default=None, description="Who made it.", examples=["Ann"])
    at: str | None = Field(default=None, description="When, as the file has it.", examples=["2026-01-05T09:30:00Z"])


class ChangesView(PartView):
    """The tracked changes of a revision."""

    items: tuple[ChangeView, ...] = Field(description="The changes that nobody has accepted or rejected, in order.")


class CommentView(ListedView):
    """A comment, or an answer to one."""

    kind: Literal["comment"]
    text: str | None = Field(default=None, description="What it says.", examples=["Is that enough?"])
    author: str | None = Field(default=None, description="Who wrote it.", examples=["Ann"])
    at: str | None = Field(default=None, description="When, as the file has it.", examples=["2026-01-05T09:30:00Z"])
    state: str | None = Field(
        default=None,
        description="`open` or `resolved`, of an answer as of its thread; left out where there are no states: of notes "
        "in workbooks and of comments in older presentations.",
    )
    in_reply_to: str | None = Field(
        default=None, description="The comment that it answers, and that its thread began with.", examples=["comment-2"]
    )
    about: str | None = Field(
        default=None, description="Of a text: the words that it is about; of many, the first.", examples=["thirty days"]
    )
    cell: str | None = Field(default=None, description="The cell of a sheet that it is about.", examples=["B2"])
    shape: str | None = Field(
        default=None, description="What on a slide it is about, where the file says so.", examples=["slide-256.4"]
    )
    x: float | None = Field(
        default=None, description="How far from the slide's left edge it is pinned, in points, in older presentations."
    )
    y: float | None = Field(default=None, description="How far from the slide's upper edge, likewise.")


class CommentsView(PartView):
    """The comments of a revision."""

    items: tuple[CommentView, ...] = Field(description="The comments, in order.")


class ImageView(ListedView):
    """A picture."""

    kind: Literal["picture"]
    name: str | None = Field(default=None, description="What it is called.", examples=["Picture 1"])
    content: str = Field(
        description="Where its bytes are, of this revision.",
        examples=["/api/documents/plan/images/picture-4?revision=7"],
    )
    alt: str | None = Field(default=None, description="Its alternative text.", examples=["Our logo"])
    width: float | None = Field(default=None, description="Its width in points.", examples=[120.0])
    height: float | None = Field(default=None, description="Its height in points.", examples=[80.0])
    anchor: str | None = Field(default=None, description="Of a text: `inline` or `floating`.")
    cell: str | None = Field(default=None, description="Of a sheet: the cell that it begins in.", examples=["B4"])
    placeholder: str | None = Field(default=None, description="Of a slide: the placeholder that it fills.")
    x: float | None = Field(default=None, description="How far from the slide's left edge, in points.")
    y: float | None = Field(default=None, description="How far from the slide's upper edge, in points.")


class ImagesView(PartView):
    """The pictures of a revision."""

    items: tuple[ImageView, ...] = Field(description="The pictures, in order.")


class TableView(View):
    """A table of a sheet."""

    id: str = Field(description="Its node's id.", examples=["table-1"])
    name: str = Field(description="What formulas call it.", examples=["Sales"])
    range: str = Field(description="The cells that it is of, its header among them.", examples=["A1:C9"])


class ChartView(View):
    """A chart of a sheet."""

    id: str = Field(description="Its node's id.", examples=["chart-chart1"])
    name: str = Field(description="Its title.", examples=["Sales by region"])


class SheetView(View):
    """A sheet, or a name that formulas know."""

    id: str = Field(description="Its node's id, which edits may name.", examples=["sheet-1"])
    kind: Literal["sheet", "name"] = Field(description="`sheet`, or `name` for a defined name.")
    text: str | None = Field(default=None, description="What a sheet is called.", examples=["Plan"])
    name: str | None = Field(default=None, description="A defined name.", examples=["Rate"])
    refers_to: str | None = Field(default=None, description="What a name stands for.", examples=["=Plan!$B$1"])
    sheet: str | None = Field(default=None, description="The sheet in which alone a name is known.")
    comment: str | None = Field(default=None, description="What people are told of a name.")
    hidden: bool = Field(default=False, description="`true` if nobody sees the sheet who does not look for it.")
    range: str | None = Field(default=None, description="The cells that hold anything.", examples=["A1:F200"])
    tables: tuple[TableView, ...] = Field(default=(), description="Its tables.")
    charts: tuple[ChartView, ...] = Field(default=(), description="Its charts.")
    freeze: str | None = Field(
        default=None, description="The cell above and left of which everything stays in view.", examples=["A2"]
    )
    autofilter: str | None = Field(default=None, description="The cells that a filter is of.", examples=["A1:F200"])
    tab_color: str | None = Field(default=None, description="The colour of its tab.", examples=["1F6FEB"])
    merged: tuple[str, ...] = Field(default=(), description="Its merged cells, the first hundred.", examples=["A1:D1"])
    validation: tuple[Facts, ...] = Field(
        default=(), description="What may be typed into its cells, the first hundred rules, as `edit_sheet` takes them."
    )
    conditional_format: tuple[Facts, ...] = Field(
        default=(), description="Its conditional formats, the first hundred: `range`, `kind`, `formulas`."
    )


class SheetsView(PartView):
    """The sheets of a workbook, then the names."""

    items: tuple[SheetView, ...] = Field(description="The sheets in order, then the defined names.")


class DateValue(View):
    """A day."""

    date: str = Field(description="As ISO 8601 has it.", examples=["2026-01-05"])


class TimeValue(View):
    """A time of day."""

    time: str = Field(description="As ISO 8601 has it.", examples=["09:30:00"])


class DateTimeValue(View):
    """A day with a time."""

    date_time: str = Field(description="As ISO 8601 has it, without a zone.", examples=["2026-01-05T09:30:00"])


class ErrorValue(View):
    """What a formula comes to that cannot be calculated."""

    error: str = Field(description="What Excel shows.", examples=["#DIV/0!"])


class LineView(View):
    """A line along a side of a cell."""

    style: str = Field(description="What kind of line.", examples=["thin"])
    color: str | None = Field(default=None, description="Its colour, unless it is the reader's own.")


class LookView(View):
    """How a cell looks, where it is not as cells without a format; colours are `RRGGBB`, or of theme or palette."""

    style: str | None = Field(default=None, description="The named style it was given.", examples=["Good"])
    bold: bool = False
    italic: bool = False
    underline: bool = False
    strike: bool = False
    color: str | None = Field(default=None, description="The colour of its letters.", examples=["C00000"])
    font: str | None = Field(default=None, description="The font of its letters.", examples=["Arial"])
    size: float | int | None = Field(default=None, description="The size of its letters, in points.", examples=[11])
    fill: str | None = Field(
        default=None, description="Its colour; or the name of a pattern, or `gradient`.", examples=["DDEBF7"]
    )
    border: dict[str, LineView] | None = Field(default=None, description="Its lines, by side.")
    align: str | None = Field(default=None, description="Where its content stands.", examples=["center"])
    vertical_align: str | None = Field(default=None, description="Where it stands from top to bottom.")
    wrap: bool = Field(default=False, description="Whether long texts go on in another line.")
    indent: float | None = Field(default=None, description="How far in its content stands, in points.")


class CellView(View):
    """A cell that holds anything."""

    cell: str = Field(description="Its address.", examples=["B2"])
    value: str | bool | int | float | DateValue | TimeValue | DateTimeValue | ErrorValue | None = Field(
        default=None,
        description="Its value or its formula's result: a text, a number, true or false, an object with a `date`, "
        "`time` or `dateTime` where its format makes the number one, an object with an `error`, each as `set_cells` "
        "takes it; null where a formula has no result yet.",
        examples=[1250.5],
    )
    formula: str | None = Field(default=None, description="Its formula.", examples=["=SUM(B3:B9)"])
    stale: bool = Field(
        default=False, description="`true` where the result is of values that may have changed, or there is none."
    )
    format: str | None = Field(
        default=None, description="How its number is shown, unless generally.", examples=["0.00%"]
    )
    look: LookView | None = Field(default=None, description="How it looks besides, with `show=formats`.")


class CellsView(PartView):
    """Cells of a sheet."""

    items: tuple[CellView, ...] = Field(description="The cells of the range that hold anything, row by row.")


class SlideAnswerView(PartView):
    """One slide of a revision, with what lies on it."""

    slide: ShownNodeView = Field(
        description="The slide: its `children` are its shapes in order, notes and comments, each with its text, "
        "placeholder and place in points in `format`; `format.overflow` says what has no room."
    )


class NodeChangeView(View):
    """What became of a node."""

    change: Literal["added", "removed", "changed"] = Field(description="What happened to it.")
    id: str = Field(description="The node, as of the later revision unless it was removed.", examples=["p-1a2b3c4d"])
    kind: str = Field(description="What it is.", examples=["paragraph"])
    was: str | None = Field(default=None, description="What it said, around what changed.", examples=["…thirty days…"])
    now: str | None = Field(default=None, description="What it says, around what changed.", examples=["…ten days…"])
    page: str | None = Field(default=None, description="The node around it that outlines list.")


class DiffSummaryView(PartView):
    """What changed, in a few words."""

    added: int = Field(description="How many nodes were added.")
    removed: int = Field(description="How many were removed.")
    changed: int = Field(description="How many say something else.")
    examples: tuple[NodeChangeView, ...] = Field(description="The first of them.")


class DiffNodesView(PartView):
    """What changed, node by node."""

    items: tuple[NodeChangeView, ...] = Field(description="The nodes that say something else, in order.")


class DiffLinesView(PartView):
    """What changed, line by line."""

    text: tuple[str, ...] = Field(description="Lines of a unified diff.")


def part_answer(view: type[PartView], revision: int, following: int | None, **what: object) -> Response:
    """Return a part as JSON, without the fields that nothing is said in."""
    shown = view.model_validate(
        {"revision": revision, "truncated": following is not None, "next": next_cursor(revision, following), **what}
    )
    body = shown.__pydantic_serializer__.to_json(shown, exclude_unset=True, by_alias=True)
    return Response(body, 200, etag(revision), "application/json")
