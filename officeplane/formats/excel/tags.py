"""The names of elements and attributes of SpreadsheetML."""

from typing import Final

from officeplane.formats.relationships import OFFICE

MAIN: Final = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"

ROW: Final = f"{{{MAIN}}}row"
CELL: Final = f"{{{MAIN}}}c"
FORMULA: Final = f"{{{MAIN}}}f"
VALUE: Final = f"{{{MAIN}}}v"
INLINE: Final = f"{{{MAIN}}}is"
TEXT: Final = f"{{{MAIN}}}t"
RUN: Final = f"{{{MAIN}}}r"
STRING_ITEM: Final = f"{{{MAIN}}}si"
RELATION: Final = f"{{{OFFICE}}}id"
SPACE: Final = "{http://www.w3.org/XML/1998/namespace}space"


def main(name: str) -> str:
    """Return the full name of an element of SpreadsheetML."""
    return f"{{{MAIN}}}{name}"
