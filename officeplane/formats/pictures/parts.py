"""Parts: the bytes of pictures in a package, each kept once however many show it."""

import hashlib
import posixpath
import re
from typing import Final

from officeplane.domain.errors import TooLargeToShowError
from officeplane.formats.package import Package
from officeplane.formats.pictures.bitmap import Bitmap
from officeplane.formats.relationships import Relationships, content_type, declare, main_part, undeclare

SHOWN_PICTURE_BYTES_MAX: Final = 32 * 1024 * 1024
"""A larger one is only in the file as a whole."""

_IMAGE: Final = "image"
_RELS: Final = re.compile(r"(?:(.*)/)?_rels/([^/]*)\.rels")


def put_picture(package: Package, user: str, bitmap: Bitmap) -> str:
    """Keep a picture that a part is to show; return the id by which that part names it."""
    part = _same(package, bitmap)
    if part is None:
        part = _free_name(package, bitmap)
        package.put(part, bitmap.content, as_it_is=True)
        declare(package, part, bitmap.media_type)
    arrows = Relationships(package, user)
    known = next((arrow.id for arrow in arrows.of_type(_IMAGE) if arrow.target == part and not arrow.is_external), None)
    return arrows.add(_IMAGE, part) if known is None else known


def digest_of(package: Package, user: str, relationship_id: str) -> str | None:
    """Return a hash of the bytes of a picture that a part shows; None when they are not in the package."""
    part = _part(package, user, relationship_id)
    return None if part is None else hashlib.sha256(package.content(part)).hexdigest()


def bytes_of(package: Package, user: str, relationship_id: str) -> bytes | None:
    """Return the bytes of a picture that a part shows; None when they are not in the package."""
    part = _part(package, user, relationship_id)
    if part is not None and package.sizes(part)[0] > SHOWN_PICTURE_BYTES_MAX:
        raise TooLargeToShowError
    return None if part is None else package.content(part)


def drop_pictures(package: Package, user: str, *relationship_ids: str) -> None:
    """Forget pictures that a part has ceased to show, and their bytes if nobody else shows them."""
    named = {value for element in package.tree(user).iter() for value in element.attrib.values()}
    arrows = Relationships(package, user)
    gone = [arrow for arrow in arrows if arrow.id in relationship_ids and arrow.id not in named]
    arrows.remove(*(arrow.id for arrow in gone))
    for part in dict.fromkeys(arrow.target for arrow in gone if not arrow.is_external):
        if part in package and part not in _used(package):
            package.drop(part)
            undeclare(package, part)


def _part(package: Package, user: str, relationship_id: str) -> str | None:
    arrows = (arrow for arrow in Relationships(package, user) if arrow.id == relationship_id and not arrow.is_external)
    return next((arrow.target for arrow in arrows if arrow.target in package), None) if relationship_id else None


def _same(package: Package, bitmap: Bitmap) -> str | None:
    """Return the part that holds these bytes already."""
    for name in package.names:
        is_alike = package.sizes(name)[0] == len(bitmap.content) and package.content(name) == bitmap.content
        if is_alike and content_type(package, name) == bitmap.media_type:
            return name
    return None


def _free_name(package: Package, bitmap: Bitmap) -> str:
    """Return a name with the number after the highest that any picture has."""
    folder = posixpath.join(posixpath.dirname(main_part(package)), "media")
    pattern = re.compile(rf"{re.escape(folder)}/image([0-9]{{1,9}})\.[^/]*", re.IGNORECASE)
    numbers = [int(match[1]) for match in map(pattern.fullmatch, package.names) if match is not None]
    return f"{folder}/image{max(numbers, default=0) + 1}.{bitmap.kind}"


def _used(package: Package) -> set[str]:
    """Return all parts that others name."""
    used: set[str] = set()
    for name in package.names:
        match = _RELS.fullmatch(name)
        if match is not None:
            user = posixpath.join(match[1] or "", match[2])
            used |= {arrow.target for arrow in Relationships(package, user) if not arrow.is_external}
    return used
