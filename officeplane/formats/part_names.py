"""Names of parts: some are called otherwise, and everything that names them follows."""

import posixpath
from collections.abc import Mapping
from itertools import count

from officeplane.formats.package import Package
from officeplane.formats.relationships import CONTENT_TYPES_PART, rels_of, retarget


def rename_parts(package: Package, names: Mapping[str, str]) -> None:
    """Call parts otherwise, all at once: two may change places. Who is in the way of one is called otherwise, too."""
    if not names:
        return
    names = {**_out_of_the_way(package, names), **names}
    users = [(name, owner) for name in package.names if (owner := _owner(name)) is not None]
    for rels, owner in users:
        retarget(package, rels, posixpath.dirname(owner), names)
    for entry in package.tree(CONTENT_TYPES_PART):
        renamed = names.get(entry.get("PartName", "").removeprefix("/"))
        if renamed is not None:
            entry.set("PartName", f"/{renamed}")
            package.changed(CONTENT_TYPES_PART)
    package.rename({**names, **{rels_of(name): rels_of(new) for name, new in names.items()}})


def _out_of_the_way(package: Package, names: Mapping[str, str]) -> dict[str, str]:
    taken = {*package.names, *names.values()}
    moved: dict[str, str] = {}
    for name in names.values():
        if name in package and name not in names:
            stem, dot, extension = name.rpartition(".")
            turn = next(turn for turn in count(2) if f"{stem}-{turn}{dot}{extension}" not in taken)
            moved[name] = f"{stem}-{turn}{dot}{extension}"
            taken.add(moved[name])
    return moved


def _owner(rels: str) -> str | None:
    """Return the part whose relationships a part holds; the package itself is the empty one."""
    folder, name = posixpath.split(rels)
    if posixpath.basename(folder) != "_rels" or not name.endswith(".rels"):
        return None
    return posixpath.join(posixpath.dirname(folder), name.removesuffix(".rels"))
