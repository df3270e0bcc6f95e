"""Reading: the text of slides and notes, and where in it something stands."""

import hashlib
from collections import Counter
from collections.abc import Iterator
from typing import Final

from lxml import etree

from officeplane.domain.document import Node
from officeplane.formats.package import Package
from officeplane.formats.powerpoint.animations import ANIMATION, animations
from officeplane.formats.powerpoint.comments.remarks import remarks_on
from officeplane.formats.powerpoint.insets import Inset, Insets, of_shape
from officeplane.formats.powerpoint.notes import notes_part
from officeplane.formats.powerpoint.paragraphs import PARAGRAPH, searchable, text_of
from officeplane.formats.powerpoint.placeholders import is_of_the_program, is_title
from officeplane.formats.powerpoint.shapes import SHAPE, properties, shapes, table
from officeplane.formats.powerpoint.tables import rows_of
from officeplane.formats.xml import Element

NOTES: Final = "notes"
"""The kind of the node of a slide's notes, and how its id ends."""

_COMMENT: Final = "comment"


def paragraphs_of(root: Element, *, is_notes: bool = False) -> Iterator[Element]:
    """Yield the paragraphs of a slide or a page of notes in order."""
    for shape in shapes(root):
        if not (is_notes and is_of_the_program(shape)):
            yield from shape.iter(PARAGRAPH)


class Texts:
    """The searchable paragraphs of each part, remembered until the part changes."""

    def __init__(self, package: Package) -> None:
        self._package = package
        self._known: dict[str, tuple[Element, list[tuple[Element, str]]]] = {}

    def of(self, part: str, *, is_notes: bool = False) -> list[tuple[Element, str]]:
        """Return the paragraphs of a part, with the text in which to search."""
        root = self._package.tree(part)
        known = self._known.get(part)
        if known is None or known[0] is not root:
            found = [(each, searchable(each)) for each in paragraphs_of(root, is_notes=is_notes)]
            known = self._known[part] = (root, found)
        return known[1]

    def forget(self, part: str) -> None:
        """Note that a part is about to change, or did."""
        self._known.pop(part, None)


def title_of(root: Element) -> str:
    """Return the title of a slide in one line."""
    for shape in shapes(root):
        if is_title(shape):
            return " ".join(" ".join(text_of(each) for each in shape.iter(PARAGRAPH)).split())
    return ""


def lines_of(root: Element, *, is_notes: bool = False) -> Iterator[str]:
    """Yield the text of a slide or of its notes, line by line, with a mark for what is no text."""
    for shape in shapes(root):
        if is_notes and is_of_the_program(shape):
            continue
        found, inset = table(shape), of_shape(shape)
        if found is not None:
            yield from rows_of(found)
        elif inset is not None:
            yield f"[{inset.kind}]"
        else:
            yield from (text for each in shape.iter(PARAGRAPH) if (text := text_of(each)))


def drawn_on(root: Element) -> list[Inset]:
    """Return what lies on a slide besides text."""
    return [inset for shape in shapes(root) if (inset := of_shape(shape)) is not None]


def comments_on(package: Package, part: str) -> list[Inset]:
    """Return the comments on a slide."""
    return [Inset(_COMMENT, " ".join(remark.text.split())) for remark in remarks_on(package, part, "", {})]


def marks_of(package: Package, part: str) -> dict[str, int]:
    """Return how many things of each kind stand on a slide, or in its title, without being text."""
    root = package.tree(part)
    titles = [each for shape in shapes(root) if is_title(shape) for each in shape.iter(PARAGRAPH)]
    found = Counter(
        inset.kind for inset in (*drawn_on(root), *Insets(package, part).in_text(titles), *comments_on(package, part))
    )
    animated = animations(root)
    return {**found, ANIMATION: animated} if animated else dict(found)


def children_of(package: Package, part: str, slide_id: str) -> list[Node]:
    """Return the nodes of a slide: what lies on it besides the title, and its notes."""
    nodes: list[Node] = []
    taken: Counter[str] = Counter()
    insets = Insets(package, part)
    for shape in shapes(package.tree(part)):
        kind, text = _described(shape)
        if kind is None:
            continue
        about = properties(shape)
        node_id = f"{slide_id}.{'' if about is None else about.get('id', '')}"
        taken[node_id] += 1
        if (times := taken[node_id] - 1) > 0:  # a file may number shapes alike
            node_id += "+" if times == 1 else f"+{times}"
        nodes.append(Node(node_id, kind, text, marks=_marks(insets, [shape])))
    notes = notes_part(package, part)
    if notes is not None:
        held = [shape for shape in shapes(package.tree(notes)) if not is_of_the_program(shape)]
        text = "\n".join(lines_of(package.tree(notes), is_notes=True))
        if text:
            nodes.append(Node(f"{slide_id}.{NOTES}", NOTES, text, marks=_marks(Insets(package, notes), held)))
    return nodes


def _marks(insets: Insets, held: list[Element]) -> dict[str, int]:
    paragraphs = (each for shape in held for each in shape.iter(PARAGRAPH))
    return dict(Counter(inset.kind for inset in insets.in_text(paragraphs)))


def _described(shape: Element) -> tuple[str | None, str]:
    found = table(shape)
    if found is not None:
        return "table", "\n".join(rows_of(found))
    inset = of_shape(shape)
    if inset is not None:
        return inset.kind, inset.name
    if shape.tag != SHAPE or is_title(shape):
        return None, ""
    text = "\n".join(text_of(each) for each in shape.iter(PARAGRAPH)).strip("\n")
    return ("text", text) if text else (None, "")


def digest(*roots: Element) -> str:
    """Return a hash of what trees hold."""
    found = hashlib.sha256()
    for root in roots:
        found.update(etree.tostring(root))
    return found.hexdigest()


def digest_of(*texts: str) -> str:
    """Return a hash of texts."""
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()
