"""The stories of a document: its body, and its headers, footers and notes."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from officeplane.domain.document import UnsupportedDocumentError
from officeplane.formats.package import Package
from officeplane.formats.relationships import Relationships, main_part
from officeplane.formats.word.body import Body
from officeplane.formats.word.bookmarks import number_of
from officeplane.formats.word.extensions import root_of
from officeplane.formats.word.names import BOOKMARK_START, SECT_PR, w, with_section
from officeplane.formats.word.story import Story
from officeplane.formats.word.styles import Styles
from officeplane.formats.xml import Element

_KINDS = ("footnotes", "endnotes", "header", "footer")


@dataclass(frozen=True, slots=True)
class Aside:
    """A story beside the body, as a node."""

    id: str
    kind: str
    story: Story


class Stories:
    """What is parsed of a document; it is parsed anew when the package went back to what it was."""

    def __init__(self, package: Package) -> None:
        self._package = package
        try:
            self.part = main_part(package)
        except ValueError:
            raise UnsupportedDocumentError(
                "no_main_part", "the file does not say which of its parts is the text"
            ) from None
        if self.part not in package:
            raise UnsupportedDocumentError(
                "no_main_part", f"the file has no part {self.part!r}, which should be the text"
            )
        self.styles = Styles(package, self.part)
        self._body: Body | None = None
        self._asides: list[Aside] | None = None
        self.about_to_change: Callable[[Story], None] | None = None
        """Is told of each text before an edit changes it."""

    @property
    def body(self) -> Body:
        """The text."""
        root = root_of(self._package, self.part)
        if self._body is None or self._body.story.root is not root:
            container = _container(root)
            if container is None:
                raise UnsupportedDocumentError(
                    "unknown_dialect", "the text is not in the usual form of Word: save it as 'Word Document (.docx)'"
                )
            self._asides = None
            story = Story(self._package, self.part, container, self.styles)
            marks = (mark for aside in self.asides for mark in aside.story.root.iter(BOOKMARK_START))
            self._body = Body(story, max((number_of(mark) for mark in marks), default=-1), self._kind_of)
        return self._body

    @property
    def asides(self) -> list[Aside]:
        """The texts beside it: notes, headers and footers."""
        if self._asides is None or not all(map(self._is_still, self._asides)):
            self._asides = list(self._found())
        return self._asides

    def look_again(self) -> None:
        """Note that texts beside the body came or went; the others stay as they are known."""
        known = {aside.story.part: aside for aside in self._asides or () if self._is_still(aside)}
        self._asides = [*self._found(known)]

    def all(self) -> Iterator[Story]:
        """Yield the body's story and all others."""
        yield self.body.story
        yield from (aside.story for aside in self.asides)

    def body_to_change(self) -> Body:
        """Return the body with the ids that reading gives written down."""
        self.stamp(self.body.story)
        return self.body

    def stamp(self, story: Story) -> None:
        """Write down what reading gives the paragraphs of a text, before the first change of it."""
        if story.stamp() and story is self.body.story:
            self.body.remember_twins()
        if self.about_to_change is not None:
            self.about_to_change(story)

    def of(self, element: Element) -> Story:
        """Return the text that an element stands in."""
        root = element.getroottree().getroot()
        return next((aside.story for aside in self.asides if aside.story.root is root), self.body.story)

    def _kind_of(self, node_id: str) -> str | None:
        return next((aside.kind for aside in self.asides if aside.id == node_id), None)

    def _is_still(self, aside: Aside) -> bool:
        part = aside.story.part
        return part in self._package and aside.story.root is self._package.tree(part)

    def _found(self, known: Mapping[str, Aside] = MappingProxyType({})) -> Iterator[Aside]:
        arrows = Relationships(self._package, self.part)
        seen: set[str] = set()
        for kind in _KINDS:
            for arrow in arrows.of_type(kind):
                part = arrow.target
                if part in self._package and part not in seen and not arrow.is_external:
                    seen.add(part)
                    name = part.rpartition("/")[2].rpartition(".")[0]
                    yield known.get(part) or Aside(
                        name, kind, Story(self._package, part, root_of(self._package, part), None)
                    )


def _container(root: Element) -> Element | None:
    """Return what holds the text. Some converters write several bodies: the first takes in the others."""
    bodies = root.findall(w("body"))
    for other in bodies[1:]:
        first = bodies[0]
        if len(first) and first[-1].tag == SECT_PR:
            # At the end of a body it is about the last section, before others it ends one.
            first.append(with_section(first[-1]))
        first.extend(list(other))
        root.remove(other)
    return bodies[0] if bodies else None
