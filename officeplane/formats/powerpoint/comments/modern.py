"""Newer comments: tied to a slide, a shape or words, with their answers inside and a state."""

import posixpath
from typing import Final

from lxml import etree

from officeplane.formats.package import Package
from officeplane.formats.powerpoint.comments.remarks import MODERN, comment_parts
from officeplane.formats.powerpoint.names import DRAWING, R_ID, a, p, p14, under
from officeplane.formats.powerpoint.paragraphs import one_line
from officeplane.formats.powerpoint.shapes import properties
from officeplane.formats.powerpoint.slides import Slide, free_name
from officeplane.formats.relationships import OFFICE, Relationships, declare
from officeplane.formats.signature import Signature
from officeplane.formats.xml import Element

_AUTHORS_TYPE: Final = "application/vnd.ms-powerpoint.authors+xml"
_AUTHORS_RELATION: Final = "http://schemas.microsoft.com/office/2018/10/relationships/authors"
_TYPE: Final = "application/vnd.ms-powerpoint.comments+xml"
_RELATION: Final = "http://schemas.microsoft.com/office/2018/10/relationships/comments"
_COMMENTS_URI: Final = "{6950BFC3-D8DA-4A85-94F7-54DA5524770B}"
_PC: Final = "http://schemas.microsoft.com/office/powerpoint/2013/main/command"
_AC: Final = "http://schemas.microsoft.com/office/drawing/2013/main/command"
_KINDS: Final = {p("sp"): "spMk", p("pic"): "picMk", p("graphicFrame"): "graphicFrameMk", p("cxnSp"): "cxnSpMk"}
_UNKNOWN: Final = "{00000000-0000-0000-0000-000000000000}"


def is_in_use(package: Package, main: str) -> bool:
    """Tell whether a presentation has comments of the newer form."""
    return any(arrow.target in package for arrow in Relationships(package, main).of_type("authors"))


def add_comment(
    package: Package, main: str, slide: Slide, shape: Element | None, text: str, signature: Signature
) -> Element:
    """Tie a comment to a slide, or to a shape on it that is in no group."""
    part = next((name for name in comment_parts(package, slide.part) if package.tree(name).tag == _tag("cmLst")), None)
    if part is None:
        part = _new_part(package, main, slide)
    root = package.tree(part)
    made = _said(package, main, part, "cm", text, signature)
    made.insert(0, _moniker(package.tree(slide.part), slide, shape))
    behind = root.find(_tag("extLst"))
    if behind is None:
        root.append(made)
    else:
        behind.addprevious(made)
    package.changed(part)
    return made


def add_answer(package: Package, main: str, part: str, first: Element, text: str, signature: Signature) -> Element:
    """Answer the comment that a thread began with."""
    answers = first.find(_tag("replyLst"))
    if answers is None:
        answers = etree.Element(_tag("replyLst"))
        body = first.find(_tag("txBody"))
        first.append(answers) if body is None else body.addprevious(answers)
    made = _said(package, main, part, "reply", text, signature)
    answers.append(made)
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


def _said(package: Package, main: str, part: str, tag: str, text: str, signature: Signature) -> Element:
    taken = {one.get("id", "") for one in package.tree(part).iter(_tag("cm"), _tag("reply"))}
    made = etree.Element(_tag(tag), {"id": signature.guid(taken, "comment")})
    made.set("authorId", _author(package, main, signature))
    made.set("created", f"{signature.moment}.000")
    body = etree.SubElement(made, _tag("txBody"))
    etree.SubElement(body, a("bodyPr"))
    etree.SubElement(body, a("lstStyle"))
    for line in one_line(text).split("\n"):
        paragraph = etree.SubElement(body, a("p"))
        if line:
            etree.SubElement(etree.SubElement(paragraph, a("r")), a("t")).text = line
    return made


def _moniker(root: Element, slide: Slide, shape: Element | None) -> Element:
    """Return what names a slide, or a shape on it."""
    about = None if shape is None else properties(shape)
    kind = "" if shape is None else _KINDS.get(str(shape.tag), "")
    is_of_shape = about is not None and bool(kind)
    made = etree.Element(f"{{{_AC}}}deMkLst" if is_of_shape else f"{{{_PC}}}sldMkLst", nsmap={"pc": _PC, "ac": _AC})
    etree.SubElement(made, f"{{{_PC}}}docMk")
    held = root.find(f"{p('cSld')}/{p('extLst')}")
    created = None if held is None else next(held.iter(p14("creationId")), None)
    number = "0" if created is None else created.get("val", "0")
    etree.SubElement(made, f"{{{_PC}}}sldMk", {"cId": number, "sldId": str(slide.number)})
    if about is not None and kind:
        creation = next((one.get("id", "") for one in about.iter("{*}creationId")), _UNKNOWN)
        etree.SubElement(made, f"{{{_AC}}}{kind}", {"id": about.get("id", ""), "creationId": creation})
    return made


def _new_part(package: Package, main: str, slide: Slide) -> str:
    part = free_name(package, posixpath.join(posixpath.dirname(main), "comments"), "modernComment")
    package.put(part, f'<p188:cmLst xmlns:p188="{MODERN}" xmlns:a="{DRAWING}"/>'.encode())
    declare(package, part, _TYPE)
    arrow = Relationships(package, slide.part).add(_RELATION, part)
    root = package.tree(slide.part)
    extensions = root.find(p("extLst"))
    if extensions is None:
        extensions = under(root, p("extLst"))
    extension = under(extensions, p("ext"), uri=_COMMENTS_URI)
    etree.SubElement(extension, _tag("commentRel"), {R_ID: arrow}, nsmap={"p188": MODERN, "r": OFFICE})
    package.changed(slide.part)
    return part


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
