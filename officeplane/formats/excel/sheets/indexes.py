"""Indexes of sheets: what in `workbook.xml` counts them, and moves when one comes or goes."""

from typing import Final

from officeplane.formats.excel.numbers import whole
from officeplane.formats.excel.tags import main
from officeplane.formats.xml import Element

_VIEW: Final = main("workbookView")
_NAMES: Final = main("definedNames")
_SCOPE: Final = "localSheetId"


def make_room(workbook: Element, at: int) -> None:
    """Count sheets from this place on one higher: a new one stands there."""
    for view in workbook.iter(_VIEW):
        for name in ("activeTab", "firstSheet"):
            shown = whole(view.get(name), 0)
            # The first sheet is meant where nothing is said; it may be the second now.
            if shown >= at and (view.get(name) is not None or name == "activeTab"):
                view.set(name, str(shown + 1))
    for scoped in _scoped(workbook):
        if whole(scoped.get(_SCOPE), 0) >= at:
            scoped.set(_SCOPE, str(whole(scoped.get(_SCOPE), 0) + 1))


def close_gap(workbook: Element, at: int, visible: list[bool]) -> None:
    """Count sheets behind this place one lower: the one there is gone, and so are the names that were its own.

    `visible` tells of each remaining sheet whether people see it.
    """
    for view in workbook.iter(_VIEW):
        for name in ("activeTab", "firstSheet"):
            if view.get(name) is None and name == "firstSheet":
                continue
            shown = whole(view.get(name), 0)
            shown = shown - 1 if shown > at else shown
            view.set(name, str(nearest_visible(min(shown, len(visible) - 1), visible)))
    for scoped in _scoped(workbook):
        scope = whole(scoped.get(_SCOPE), 0)
        if scope > at:
            scoped.set(_SCOPE, str(scope - 1))
        elif scope == at and (parent := scoped.getparent()) is not None:
            parent.remove(scoped)
    names = workbook.find(_NAMES)
    if names is not None and not len(names):
        workbook.remove(names)


def nearest_visible(at: int, visible: list[bool]) -> int:
    """Return the place nearest to another one at which people see a sheet."""
    return min(
        (place for place, is_seen in enumerate(visible) if is_seen), key=lambda place: abs(place - at), default=0
    )


def _scoped(workbook: Element) -> list[Element]:
    return [name for name in workbook.iter(main("definedName")) if whole(name.get(_SCOPE), -1) >= 0]
