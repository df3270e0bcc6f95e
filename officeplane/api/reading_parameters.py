"""Parameters of what is read in parts: which part, how much of it, and where the last answer ended."""

from typing import Annotated, Final

from fastapi import Path
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field
from pydantic.alias_generators import to_camel

from officeplane.api.cursors import cursor_after, seq_of
from officeplane.api.parameters import RevisionNumber, plain_number
from officeplane.domain.errors import InvalidCursorError
from officeplane.formats.reading.differing import DiffFormat

TOKENS_MAX: Final = 1_000_000
TOKENS: Final = 10_000
"""How much an answer holds at most when nobody says."""

_NODE_ID_MAX: Final = 500
_REVISION_BITS: Final = 24
_PLACE_BITS: Final = 63 - _REVISION_BITS


def _words(text: str) -> str:
    if not all(word.strip() for word in text.split(",")):
        message = "words separated by commas, such as heading,table"
        raise ValueError(message)
    return text


NodeId = Annotated[str, Field(min_length=1, max_length=_NODE_ID_MAX)]
NodeIdInPath = Annotated[
    str,
    Path(
        min_length=1,
        max_length=_NODE_ID_MAX,
        description="The id of a node, as outlines and finds tell it.",
        examples=["p-1a2b3c4d"],
    ),
]
SlideIdInPath = Annotated[
    str,
    Path(min_length=1, max_length=_NODE_ID_MAX, description="The id of a slide's node.", examples=["slide-257"]),
]
Words = Annotated[str, Field(min_length=1, max_length=500), AfterValidator(_words)]
Number = BeforeValidator(plain_number)


class BoundedQuery(BaseModel):
    """How much to tell at once, and where to go on."""

    model_config = ConfigDict(alias_generator=to_camel, frozen=True)

    max_tokens: Annotated[int, Field(ge=50, le=TOKENS_MAX), Number] = Field(
        TOKENS, description="The most that an answer may hold, at four bytes a token.", examples=[2000]
    )
    cursor: str | None = Field(
        None, description="The `next` of the answer before: goes on there, in the same revision.", examples=[None]
    )

    @property
    def place(self) -> int:
        """Where the answer begins."""
        return 0 if self.cursor is None else _split(self.cursor)[1]

    @property
    def began(self) -> int | None:
        """The revision of the answer before, if this one goes on from it."""
        return None if self.cursor is None else _split(self.cursor)[0]


class PartQuery(BoundedQuery):
    """Which revision to read, how much of it at once, and where to go on."""

    revision: RevisionNumber | None = Field(
        None, description="A revision's number; the head if none is given.", examples=[3]
    )

    @property
    def wanted_revision(self) -> int | None:
        """The revision that is meant, that of the answer before if this one goes on from it."""
        if self.began is not None and self.revision not in (None, self.began):
            raise InvalidCursorError
        return self.revision if self.began is None else self.began


class WholeQuery(PartQuery):
    """The same of what is answered as a whole when nobody bounds it."""

    max_tokens: Annotated[int, Field(ge=50, le=TOKENS_MAX), Number] | None = Field(  # type: ignore[assignment]
        None, description="The most that an answer may hold, at four bytes a token; all of it if not given."
    )


class OutlineQuery(WholeQuery):
    """Which nodes of a document to list."""

    depth: Annotated[int, Field(ge=1, le=100), Number] | None = Field(
        None, description="So many levels of nodes; with 1 only chapters, sheets, or slides.", examples=[1]
    )
    under: NodeId | None = Field(None, description="Only this node and what is in it.", examples=["chapter-1a2b3c4d"])
    kinds: Words | None = Field(
        None,
        description="Only nodes of these kinds, separated by commas; also those that are not listed otherwise, such "
        "as `paragraph`, `item`, `table`, `row`, `cell`, `picture`, `comment`, `change`, `footnote`.",
        examples=["heading,table"],
    )
    texts: str | None = Field(
        None,
        pattern="^(true|false)$",
        description="`true`: with what pages, text boxes and notes say. Titles and names are told in any case.",
    )


