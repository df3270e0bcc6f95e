"""Edits that can be suggested: what they do is written as tracked changes, for somebody to accept or reject."""

from typing import Any, Literal, Self

from pydantic import Field, model_validator

from officeplane.domain.document import InvalidEditError
from officeplane.edits.contract import IDS_TOLD, Edit, Line, Occasion, Result
from officeplane.formats.opening import Document
from officeplane.formats.word.document import Word
from officeplane.formats.word.tracking.pencil import Pencil


class TrackedEdit(Edit):
    """An edit that can be suggested in Word documents."""

    change_mode: Literal["direct", "tracked"] = Field(
        default="direct",
        description="`tracked`, in Word documents: suggest it. It is written as tracked changes, whose ids are the "
        "result's `changes`; `review_changes` or a person in Word accepts or rejects them. What cannot be tracked is "
        "refused. `direct`: it is done at once, with no trace in the document.",
    )
    change_author: Line | None = Field(
        default=None,
        description="With `tracked`: the person whose changes they are said to be. Left out, who asked for the edit.",
    )

    @model_validator(mode="after")
    def _author_of_changes(self) -> Self:
        if self.change_author is not None and self.change_mode != "tracked":
            message = "changeAuthor is for changeMode tracked: direct changes name nobody in the document"
            raise ValueError(message)
        return self

    def apply(self, document: Document, occasion: Occasion) -> Result:
        """Change the document, or suggest the change."""
        if self.change_mode == "direct":
            return super().apply(document, occasion)
        if not isinstance(document, Word):
            raise InvalidEditError(
                f"changeMode tracked is for Word documents, and this is a {document.format}: leave it out"
            )
        pencil = Pencil(
            self.change_author or occasion.author, occasion.at, lambda taken: occasion.fresh_number("change", taken)
        )
        occasion.is_tracked = True
        try:
            with document.tracking(pencil) as tracking:
                result = super().apply(document, occasion)
                ids, changes = tracking.write(occasion.task_id, _ids_in(result))
        finally:
            occasion.is_tracked = False
        return {**result, **_named(result, ids), "changes": changes[:IDS_TOLD]}


def _ids_in(result: Result) -> list[str]:
    return [one for one in (result.get("id"), *result.get("ids", ())) if one is not None]


def _named(result: Result, ids: list[str]) -> dict[str, Any]:
    """Return the ids of a result as they are now."""
    one = iter(ids)
    found: dict[str, Any] = {"id": next(one)} if result.get("id") is not None else {}
    return {**found, "ids": list(one)} if "ids" in result else found
