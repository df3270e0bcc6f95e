"""Notes: what the speaker reads, on a page beside each slide that has any."""

import posixpath

from officeplane.formats.blocks import Span
from officeplane.formats.package import Package
from officeplane.formats.powerpoint.insets import Inset, Insets
from officeplane.formats.powerpoint.names import NOTES_TYPE, a, alone, p, under
from officeplane.formats.powerpoint.notes_master import notes_master
from officeplane.formats.powerpoint.paragraphs import PARAGRAPH, one_line
from officeplane.formats.powerpoint.placeholders import kind
from officeplane.formats.powerpoint.runs import base_of, write_line
from officeplane.formats.powerpoint.shapes import SHAPE, settings, shapes
from officeplane.formats.powerpoint.slides import free_name
from officeplane.formats.powerpoint.text_shapes import add_text_shape, text_body
from officeplane.formats.relationships import Relationships, declare
from officeplane.formats.xml import Element, serialise


def notes_part(package: Package, slide: str) -> str | None:
    """Return the part that holds the notes of a slide."""
    for arrow in Relationships(package, slide).of_type("notesSlide"):
        if arrow.target in package:
            return arrow.target
    return None


def set_notes(package: Package, main: str, slide: str, text: str) -> tuple[str, list[Inset]]:
    """Put a text in place of the notes of a slide; return the part that holds them, and what went with the old ones."""
    part = add_notes(package, main, slide)
    root = package.tree(part)
    holder = _holder(root)
    base = base_of(holder, with_emphasis=False)
    gone = holder.findall(PARAGRAPH)
    lost = Insets(package, part).in_text(gone)
    for old in gone:
        holder.remove(old)
    for line in one_line(text).split("\n"):
        write_line(under(holder, PARAGRAPH), (Span(line),), lambda _: None, base)
    package.changed(part)
    return part, lost


def notes_holder(package: Package, part: str) -> Element:
    """Return the text body of notes."""
    return _holder(package.tree(part))


def add_notes(package: Package, main: str, slide: str) -> str:
    """Return the part that holds the notes of a slide, made when it has none."""
    return notes_part(package, slide) or _new_part(package, main, slide)


def _new_part(package: Package, main: str, slide: str) -> str:
    master = notes_master(package, main)
    part = free_name(package, posixpath.join(posixpath.dirname(main), "notesSlides"), "notesSlide")
    package.put(part, serialise(_new_page(package.tree(master))))
    declare(package, part, NOTES_TYPE)
    arrows = Relationships(package, part)
    arrows.add("notesMaster", master)
    arrows.add("slide", slide)
    Relationships(package, slide).add("notesSlide", part)
    return part


def _new_page(master: Element) -> Element:
    root = alone(p("notes"))
    tree = under(under(root, p("cSld")), p("spTree"))
    about = under(tree, p("nvGrpSpPr"))
    under(about, p("cNvPr"), id="1", name="")
    under(about, p("cNvGrpSpPr"))
    under(about, p("nvPr"))
    under(tree, p("grpSpPr"))
    under(under(root, p("clrMapOvr")), a("masterClrMapping"))
    _add(root, "Slide Image Placeholder", "sldImg", _index(master, "sldImg"))
    _add(root, "Notes Placeholder", "body", _index(master, "body"))
    return root


def _index(master: Element, wanted: str) -> str | None:
    """Return by which number the master knows a placeholder."""
    for shape in shapes(master):
        if kind(shape) == wanted:
            return shape.xpath("string(.//*[local-name()='ph']/@idx)") or None
    return None


def _add(root: Element, name: str, of_kind: str, index: str | None) -> Element:
    made = add_text_shape(root, name, is_placeholder=True)
    holder = settings(made)
    if holder is not None:
        under(holder, p("ph"), type=of_kind, **({} if index is None else {"idx": index}))
    if of_kind == "sldImg":
        made.remove(made.findall(p("txBody"))[0])
        for locks in made.iter(a("spLocks")):
            locks.set("noRot", "1")
            locks.set("noChangeAspect", "1")
    return made


def _holder(root: Element) -> Element:
    """Return the text body of the notes."""
    for shape in shapes(root):
        if shape.tag == SHAPE and kind(shape) == "body":
            break
    else:
        shape = _add(root, "Notes Placeholder", "body", "1")
    return text_body(shape)
