"""Bringing a slide: one of another presentation becomes a part of this one, in a layout that this one has.

What the slide has for itself comes along, its pictures, charts and notes. Layout,
master and theme are those of the presentation that it comes to.
"""

import posixpath
import re
from copy import deepcopy
from typing import Final, NamedTuple

from officeplane.domain.document import InvalidEditError
from officeplane.domain.warning import EditWarning
from officeplane.formats.package import Package
from officeplane.formats.powerpoint.inheritance import Room
from officeplane.formats.powerpoint.insets import CLICKS
from officeplane.formats.powerpoint.layouts import Layout, chosen_for
from officeplane.formats.powerpoint.names import R_ID, a
from officeplane.formats.powerpoint.notes_master import notes_master
from officeplane.formats.powerpoint.part_copies import MEDIA
from officeplane.formats.powerpoint.placeholders import counterpart, is_of_the_program, placeholder
from officeplane.formats.powerpoint.shape_copies import drop, forget_creation
from officeplane.formats.powerpoint.shapes import shapes
from officeplane.formats.powerpoint.slide_layouts import take_layout
from officeplane.formats.powerpoint.slides import Slide, free_name
from officeplane.formats.relationships import Relationships, content_type, declare
from officeplane.formats.xml import Element

OTHER_LAYOUT: Final = "other_layout"
"""The code of a layout that took the place of one that there is not."""

_LEFT: Final = frozenset(("slideMaster", "theme", "handoutMaster", "comments"))
_COMMENTS: Final = "comments"


class Origin(NamedTuple):
    """Where a slide comes from: a presentation, which layout it has there, and how it is called."""

    package: Package
    main: str
    slide: Slide
    layout: Layout | None
    name: str


class Bringing:
    """Puts the parts of one slide into a package."""

    def __init__(self, package: Package, main: str, origin: Origin) -> None:
        self._package = package
        self._main = main
        self._origin = origin
        self._copies: dict[str, str] = {}
        self.warnings: list[EditWarning] = []
        """What does not come along, or otherwise than it was."""

    def part(self) -> str:
        """Return the part of the slide, which has no layout yet and is not listed."""
        origin = self._origin
        part = self._copied(origin.slide.part, is_media=False)
        root = self._package.tree(part)
        forget_creation(root)
        for named in [*root.iter("{*}commentRel")]:
            extension = named.getparent()
            if extension is not None:
                drop(extension)
        self._forget_jumps(part, root)
        self._bring_table_styles(root)
        self._package.changed(part)
        return part

    def lay_out(self, slide: Slide, known: list[Layout], near: str | None) -> Layout:
        """Give the slide the layout of its name, or else the closest; `near` is the master that comes first."""
        like = self._origin.layout
        root = self._package.tree(slide.part)
        own = [shape for shape in shapes(root) if placeholder(shape) is not None and not is_of_the_program(shape)]
        layout = chosen_for(known, None if like is None else like.name, own, near)
        if like is None or layout.name != like.name:
            was = "" if like is None else f"{like.name!r}"
            self.warnings.append(
                EditWarning(OTHER_LAYOUT, f"there is no layout {was} here: it has {layout.name!r} now", slide.id)
            )
        if all(counterpart(shape, layout.root) is not None for shape in own):
            Relationships(self._package, slide.part).add("slideLayout", layout.part)
            return layout
        room = Room(self._origin.package, self._origin.main, like)
        relaid = take_layout(self._package, slide, layout, room)
        self.warnings += relaid.warnings
        return layout

    def _copied(self, part: str, *, is_media: bool) -> str:
        """Return the copy of a part, with all that is its own; each is made once, and media may be there already."""
        if part in self._copies:
            return self._copies[part]
        theirs = self._origin.package
        content, kind = theirs.content(part), content_type(theirs, part)
        bare, _, extension = posixpath.basename(part).rpartition(".")
        same = next((one for one in self._package.names if is_media and self._is_same(one, content)), None)
        if same is not None:
            self._copies[part] = same
            return same
        made = self._copies[part] = free_name(
            self._package, self._folder_of(part), re.sub(r"\d+$", "", bare), extension
        )
        self._package.put(made, content, as_it_is=is_media)
        if kind is not None:
            declare(self._package, made, kind)
        self._copy_arrows(part, made)
        return made

    def _folder_of(self, part: str) -> str:
        """Return where the copy of a part belongs, beside the presentation as the part was beside its own."""
        beside = posixpath.relpath(posixpath.dirname(part) or ".", posixpath.dirname(self._origin.main) or ".")
        folder = posixpath.normpath(posixpath.join(posixpath.dirname(self._main), beside))
        return "" if folder == "." else folder

    def _is_same(self, name: str, content: bytes) -> bool:
        return self._package.sizes(name)[0] == len(content) and self._package.content(name) == content

    def _copy_arrows(self, part: str, made: str) -> None:
        theirs = self._origin.package
        arrows = Relationships(self._package, made)
        for arrow in [*Relationships(theirs, part)]:
            kind = arrow.type.rsplit("/", 1)[-1]
            if kind in _LEFT or kind == "slideLayout":
                if kind == _COMMENTS:
                    self._warn("the comments of the slide")
                continue
            if arrow.is_external:
                arrows.repeat(arrow, arrow.target)
            elif kind == "notesMaster":
                arrows.repeat(arrow, notes_master(self._package, self._main))
            elif arrow.target in theirs:
                arrows.repeat(arrow, self._copied(arrow.target, is_media=kind in MEDIA))

    def _forget_jumps(self, part: str, root: Element) -> None:
        """Take out links to other slides, which lead back to this one as it was taken."""
        arrows = Relationships(self._package, part)
        jumps = {arrow.id for arrow in arrows.of_type("slide")}
        found = [click for click in root.iter(*CLICKS) if click.get(R_ID, "") in jumps]
        for click in found:
            drop(click)
        arrows.remove(*jumps)
        if found:
            self._warn(f"{len(found)} links to other slides")

    def _bring_table_styles(self, root: Element) -> None:
        """Bring the styles of tables that only the other presentation has."""
        wanted = {each.text or "" for each in root.iter(a("tableStyleId"))}
        theirs = _styles(self._origin.package, self._origin.main)
        for arrow in Relationships(self._package, self._main).of_type("tableStyles") if wanted & theirs.keys() else ():
            own = _styles(self._package, self._main)
            for guid in sorted(wanted & theirs.keys() - own.keys()):
                self._package.tree(arrow.target).append(deepcopy(theirs[guid]))
                self._package.changed(arrow.target)

    def _warn(self, what: str) -> None:
        self.warnings.append(EditWarning("not_copied", what, self._origin.name))


def origin_in(package: Package, main: str, slides: list[Slide], known: list[Layout], name: str) -> Origin:
    """Return what a file of one slide holds."""
    if len(slides) != 1:
        raise InvalidEditError(f"the file of the slide {name!r} has {len(slides)} slides")
    parts = {arrow.target for arrow in Relationships(package, slides[0].part).of_type("slideLayout")}
    layout = next((layout for layout in known if layout.part in parts), None)
    return Origin(package, main, slides[0], layout, name)


def _styles(package: Package, main: str) -> dict[str, Element]:
    found = [arrow.target for arrow in Relationships(package, main).of_type("tableStyles") if arrow.target in package]
    return {style.get("styleId", ""): style for part in found for style in package.tree(part).iterfind(a("tblStyle"))}
