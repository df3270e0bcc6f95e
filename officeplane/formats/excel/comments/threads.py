"""Threads: comments with answers and a state, and the list of the people who write them."""

from typing import Final

from lxml import etree

from officeplane.formats.excel.comments.own_parts import drop_own, free_part, new_part
from officeplane.formats.excel.comments.remarks import parts_of, thread_id
from officeplane.formats.excel.sheets.sheet_list import Sheet
from officeplane.formats.package import Package
from officeplane.formats.relationships import Relationships, declare
from officeplane.formats.signature import Signature
from officeplane.formats.xml import Element

_KIND: Final = "threadedComment"
_SPACE: Final = "http://schemas.microsoft.com/office/spreadsheetml/2018/threadedcomments"
_RELATION: Final = "http://schemas.microsoft.com/office/2017/10/relationships/threadedComment"
_TYPE: Final = "application/vnd.ms-excel.threadedcomments+xml"
_EMPTY: Final = f'<ThreadedComments xmlns="{_SPACE}"/>'.encode()
_PERSON_RELATION: Final = "http://schemas.microsoft.com/office/2017/10/relationships/person"
_PERSON_TYPE: Final = "application/vnd.ms-excel.person+xml"
_PERSONS: Final = "xl/persons/person.xml"
_NOBODY: Final = f'<personList xmlns="{_SPACE}"/>'.encode()


def add_comment(
    package: Package, workbook: str, sheet: Sheet, cell: str, text: str, signature: Signature, answered: Element | None
) -> Element:
    """Add a comment to a cell, or an answer to one."""
    part = next(iter(parts_of(package, sheet, _KIND)), None)
    if part is None:
        part = free_part(package, "xl/threadedComments/threadedComment", "xml")
        new_part(package, sheet, part, _EMPTY, _TYPE, _RELATION)
    root = package.tree(part)
    taken = {thread_id(one) for one in root.iter(_tag("threadedComment"))}
    made = etree.SubElement(root, _tag("threadedComment"), {"ref": cell, "dT": f"{signature.moment}.00"})
    made.set("personId", _person(package, workbook, signature))
    made.set("id", signature.guid(taken, "comment"))
    if answered is not None:
        made.set("parentId", thread_id(answered))
        # Excel has the answers of a thread behind it, in order.
        others = [one for one in root if one.get("parentId") == thread_id(answered) and one is not made]
        (others[-1] if others else answered).addnext(made)
    etree.SubElement(made, _tag("text")).text = text
    package.changed(part)
    return made


def set_resolved(package: Package, sheet: Sheet, first: Element, *, is_resolved: bool) -> None:
    """Say of a thread that it is resolved, or that it is open."""
    if is_resolved:
        first.set("done", "1")
    else:
        first.attrib.pop("done", None)
    for part in _holding(package, sheet, first):
        package.changed(part)


def remove_comments(package: Package, sheet: Sheet, gone: list[Element]) -> None:
    """Take comments out of their threads, and the part that held them if they were the last."""
    for one in gone:
        for part in _holding(package, sheet, one):
            root = package.tree(part)
            root.remove(one)
            package.changed(part)
            if next(root.iter(_tag("threadedComment")), None) is None:
                arrows = Relationships(package, sheet.part).of_type(_KIND)
                drop_own(package, sheet, next(arrow.id for arrow in arrows if arrow.target == part))


def _holding(package: Package, sheet: Sheet, element: Element) -> list[str]:
    root = element.getroottree().getroot()
    return [part for part in parts_of(package, sheet, _KIND) if package.tree(part) is root]


def _person(package: Package, workbook: str, signature: Signature) -> str:
    """Return the id of whoever writes; whom a service knows by that name is somebody else."""
    arrows = Relationships(package, workbook)
    part = next((arrow.target for arrow in arrows.of_type("person") if arrow.target in package), None)
    if part is None:
        part = _PERSONS
        package.put(part, _NOBODY)
        declare(package, part, _PERSON_TYPE)
        arrows.add(_PERSON_RELATION, part)
    root = package.tree(part)
    persons = [*root.iter(_tag("person"))]
    for person in persons:
        if person.get("displayName") == signature.name and person.get("providerId", "None") == "None":
            return person.get("id", "")
    made = etree.SubElement(root, _tag("person"), {"displayName": signature.name})
    made.set("id", signature.guid({person.get("id", "") for person in persons}, f"person {signature.name}"))
    made.set("userId", signature.name)
    made.set("providerId", "None")
    package.changed(part)
    return made.get("id", "")


def _tag(name: str) -> str:
    return f"{{{_SPACE}}}{name}"
