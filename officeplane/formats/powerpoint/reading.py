"""Reading: the text of slides and notes, and where in it something stands."""

import hashlib
from collections.abc import Iterator
from typing import Final

from lxml import etree

from officeplane.domain.document import Node
from officeplane.formats.package import Package
from officeplane.formats.powerpoint.notes import notes_part
from officeplane.formats.powerpoint.paragraphs import PARAGRAPH, searchable, text_of
from officeplane.formats.powerpoint.placeholders import is_of_the_program, is_title
from officeplane.formats.powerpoint.shapes import PICTURE, SHAPE, fallbacks, properties, shapes, table
from officeplane.formats.powerpoint.tables import graphic_uri, rows_of
from officeplane.formats.xml import Element

_KINDS: Final = {"chart": "chart", "chartex": "chart", "diagram": "diagram", "ole": "object"}


def paragraphs_of(root: Element, *, is_notes: bool = False) -> Iterator[Element]:
    """Yield the paragraphs of a slide or a page of notes in order."""
    for shape in shapes(root):
        if not (is_notes and is_of_the_program(shape)):
            yield from shape.iter(PARAGRAPH)


def hidden_paragraphs(root: Element) -> Iterator[Element]:
    """Yield the paragraphs that stand there once more, for older programs."""
    for fallback in fallbacks(root):
        yield from fallback.iter(PARAGRAPH)


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
    """Yield the text of a slide or of its notes, line by line."""
    for shape in shapes(root):
        if is_notes and is_of_the_program(shape):
            continue
        found = table(shape)
        if found is not None:
            yield from rows_of(found)
        else:
            yield from (text for each in shape.iter(PARAGRAPH) if (text := text_of(each)))


def children_of(package: Package, part: str, slide_id: str) -> list[Node]:
    """Return the nodes of a slide: what lies on it besides the title, and its notes."""
    nodes: list[Node] = []
    taken: set[str] = set()
    for shape in shapes(package.tree(part)):
        kind, text = _described(shape)
        if kind is None:
            continue
        about = properties(shape)
        node_id = f"{slide_id}.{'' if about is None else about.get('id', '')}"
        while node_id in taken:  # a file may number two shapes alike
            node_id += "+"
        taken.add(node_id)
        nodes.append(Node(node_id, kind, text))
    notes = notes_part(package, part)
    if notes is not None:
        text = "\n".join(lines_of(package.tree(notes), is_notes=True))
        if text:
            nodes.append(Node(f"{slide_id}.notes", "notes", text))
    return nodes


def _described(shape: Element) -> tuple[str | None, str]:
    found = table(shape)
    if found is not None:
        return "table", "\n".join(rows_of(found))
    about = properties(shape)
    name = "" if about is None else (about.get("descr") or about.get("name") or "")
    if shape.tag == PICTURE:
        return "picture", name
    if shape.tag == SHAPE:
        text = "\n".join(text_of(each) for each in shape.iter(PARAGRAPH)).strip("\n")
        return (None, "") if is_title(shape) or not text else ("text", text)
    return _KINDS.get(graphic_uri(shape).rsplit("/", 1)[-1]), name


def digest(*roots: Element) -> str:
    """Return a hash of what trees hold."""
    found = hashlib.sha256()
    for root in roots:
        found.update(etree.tostring(root))
    return found.hexdigest()


def digest_of(*texts: str) -> str:
    """Return a hash of texts."""
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()
