"""Newer comments: tied to a slide, a shape or words, with their answers inside and a state."""

import posixpath
from typing import Final

from lxml import etree

from officeplane.formats.package import Package
from officeplane.formats.powerpoint.comments.remarks import MODERN
from officeplane.formats.powerpoint.names import a
from officeplane.formats.relationships import Relationships, declare
from officeplane.formats.signature import Signature
from officeplane.formats.xml import Element

_AUTHORS_TYPE: Final = "application/vnd.ms-powerpoint.authors+xml"
_AUTHORS_RELATION: Final = "http://schemas.microsoft.com/office/2018/10/relationships/authors"
_ACTIVE: Final = "active"


def is_in_use(package: Package, main: str) -> bool:
    """Tell whether a presentation has comments of the newer form."""
    return any(arrow.target in package for arrow in Relationships(package, main).of_type("authors"))


def add_answer(package: Package, main: str, part: str, first: Element, text: str, signature: Signature) -> Element:
    """Answer the comment that a thread began with."""
    taken = {one.get("id", "") for one in package.tree(part).iter(_tag("cm"), _tag("reply"))}
    answers = first.find(_tag("replyLst"))
    if answers is None:
        answers = etree.Element(_tag("replyLst"))
        body = first.find(_tag("txBody"))
        first.append(answers) if body is None else body.addprevious(answers)
    made = etree.SubElement(answers, _tag("reply"), {"id": signature.guid(taken, "comment")})
    made.set("authorId", _author(package, main, signature))
    made.set("created", f"{signature.moment}.000")
    body = etree.SubElement(made, _tag("txBody"))
    etree.SubElement(body, a("bodyPr"))
    etree.SubElement(body, a("lstStyle"))
    for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n"):
        paragraph = etree.SubElement(body, a("p"))
        if line:
            etree.SubElement(etree.SubElement(paragraph, a("r")), a("t")).text = line
    package.changed(part)
    return made


def set_resolved(package: Package, part: str, first: Element, *, is_resolved: bool) -> None:
    """Say of a thread that it is resolved, or that it is open."""
    if is_resolved:
        first.set("status", "resolved")
    else:
        first.attrib.pop("status", None)
    package.changed(part)


def remove_comment(package: Package, part: str, gone: Element) -> bool:
    """Take a comment or an answer out; return whether no comment is left."""
    holder = gone.getparent()
    if holder is not None:
        holder.remove(gone)
        above = holder.getparent()
        if holder.tag == _tag("replyLst") and len(holder) == 0 and above is not None:
            above.remove(holder)
    package.changed(part)
    return package.tree(part).find(_tag("cm")) is None


def forget_part(package: Package, slide: str, arrow_id: str) -> None:
    """Take back what a slide says of the part that held its comments."""
    root = package.tree(slide)
    for named in [*root.iter(_tag("commentRel"))]:
        extension = named.getparent()
        holder = None if extension is None else extension.getparent()
        if extension is not None and holder is not None and arrow_id in named.attrib.values():
            holder.remove(extension)
            above = holder.getparent()
            if len(holder) == 0 and above is not None:
                above.remove(holder)
            package.changed(slide)


def _author(package: Package, main: str, signature: Signature) -> str:
    """Return the id of whoever writes; whom a service knows by that name is somebody else."""
    arrows = Relationships(package, main)
    part = next((arrow.target for arrow in arrows.of_type("authors") if arrow.target in package), None)
    if part is None:
        part = posixpath.join(posixpath.dirname(main), "authors.xml")
        package.put(part, f'<p188:authorLst xmlns:p188="{MODERN}"/>'.encode())
        declare(package, part, _AUTHORS_TYPE)
        arrows.add(_AUTHORS_RELATION, part)
    root = package.tree(part)
    authors = [*root.iter(_tag("author"))]
    for author in authors:
        if author.get("name") == signature.name and author.get("providerId", "None") == "None":
            return author.get("id", "")
    made = etree.SubElement(root, _tag("author"))
    made.set("id", signature.guid({author.get("id", "") for author in authors}, f"author {signature.name}"))
    made.set("name", signature.name)
    made.set("initials", signature.initials)
    made.set("userId", signature.name)
    made.set("providerId", "None")
    package.changed(part)
    return made.get("id", "")


def _tag(name: str) -> str:
    return f"{{{MODERN}}}{name}"
