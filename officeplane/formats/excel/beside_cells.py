"""What a sheet holds beside its cells, found without a look at each of these."""

from collections.abc import Iterator
from typing import Final

from officeplane.formats.excel.tags import main
from officeplane.formats.xml import Element

_SHEET: Final = main("worksheet")
_DATA: Final = main("sheetData")


def beside_cells(root: Element, *tags: str) -> Iterator[Element]:
    """Yield the elements of some kinds that are in no cell of a sheet; in another part, all of them."""
    if root.tag != _SHEET:
        yield from root.iter(*tags)
        return
    for child in root:
        if child.tag != _DATA:
            yield from child.iter(*tags)
