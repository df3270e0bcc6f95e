"""Brought: what content brings into a text besides words, pictures and notes, each as a run.

A picture that the document has, or the mark of a note, moves when the place where it
stood is about to say what the content says: so it keeps its id, and nothing is lost.
Named elsewhere, a picture is copied.
"""

from collections.abc import Callable, Collection, Iterable
from copy import deepcopy
from typing import Final, NamedTuple, TypeAlias
from urllib.parse import unquote

from officeplane.domain.document import InvalidEditError
from officeplane.domain.warning import EditWarning
from officeplane.formats.blocks import Block, Note, Picture, lines_of, plain
from officeplane.formats.content_bounds import check_insets
from officeplane.formats.markdown_losses import footnote_not_kept
from officeplane.formats.pictures.bitmap import given_bitmap
from officeplane.formats.pictures.drawing import describe
from officeplane.formats.pictures.parts import put_picture
from officeplane.formats.relationships import OFFICE, Relationships
from officeplane.formats.word.drawings import DRAWING, run_with_picture
from officeplane.formats.word.finder import Finder
from officeplane.formats.word.marks.notes import new_note
from officeplane.formats.word.names import ID, R_PR, P, R, element, w
from officeplane.formats.word.page_width import width_in_column
from officeplane.formats.word.pictures import Pictures, check_size, room_at
from officeplane.formats.word.segments import text_of
from officeplane.formats.word.story import Story
from officeplane.formats.xml import Element

Numbers: TypeAlias = Callable[[Collection[int]], int]
"""Gives a number that is not among those taken."""

_NODE: Final = "node:"
_BASE64: Final = ";base64,"
_DRAWN: Final = (w("drawing"), w("pict"))
_MARKS: Final = {w("footnoteReference"): "", w("endnoteReference"): "e"}
_MOVED: Final = frozenset(("picture", "chart", "diagram", "shape"))


class _Held(NamedTuple):
    """What a run holds, and how that run is formatted."""

    element: Element
    properties: Element | None


