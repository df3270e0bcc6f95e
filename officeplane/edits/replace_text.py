"""`replace_text`: one text for another, wherever it stands or is meant, in the formatting it has there."""

from typing import Annotated, ClassVar

from pydantic import ConfigDict, Field

from officeplane.domain.document import InvalidEditError
from officeplane.edits.contract import IDS_TOLD, NodeId, Occasion, Result, Words
from officeplane.edits.tracked import TrackedEdit
from officeplane.formats.excel.workbook import Workbook
from officeplane.formats.opening import Document
from officeplane.formats.powerpoint.fitting import letters_in
from officeplane.formats.powerpoint.presentation import Presentation
from officeplane.formats.search import Wanted
from officeplane.formats.word.document import Word


class ReplaceText(TrackedEdit):
    """Every occurrence of a text, also one split over stretches of formatting, is replaced.

    Or only those of a node, or one of them; or whatever a pattern fits.
    """

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "find": "Clause (\\d+)",
                    "replace": "Section \\1",
                    "regex": True,
                    "under": "section-1a2b3c4d5e6f",
                    "expectedCount": 3,
                }
            ]
        }
    )

    task_type: ClassVar = "replace_text"
    title_for_people: ClassVar = "Replace text"

    find: Annotated[Words, Field(min_length=1, max_length=10_000)] = Field(
        description="The text, as it stands in the document, never across the end of a paragraph. With `regex` a "
        "pattern of RE2, of at most 1,000 letters: ^ and $ are where a paragraph or cell begins and ends, \\b, \\w, "
        "\\d and \\s know all languages, (?i) and the like stand at its beginning; no looking ahead or behind, no \\1 "
        "in it. One that fits where nothing stands, such as a*, is refused."
    )
    replace: Words = Field(
        description="What comes in its place, plain text in the formatting of what was there; empty removes it. With "
        "`regex` \\1 or \\g<name> stands for a group, \\0 for the whole, \\n for a line break, \\\\ for \\."
    )
    match_case: bool = Field(default=True, description="Whether capital and small letters differ.")
    whole_word: bool = Field(default=False, description="Whether it must not be part of a longer word.")
    regex: bool = Field(default=False, description="Whether `find` is a pattern.")
    under: NodeId | None = Field(
        default=None,
        description="Only in the node of this id and below it, such as a section, paragraph, cell or slide, or in a "
        "range such as `Plan!A1:C9`; ids are those of outlines, nodes and finds. Left out, in the whole document.",
    )
    nth: Annotated[int, Field(ge=1, le=1_000_000)] | None = Field(
        default=None,
        description="Only the occurrence of this number, counted from 1 in the order of the document, `under` the "
        "node if one is named; left out, all.",
    )
    expected_count: Annotated[int, Field(ge=0)] | None = Field(
        default=None,
        description="How often it must occur, `under` the node if one is named, or nothing is done; left out, at "
        "least once.",
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
        return Wanted(self.find, self.match_case, self.whole_word, self.regex, self.under, self.nth)

    @property
    def _needs_room(self) -> bool:
        """Whether the text may need more room than what it replaces: by its letters, wide ones, or further lines."""
        if self.regex:
            return bool(self.replace)  # What it fits is known once it is found.
        return letters_in(self.replace) > len(self.find) or "\n" in self.replace or "\r" in self.replace

    def _told(self, places: list[str]) -> Result:
        """`places` holds the node of each occurrence under the node that is named, in order."""
        where = "it" if self.under is None else repr(self.under)
        what = f"the pattern {self.find!r} fits" if self.regex else f"{self.find!r} stands"
        if self.expected_count is not None and len(places) != self.expected_count:
            raise InvalidEditError(f"{what} {len(places)} times in {where}, not {self.expected_count}")
        if not places and self.expected_count is None:
            does_not = f"the pattern {self.find!r} does not fit" if self.regex else f"{self.find!r} does not stand"
            raise InvalidEditError(f"{does_not} in {where}")
        if self.nth is not None and self.nth > len(places):
            raise InvalidEditError(f"{what} {len(places)} times in {where}; there is no number {self.nth}")
        replaced = self._wanted.chosen(places)
        ids = list(dict.fromkeys(replaced))[:IDS_TOLD]
        return {"id": replaced[0] if replaced else None, "replaced": len(replaced), "ids": ids}
