"""States of comments: which answers which, which are resolved, and what newer versions of Word note besides.

Word keeps this in parts beside the comments, by the id of each comment's last
paragraph. The first of them is made when it is needed; the others are kept up
where a file has them.
"""

from collections.abc import Collection, Iterator
from typing import Final

from lxml import etree

from officeplane.formats.package import Package
from officeplane.formats.relationships import Relationships, declare
from officeplane.formats.signature import Signature
from officeplane.formats.xml import Element

_TYPE: Final = "application/vnd.openxmlformats-officedocument.wordprocessingml"
_W15: Final = "http://schemas.microsoft.com/office/word/2012/wordml"
_CID: Final = "http://schemas.microsoft.com/office/word/2016/wordml/cid"
_CEX: Final = "http://schemas.microsoft.com/office/word/2018/wordml/cex"
_EXTENDED: Final = "http://schemas.microsoft.com/office/2011/relationships/commentsExtended"
_PART: Final = "word/commentsExtended.xml"
_EMPTY: Final = f'<w15:commentsEx xmlns:w15="{_W15}"/>'.encode()
_PARA_ID: Final = f"{{{_W15}}}paraId"
_PARENT: Final = f"{{{_W15}}}paraIdParent"
_DONE: Final = f"{{{_W15}}}done"
_ON: Final = frozenset(("1", "true", "on"))


class CommentStates:
    """What is said of the comments of one document, by the ids of their last paragraphs."""

    def __init__(self, package: Package, document_part: str) -> None:
        self._package = package
        self._arrows = Relationships(package, document_part)

    def parents(self) -> dict[str, str]:
        """Return which comment each answers, both by ids in small letters."""
        return {
            name: parent for one in self._states() if (name := _id(one)) and (parent := one.get(_PARENT, "").lower())
        }

    def is_resolved(self, name: str) -> bool:
        """Tell whether a comment is resolved."""
        return bool(name) and any(_id(one) == name.lower() and one.get(_DONE) in _ON for one in self._states())

    def add(self, name: str, parent: str, signature: Signature) -> None:
        """Note a new comment, and which it answers unless that is empty."""
        state = self._noted(name)
        if parent:
            answered = self._noted(parent)
            state.set(_PARENT, parent)
            state.set(_DONE, answered.get(_DONE, "0"))
        self._note_durably(name, signature)
        self._note_person(signature)

    def resolve(self, names: Collection[str], *, is_resolved: bool) -> None:
        """Say of comments that they are resolved, or that they are open."""
        for name in names:
            self._noted(name).set(_DONE, "1" if is_resolved else "0")

    def remove(self, names: Collection[str]) -> None:
        """Forget comments in all parts."""
        gone = {name.lower() for name in names if name}
        durable: set[str] = set()
        for one in [*self._of("commentsExtended"), *self._of("commentsIds")]:
            if next((value.lower() for key, value in one.attrib.items() if str(key).endswith("}paraId")), "") in gone:
                durable.add(one.get(f"{{{_CID}}}durableId", ""))
                self._take_out(one)
        for one in [*self._of("commentsExtensible")]:
            if one.get(f"{{{_CEX}}}durableId", "-") in durable:
                self._take_out(one)

    def _note_durably(self, name: str, signature: Signature) -> None:
        ids, extensible = self._part("commentsIds"), self._part("commentsExtensible")
        known = [one.get(f"{{{_CID}}}durableId") for one in self._of("commentsIds")]
        known += [one.get(f"{{{_CEX}}}durableId") for one in self._of("commentsExtensible")]
        taken = {*map(hexadecimal, known)}
        number = f"{signature.number(taken, 'durable'):08X}"
        if ids is not None:
            self._append(ids, _CID, "commentId", paraId=name, durableId=number)
        if ids is not None and extensible is not None:
            self._append(extensible, _CEX, "commentExtensible", durableId=number, dateUtc=f"{signature.moment}Z")

    def _note_person(self, signature: Signature) -> None:
        people = self._part("people")
        if people is None or any(one.get(f"{{{_W15}}}author") == signature.name for one in self._of("people")):
            return
        person = self._append(people, _W15, "person", author=signature.name)
        presence = etree.SubElement(person, f"{{{_W15}}}presenceInfo")
        presence.set(f"{{{_W15}}}providerId", "None")
        presence.set(f"{{{_W15}}}userId", signature.name)

    def _append(self, part: str, space: str, name: str, **attributes: str) -> Element:
        root = self._package.tree(part)
        made = etree.Element(f"{{{space}}}{name}")
        for key, value in attributes.items():
            made.set(f"{{{space}}}{key}", value)
        # What is for versions to come stands last.
        last = next((one for one in root if str(one.tag).endswith("}extLst")), None)
        if last is None:
            root.append(made)
        else:
            last.addprevious(made)
        self._package.changed(part)
        return made

    def _noted(self, name: str) -> Element:
        """Return what is said of a comment, which is made if nothing was."""
        part = self._part("commentsExtended")
        if part is None:
            part = _PART
            self._package.put(part, _EMPTY)
            declare(self._package, part, f"{_TYPE}.commentsExtended+xml")
            self._arrows.add(_EXTENDED, part)
        found = next((one for one in self._states() if _id(one) == name.lower()), None)
        self._package.changed(part)
        return self._append(part, _W15, "commentEx", paraId=name, done="0") if found is None else found

    def _take_out(self, one: Element) -> None:
        parent = one.getparent()
        if parent is not None:
            parent.remove(one)
            for kind in ("commentsExtended", "commentsIds", "commentsExtensible"):
                part = self._part(kind)
                if part is not None and self._package.tree(part) is parent:
                    self._package.changed(part)

    def _states(self) -> Iterator[Element]:
        return (one for one in self._of("commentsExtended") if one.get(_PARA_ID))

    def _of(self, kind: str) -> Iterator[Element]:
        part = self._part(kind)
        if part is not None:
            yield from (one for one in self._package.tree(part) if isinstance(one.tag, str))

    def _part(self, kind: str) -> str | None:
        arrows = self._arrows.of_type(kind)
        return next((arrow.target for arrow in arrows if arrow.target in self._package), None)


def hexadecimal(text: str | None) -> int:
    """Return a number that is written in hexadecimal digits; -1 when it is none."""
    try:
        return int(text or "", 16)
    except ValueError:
        return -1


def _id(state: Element) -> str:
    return state.get(_PARA_ID, "").lower()
