"""Brought pictures: those that content names or brings lie on its slide, beside its text.

One that lies on this slide already stays where it is. One from another slide is copied.
"""

from collections.abc import Callable, Iterable
from typing import Final, NamedTuple
from urllib.parse import unquote

from officeplane.domain.document import InvalidEditError
from officeplane.formats.blocks import Picture
from officeplane.formats.package import Package
from officeplane.formats.pictures.bitmap import given_bitmap
from officeplane.formats.pictures.drawing import EMU, describe
from officeplane.formats.powerpoint.geometry import Area, area_of, place
from officeplane.formats.powerpoint.inheritance import Room
from officeplane.formats.powerpoint.marks import mark
from officeplane.formats.powerpoint.names import a, p
from officeplane.formats.powerpoint.nodes import SlideNode
from officeplane.formats.powerpoint.pictures import put_on
from officeplane.formats.powerpoint.shape_copies import copied
from officeplane.formats.powerpoint.shapes import PICTURE, properties, settings
from officeplane.formats.powerpoint.slides import Slide
from officeplane.formats.powerpoint.text_shapes import add_shape, set_area
from officeplane.formats.xml import Element

_NODE: Final = "node:"
_BASE64: Final = ";base64,"


class NewPicture(NamedTuple):
    """A picture that is to lie on the slide: how large it is by itself, and the deed."""

    size: tuple[int, int]
    put: Callable[[Area], Element]


class BroughtPictures:
    """What content has in pictures for one slide; `find` finds nodes, `room_of` tells the room on their slides."""

    def __init__(
        self, package: Package, slide: Slide, find: Callable[[str], SlideNode], room_of: Callable[[Slide], Room]
    ) -> None:
        self._package = package
        self._slide = slide
        self._find = find
        self._room_of = room_of

    def new(self, pictures: Iterable[Picture]) -> list[NewPicture]:
        """Return what is to lie on the slide and does not yet; what does is told as the content tells it."""
        found: list[NewPicture] = []
        for picture in pictures:
            link = picture.link or ""
            if not link.startswith(_NODE):
                found.append(self._given(picture))
                continue
            node = self._find(unquote(link.removeprefix(_NODE)))
            shape = node.shape
            if shape is None or node.detail.kind != "picture":
                raise InvalidEditError(f"{node.id!r} is a {node.detail.kind}: the list of images has those of pictures")
            if node.slide.id == self._slide.id:
                self._tell(shape, picture, node.detail.name)
            elif shape.tag != PICTURE:
                raise InvalidEditError(f"{node.id!r} is no plain picture: duplicate its slide")
            else:
                found.append(self._copy(node.slide, shape, picture, node.detail.name))
        return found

    def _given(self, picture: Picture) -> NewPicture:
        header, _, data = (picture.link or "").partition(_BASE64)
        if not data:
            raise InvalidEditError(f"{header[:40]!r} is no picture: give its bytes as data:image/png;base64,...")
        bitmap = given_bitmap(unquote(data))
        width, height = bitmap.points

        def put(area: Area) -> Element:
            return _marked(put_on(self._package, self._slide, bitmap, picture.text, area))

        return NewPicture((int(width * EMU), int(height * EMU)), put)

    def _copy(self, origin: Slide, shape: Element, picture: Picture, name: str) -> NewPicture:
        def put(area: Area) -> Element:
            made = copied(self._package, origin.part, shape, self._slide.part, self._room_of(origin))
            twin = made if made.tag == PICTURE else next(made.iter(PICTURE))
            _lay(twin, area)
            add_shape(self._package.tree(self._slide.part), made)
            self._package.changed(self._slide.part)
            self._tell(twin, picture, name)
            return _marked(twin)

        lies = area_of(shape) or self._room_of(origin).of(shape)
        return NewPicture((max(lies.width, 1), max(lies.height, 1)), put)

    def _tell(self, shape: Element, picture: Picture, name: str) -> None:
        about = properties(shape)
        if about is not None and picture.text.split() != name.split():
            describe(about, picture.text)
            self._package.changed(self._slide.part)


def _lay(shape: Element, area: Area) -> None:
    """Have a shape lie elsewhere, turned as it is."""
    found = shape.find(f"{p('spPr')}/{a('xfrm')}")
    if found is None:
        set_area(shape, area)
        return
    for old in [*found.iterchildren(a("off"), a("ext"))]:
        found.remove(old)
    place(found, area)


def _marked(shape: Element) -> Element:
    """Mark a picture as one that content has brought: the body of its slide makes room for it."""
    holder = settings(shape)
    if holder is not None:
        mark(holder)
    return shape
