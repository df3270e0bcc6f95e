"""Updating tables of contents: their entries are written anew from the headings that there are."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from officeplane.domain.document import InvalidEditError
from officeplane.formats.word.contents_table.entries import OldEntries, instruction_run, mark_run
from officeplane.formats.word.contents_table.headings import TocBookmarks, headings_in
from officeplane.formats.word.contents_table.instruction import MARKED_ENTRIES
from officeplane.formats.word.contents_table.places import PASSED, Place, entries_of, has_marked_entries, places_in
from officeplane.formats.word.finder import Finder
from officeplane.formats.word.names import P_PR, SECT_PR, w
from officeplane.formats.word.page_width import text_width
from officeplane.formats.word.preserved_marks import marks_to_preserve
from officeplane.formats.xml import Element, take_out


@dataclass(frozen=True, slots=True)
class Updated:
    """What was written: the first paragraph of each table of contents, how many entries, and which were left."""

    firsts: Sequence[Element]
    entries: int
    left: Sequence[tuple[Element, str]]
    """Where those begin that list something else than headings, and what."""


def update_contents(finder: Finder, node_id: str | None) -> Updated:
    """Write the tables of contents of a text anew, or the one that a node is or holds."""
    body = finder.stories.body
    found = None if node_id is None else finder.find(node_id)
    chosen = places_in(body.story)
    if found is not None:
        chosen = [one for one in chosen if any(one.begin in {held, *held.iter()} for held in found.elements)]
    if not chosen:
        where = "the text has" if found is None else f"{node_id!r} is a {found.kind} and holds"
        raise InvalidEditError(
            f"{where} no table of contents: the outline marks those there are with [table of contents]"
        )
    finder.stories.stamp(body.story)
    all_entries = entries_of(body.story, places_in(body.story))
    bookmarks = TocBookmarks(finder)
    firsts: list[Element] = []
    left: list[tuple[Element, str]] = []
    count = 0
    for place in chosen:
        beyond = place.instruction.beyond
        # LibreOffice always writes that marked entries are listed, too.
        if beyond and not (beyond == MARKED_ENTRIES and not has_marked_entries(body.story)):
            if found is not None:
                raise InvalidEditError(f"{node_id!r} lists {beyond}, not headings: update it in Word")
            place.begin.set(w("dirty"), "true")
            body.story.touch(body.story.place_of(place.begin))
            left.append((place.first, beyond))
            continue
        made = _write(finder, place, bookmarks, all_entries)
        firsts.append(made[0])
        count += len(made)
    return Updated(firsts, count, left)


def _write(finder: Finder, place: Place, bookmarks: TocBookmarks, entries: set[Element]) -> list[Element]:
    story = finder.stories.body.story
    place.check_alone()
    olds = place.paragraphs()
    if any(one.find(f"{P_PR}/{SECT_PR}") is not None for one in olds[:-1]):
        raise InvalidEditError("a section ends in the middle of a table of contents: update it in Word")
    known = OldEntries(olds, place.instruction.separator or "\t", finder.stories.styles)
    width = text_width(story.section)
    made: list[Element] = []
    changed: set[Element] = set()
    for heading in headings_in(finder, place.instruction, entries):
        bookmark, is_new = bookmarks.of(heading.paragraph)
        if is_new:
            changed.add(story.blocks[story.place_of(heading.paragraph)].element)
        made.append(known.entry(heading, bookmark, place.instruction, width))
    if not made:
        raise InvalidEditError("the text has no headings that its table of contents would list: write some first")
    behind = place.behind()
    section = olds[-1].find(f"{P_PR}/{SECT_PR}")
    preserved = marks_to_preserve([*olds[:-1]])
    at = 0 if made[0].find(P_PR) is None else 1
    made[0][at:at] = [mark_run("begin", dirty="true"), instruction_run(place.text), mark_run("separate")]
    olds[0].addprevious(made[0])
    for before, one in pairwise(made):
        before.addnext(one)
    preserved.settle_in(made[0], at_end=False)
    changed |= {story.blocks[story.place_of(made[0])].element} if made[0].getparent() is not story.container else set()
    _end(olds, made[-1], behind, section)
    story.reread(changed)
    return made


def _end(olds: Sequence[Element], entry: Element, behind: Sequence[Element], section: Element | None) -> None:
    """Take the old entries out; what stands behind the contents in their last paragraph stays, with its break."""
    last = olds[-1]
    for one in olds[:-1]:
        take_out(one)
    is_followed = any(one.tag not in PASSED for one in behind)
    kept = {last.find(P_PR), *(behind if is_followed else ())}
    gone = [one for one in last if one not in kept]
    stays = marks_to_preserve(gone)
    had_entry = any(one.tag == w("t") for held in gone for one in held.iter())
    for one in gone:
        last.remove(one)
    if is_followed or section is not None or (len(olds) > 1 and not had_entry):
        stays.settle_in(last, at_end=False)
        at = 0 if last.find(P_PR) is None else 1
        last.insert(at, mark_run("end"))
        return
    entry.append(mark_run("end"))
    stays.settle_in(entry, at_end=True)
    take_out(last)
