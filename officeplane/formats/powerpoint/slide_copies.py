"""Copies of slides: with notes, charts and pictures of their own, without comments."""

from copy import deepcopy
from typing import Final

from officeplane.formats.package import Package
from officeplane.formats.powerpoint.part_copies import copy_arrows
from officeplane.formats.powerpoint.shape_copies import drop, forget_creation
from officeplane.formats.powerpoint.slides import Slide, Slides
from officeplane.formats.relationships import Relationships
from officeplane.formats.xml import serialise

_COMMENTS: Final = "comments"


def copy_slide(package: Package, slides: Slides, slide: Slide) -> str:
    """Return the part of a copy of a slide, not listed yet."""
    comments = {arrow.id for arrow in Relationships(package, slide.part).of_type(_COMMENTS)}
    root = deepcopy(package.tree(slide.part))
    forget_creation(root)
    for named in [*root.iter("{*}commentRel")]:
        extension = named.getparent()
        if extension is not None:
            drop(extension)
    made = slides.new_part(serialise(root))
    copy_arrows(package, slide.part, made, {slide.part: made}, without=comments)
    return made
