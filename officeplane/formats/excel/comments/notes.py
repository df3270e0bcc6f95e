"""Notes: the older form of comments, in which programs that know no threads show these, too."""

from collections.abc import Sequence
from typing import Final

from lxml import etree

from officeplane.formats.excel.cells.addresses import address
from officeplane.formats.excel.comments.boxes import add_box, remove_box
from officeplane.formats.excel.comments.own_parts import drop_own, free_part, new_part
from officeplane.formats.excel.comments.remarks import OF_THREAD, authors_in, parts_of
from officeplane.formats.excel.numbers import whole
from officeplane.formats.excel.sheets.sheet_list import Sheet
from officeplane.formats.excel.tags import MAIN, SPACE, main
from officeplane.formats.package import Package
from officeplane.formats.relationships import Relationships
from officeplane.formats.xml import Element

_KIND: Final = "comments"
_TYPE: Final = "application/vnd.openxmlformats-officedocument.spreadsheetml.comments+xml"
_COMPATIBILITY: Final = "http://schemas.openxmlformats.org/markup-compatibility/2006"
_XR: Final = "http://schemas.microsoft.com/office/spreadsheetml/2014/revision"
_EMPTY: Final = (
    f'<comments xmlns="{MAIN}" xmlns:mc="{_COMPATIBILITY}" mc:Ignorable="xr" xmlns:xr="{_XR}"><authors/><commentList/>'
    "</comments>"
).encode()
_BEGINNING: Final = (
    "[Threaded comment]\n\nThis program shows a thread of comments as a note. What is changed in the note is lost as "
    "soon as a newer version of Excel opens the workbook.\n"
)
_CELL_TEXT_MAX: Final = 32_767


def show_thread(package: Package, sheet: Sheet, cell: str, guid: str, texts: Sequence[str]) -> None:
    """Have the note of a thread say what the thread does; it is made if there is none."""
    note = note_of_thread(package, sheet, guid)
    if note is None:
        note = _add(package, sheet, cell, guid)
    said = _BEGINNING
    for turn, text in enumerate(texts):
        called = "Reply" if turn else "Comment"
        said += f"\n{called}:\n    {text}"
    for old in list(note):
        note.remove(old)
    holder = etree.SubElement(etree.SubElement(note, main("text")), main("t"))
    holder.text = said[:_CELL_TEXT_MAX]
    holder.set(SPACE, "preserve")
    _changed(package, sheet, note)


def note_of_thread(package: Package, sheet: Sheet, guid: str) -> Element | None:
    """Return the note that shows a thread."""
    for part in parts_of(package, sheet, _KIND):
        root = package.tree(part)
        numbers = {str(at) for at, author in enumerate(authors_in(root)) if author == OF_THREAD + guid}
        found = next((note for note in root.iter(main("comment")) if note.get("authorId") in numbers), None)
        if found is not None:
            return found
    return None


def remove_note(package: Package, sheet: Sheet, note: Element) -> None:
    """Take a note away with its box, and the part that held it if it was the last."""
    root = note.getroottree().getroot()
    place = address(note.get("ref", ""))
    _changed(package, sheet, note)
    holder = note.getparent()
    if holder is not None:
        holder.remove(note)
    _forget_author(root, note.get("authorId", ""))
    if place is not None:
        remove_box(package, sheet, place)
    if next(root.iter(main("comment")), None) is None:
        for arrow in Relationships(package, sheet.part).of_type(_KIND):
            if arrow.target in package and package.tree(arrow.target) is root:
                drop_own(package, sheet, arrow.id)


def _add(package: Package, sheet: Sheet, cell: str, guid: str) -> Element:
    part = next(iter(parts_of(package, sheet, _KIND)), None)
    if part is None:
        part = free_part(package, "xl/comments", "xml")
        new_part(package, sheet, part, _EMPTY, _TYPE, _KIND)
    root = package.tree(part)
    authors, notes = _child(root, "authors", 0), _child(root, "commentList", 1)
    number = len(authors.findall(main("author")))
    etree.SubElement(authors, main("author")).text = OF_THREAD + guid
    made = etree.SubElement(notes, main("comment"), {"ref": cell, "authorId": str(number), "shapeId": "0"})
    if _XR in root.nsmap.values():
        made.set(f"{{{_XR}}}uid", guid)
    place = address(cell)
    if place is not None:
        add_box(package, sheet, place)
    return made


def _child(root: Element, name: str, at: int) -> Element:
    found = root.find(main(name))
    if found is None:
        found = etree.Element(main(name))
        root.insert(at, found)
    return found


def _forget_author(root: Element, number: str) -> None:
    """Take an author off the list whom no note names any more; those behind it are counted anew."""
    authors = [*root.iter(main("author"))]
    gone = whole(number, -1)
    notes = [*root.iter(main("comment"))]
    if not 0 <= gone < len(authors) or any(whole(note.get("authorId"), -1) == gone for note in notes):
        return
    holder = authors[gone].getparent()
    if holder is not None:
        holder.remove(authors[gone])
    for note in notes:
        at = whole(note.get("authorId"), -1)
        if at > gone:
            note.set("authorId", str(at - 1))


def _changed(package: Package, sheet: Sheet, note: Element) -> None:
    root = note.getroottree().getroot()
    for part in parts_of(package, sheet, _KIND):
        if package.tree(part) is root:
            package.changed(part)
