"""Text shapes: shapes for text, put on a slide that has none to write in."""

from officeplane.formats.powerpoint.geometry import Area, place
from officeplane.formats.powerpoint.marks import is_marked, mark
from officeplane.formats.powerpoint.names import a, alone, p, under
from officeplane.formats.powerpoint.shapes import SHAPE, next_shape_number, settings, shape_tree, shapes
from officeplane.formats.xml import Element


def add_text_shape(root: Element, name: str, *, is_placeholder: bool) -> Element:
    """Add an empty shape for text at the top of a slide."""
    number = next_shape_number(root)
    made = alone(SHAPE)
    about = under(made, p("nvSpPr"))
    under(about, p("cNvPr"), id=str(number), name=f"{name} {number - 1}")
    of_shape = under(about, p("cNvSpPr"))
    under(about, p("nvPr"))
    under(made, p("spPr"))
    text = under(made, p("txBody"))
    under(text, a("bodyPr"))
    under(text, a("lstStyle"))
    under(text, a("p"))
    if is_placeholder:
        under(of_shape, a("spLocks"), noGrp="1")
    else:
        of_shape.set("txBox", "1")
    add_shape(root, made)
    return made


def add_title(root: Element, area: Area) -> Element:
    """Add a title to a slide whose layout has none."""
    made = add_text_shape(root, "Title", is_placeholder=True)
    holder = settings(made)
    if holder is not None:
        under(holder, p("ph"), type="title")
    set_area(made, area)
    tree = shape_tree(root)
    tree.remove(made)
    tree.insert(2, made)
    return made


def add_text_box(root: Element, area: Area) -> Element:
    """Add a box for content to a slide whose layout has no place for it; later edits know it by its mark."""
    made = text_box(root, area)
    holder = settings(made)
    if holder is not None:
        mark(holder)
    return made


def text_box(root: Element, area: Area) -> Element:
    """Add an empty text box to a slide."""
    made = add_text_shape(root, "TextBox", is_placeholder=False)
    set_area(made, area)
    for form in made.findall(p("spPr")):
        under(under(form, a("prstGeom"), prst="rect"), a("avLst"))
    for inside in made.findall(f"{p('txBody')}/{a('bodyPr')}"):
        inside.set("wrap", "square")
        under(inside, a("normAutofit"))
    return made


def own_text_box(root: Element) -> Element | None:
    """Return the box that an edit added to a slide."""
    for shape in shapes(root):
        holder = settings(shape)
        if shape.tag == SHAPE and holder is not None and holder.find(p("ph")) is None and is_marked(holder):
            return shape
    return None


def add_shape(root: Element, shape: Element) -> None:
    """Put a shape on top of the others."""
    tree = shape_tree(root)
    extensions = tree.find(p("extLst"))
    if extensions is None:
        tree.append(shape)
    else:
        extensions.addprevious(shape)


def set_area(shape: Element, area: Area | None) -> None:
    """Say where a shape lies; None leaves it to the layout."""
    holder = shape.find(p("spPr"))
    if holder is None:
        return
    found = holder.find(a("xfrm"))
    if found is not None:
        holder.remove(found)
    if area is not None:
        transform = alone(a("xfrm"))
        place(transform, area)
        holder.insert(0, transform)


def text_body(shape: Element) -> Element:
    """Return the text of a shape, made when it has none yet."""
    found = shape.find(p("txBody"))
    if found is not None:
        return found
    made = alone(p("txBody"))
    under(made, a("bodyPr"))
    under(made, a("lstStyle"))
    after = shape.find(p("style"))
    if after is None:
        after = shape.find(p("spPr"))
    if after is None:
        shape.append(made)
    else:
        after.addnext(made)
    return made


def text_with_paragraph(shape: Element) -> Element:
    """Return the text of a shape, which has a paragraph at least, as every text in a file must."""
    found = text_body(shape)
    if found.find(a("p")) is None:
        under(found, a("p"))
    return found
