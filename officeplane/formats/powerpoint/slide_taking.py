"""Taking a slide along: a presentation of nothing but this slide, with what it needs to look as it does.

That is its layout, master and theme, its notes, and all that it shows. Other slides
are left behind: links to them lead to the slide itself, so that who puts it into
another presentation knows what to take out.
"""

import posixpath
from typing import Final

from officeplane.domain.document import InvalidEditError
from officeplane.formats.package import Package
from officeplane.formats.powerpoint.names import R_ID, p
from officeplane.formats.powerpoint.slides import Slide
from officeplane.formats.relationships import CONTENT_TYPES_PART, Relationships, rels_of, undeclare

TAKEN_BYTES_MAX: Final = 24 * 1024 * 1024
"""How large the file of a slide may be."""

_OF_MAIN: Final = frozenset(
    p(name) for name in ("sldMasterIdLst", "notesMasterIdLst", "sldIdLst", "sldSz", "notesSz", "defaultTextStyle")
)
_KINDS_OF_MAIN: Final = frozenset(("slideMaster", "notesMaster", "slide", "theme", "tableStyles"))


def take_slide(package: Package, main: str, slide: Slide) -> bytes:
    """Return the file of one slide of a presentation, which stays as it is."""
    taken = Package.read(package.write().content())
    _only(taken, main, "slide", slide.part, "sldIdLst")
    layouts = [arrow.target for arrow in Relationships(taken, slide.part).of_type("slideLayout")]
    masters = [arrow.target for layout in layouts for arrow in Relationships(taken, layout).of_type("slideMaster")]
    for master in masters[:1]:
        _only(taken, main, "slideMaster", master, "sldMasterIdLst")
        _only(taken, master, "slideLayout", layouts[0], "sldLayoutIdLst")
    root = taken.tree(main)
    for child in [child for child in root if child.tag not in _OF_MAIN]:
        root.remove(child)
    _keep(taken, main, _KINDS_OF_MAIN)
    _keep(taken, "", frozenset(("officeDocument",)))
    taken.changed(main)
    _lead_back(taken, slide.part)
    _drop_all_but(taken, main)
    data = taken.write().content()
    if len(data) > TAKEN_BYTES_MAX:
        raise InvalidEditError(
            f"the slide {slide.id!r} takes {len(data)} bytes with its pictures and media; {TAKEN_BYTES_MAX} are "
            "allowed: copy it without the largest, or in PowerPoint"
        )
    return data


def _only(package: Package, user: str, kind: str, part: str, listed_in: str) -> None:
    """Leave one of what a part lists."""
    arrows = Relationships(package, user)
    gone = {arrow.id for arrow in arrows.of_type(kind) if arrow.target != part}
    listed = package.tree(user).find(p(listed_in))
    if listed is not None:
        for entry in [entry for entry in listed if entry.get(R_ID, "") in gone]:
            listed.remove(entry)
    arrows.remove(*gone)
    package.changed(user)


def _keep(package: Package, user: str, kinds: frozenset[str]) -> None:
    arrows = Relationships(package, user)
    arrows.remove(*(arrow.id for arrow in arrows if arrow.type.rsplit("/", 1)[-1] not in kinds))


def _lead_back(package: Package, slide: str) -> None:
    """Have links to other slides lead to this one."""
    rels = rels_of(slide)
    others = {arrow.id for arrow in Relationships(package, slide).of_type("slide") if arrow.target != slide}
    for arrow in package.tree(rels) if others else ():
        if arrow.get("Id") in others:
            arrow.set("Target", posixpath.basename(slide))
            package.changed(rels)


def _drop_all_but(package: Package, main: str) -> None:
    """Drop what nothing leads to."""
    needed = [main]
    for part in needed:
        needed += {
            arrow.target
            for arrow in Relationships(package, part)
            if not arrow.is_external and arrow.target in package and arrow.target not in needed
        }
    kept = {CONTENT_TYPES_PART, rels_of(""), *needed, *map(rels_of, needed)}
    for name in [name for name in package.names if name not in kept]:
        package.drop(name)
        undeclare(package, name)
