"""Copied parts: that of a sheet and all that hang on it, under names of their own; what has no copy is refused."""

import posixpath
from collections.abc import Mapping
from typing import Final

from officeplane.domain.document import InvalidEditError
from officeplane.formats.excel.tags import main
from officeplane.formats.package import Package
from officeplane.formats.relationships import Relationship, Relationships, content_type, declare

_COPIED: Final = frozenset({
    "drawing", "vmlDrawing", "comments", "threadedComment", "table", "printerSettings", "image", "ctrlProp",
    "customProperty", "chart", "chartEx", "chartUserShapes", "chartStyle", "chartColorStyle", "themeOverride",
    "diagramData", "diagramLayout", "diagramQuickStyle", "diagramColors", "diagramDrawing",
})  # fmt: skip
_CALLED: Final = {
    "pivotTable": "pivot table", "slicer": "slicer", "timeline": "timeline", "queryTable": "query",
    "tableSingleCells": "map to XML", "control": "control", "oleObject": "object of another program",
    "package": "object of another program",
}  # fmt: skip


def copy_parts(package: Package, sheet: str, sheet_name: str) -> dict[str, str]:
    """Copy a sheet's part and what only it needs; return the names of the copies by those of the originals."""
    copies: dict[str, str] = {}
    waiting = [sheet]
    taken = {name.lower() for name in package.names}
    while waiting:
        part = waiting.pop()
        if part in copies:
            continue
        copies[part] = _free(part, taken)
        taken.add(copies[part].lower())
        for arrow in Relationships(package, part):
            if arrow.is_external or arrow.target not in package:
                continue
            _check(package, arrow, sheet_name)
            waiting.append(arrow.target)
    for part in copies:
        _check_content(package, part, sheet_name)
    for part, copy in copies.items():
        package.put(copy, package.content(part))
        kind = content_type(package, part)
        if kind is not None:
            declare(package, copy, kind)
        _copy_arrows(package, part, copies)
    return copies


def arrows_of(part: str) -> str:
    """Return the part that holds the relationships of another."""
    folder, name = posixpath.split(part)
    return posixpath.join(folder, "_rels", f"{name}.rels")


def _free(part: str, taken: set[str]) -> str:
    stem, extension = posixpath.splitext(part)
    stem = stem.rstrip("0123456789")
    number = 1
    while f"{stem}{number}{extension}".lower() in taken:
        number += 1
    return f"{stem}{number}{extension}"


def _check(package: Package, arrow: Relationship, sheet: str) -> None:
    kind = arrow.type.rsplit("/", 1)[-1]
    if kind in _COPIED:
        return
    name = package.tree(arrow.target).get("name", "") if arrow.target.endswith(".xml") else ""
    called = f"{_CALLED.get(kind, f'part of the kind {kind}')}{f' {name!r}' if name else ''}"
    raise InvalidEditError(f"the sheet {sheet!r} has a {called}, of which no copy can be made here: copy it in Excel")


def _check_content(package: Package, part: str, sheet: str) -> None:
    if not part.endswith(".xml"):
        return
    root = package.tree(part)
    if root.find("{*}pivotSource") is not None:
        raise InvalidEditError(f"the sheet {sheet!r} has a chart of a pivot table, of which no copy can be made here")
    if root.tag == main("table") and root.get("tableType", "worksheet") != "worksheet":
        raise InvalidEditError(
            f"the table {root.get('displayName')!r} gets its data from elsewhere, so that no copy can be made here"
        )


def _copy_arrows(package: Package, part: str, copies: Mapping[str, str]) -> None:
    arrows, copied = arrows_of(part), arrows_of(copies[part])
    if arrows not in package:
        return
    package.put(copied, package.content(arrows))
    kind = content_type(package, arrows)
    if kind is not None:
        declare(package, copied, kind)
    folder = posixpath.dirname(part)
    changed = False
    for arrow in package.tree(copied):
        target = arrow.get("Target") if isinstance(arrow.tag, str) else None
        if target is None or arrow.get("TargetMode") == "External":
            continue
        whole = target[1:] if target.startswith("/") else posixpath.normpath(posixpath.join(folder, target))
        if whole in copies:
            arrow.set("Target", posixpath.relpath(copies[whole], folder or "."))
            changed = True
    if changed:
        package.changed(copied)
