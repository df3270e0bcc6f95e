"""`replace_text`: one text for another, wherever it stands, in the formatting it has there."""

from typing import Annotated, ClassVar

from pydantic import Field

from officeplane.domain.document import InvalidEditError
from officeplane.edits.contract import IDS_TOLD, Edit, Occasion, Result, Words
from officeplane.formats.excel.workbook import Workbook
from officeplane.formats.opening import Document
from officeplane.formats.powerpoint.fitting import letters_in
from officeplane.formats.powerpoint.presentation import Presentation
from officeplane.formats.search import Wanted
from officeplane.formats.word.document import Word


class ReplaceText(Edit):
    """Every occurrence of a text, also one split over stretches of formatting, is replaced."""

    task_type: ClassVar = "replace_text"
    title_for_people: ClassVar = "Replace text"

    find: Annotated[Words, Field(min_length=1, max_length=10_000)] = Field(
        description="The text, as it stands in the document; no pattern, and never across the end of a paragraph."
    )
    replace: Words = Field(
        description="What comes in its place, plain text in the formatting of what was there; empty removes it."
    )
    match_case: bool = Field(default=True, description="Whether capital and small letters differ.")
    whole_word: bool = Field(default=False, description="Whether it must not be part of a longer word.")
    expected_count: Annotated[int, Field(ge=0)] | None = Field(
        default=None, description="How often it must occur, or nothing is done; left out, at least once."
    )

    def in_word(self, document: Word, occasion: Occasion) -> Result:  # noqa: ARG002
        return self._told(document.replace_text(self._wanted, self.replace))

    def in_excel(self, workbook: Workbook, occasion: Occasion) -> Result:  # noqa: ARG002
        return self._told(workbook.replace_text(self._wanted, self.replace))

    def in_powerpoint(self, presentation: Presentation, occasion: Occasion) -> Result:
        slides = set(self.targets(presentation)) if self._needs_room else set[str]()
        before = presentation.overflows(slides)
        places = presentation.replace_text(self._wanted, self.replace)
        occasion.warn(presentation.overflows(slides), but=before)
        return self._told(places)

    def targets(self, document: Document) -> list[str]:
        return document.places_of(self._wanted)

    @property
    def _wanted(self) -> Wanted:
        return Wanted(self.find, self.match_case, self.whole_word)

    @property
    def _needs_room(self) -> bool:
        """Whether the text may need more room than what it replaces: by its letters, wide ones, or further lines."""
        return letters_in(self.replace) > len(self.find) or "\n" in self.replace or "\r" in self.replace

    def _told(self, places: list[str]) -> Result:
        """`places` holds the node of each replacement, in order."""
        if self.expected_count is not None and len(places) != self.expected_count:
            raise InvalidEditError(f"{self.find!r} stands {len(places)} times in it, not {self.expected_count}")
        if not places and self.expected_count is None:
            raise InvalidEditError(f"{self.find!r} does not stand in it")
        ids = list(dict.fromkeys(places))[:IDS_TOLD]
        return {"id": places[0] if places else None, "replaced": len(places), "ids": ids}
