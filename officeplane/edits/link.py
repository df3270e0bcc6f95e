"""`link`: a text leads to an address or to another node, or no longer."""

from typing import Annotated, ClassVar, Self

from pydantic import ConfigDict, Field, model_validator

from officeplane.edits.contract import Edit, NodeId, Occasion, Part, Result, Words
from officeplane.formats.opening import Document
from officeplane.formats.word.document import Word
from officeplane.formats.word.looks.formatting import id_now
from officeplane.formats.word.marks.linking import link_to_address, link_to_node, stretch_to_link, unlink


class LinkToAddress(Part):
    """Where a link leads outside of the document."""

    url: Annotated[Words, Field(min_length=1, max_length=2_000)] = Field(
        description="An address that begins with `https:`, `http:` or `mailto:`."
    )


class LinkToNode(Part):
    """Where a link leads inside the document."""

    node_id: NodeId = Field(
        description="The node that it leads to, by its id as reading gives it: a heading, a paragraph, a table ..."
    )


class SetLink(Edit):
    """A link for a text that stands there; one that it had already goes, what is left of that stays a link."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"nodeId": "p-1a2b3c4d", "find": "due", "to": {"url": "https://example.org/terms"}}]
        }
    )

    task_type: ClassVar = "link"
    title_for_people: ClassVar = "Set a link"

    node_id: NodeId = Field(description="The node in which the text stands, by its id as reading gives it.")
    find: Annotated[Words, Field(min_length=1, max_length=10_000)] | None = Field(
        default=None,
        description="The text that becomes the link, within one paragraph, capitals included. Left out: all that the "
        "paragraph, heading or item says.",
    )
    nth: Annotated[int, Field(ge=1)] | None = Field(
        default=None, description="With `find`: which of its occurrences in the node, from 1; left out, the first."
    )
    to: LinkToAddress | LinkToNode | None = Field(
        description='Where it leads: `{"url": "https://..."}`, or `{"nodeId": "..."}` for a place in the document. '
        "null: nowhere; the link goes and its text stays."
    )

    @model_validator(mode="after")
    def _nth_of_something(self) -> Self:
        if self.nth is not None and self.find is None:
            message = "nth counts occurrences of find: give find, or leave nth out"
            raise ValueError(message)
        return self

    def in_word(self, document: Word, occasion: Occasion) -> Result:  # noqa: ARG002
        finder = document.finder()
        stretch = stretch_to_link(finder, self.node_id, self.find, self.nth)
        match self.to:
            case LinkToAddress():
                link_to_address(finder, stretch, self.to.url)
            case LinkToNode():
                link_to_node(finder, stretch, self.to.node_id)
            case None:
                unlink(finder, stretch)
        return {"id": id_now(finder, stretch.story, stretch.paragraph)}

    def targets(self, document: Document) -> list[str]:  # noqa: ARG002
        return [self.node_id, *([self.to.node_id] if isinstance(self.to, LinkToNode) else [])]
