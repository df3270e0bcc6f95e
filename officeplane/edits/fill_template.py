"""`fill_template`: every `{{name}}` becomes its value."""

from typing import Annotated, ClassVar

from pydantic import Field

from officeplane.domain.document import InvalidEditError
from officeplane.edits.contract import IDS_TOLD, Edit, Occasion, Result, Words
from officeplane.formats.excel.workbook import Workbook
from officeplane.formats.opening import Document
from officeplane.formats.powerpoint.presentation import Presentation
from officeplane.formats.search import Wanted
from officeplane.formats.word.document import Word

Name = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[\w.-]+$")]


class FillTemplate(Edit):
    """Values for the names in double braces; a name that stands nowhere is an error."""

    task_type: ClassVar = "fill_template"
    title_for_people: ClassVar = "Fill a template"

    values: Annotated[dict[Name, Words | int | float | bool], Field(min_length=1, max_length=1_000)] = Field(
        description=(
            "What to put in place of each `{{name}}`, by name and without the braces; each must stand in the document."
        )
    )

    def in_word(self, document: Word, occasion: Occasion) -> Result:
        wanted = self._set_apart(document, occasion)
        return self._told({name: document.replace_text(w, self._text(name)) for name, w in wanted.items()})

    def in_excel(self, workbook: Workbook, occasion: Occasion) -> Result:
        wanted = self._set_apart(workbook, occasion)
        return self._told({name: workbook.fill(w, self.values[name]) for name, w in wanted.items()})

    def in_powerpoint(self, presentation: Presentation, occasion: Occasion) -> Result:
        slides = set(self.targets(presentation))
        before = presentation.overflows(slides)
        wanted = self._set_apart(presentation, occasion)
        places = {name: presentation.replace_text(w, self._text(name)) for name, w in wanted.items()}
        occasion.warn(presentation.overflows(slides), but=before)
        return self._told(places)

    def targets(self, document: Document) -> list[str]:
        return [place for wanted in self._wanted.values() for place in document.places_of(wanted)]

    @property
    def _wanted(self) -> dict[str, Wanted]:
        return {name: Wanted(f"{{{{{name}}}}}") for name in self.values}

    def _set_apart(self, document: Document, occasion: Occasion) -> dict[str, Wanted]:
        """Return what stands for each name; where values have braces, these are other marks than the placeholders.

        One name is filled after the other: a value that reads `{{name}}` would be taken for a placeholder.
        """
        if not any(isinstance(value, str) and ("{" in value or "}" in value) for value in self.values.values()):
            return self._wanted
        marks = {name: Wanted(occasion.fresh_id("value")) for name in self.values}
        for name, wanted in self._wanted.items():
            document.replace_text(wanted, marks[name].find)
        return marks

    def _text(self, name: str) -> str:
        value = self.values[name]
        return str(value).lower() if isinstance(value, bool) else str(value)

    def _told(self, places: dict[str, list[str]]) -> Result:
        missing = [name for name, found in places.items() if not found]
        if missing:
            raise InvalidEditError(f"the document has no {{{{{missing[0]}}}}}")
        touched = list(dict.fromkeys(place for found in places.values() for place in found))
        filled = {name: len(found) for name, found in places.items()}
        return {"id": touched[0], "filled": filled, "ids": touched[:IDS_TOLD]}
