"""Unused parts: what a part reaches, and how a part goes that nothing reaches any more."""

import posixpath

from officeplane.formats.package import Package
from officeplane.formats.relationships import Relationships, undeclare


def reachable(package: Package, part: str) -> set[str]:
    """Return a part and all that it leads to; the empty name stands for the package."""
    found: set[str] = set()
    waiting = [part]
    while waiting:
        current = waiting.pop()
        if current in found:
            continue
        found.add(current)
        waiting += [a.target for a in Relationships(package, current) if not a.is_external and a.target in package]
    return found - {""}


def drop(package: Package, part: str) -> None:
    """Remove a part with its own arrows, and what is said of them."""
    undeclare(package, part)
    package.drop(part)
    folder, name = posixpath.split(part)
    arrows = posixpath.join(folder, "_rels", f"{name}.rels")
    if arrows in package:
        undeclare(package, arrows)
        package.drop(arrows)
