"""Beside the text: headers, footers, notes, comments, styles and papers are the head's whatever an upload says."""

from collections.abc import Iterator, Mapping
from typing import Final

from officeplane.domain.warning import EditWarning
from officeplane.formats.merging.beside import (
    differing,
    differing_whole,
    part_told,
    properties_differing,
    written_anew,
)
from officeplane.formats.merging.canonical import Arrows, Canonical
from officeplane.formats.relationships import Relationships
from officeplane.formats.word.comments import comment_id
from officeplane.formats.word.merging.by_look import ByLook
from officeplane.formats.word.merging.context import Context
from officeplane.formats.word.merging.telling import Exactly, Telling
from officeplane.formats.word.names import SECT_PR, STYLE, element_name, value, w

_PAPER: Final = {"pgSz": ("w", "h", "orient"), "pgMar": ("top", "right", "bottom", "left"), "cols": ("num",)}
_OF_SETTINGS: Final = frozenset(
    map(w, ("rsids", "proofState", "zoom", "view", "attachedTemplate", "mathPr", "compat", "docVars", "decimalSymbol"))
) | frozenset(
    map(w, ("listSeparator", "shapeDefaults", "hdrShapeDefaults", "footnotePr", "endnotePr", "themeFontLang"))
)
_NOTES: Final = frozenset(("footnotes", "endnotes"))


def warnings_of(was: Context, now: Context, *, is_exact: bool) -> Iterator[EditWarning]:
    """Yield what an upload has changed beside the text."""
    if not is_exact:
        yield written_anew()
    for kind in ("header", "footer", "footnotes", "endnotes"):
        texts = [_asides(one, kind, is_exact=is_exact) for one in (was, now)]
        yield from differing(texts[0], texts[1], f"a {kind}" if kind not in _NOTES else kind)
    yield from differing(_comments(was), _comments(now), "a comment")
    papers = [_papers(one, is_exact=is_exact) for one in (was, now)]
    yield from differing_whole(papers[0], papers[1], "paper or margins")
    yield from properties_differing(was.package, now.package)
    if is_exact:
        yield from differing_whole(_styles(was), _styles(now), "styles")
        for kind in ("theme", "settings"):
            yield from differing_whole(_part(was, kind), _part(now, kind), f"the {kind} of the file")


def _asides(context: Context, kind: str, *, is_exact: bool) -> Mapping[str, str]:
    found: dict[str, str] = {}
    for aside in context.stories.asides:
        if aside.kind == kind:
            elements = [block.element for block in aside.story.blocks if block.is_content and block.text.strip()]
            form = Exactly(context) if is_exact else ByLook(context)
            if elements:
                found[aside.id] = Telling(context, form).told(elements)
    return found


def _comments(context: Context) -> Mapping[str, str]:
    facts = context.finder.comments.facts()
    return {
        comment_id(number): f"{said}\0{facts.get(number, {}).get('state', '')}"
        for number, said in context.finder.comments.texts().items()
    }


def _papers(context: Context, *, is_exact: bool) -> Iterator[str]:
    for section in context.body.story.root.iter(SECT_PR):
        if is_exact:
            yield context.canonical.sorted_inside(section)
        else:
            held = {element_name(one): one for one in section}
            yield ",".join(
                f"{name}.{side}={held[name].get(w(side))}"
                for name, sides in _PAPER.items()
                if name in held
                for side in sides
            )


def _styles(context: Context) -> list[str]:
    part = _of_type(context, "styles")
    if part is None:
        return []
    root = context.package.tree(part)
    canonical = context.canonical_of(Arrows(context.package, part), with_lists=False)
    told = [(value(one, "name") or "", canonical.inside(one)) for one in root.iterchildren(STYLE)]
    return [canonical.inside(root.find(w("docDefaults"))), *(f"{name} {said}" for name, said in sorted(told))]


def _part(context: Context, kind: str) -> list[str]:
    part = _of_type(context, kind)
    arrows = Arrows(context.package, part or "")
    usual = context.canonical_of(arrows)
    return part_told(context.package, part, Canonical(_OF_SETTINGS, usual.attributes, usual.read))


def _of_type(context: Context, kind: str) -> str | None:
    arrows = Relationships(context.package, context.part).of_type(kind)
    return next((arrow.target for arrow in arrows if arrow.target in context.package), None)