class Brought:
    """Makes the runs of what content names or brings, for one story.

    `place` is an element where it goes, None for the end of the text; `check` refuses a place for what is new.
    """

    def __init__(
        self, finder: Finder, story: Story, numbers: Numbers, place: Element | None = None,
        check: Callable[[], None] | None = None,
    ) -> None:  # fmt: skip
        self.warnings: list[EditWarning] = []
        self.moved: set[Element] = set()
        """The pictures and marks that stand elsewhere now, as reading knows them."""
        self._finder = finder
        self._package = finder.package
        self._story = story
        self._numbers = numbers
        self._place = place
        self._check = check
        self._named: dict[str, tuple[str, Element]] = {}
        self._going: dict[Element, _Held] = {}
        self._given: set[int] = set()

    def look_up(self, blocks: Iterable[Block]) -> None:
        """Find the pictures that content names, before anything is changed."""
        blocks = list(blocks)
        check_insets(blocks)
        for span in (span for block in blocks for line in lines_of(block) for span in line):
            name = _named_by(span) if isinstance(span, Picture) else None
            if name is None or name in self._named:
                continue
            found = self._finder.find(name)
            if found.kind not in _MOVED:
                raise InvalidEditError(f"{name!r} is a {found.kind}: the list of images has the ids of pictures")
            self._named[name] = found.kind, found.element

    def let_go(self, elements: Iterable[Element]) -> None:
        """Note what is about to go: of that, what is named moves."""
        for one in (inner for outer in elements for inner in outer.iter(*_DRAWN, *_MARKS)):
            held = one
            while (parent := held.getparent()) is not None and parent.tag != R:
                held = parent
            if parent is not None:
                self._going[one] = _Held(held, parent.find(R_PR))

    def run(self, span: Picture | Note, columns: int = 0) -> Element | None:
        """Return the run of what a line names; None, with a warning, of a mark that is of no note."""
        if isinstance(span, Note):
            return self._note(span)
        name = _named_by(span)
        if name is None:
            return self._new_picture(span, columns)
        kind, drawing = self._named[name]
        moved = self._moved(drawing)
        made = self._copy(name, kind, drawing) if moved is None else moved
        _describe(made, span)
        return made

    def describe_kept(self, paragraph: Element, pictures: Iterable[Picture]) -> None:
        """Have the pictures that stand in a paragraph be told as content tells them."""
        for picture in pictures:
            _, drawing = self._named.get(_named_by(picture) or "", ("", None))
            if drawing is not None and paragraph in drawing.iterancestors(P):
                _describe(drawing, picture)

    def _new_picture(self, picture: Picture, columns: int) -> Element:
        if self._check is not None:
            self._check()
        header, _, data = (picture.link or "").partition(_BASE64)
        if not data:
            raise InvalidEditError(f"{header[:40]!r} is no picture: give its bytes as data:image/png;base64,...")
        bitmap = given_bitmap(unquote(data))
        body = self._finder.stories.body.story
        place = self._place if self._place is not None else body.blocks[-1].element if body.blocks else body.container
        width, height = room_at(self._finder.stories, self._story, place)
        size = bitmap.size(None, (width_in_column(width, columns) if columns else width, height))
        check_size(size)
        relation = put_picture(self._package, self._story.part, bitmap)
        number, name = self._number()
        return run_with_picture(relation, number, name, picture.text, size)

    def _number(self) -> tuple[int, str]:
        """Return a number that nothing drawn has, and what is called so."""
        taken = Pictures(self._finder).numbers | self._given
        number = self._numbers(taken)
        self._given.add(number)
        return number, f"Picture {len(taken) + 1}"

    def _moved(self, one: Element) -> Element | None:
        held = self._going.pop(one, None)
        if held is None:
            return None
        self.moved.add(one)
        return _run(held.element, held.properties)

    def _copy(self, name: str, kind: str, drawing: Element) -> Element:
        if kind != "picture":
            raise InvalidEditError(f"{name!r} is a {kind}, which stays where it is: content copies pictures alone")
        if self._check is not None:
            self._check()
        around = [drawing, *drawing.iterancestors()]
        at = next((at for at, one in enumerate(around) if one.tag == R), 0)
        if not at:
            raise InvalidEditError(f"{name!r} is in a group or on a canvas: take it out of that in Word first")
        made = deepcopy(around[at - 1])
        made.tail = None
        origin = self._finder.stories.of(drawing).part
        if origin != self._story.part:
            self._carry(made, origin)
        for about in made.iter(f"{{{DRAWING}}}docPr"):
            about.set("id", str(self._number()[0]))
        return _run(made, around[at].find(R_PR))

    def _carry(self, made: Element, origin: str) -> None:
        """Give the part of this story the arrows that a copy from another one uses."""
        arrows = {arrow.id: arrow for arrow in Relationships(self._package, origin)}
        own = Relationships(self._package, self._story.part)
        for within in made.iter("*"):
            for name, value in within.attrib.items():
                if str(name).startswith(f"{{{OFFICE}}}") and (arrow := arrows.get(value)) is not None:
                    known = (one.id for one in own if (one.type, one.target) == (arrow.type, arrow.target))
                    within.set(
                        name, next(known, None) or own.add(arrow.type, arrow.target, is_external=arrow.is_external)
                    )

    def _note(self, note: Note) -> Element | None:
        mark = next((one for one in self._going if _label(one) == note.text), None)
        if mark is not None:
            self._check_note(mark, note)
            return self._moved(mark)
        if not note.says:
            self.warnings.append(footnote_not_kept(note.text))
            return None
        if self._check is not None:
            self._check()
        if self._story is not self._finder.stories.body.story:
            raise InvalidEditError(
                f"the footnote [^{note.text}] is beside the text: Word has notes to the text itself, not to headers, "
                "footers and notes"
            )
        return new_note(self._finder, "footnote", note.says)[0]

    def _check_note(self, mark: Element, note: Note) -> None:
        """Refuse to have a note that stays say something else."""
        kind = "endnote" if _MARKS[str(mark.tag)] else "footnote"
        stories = (aside.story for aside in self._finder.stories.asides if aside.kind == f"{kind}s")
        notes = (one for story in stories for one in story.container.iterchildren(w(kind)))
        held = next((one for one in notes if one.get(ID) == mark.get(ID)), None)
        said = [] if held is None else [" ".join(text_of(one).split()) for one in held.iter(P)]
        if note.says and said != [" ".join(plain(line).split()) for line in note.says]:
            node = f"{kind}-{mark.get(ID, '')}"
            raise InvalidEditError(
                f"[^{note.text}] is there already: give {node!r} to edit_node to have it say something else, or a new "
                "note another label"
            )


def _describe(drawn: Element, picture: Picture) -> None:
    for about in drawn.iter(f"{{{DRAWING}}}docPr"):
        said = about.get("descr") or about.get("title") or about.get("name") or ""
        # Reading makes one space of many.
        if picture.text.split() != said.split():
            describe(about, picture.text)


def _named_by(picture: Picture) -> str | None:
    link = picture.link or ""
    return unquote(link.removeprefix(_NODE)) if link.startswith(_NODE) else None


def _label(one: Element) -> str | None:
    sign = _MARKS.get(str(one.tag))
    return None if sign is None else f"{sign}{one.get(ID, '')}"


def _run(held: Element, properties: Element | None) -> Element:
    made = element("r")
    if properties is not None:
        made.append(deepcopy(properties))
    made.append(held)
    return made
