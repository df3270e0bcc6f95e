"""`review_changes`: tracked changes are accepted or rejected."""

from typing import Annotated, ClassVar, Self

from pydantic import ConfigDict, Field, model_validator

from officeplane.domain.warning import EditWarning
from officeplane.edits.contract import Edit, Line, NodeId, Occasion, Result
from officeplane.formats.opening import Document
from officeplane.formats.word.document import Word
from officeplane.formats.word.review.choosing import Choice


class ReviewChanges(Edit):
    """What others changed in suggesting mode becomes the text, or what was before it does."""

    task_type: ClassVar = "review_changes"
    title_for_people: ClassVar = "Review changes"
    model_config = ConfigDict(json_schema_extra={"examples": [{"accept": True, "author": "Ann"}]})

    accept: bool = Field(
        default=False, description="Let the changes become the text: what was inserted stays, what was deleted goes."
    )
    reject: bool = Field(
        default=False, description="Go back to what was before them: what was inserted goes, what was deleted stays."
    )
    ids: Annotated[list[NodeId], Field(min_length=1, max_length=10_000)] | None = Field(
        default=None,
        description="Which changes, by their ids in `changes`; left out, all that `author` and `under` leave. "
        "A move is one change: to name one of its ends is to name both.",
    )
    author: Line | None = Field(default=None, description="Only changes by this person, spelled as in `changes`.")
    under: NodeId | None = Field(
        default=None, description="Only changes in this node and below it, such as a chapter or a paragraph."
    )

    @model_validator(mode="after")
    def _one_decision(self) -> Self:
        if self.accept == self.reject:
            message = "give accept or reject, one of the two, as true"
            raise ValueError(message)
        return self

    def in_word(self, document: Word, occasion: Occasion) -> Result:
        ids = None if self.ids is None else frozenset(self.ids)
        reviewed = document.review(Choice(ids, self.author, self.under), accept=self.accept)
        if reviewed.breaks:
            times = "" if reviewed.breaks == 1 else f" ({reviewed.breaks} times)"
            occasion.warn([EditWarning("lost", f"section break{times}", reviewed.node_id)])
        return {"id": reviewed.node_id, "changes": reviewed.changes}

    def targets(self, document: Document) -> list[str]:  # noqa: ARG002
        return [*(self.ids or ()), *([] if self.under is None else [self.under])]
