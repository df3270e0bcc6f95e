"""Headers and footers: what stands above or below the text of sections.

A section that names none has that of the section before it. Who gives some sections
another one leaves the others theirs: what they had from a section that changes they
name from then on.
"""

from collections.abc import Callable, Collection, Sequence
from typing import Final, Literal, TypeAlias

from officeplane.domain.warning import Loss
from officeplane.formats.relationships import OFFICE, Relationships, declare, undeclare
from officeplane.formats.word.brought import Numbers
from officeplane.formats.word.finder import Finder
from officeplane.formats.word.insets import insets_of, outermost
from officeplane.formats.word.looks.properties import place_in
from officeplane.formats.word.names import COMPATIBILITY, R_ID, W14, W, element, w
from officeplane.formats.word.nodes.texts import NodeTexts, Said
from officeplane.formats.word.stories import Aside
from officeplane.formats.xml import Element

Kind: TypeAlias = Literal["header", "footer"]

_TYPE: Final = w("type")
_CONTENT_TYPE: Final = "application/vnd.openxmlformats-officedocument.wordprocessingml.{}+xml"
_ROOTS: Final = {"header": "hdr", "footer": "ftr"}
_SPACES: Final = f'xmlns:w="{W}" xmlns:r="{OFFICE}" xmlns:mc="{COMPATIBILITY}" xmlns:w14="{W14}" mc:Ignorable="w14"'


class Headers:
    """The headers, or the footers, of all sections, those of pages that have none of their own.

    `maker` is the task that changes them, `fresh_id` gives ids to new ones.
    """

    def __init__(
        self, finder: Finder, kind: Kind, sections: Sequence[Element], maker: str, fresh_id: Callable[[str], str]
    ) -> None:  # fmt: skip
        self._maker = maker
        self._fresh_id = fresh_id
        self._finder = finder
        self._kind: Kind = kind
        self._sections = sections
        self._package = finder.package
        self._arrows = Relationships(finder.package, finder.stories.part)

    def say(self, chosen: Collection[int], content: str, numbers: Numbers) -> Said:
        """Have sections, by their numbers, say something above or below their text."""
        parts = self._parts()
        own = next((part for at in sorted(chosen) if (part := parts[at]) and self._is_own(part, chosen)), None)
        part = own or self._new()
        losses = self._assign([part if at in chosen else parts[at] for at in range(len(parts))])
        said = NodeTexts(self._finder, numbers).write(self.aside(part).id, content, is_plain=False, keep_format=True)
        self.aside(part).story.name(self._maker)
        return Said(said.id, [*losses, *said.losses], said.warnings)

    def remove(self, chosen: Collection[int]) -> Sequence[Loss]:
        """Have sections say nothing there; return what is lost with what they said."""
        return self._assign([None if at in chosen else part for at, part in enumerate(self._parts())])

    def to_add_to(self, chosen: Collection[int]) -> list[Aside]:
        """Return what sections have there, where something can be added that the others do not get."""
        parts = self._parts()
        copies: dict[str | None, str] = {}
        for at in sorted(chosen):
            known = parts[at]
            if known not in copies:
                copies[known] = known if known and self._is_own(known, chosen) else self._new(known)
        self._assign([copies[part] if at in chosen else part for at, part in enumerate(parts)])
        return [self.aside(part) for part in copies.values()]

    def aside(self, part: str) -> Aside:
        """Return the node that a part is."""
        return next(one for one in self._finder.stories.asides if one.story.part == part)

    def _parts(self) -> list[str | None]:
        """Return the part that each section shows, its own or that of a section before it."""
        found: list[str | None] = []
        for section in self._sections:
            own = self._reference(section)
            found.append((found[-1] if found else None) if own is None else self._target(own))
        return found

    def _is_own(self, part: str, chosen: Collection[int]) -> bool:
        """Tell whether nothing but these sections shows a part."""
        others = [shown for at, shown in enumerate(self._parts()) if at not in chosen]
        special = [one for one in self._references() if one.get(_TYPE, "default") != "default"]
        return part not in others and all(self._target(one) != part for one in special)

    def _assign(self, wanted: Sequence[str | None]) -> list[Loss]:
        """Have each section show a part, or nothing; return what is lost with parts that nothing shows any more."""
        before = {self._target(one) for one in self._references()}
        shown: str | None = None
        for section, part in zip(self._sections, wanted, strict=True):
            own = self._reference(section)
            if own is not None and self._target(own) != part:
                section.remove(own)
                own = None
            if own is None and part != shown:
                self._refer(section, part or self._new())
            shown = part
        left = {self._target(one) for one in self._references()}
        return [loss for part in sorted(filter(None, before - left)) for loss in self._drop(part)]

    def _drop(self, part: str) -> list[Loss]:
        aside = self.aside(part)
        losses = [
            Loss(one.kind, aside.id, one.name)
            for block in aside.story.blocks
            for one in outermost(insets_of(block.element))
        ]
        self._arrows.remove(*(arrow.id for arrow in self._arrows.of_type(self._kind) if arrow.target == part))
        folder, _, name = part.rpartition("/")
        for gone in (part, f"{folder}/_rels/{name}.rels"):
            if gone in self._package:
                self._package.drop(gone)
                undeclare(self._package, gone)
        self._finder.stories.look_again()
        return losses

    def _new(self, like: str | None = None) -> str:
        """Make a part that says nothing, or what another one says."""
        # Numbers that are free may have been the names of others, which stay theirs.
        while (part := f"word/{self._fresh_id(self._kind)}.xml") in self._package:
            pass
        if like is None:
            root = _ROOTS[self._kind]
            style = self._finder.stories.styles.find("paragraph", self._kind)
            look = "" if style is None else f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>'
            self._package.put(part, f"<w:{root} {_SPACES}><w:p>{look}</w:p></w:{root}>".encode())
        else:
            self._package.put(part, self._package.content(like))
            for arrow in Relationships(self._package, like):
                Relationships(self._package, part).repeat(arrow, arrow.target)
        declare(self._package, part, _CONTENT_TYPE.format(self._kind))
        self._arrows.add(self._kind, part)
        self._finder.stories.look_again()
        return part

    def _refer(self, section: Element, part: str) -> None:
        made = element(f"{self._kind}Reference", type="default")
        made.set(R_ID, next(arrow.id for arrow in self._arrows.of_type(self._kind) if arrow.target == part))
        place_in(section, "sectPr", made)

    def _reference(self, section: Element) -> Element | None:
        return next(
            (
                one
                for one in section.iterchildren(w(f"{self._kind}Reference"))
                if one.get(_TYPE, "default") == "default"
            ),
            None,
        )

    def _references(self) -> list[Element]:
        return [one for section in self._sections for one in section.iterchildren(w(f"{self._kind}Reference"))]

    def _target(self, reference: Element) -> str | None:
        known = {arrow.id: arrow.target for arrow in self._arrows.of_type(self._kind)}
        return known.get(reference.get(R_ID, ""))
