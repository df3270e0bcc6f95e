"""Removal: a slide leaves the file with what nobody else uses."""

import posixpath
from collections import defaultdict
from collections.abc import Iterable
from typing import Final

from officeplane.formats.package import Package
from officeplane.formats.powerpoint.names import R_ID, a, p
from officeplane.formats.relationships import Relationships, undeclare
from officeplane.formats.xml import Element

_LINKS: Final = (a("hlinkClick"), a("hlinkHover"), a("hlinkMouseOver"), p("sld"))
"""What may name a slide: links, and entries of custom shows and of the outline view."""


def remove_slide(package: Package, main: str, slide: str) -> dict[str, int]:
    """Drop the part of a slide that is off the list, and all that only it needed.

    Return the parts in which others named it, and how often each did.
    """
    users = _users(package)
    named = {user: _forget(package, user, slide) for user in sorted(users[slide] | {main})}
    _drop(package, _needed_by(package, slide, users))
    return {part: times for part, times in named.items() if times and part in package}


def drop_unused(package: Package, parts: Iterable[str]) -> None:
    """Drop parts to which nothing leads any more, and all that only they needed."""
    for part in dict.fromkeys(parts):
        users = _users(package)
        if part in package and not users[part]:
            _drop(package, _needed_by(package, part, users))


def _drop(package: Package, gone: Iterable[str]) -> None:
    for part in gone:
        rels = _rels(part)
        if rels in package:
            package.drop(rels)
            undeclare(package, rels)
        package.drop(part)
        undeclare(package, part)


def _users(package: Package) -> dict[str, set[str]]:
    """Return, for each part, the parts that name it."""
    users: dict[str, set[str]] = defaultdict(set)
    for name in package.names:
        folder, file = posixpath.split(name)
        if posixpath.basename(folder) == "_rels" and file.endswith(".rels"):
            user = posixpath.join(posixpath.dirname(folder), file.removesuffix(".rels"))
            for arrow in Relationships(package, user):
                if not arrow.is_external:
                    users[arrow.target].add(user)
    return users


def _needed_by(package: Package, slide: str, users: dict[str, set[str]]) -> list[str]:
    """Return the slide and, link by link, the parts that only those before them use."""
    gone = [slide]
    for part in gone:
        for arrow in Relationships(package, part):
            target = arrow.target
            if not arrow.is_external and target in package and target not in gone and users[target] <= {*gone}:
                gone.append(target)
    return gone


def _forget(package: Package, user: str, slide: str) -> int:
    """Take out of a part what names the slide, and return how much that was; its notes go with it."""
    arrows = Relationships(package, user)
    doomed = {arrow.id for arrow in arrows if arrow.target == slide and not arrow.is_external}
    if not doomed or user not in package or _is_notes_of(package, user, slide):
        return 0
    root = package.tree(user)
    naming = _naming(root, doomed)
    for found in naming:
        parent = found.getparent()
        if parent is not None:
            parent.remove(found)
    arrows.remove(*doomed)
    if naming:
        package.changed(user)
    return len(naming)


def _naming(root: Element, ids: set[str]) -> list[Element]:
    return [found for found in root.iter(*_LINKS) if found.get(R_ID, "") in ids]


def _is_notes_of(package: Package, part: str, slide: str) -> bool:
    return any(arrow.target == part for arrow in Relationships(package, slide).of_type("notesSlide"))


def _rels(part: str) -> str:
    folder, name = posixpath.split(part)
    return posixpath.join(folder, "_rels", f"{name}.rels")