class TextQuery(WholeQuery):
    """Which part of what a document says."""

    under: NodeId | None = Field(None, description="Only what this node says.", examples=["section-1a2b3c4d"])


class NodeQuery(PartQuery):
    """How much to tell of a node."""

    depth: Annotated[int, Field(ge=0, le=100), Number] = Field(
        1, description="So many levels of the nodes in it; 0 for none.", examples=[0]
    )
    with_: str | None = Field(
        None,
        alias="with",
        pattern="^format$",
        description="`format`: with style, list, alignment, sizes in points, alternative text and the like.",
        examples=["format"],
    )


class FindQuery(PartQuery):
    """What to look for, and where."""

    text: Annotated[str, Field(min_length=1, max_length=1_000)] = Field(
        description="The text to find, within one paragraph, cell or note.", examples=["thirty days"]
    )
    match_case: str = Field(
        "false", pattern="^(true|false)$", description="`true`: capitals and small letters are told apart."
    )
    regex: str = Field(
        "false",
        pattern="^(true|false)$",
        description="`true`: `text` is a pattern of RE2, in which ^ and $ are where a paragraph or cell begins and "
        "ends; `(?i)` and the like stand at its beginning. There is no looking ahead or behind.",
    )
    under: NodeId | None = Field(None, description="Only in this node.", examples=["section-1a2b3c4d"])
    kinds: Words | None = Field(
        None, description="Only in nodes of these kinds, separated by commas.", examples=["heading,cell"]
    )
    limit: Annotated[int, Field(ge=1, le=500), Number] = Field(50, description="So many places at most.")


class ListedQuery(PartQuery):
    """Which of them to list."""

    under: NodeId | None = Field(None, description="Only those in this node.", examples=["section-1a2b3c4d"])


class SheetsQuery(PartQuery):
    """How much of the sheets to tell."""


class CellsQuery(PartQuery):
    """Which cells to read, and what of each."""

    sheet: Annotated[str, Field(min_length=1, max_length=200)] | None = Field(
        None, description="The name of a sheet, or its node's id; the first sheet if none is given.", examples=["Plan"]
    )
    range: Annotated[str, Field(min_length=1, max_length=300)] | None = Field(
        None, description="A range such as `A1:C9` or `Plan!A1:C9`; all cells if none is given.", examples=["A1:C9"]
    )
    show: str = Field(
        "values,formulas",
        max_length=100,
        pattern="^(values|formulas|formats)(,(values|formulas|formats))*$",
        description="What to tell of each, separated by commas: `values`, `formulas`, `formats`.",
        examples=["values,formats"],
    )


class DiffQuery(BoundedQuery):
    """Which revisions to compare, and how to tell what changed."""

    before: RevisionNumber = Field(alias="from", description="The earlier revision.", examples=[2])
    after: RevisionNumber = Field(alias="to", description="The later one.", examples=[5])
    format: DiffFormat | None = Field(
        None,
        description="`summary`: how many nodes changed, and some of them. `nodes`: what each node said and says. "
        "`unified`: lines with `context` around them. Left out, lines and nodes with their whole texts.",
    )
    context: Annotated[int, Field(ge=0, le=100), Number] = Field(
        3, description="So many lines around each change, of `unified`."
    )


def words_in(text: str | None) -> tuple[str, ...]:
    """Return the words of a list that is separated by commas."""
    return () if text is None else tuple(dict.fromkeys(word.strip() for word in text.split(",")))


def next_cursor(revision: int, place: int | None) -> str | None:
    """Return the cursor of the answer that goes on from a place in a revision; None when there is no more."""
    return None if place is None else cursor_after((revision << _PLACE_BITS) | place)


def _split(cursor: str) -> tuple[int, int]:
    both = seq_of(cursor)
    revision, place = both >> _PLACE_BITS, both & ((1 << _PLACE_BITS) - 1)
    if revision < 1:
        # That of a list of something else.
        raise InvalidCursorError
    return revision, place
