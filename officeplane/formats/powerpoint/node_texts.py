"""Texts of nodes: what a shape, a cell or the notes say, written anew or going on."""

from collections.abc import Callable, Sequence
from typing import Final
from urllib.parse import unquote

from officeplane.domain.document import InvalidEditError
from officeplane.domain.warning import Loss
from officeplane.formats.blocks import Block, Heading, Paragraph, Table
from officeplane.formats.links import Links
from officeplane.formats.markdown import read
from officeplane.formats.package import Package
from officeplane.formats.powerpoint.fitting import AUTOMATIC, fit
from officeplane.formats.powerpoint.inheritance import Room
from officeplane.formats.powerpoint.insets import LINK, Insets
from officeplane.formats.powerpoint.names import R_ID, a
from officeplane.formats.powerpoint.nodes import SlideNode
from officeplane.formats.powerpoint.paragraphs import PARAGRAPH, one_line
from officeplane.formats.powerpoint.placeholders import placeholder
from officeplane.formats.powerpoint.rewriting import New, Rewritten, appended, of_content, of_text, rewritten
from officeplane.formats.powerpoint.shapes import properties
from officeplane.formats.powerpoint.text_places import text_place
from officeplane.formats.powerpoint.timing import follow_paragraphs
from officeplane.formats.xml import Element

_CLICKS: Final = (a("hlinkClick"), a("hlinkMouseOver"))


def says(node: SlideNode, content: Sequence[Block] | str) -> bool:
    """Tell whether a node says this already: to write what was read changes nothing."""
    if isinstance(content, str):
        return one_line(content) == node.detail.text
    return list(content) == read(node.reader.content(node.detail)).blocks


class NodeText:
    """The text of one node."""

    def __init__(self, package: Package, node: SlideNode, room: Room) -> None:
        self._package = package
        self._node = node
        self._room = room
        self._place: Final = text_place(package, node, room)
        self._links = Links(package, self._place.part)
        self._told = node.reader.paragraphs_of(node.detail)
        self.part = self._place.part

    def write(self, content: Sequence[Block] | str, *, keep_format: bool) -> list[Loss]:
        """Put content or a plain text in place of what it says; return what is lost besides text."""
        insets = Insets(self._package, self.part)
        by_text = isinstance(content, str)
        if isinstance(content, str):
            new = of_text(one_line(content), keep=keep_format)
        else:
            new = self._new(content, keep=keep_format)
        return self._put(rewritten(self._told, new, by_text=by_text, keep=keep_format, has_insets=_with(insets)))

    def append(self, content: Sequence[Block]) -> None:
        """Let the text go on with content, in the formatting of its last paragraph."""
        new = self._new(content, keep=True)
        self._put(appended(self._told, new, _with(Insets(self._package, self.part))))

    def _new(self, blocks: Sequence[Block], *, keep: bool) -> list[New]:
        if any(isinstance(block, Table) for block in blocks):
            raise InvalidEditError(
                f"a table cannot stand in the text of {self._node.id!r}: insert_content with "
                f'"into": "{self._node.slide.id}" puts one on the slide'
            )
        if self._place.is_title:  # it looks like a heading by itself
            blocks = [Paragraph(block.line) if isinstance(block, Heading) else block for block in blocks]
        return of_content(blocks, self._links.to, has_bullets=self._place.has_bullets, keep=keep)

    def _put(self, text: Rewritten) -> list[Loss]:
        body, root = self._place.body, self._package.tree(self.part)
        if body.findall(PARAGRAPH) == text.paragraphs:
            return []
        insets = Insets(self._package, self.part)  # looked up anew: the new text may have brought links
        reachable = insets.addresses(text.paragraphs)
        lost = [
            inset for inset in insets.in_text(text.gone) if inset.kind != LINK or unquote(inset.name) not in reachable
        ]
        about = None if self._place.shape is None else properties(self._place.shape)
        if about is not None:
            lost += follow_paragraphs(root, about.get("id", ""), text.places)
        for old in body.findall(PARAGRAPH):
            body.remove(old)
        body.extend(text.paragraphs)
        ids = {link.get(R_ID, "") for each in text.gone for link in each.iter(*_CLICKS)} - {""}
        if ids:
            self._links.drop(ids - {value for each in root.iter() for value in each.attrib.values()})
        self._fit()
        self._package.changed(self.part)
        return [Loss(inset.kind, self._node.id, inset.name) for inset in lost]

    def _fit(self) -> None:
        shape = self._place.shape
        if shape is None or placeholder(shape) is None or self._place.is_title:
            return
        setting = self._room.setting(shape)
        if setting.fitting == AUTOMATIC:
            fit(self._place.body, setting.area, setting.size)


def _with(insets: Insets) -> Callable[[Element], bool]:
    return lambda paragraph: bool(insets.in_text([paragraph]))
