"""`set_properties`: title, author, subject and keywords of the file."""

from typing import ClassVar, Self

from pydantic import Field, model_validator

from officeplane.edits.contract import Edit, Occasion, Result, Words
from officeplane.formats.excel.workbook import Workbook
from officeplane.formats.opening import PROPERTIES, Document
from officeplane.formats.package import Package
from officeplane.formats.powerpoint.presentation import Presentation
from officeplane.formats.properties import set_properties
from officeplane.formats.word.document import Word


class SetProperties(Edit):
    """What is not given stays as it is."""

    task_type: ClassVar = "set_properties"
    title_for_people: ClassVar = "Set document properties"

    title: Words | None = Field(default=None, description="The file's title.")
    author: Words | None = Field(default=None, description="Who the file says has made it.")
    subject: Words | None = Field(default=None, description="What it is about.")
    keywords: Words | None = Field(default=None, description="Keywords, in one text.")

    @model_validator(mode="after")
    def _something(self) -> Self:
        if not self._given:
            message = "give at least one of title, author, subject, keywords"
            raise ValueError(message)
        return self

    def in_word(self, document: Word, occasion: Occasion) -> Result:
        return self._applied(document.package, occasion)

    def in_excel(self, workbook: Workbook, occasion: Occasion) -> Result:
        return self._applied(workbook.package, occasion)

    def in_powerpoint(self, presentation: Presentation, occasion: Occasion) -> Result:
        return self._applied(presentation.package, occasion)

    def targets(self, document: Document) -> list[str]:  # noqa: ARG002
        return [
            f"{PROPERTIES}.{name}"
            for name in ("title", "author", "subject", "keywords")
            if getattr(self, name) is not None
        ]

    @property
    def _given(self) -> dict[str, str]:
        named = {"title": self.title, "creator": self.author, "subject": self.subject, "keywords": self.keywords}
        return {name: value for name, value in named.items() if value is not None}

    def _applied(self, package: Package, occasion: Occasion) -> Result:
        set_properties(package, self._given, occasion.author, occasion.at)
        return {"id": PROPERTIES}
