"""Documents read in parts, as the API shows them: only what there is to say is said."""

from typing import Annotated, Any, TypeVar

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


V = TypeVar("V", bound=PartView)


def part_answer(view: type[V], revision: int, following: int | None, **what: object) -> Response:
    """Return a part as JSON, without the fields that nothing is said in."""
    shown = view.model_validate(
        {"revision": revision, "truncated": following is not None, "next": next_cursor(revision, following), **what}
    )
    body = shown.__pydantic_serializer__.to_json(shown, exclude_unset=True, by_alias=True)
    return Response(body, 200, etag(revision), "application/json")
