"""`comment`: remarks, answers to them, and their end."""

from typing import Annotated, ClassVar, Protocol, Self

from pydantic import ConfigDict, Field, model_validator

from officeplane.domain.warning import Loss, as_warnings
from officeplane.edits.contract import Edit, NodeId, Occasion, Part, Result, Words
from officeplane.formats.excel.workbook import Workbook
from officeplane.formats.opening import Document
from officeplane.formats.powerpoint.presentation import Presentation
from officeplane.formats.word.document import Word

_Remark = Annotated[Words, Field(min_length=1, max_length=32_000)]
_TEXT = "What it says, in plain text; a line break begins another paragraph."
_ONE_OF_FOUR = "Give exactly one of the four."


class NewComment(Part):
    """A remark on a node, or on words in it."""

    node_id: NodeId = Field(
        description="What it is about, by an id that reading gives: in Word a node of the text, not of notes, "
        "headers or footers; in Excel a cell, such as `Sheet1!B4`; in PowerPoint a slide, or something on one."
    )
    text: _Remark = Field(description=_TEXT)
    find: Annotated[Words, Field(min_length=1, max_length=10_000)] | None = Field(
        default=None, description="Word only: the words in that node that it is about, as they stand there."
    )
    nth: Annotated[int, Field(ge=1, le=1_000_000)] | None = Field(
        default=None, description="Which occurrence of `find` in the node is meant, from 1; the first if not said."
    )

    @model_validator(mode="after")
    def _counts_something(self) -> Self:
        if self.nth is not None and self.find is None:
            message = "nth counts occurrences of find: give find, too"
            raise ValueError(message)
        return self


class CommentReply(Part):
    """An answer to a comment."""

    comment_id: NodeId = Field(description="Any comment of the thread, by its id in `comments`.")
    text: _Remark = Field(description=_TEXT)


class CommentState(Part):
    """What becomes of a thread."""

    comment_id: NodeId = Field(description="Any comment of the thread, by its id in `comments`.")
    resolved: bool = Field(default=True, description="`false` opens a thread again that was resolved.")


class GoneComment(Part):
    """A comment that nobody needs any more."""

    comment_id: NodeId = Field(
        description="The comment, by its id in `comments`; with the first one of a thread its answers go, too."
    )


class Commenting(Protocol):
    """What each format does with comments, in somebody's name."""

    def add(self, node_id: str, text: str, find: str | None, nth: int | None, /) -> str:
        """Comment on a node, or on words in it; return the comment's id."""
        ...

    def reply(self, to: str, text: str) -> str:
        """Answer a comment; return the answer's id."""
        ...

    def resolve(self, of: str, *, is_resolved: bool) -> str:
        """Say that a thread is resolved, or that it is open; return the id of the comment that it began with."""
        ...

    def delete(self, comment_id: str, /) -> list[Loss]:
        """Take a comment away; return its answers, which go with it if the thread began with it."""
        ...


class Comment(Edit):
    """A comment comes, is answered, is resolved, or goes; in the name of whoever asks for it."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"add": {"nodeId": "p-1a2b3c4d", "find": "thirty days", "text": "Is that long enough?"}},
            ]
        }
    )

    task_type: ClassVar = "comment"
    title_for_people: ClassVar = "Comment"

    add: NewComment | None = Field(default=None, description=f"A new comment. {_ONE_OF_FOUR}")
    reply: CommentReply | None = Field(default=None, description=f"An answer to a comment. {_ONE_OF_FOUR}")
    resolve: CommentState | None = Field(
        default=None,
        description=f"A thread is resolved, or opened again; not in older PowerPoint files. {_ONE_OF_FOUR}",
    )
    delete: GoneComment | None = Field(default=None, description=f"A comment goes. {_ONE_OF_FOUR}")

    @model_validator(mode="after")
    def _one_deed(self) -> Self:
        if sum(each is not None for each in (self.add, self.reply, self.resolve, self.delete)) != 1:
            message = "give exactly one of add, reply, resolve and delete"
            raise ValueError(message)
        return self

    def in_word(self, document: Word, occasion: Occasion) -> Result:
        return self._done(document.commenting(occasion.signature()), occasion)

    def in_excel(self, workbook: Workbook, occasion: Occasion) -> Result:
        return self._done(workbook.commenting(occasion.signature()), occasion)

    def in_powerpoint(self, presentation: Presentation, occasion: Occasion) -> Result:
        return self._done(presentation.commenting(occasion.signature()), occasion)

    def targets(self, document: Document) -> list[str]:  # noqa: ARG002
        deed = self._deed
        return [deed.node_id if isinstance(deed, NewComment) else deed.comment_id]

    @property
    def _deed(self) -> NewComment | CommentReply | CommentState | GoneComment:
        return next(each for each in (self.add, self.reply, self.resolve, self.delete) if each is not None)

    def _done(self, commenting: Commenting, occasion: Occasion) -> Result:
        match self._deed:
            case NewComment(node_id=node_id, text=text, find=find, nth=nth):
                return self._made(commenting.add(node_id, text, find, nth), occasion)
            case CommentReply(comment_id=comment_id, text=text):
                return self._made(commenting.reply(comment_id, text), occasion)
            case CommentState(comment_id=comment_id, resolved=is_resolved):
                return {"id": commenting.resolve(comment_id, is_resolved=is_resolved), "resolved": is_resolved}
            case GoneComment(comment_id=comment_id):
                occasion.warn(as_warnings(commenting.delete(comment_id)))
                return {"id": comment_id}

    @staticmethod
    def _made(comment_id: str, occasion: Occasion) -> Result:
        occasion.given.append(comment_id)
        return {"id": comment_id}
