"""Relationships: how one part of a package names another, and what kind each part is."""

import posixpath
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from lxml import etree

from officeplane.formats.package import Package
from officeplane.formats.xml import Element

_RELS: Final = "http://schemas.openxmlformats.org/package/2006/relationships"
_TYPES: Final = "http://schemas.openxmlformats.org/package/2006/content-types"
OFFICE: Final = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
"""Where the types of relationships between Office parts begin; also the namespace of `r:id`."""

CONTENT_TYPES_PART: Final = "[Content_Types].xml"
_RELS_TYPE: Final = "application/vnd.openxmlformats-package.relationships+xml"
_EMPTY: Final = f'<Relationships xmlns="{_RELS}"/>'.encode()


@dataclass(frozen=True, slots=True)
class Relationship:
    """One arrow from a part to another, or to a place outside."""

    id: str
    type: str
    target: str
    is_external: bool


class Relationships:
    """The arrows that leave one part; `part` is empty for the package itself."""

    def __init__(self, package: Package, part: str = "") -> None:
        self._package = package
        self._folder = posixpath.dirname(part)
        self._rels = rels_of(part)
        self._taken: tuple[Element, int, set[str]] | None = None

    def __iter__(self) -> Iterator[Relationship]:
        if self._rels not in self._package:
            return
        for arrow in self._package.tree(self._rels):
            if not isinstance(arrow.tag, str):
                continue
            is_external = arrow.get("TargetMode") == "External"
            target = arrow.get("Target", "")
            yield Relationship(
                arrow.get("Id", ""),
                arrow.get("Type", ""),
                target if is_external else self._absolute(target),
                is_external,
            )

    def of_type(self, kind: str) -> list[Relationship]:
        """Return the arrows whose type ends with this word, such as `slide` or `comments`."""
        return [arrow for arrow in self if arrow.type.rsplit("/", 1)[-1] == kind]

    def part(self, relationship_id: str) -> str:
        """Return the name of the part that an arrow leads to; `KeyError` when there is no such arrow."""
        for arrow in self:
            if arrow.id == relationship_id:
                return arrow.target
        raise KeyError(relationship_id)

    def add(self, kind: str, target: str, *, is_external: bool = False) -> str:
        """Add an arrow of an Office type to a part (or to an address outside); return its id."""
        root = self._root()
        taken = self._ids(root)
        number = len(taken) + 1
        while f"rId{number}" in taken:
            number += 1
        self._append(root, Relationship(f"rId{number}", _full(kind), target, is_external))
        taken.add(f"rId{number}")
        self._taken = (root, self._package.times_changed(self._rels), taken)
        return f"rId{number}"

    def repeat(self, arrow: Relationship, target: str) -> None:
        """Add an arrow like one of another part, under the same id, to its target or to one in place of that."""
        self._append(self._root(), replace(arrow, target=target))

    def remove(self, *relationship_ids: str) -> None:
        """Remove arrows; the parts that they led to stay."""
        if not relationship_ids:
            return
        gone = frozenset(relationship_ids)
        root = self._package.tree(self._rels)
        for arrow in list(root):
            if arrow.get("Id") in gone:
                root.remove(arrow)
                self._package.changed(self._rels)

    def _root(self) -> Element:
        if self._rels not in self._package:
            self._package.put(self._rels, _EMPTY)
            # Most packages say this once for all; some say it of each part.
            declare(self._package, self._rels, _RELS_TYPE)
        return self._package.tree(self._rels)

    def _append(self, root: Element, arrow: Relationship) -> None:
        made = etree.SubElement(root, f"{{{_RELS}}}Relationship", Id=arrow.id, Type=arrow.type)
        made.set("Target", arrow.target if arrow.is_external else posixpath.relpath(arrow.target, self._folder or "."))
        if arrow.is_external:
            made.set("TargetMode", "External")
        self._package.changed(self._rels)

    def _ids(self, root: Element) -> set[str]:
        """Return the ids that are taken, remembered from one addition to the next: there may be thousands."""
        if self._taken is None or self._taken[:2] != (root, self._package.times_changed(self._rels)):
            return {arrow.get("Id", "") for arrow in root}
        return self._taken[2]

    def _absolute(self, target: str) -> str:
        return _absolute(self._folder, target)


def rels_of(part: str) -> str:
    """Return the name of the part that holds the arrows of another one."""
    folder, name = posixpath.split(part)
    return posixpath.join(folder, "_rels", f"{name}.rels")


def retarget(package: Package, rels: str, folder: str, names: Mapping[str, str]) -> None:
    """Have arrows that leave a part in a folder lead to parts by their new names."""
    for arrow in package.tree(rels):
        if not isinstance(arrow.tag, str) or arrow.get("TargetMode") == "External":
            continue
        renamed = names.get(_absolute(folder, arrow.get("Target", "")))
        if renamed is not None:
            arrow.set("Target", posixpath.relpath(renamed, folder or "."))
            package.changed(rels)


def main_part(package: Package) -> str:
    """Return the name of the part that the package is about."""
    (found,) = Relationships(package).of_type("officeDocument")[:1]
    return found.target


def _absolute(folder: str, target: str) -> str:
    return target[1:] if target.startswith("/") else posixpath.normpath(posixpath.join(folder, target))


def _full(kind: str) -> str:
    return kind if "://" in kind else f"{OFFICE}/{kind}"


def content_type(package: Package, part: str) -> str | None:
    """Return what kind a part is, or None when nothing says so."""
    by_extension: str | None = None
    for entry in package.tree(CONTENT_TYPES_PART):
        if _is(entry, "Override") and entry.get("PartName", "").lower() == f"/{part}".lower():
            return entry.get("ContentType")
        if _is(entry, "Default") and entry.get("Extension", "").lower() == part.rpartition(".")[2].lower():
            by_extension = entry.get("ContentType")
    return by_extension


def declare(package: Package, part: str, kind: str) -> None:
    """Say what kind a part is, unless that is said already."""
    if content_type(package, part) == kind:
        return
    etree.SubElement(package.tree(CONTENT_TYPES_PART), f"{{{_TYPES}}}Override", PartName=f"/{part}", ContentType=kind)
    package.changed(CONTENT_TYPES_PART)


def undeclare(package: Package, part: str) -> None:
    """Take back what was said of a part that is being dropped."""
    root = package.tree(CONTENT_TYPES_PART)
    for entry in list(root):
        if _is(entry, "Override") and entry.get("PartName", "").lower() == f"/{part}".lower():
            root.remove(entry)
            package.changed(CONTENT_TYPES_PART)


def _is(entry: Element, name: str) -> bool:
    return entry.tag == f"{{{_TYPES}}}{name}"
