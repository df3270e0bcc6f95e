"""New slides: empty, with the placeholders of their layout."""

from officeplane.formats.powerpoint.layouts import Layout
from officeplane.formats.powerpoint.names import a, alone, p, under
from officeplane.formats.powerpoint.placeholders import add_placeholder, copied
from officeplane.formats.xml import Element


def new_slide(layout: Layout) -> Element:
    """Return the root of an empty slide with the placeholders of its layout."""
    root = alone(p("sld"))
    tree = under(under(root, p("cSld")), p("spTree"))
    about = under(tree, p("nvGrpSpPr"))
    under(about, p("cNvPr"), id="1", name="")
    under(about, p("cNvGrpSpPr"))
    under(about, p("nvPr"))
    transform = under(under(tree, p("grpSpPr")), a("xfrm"))
    for tag, one, other in (("off", "x", "y"), ("ext", "cx", "cy"), ("chOff", "x", "y"), ("chExt", "cx", "cy")):
        under(transform, a(tag), **{one: "0", other: "0"})
    under(under(root, p("clrMapOvr")), a("masterClrMapping"))
    for shape in copied(layout.root):
        add_placeholder(root, shape)
    return root
