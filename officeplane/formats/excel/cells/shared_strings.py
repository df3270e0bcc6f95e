"""Shared strings: the texts that cells name by number."""

from officeplane.formats.excel.cells.texts import read
from officeplane.formats.excel.tags import STRING_ITEM
from officeplane.formats.xml import Element


class SharedStrings:
    """The texts of a workbook, in the order in which they are numbered; perhaps none."""

    def __init__(self, root: Element | None) -> None:
        self.root = root
        self.items: list[Element] = [] if root is None else list(root.iterchildren(STRING_ITEM))
        self._texts: dict[int, str] = {}

    def text(self, at: int) -> str:
        """Return the text of a number that there is."""
        found = self._texts.get(at)
        if found is None:
            found = self._texts[at] = read(self.items[at])
        return found

    def forget(self) -> None:
        """Read texts anew: some were changed."""
        self._texts.clear()
