"""Older comments: pinned to a place of a slide, numbered by author, without a state."""

import posixpath
from typing import Final

from lxml import etree

from officeplane.formats.package import Package
from officeplane.formats.powerpoint.comments.remarks import P15, comment_parts, number_of
from officeplane.formats.powerpoint.names import PRESENTATION, attribute_number, p
from officeplane.formats.powerpoint.slides import free_name
from officeplane.formats.relationships import Relationships, declare
from officeplane.formats.signature import Signature
from officeplane.formats.xml import Element

_TYPE: Final = "application/vnd.openxmlformats-officedocument.presentationml"
_THREADING: Final = "{C676402C-5697-4E1C-873F-D02D1690AC5C}"
_ANSWER_FURTHER: Final = 136
"""How much further right and down PowerPoint pins an answer."""


def add_comment(
    package: Package, main: str, slide: str, place: tuple[int, int], text: str, signature: Signature
) -> Element:
    """Pin a comment to a place of a slide."""
    part = next((name for name in comment_parts(package, slide) if package.tree(name).tag == p("cmLst")), None)
    if part is None:
        part = free_name(package, posixpath.join(posixpath.dirname(main), "comments"), "comment")
        _put(package, part, "cmLst", "comments")
        Relationships(package, slide).add("comments", part)
    return _append(package, main, part, place, text, signature)


def add_answer(package: Package, main: str, part: str, first: Element, text: str, signature: Signature) -> Element:
    """Answer the comment that a thread began with."""
    pin = first.find(p("pos"))
    place = (0, 0) if pin is None else (attribute_number(pin, "x", 0), attribute_number(pin, "y", 0))
    made = _append(package, main, part, (place[0] + _ANSWER_FURTHER, place[1] + _ANSWER_FURTHER), text, signature)
    threading = next(made.iter(f"{{{P15}}}threadingInfo"))
    author, number = number_of(first)
    etree.SubElement(threading, f"{{{P15}}}parentCm", {"authorId": author, "idx": number})
    return made


def remove_comments(package: Package, part: str, gone: list[Element]) -> bool:
    """Take comments out; return whether none is left."""
    root = package.tree(part)
    for comment in gone:
        root.remove(comment)
    package.changed(part)
    return root.find(p("cm")) is None


def _append(package: Package, main: str, part: str, place: tuple[int, int], text: str, signature: Signature) -> Element:
    author, number = _counted(package, main, signature)
    root = package.tree(part)
    made = etree.Element(p("cm"), {"authorId": author, "dt": f"{signature.moment}.000", "idx": number})
    etree.SubElement(made, p("pos"), {"x": str(place[0]), "y": str(place[1])})
    etree.SubElement(made, p("text")).text = text
    extension = etree.SubElement(etree.SubElement(made, p("extLst")), p("ext"), {"uri": _THREADING})
    etree.SubElement(extension, f"{{{P15}}}threadingInfo", {"timeZoneBias": "0"}, nsmap={"p15": P15})
    behind = root.find(p("extLst"))
    if behind is None:
        root.append(made)
    else:
        behind.addprevious(made)
    package.changed(part)
    return made


def _counted(package: Package, main: str, signature: Signature) -> tuple[str, str]:
    """Return the author's id and the number of their next comment; numbers are not given again."""
    arrows = Relationships(package, main)
    part = next((arrow.target for arrow in arrows.of_type("commentAuthors") if arrow.target in package), None)
    if part is None:
        part = posixpath.join(posixpath.dirname(main), "commentAuthors.xml")
        _put(package, part, "cmAuthorLst", "commentAuthors")
        arrows.add("commentAuthors", part)
    root = package.tree(part)
    authors = root.findall(p("cmAuthor"))
    found = next((author for author in authors if author.get("name") == signature.name), None)
    if found is None:
        number = 1 + max((attribute_number(author, "id", -1) for author in authors), default=-1)
        found = etree.Element(p("cmAuthor"), {"id": str(number), "name": signature.name})
        found.set("initials", signature.initials)
        found.set("lastIdx", "0")
        found.set("clrIdx", str(number))
        behind = root.find(p("extLst"))
        root.append(found) if behind is None else behind.addprevious(found)
    author = found.get("id", "")
    used = [attribute_number(one, "idx", 0) for one in _all(package) if one.get("authorId") == author]
    following = 1 + max([attribute_number(found, "lastIdx", 0), *used])
    found.set("lastIdx", str(following))
    package.changed(part)
    return author, str(following)


def _all(package: Package) -> list[Element]:
    parts = (name for name in package.names if posixpath.basename(name).startswith("comment") and name.endswith(".xml"))
    return [one for part in parts for one in package.tree(part).iterchildren(p("cm"))]


def _put(package: Package, part: str, root: str, kind: str) -> None:
    package.put(part, f'<p:{root} xmlns:p="{PRESENTATION}"/>'.encode())
    declare(package, part, f"{_TYPE}.{kind}+xml")
