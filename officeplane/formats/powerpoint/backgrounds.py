"""Backgrounds: the colour behind a slide, or what its layout has there."""

from collections.abc import Iterator

from officeplane.domain.document import InvalidEditError
from officeplane.domain.warning import Loss
from officeplane.formats.package import Package
from officeplane.formats.powerpoint.names import a, alone, p, under
from officeplane.formats.powerpoint.shape_removal import drop_parts
from officeplane.formats.powerpoint.slides import Slide


def set_background(package: Package, slide: Slide, colour: str | None) -> Iterator[Loss]:
    """Put a colour behind a slide, None for what its layout has; yield what was there if it was a picture."""
    content = package.tree(slide.part).find(p("cSld"))
    if content is None:
        raise InvalidEditError(f"{slide.id!r} has no content that a background could lie behind")
    old = content.find(p("bg"))
    if old is None and colour is None:
        return
    if old is not None:
        content.remove(old)
        if old.find(f".//{a('blip')}") is not None:
            yield Loss("picture", slide.id, "background")
        drop_parts(package, slide, old)
    if colour is not None:
        made = alone(p("bg"))
        look = under(made, p("bgPr"))
        under(under(look, a("solidFill")), a("srgbClr"), val=colour.upper())
        under(look, a("effectLst"))
        content.insert(0, made)
    package.changed(slide.part)
