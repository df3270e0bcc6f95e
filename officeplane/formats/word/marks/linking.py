"""Links: letters of a text that lead to an address or to another node, or do so no more."""

from collections.abc import Sequence
from typing import Final

from officeplane.domain.document import InvalidEditError
from officeplane.formats.links import Links
from officeplane.formats.word.finder import Finder
from officeplane.formats.word.looks.properties import properties_of, put
from officeplane.formats.word.marks.bookmarking import bookmark_for_link
from officeplane.formats.word.marks.stretches import Stretch, stretch_of
from officeplane.formats.word.names import MATH, R_ID, R_PR, VAL, R, element, w
from officeplane.formats.word.nodes.leaves import fields, leaves, marks_of
from officeplane.formats.word.nodes.rewriting import drop_empty
from officeplane.formats.word.placing import check_open
from officeplane.formats.word.segments import run_at, segments
from officeplane.formats.xml import Element

_LINK: Final = w("hyperlink")
_CLOSED: Final = (w("ins"), w("moveTo"), w("fldSimple"))


def link_to_address(finder: Finder, stretch: Stretch, address: str) -> None:
    """Have letters lead to an address outside."""
    finder.stories.stamp(stretch.story)
    arrow = Links(finder.package, stretch.story.part).to(address)
    if arrow is None:
        raise InvalidEditError(f"no document should lead to {address!r}: give an address with http, https or mailto")
    made = element("hyperlink", history="1")
    made.set(R_ID, arrow)
    _link(finder, stretch, made)


def link_to_node(finder: Finder, stretch: Stretch, node_id: str) -> None:
    """Have letters lead to another node of the document, by a bookmark."""
    finder.stories.stamp(stretch.story)
    _link(finder, stretch, element("hyperlink", anchor=bookmark_for_link(finder, node_id), history="1"))


def unlink(finder: Finder, stretch: Stretch) -> None:
    """Have letters lead nowhere; they stay."""
    finder.stories.stamp(stretch.story)
    if not _take_links_off(finder, stretch, _chosen(stretch)):
        raise InvalidEditError(f"there is no link in {stretch.found.id!r} at that place")
    stretch.story.touch(stretch.story.place_of(stretch.paragraph))


def stretch_to_link(finder: Finder, node_id: str, find: str | None, nth: int | None) -> Stretch:
    """Return the letters that are meant; a node of several paragraphs wants a text to find."""
    stretch = stretch_of(finder, node_id, find, nth)
    if find is None and stretch.found.element not in {stretch.paragraph, *stretch.paragraph.iterancestors()}:
        raise InvalidEditError(f"{node_id!r} is a {stretch.found.kind}: give find, or a paragraph")
    if stretch.begin == stretch.end:
        raise InvalidEditError(f"{node_id!r} has no text that could be a link")
    return stretch


def _link(finder: Finder, stretch: Stretch, made: Element) -> None:
    chosen = _chosen(stretch)
    _take_links_off(finder, stretch, chosen)
    style = finder.stories.styles.hyperlink()
    for turn, group in enumerate(_groups(chosen)):
        link = made if turn == 0 else element("hyperlink")
        for name, said in made.attrib.items():
            link.set(name, said)
        if next(group[0].iterancestors(*_CLOSED), None) is not None:
            raise InvalidEditError(
                f"the text in {stretch.found.id!r} is a tracked insertion or a field: decide about the change with "
                "review_changes, or give a text outside"
            )
        group[0].addprevious(link)
        check_open(stretch.found, link, "before")
        for one in [group[0], *_up_to(group[0], group[-1])]:
            link.append(one)
        for run in link.iter(R):
            properties = properties_of(run, "rPr")
            if properties.find(w("rStyle")) is None:
                put(properties, "rPr", "rStyle", val=style)
    stretch.story.touch(stretch.story.place_of(stretch.paragraph))


def _chosen(stretch: Stretch) -> list[Element]:
    """Return the runs, and formulas, that say the letters and nothing else."""
    run_at(stretch.paragraph, stretch.end)
    run_at(stretch.paragraph, stretch.begin)
    found: dict[Element, None] = {}
    at = 0
    for segment in segments(stretch.paragraph):
        if stretch.begin <= at < stretch.end:
            run = segment.element.getparent()
            held = run if run is not None and run.tag == R else next(segment.element.iterancestors(MATH), None)
            if held is not None:
                found[held] = None
        at += len(segment.text)
    return [*found]


def _groups(chosen: Sequence[Element]) -> list[list[Element]]:
    """Return them by what they are in: one link cannot begin in one control and end in another."""
    made: list[list[Element]] = []
    for one in chosen:
        if made and made[-1][-1].getparent() is one.getparent():
            made[-1].append(one)
        else:
            made.append([one])
    return made


def _up_to(first: Element, last: Element) -> list[Element]:
    made: list[Element] = []
    at = first
    while at is not last and (following := at.getnext()) is not None:
        made.append(following)
        at = following
    return made


def _take_links_off(finder: Finder, stretch: Stretch, chosen: Sequence[Element]) -> bool:
    """Take runs out of the links that they are in; return whether there were any."""
    style = finder.stories.styles.find("character", "Hyperlink")
    had_link = _take_fields_off(stretch, chosen, style)
    gone: set[str] = set()
    for link in dict.fromkeys(link for one in chosen for link in one.iterancestors(_LINK)):
        had_link = True
        gone.add(link.get(R_ID, ""))
        held = [*link]
        inside = [at for at, one in enumerate(held) if any(run is one or one in run.iterancestors() for run in chosen)]
        rest = held[inside[-1] + 1 :]
        if rest:
            behind = element("hyperlink")
            for name, said in link.attrib.items():
                behind.set(name, said)
            behind.extend(rest)
            link.addnext(behind)
        for one in reversed(held[inside[0] : inside[-1] + 1]):
            link.addnext(one)
        drop_empty(link, stretch.paragraph)
    for run in chosen:
        _take_style_off(run, style)
    used = {said for one in stretch.story.root.iter() for said in one.attrib.values()} if gone else set[str]()
    Links(finder.package, stretch.story.part).drop(gone - used)
    return had_link


def _take_fields_off(stretch: Stretch, chosen: Sequence[Element], style: str | None) -> bool:
    """Take off the links that are fields and show nothing else than the letters."""
    line = leaves(stretch.paragraph, lambda _: "")
    had_link = False
    for field in fields(line)[0]:
        shown = line[field.first].begin, line[field.last].end
        if not field.is_link or shown[1] <= stretch.begin or stretch.end <= shown[0]:
            continue
        if shown[0] < stretch.begin or stretch.end < shown[1]:
            raise InvalidEditError(
                f"the text in {stretch.found.id!r} is part of a link that is a field: give all that the link shows"
            )
        had_link = True
        for leaf in marks_of(line, field):
            run = leaf.element.getparent()
            if run is not None:
                run.remove(leaf.element)
                drop_empty(run, stretch.paragraph)
    if had_link:
        for run in chosen:
            _take_style_off(run, style)
    return had_link


def _take_style_off(run: Element, style: str | None) -> None:
    properties = run.find(R_PR)
    for own in () if properties is None else properties.findall(w("rStyle")):
        if properties is not None and own.get(VAL) == style:
            properties.remove(own)
