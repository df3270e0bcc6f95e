"""Following: every formula of a workbook, wherever it is kept, follows the shift of a sheet."""

from collections.abc import Callable, Iterator
from typing import Final

from officeplane.formats.excel.beside_cells import beside_cells
from officeplane.formats.excel.cells.implied_addresses import name_cells
from officeplane.formats.excel.formulas.rewriting import (
    SOURCES,
    TEXTS,
    change_attribute,
    change_attributes,
    change_links,
    end_lost,
    formula_parts,
)
from officeplane.formats.excel.numbers import whole
from officeplane.formats.excel.parts import Parts
from officeplane.formats.excel.sheets.lost_places import place_in_words
from officeplane.formats.excel.sheets.sheet_list import Sheet
from officeplane.formats.excel.sheets.unused_parts import reachable
from officeplane.formats.excel.shifting.areas import shifted
from officeplane.formats.excel.shifting.cell_formulas import CellFormulas
from officeplane.formats.excel.shifting.comments import follow_controls
from officeplane.formats.excel.shifting.formulas import FormulaShift
from officeplane.formats.excel.shifting.rules import RULES, follow_rules
from officeplane.formats.excel.tags import RELATION, main
from officeplane.formats.xml import Element

_DATA: Final = main("sheetData")
_NAME: Final = main("definedName")
_BOXES: Final = ".vml"


class Following:
    """Lets formulas follow, while all cells still say where they were."""

    def __init__(self, parts: Parts, sheet: Sheet, formulas: FormulaShift) -> None:
        self._parts = parts
        self._package = parts.package
        self._workbook = parts.workbook
        self._sheet = sheet
        self._formulas = formulas
        self._sheets = {each.part: each for each in parts.sheets.all}
        self._order = parts.sheets.names
        self.lost: list[str] = []
        """Where references were lost."""
        self.left: list[str] = []
        """Where references to several sheets could not follow in one of them."""

    def follow(self) -> None:
        """Go through all parts."""
        # What belongs to the sheet means it where it names no sheet.
        own = reachable(self._package, self._sheet.part)
        for part in list(formula_parts(self._package)):
            if self._follow_part(part, is_own=part in own):
                root = self._package.tree(part)
                if root.tag == main("worksheet") and part != self._sheet.part:
                    name_cells(root)
                self._package.changed(part)
                self._parts.forget(part)
        for part in self._package.names:
            if part.endswith(_BOXES) and self._follow_boxes(part, is_own=part in own):
                self._package.changed(part)
        change_links(self._package, self._plain(is_own=False, place=lambda: "a link of a shape"))

    def _follow_part(self, part: str, *, is_own: bool) -> bool:
        root = self._package.tree(part)
        called = {name: sheet.name for name, sheet in self._sheets.items()}
        changed = False
        if root.tag == main("worksheet"):
            cells = CellFormulas(self._formulas, root, is_own=is_own)
            cells.follow()
            changed |= cells.has_changed
            for note in cells.notes:
                (self.lost if note.is_lost else self.left).append(f"{called.get(part, part)}!{note.cell}")
            for has_changed, has_lost in follow_rules(self._formulas, root, is_own=is_own):
                changed |= has_changed
                if has_lost:
                    self.lost.append(f"a rule of the sheet {called.get(part, part)}")
        for holder in _texts(root):
            if holder.text:
                changed |= self._follow_text(holder, place_in_words(part, holder, called), is_own=is_own)
        changed |= change_attributes(root, self._plain(is_own=is_own, place=lambda: f"the part {part}"))
        for link in beside_cells(root, "{*}hyperlink"):
            # With a relationship it leads into another file.
            if link.get(RELATION) is None:
                follow = self._plain(is_own=is_own, place=lambda: f"a link of the sheet {called.get(part, part)}")
                changed |= change_attribute(link, "location", follow)
        return changed | self._follow_sources(root)

    def _follow_text(self, holder: Element, place: str, *, is_own: bool) -> bool:
        before = holder.text or ""
        if holder.tag == _NAME:
            scope = whole(holder.get("localSheetId"), -1)
            is_local = 0 <= scope < len(self._order) and self._order[scope] == self._sheet.name
            after = self._formulas.name(before, is_own=is_local)
        else:
            after = self._formulas.plain(before, is_own=is_own)
        self._note(place)
        if after == before:
            return False
        holder.text = after
        if self._formulas.has_lost:
            end_lost(holder)
        return True

    def _follow_boxes(self, part: str, *, is_own: bool) -> bool:
        changed = False
        for has_changed, has_lost in follow_controls(self._formulas, self._package.tree(part), is_own=is_own):
            changed |= has_changed
            if has_lost:
                self.lost.append("a control")
        return changed

    def _follow_sources(self, root: Element) -> bool:
        """Let pivot tables and consolidations read where their cells are now."""
        changed = False
        for source in beside_cells(root, *SOURCES):
            before = source.get("ref", "")
            if source.get("sheet", "").casefold() != self._sheet.name.casefold() or source.get(RELATION) is not None:
                continue
            after = shifted(before, self._formulas.shift) if before else None
            if after is not None and after != before:
                source.set("ref", after)
                changed = True
        return changed

    def _plain(self, *, is_own: bool, place: Callable[[], str]) -> Callable[[str], str]:
        def follow(formula: str) -> str:
            after = self._formulas.plain(formula, is_own=is_own)
            self._note(place())
            return after

        return follow

    def _note(self, place: str) -> None:
        if self._formulas.has_lost:
            self.lost.append(place)
        elif self._formulas.spans_sheets:
            self.left.append(place)


def _texts(root: Element) -> Iterator[Element]:
    """Yield what holds a formula, but for cells and rules."""
    if root.tag != main("worksheet"):
        yield from list(root.iter(*TEXTS))
        return
    ruled = {holder for rule in beside_cells(root, *RULES) for holder in rule.iter(*TEXTS)}
    for child in root:
        if child.tag != _DATA and isinstance(child.tag, str):
            yield from [holder for holder in child.iter(*TEXTS) if holder not in ruled]
