"""The sheets of a workbook, as `workbook.xml` lists them."""

from dataclasses import dataclass
from typing import Final

from officeplane.domain.document import InvalidEditError, UnsupportedDocumentError
from officeplane.formats.excel.tags import RELATION, main
from officeplane.formats.package import Package
from officeplane.formats.relationships import Relationships
from officeplane.formats.xml import Element

_SHEETS: Final = main("sheets")
_SHEET: Final = main("sheet")
_WORKSHEET: Final = "worksheet"
_WITHOUT_PART: Final = "module"


@dataclass(frozen=True, slots=True)
class Sheet:
    """One sheet: its place in the list and the part that holds it."""

    element: Element
    part: str
    kind: str

    @property
    def name(self) -> str:
        """What it is called."""
        return self.element.get("name", "")

    @property
    def id(self) -> str:
        """The id of its node."""
        return f"sheet-{self.number}"

    @property
    def is_hidden(self) -> bool:
        """Whether nobody sees it who has not looked for it."""
        return self.element.get("state", "visible") != "visible"

    @property
    def number(self) -> str:
        """The number that stays its own."""
        return self.element.get("sheetId", "")

    @property
    def is_visible(self) -> bool:
        """Whether people see it."""
        return self.element.get("state", "visible") == "visible"

    @property
    def has_cells(self) -> bool:
        """Whether it is a sheet of cells, and no chart or dialog."""
        return self.kind == _WORKSHEET


class Sheets:
    """All sheets, in order."""

    def __init__(self, package: Package, workbook: str) -> None:
        found = package.tree(workbook).find(_SHEETS)
        if found is None:
            raise UnsupportedDocumentError("damaged", "the workbook lists no sheets")
        self.element = found
        arrows = {arrow.id: arrow for arrow in Relationships(package, workbook)}
        self.all: list[Sheet] = []
        for each in found.iterchildren(_SHEET):
            arrow = arrows.get(each.get(RELATION, ""))
            if arrow is None and not each.get(RELATION):
                # What is left of a module of macros: a name in the list, and nothing else.
                self.all.append(Sheet(each, "", _WITHOUT_PART))
                continue
            if arrow is None or arrow.target not in package:
                raise UnsupportedDocumentError(
                    "missing_part", f"the sheet {each.get('name')!r} has no part in the file"
                )
            self.all.append(Sheet(each, arrow.target, arrow.type.rsplit("/", 1)[-1]))

    @property
    def names(self) -> list[str]:
        """The names, in order."""
        return [sheet.name for sheet in self.all]

    def find(self, name: str) -> Sheet | None:
        """Return the sheet of a name, whatever the case of its letters, or of a node's id."""
        folded = name.casefold()
        return (
            next((sheet for sheet in self.all if sheet.name == name), None)
            or next((sheet for sheet in self.all if sheet.name.casefold() == folded), None)
            or next((sheet for sheet in self.all if sheet.id == name), None)
        )

    def get(self, name: str) -> Sheet:
        """Return the sheet of a name or id; that there is none is refused."""
        found = self.find(name)
        if found is None:
            known = ", ".join(repr(each) for each in self.names[:10])
            raise InvalidEditError(f"there is no sheet {name!r}; the sheets are {known}")
        return found

    def with_cells(self, name: str) -> Sheet:
        """Return the sheet of a name or id; one without cells is refused."""
        found = self.get(name)
        if not found.has_cells:
            raise InvalidEditError(f"the sheet {found.name!r} has no cells, it is a {found.kind}")
        return found
