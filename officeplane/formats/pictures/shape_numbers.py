"""Numbers of shapes in a drawing or on a slide: they get others, and what refers to them follows."""

from collections.abc import Iterator, Mapping
from itertools import count
from typing import Final

from officeplane.formats.xml import Element

_ABOUT: Final = "{*}cNvPr"
_ALTERNATIVES: Final = "AlternateContent"
_GLUE: Final = ("{*}stCxn", "{*}endCxn")


def renumber(root: Element, numbers: Mapping[Element, str]) -> dict[str, str]:
    """Give shapes other numbers, by their `cNvPr`, and return which number became which.

    A shape that is in the way of one gets a new number; connectors and animations follow.
    """
    new = dict(numbers)
    for about, number in numbers.items():
        new.update(dict.fromkeys(_alternatives(about), number))
    given = {*numbers.values()}
    taken = {about.get("id", "") for about in root.iter(_ABOUT)} | given
    free = (str(number) for number in count(max((int(one) for one in taken if one.isdecimal()), default=0) + 1))
    in_the_way: dict[str, str] = {}
    for about in root.iter(_ABOUT):
        number = about.get("id", "")
        if about not in new and number in given:
            in_the_way.setdefault(number, next(free))
            new[about] = in_the_way[number]
    moved: dict[str, str] = {}
    for about, number in new.items():
        moved.setdefault(about.get("id", ""), number)
    for about, number in new.items():
        about.set("id", number)
    for glue in root.iter(*_GLUE):
        glue.set("id", moved.get(glue.get("id", ""), glue.get("id", "")))
    for aimed in root.iter("{*}spTgt", "{*}inkTgt", "{*}bldP", "{*}bldDgm", "{*}bldGraphic", "{*}bldOleChart"):
        aimed.set("spid", moved.get(aimed.get("spid", ""), aimed.get("spid", "")))
    return moved


def _alternatives(about: Element) -> Iterator[Element]:
    """Yield those that other programs show instead of a shape, under the same number."""
    for around in about.iterancestors():
        if isinstance(around.tag, str) and around.tag.endswith(_ALTERNATIVES):
            yield from (one for one in around.iter(_ABOUT) if one.get("id") == about.get("id"))
