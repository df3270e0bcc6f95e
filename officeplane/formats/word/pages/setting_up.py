"""Setting up pages: all that is asked of a section, or of all of them, in one go."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from officeplane.domain.document import InvalidEditError
from officeplane.domain.warning import EditWarning, Loss
from officeplane.formats.word.brought import Numbers
from officeplane.formats.word.finder import Finder
from officeplane.formats.word.forms import form_of_section
from officeplane.formats.word.pages.headers import Headers, Kind
from officeplane.formats.word.pages.page_numbers import add_page_number
from officeplane.formats.word.pages.paper import Layout
from officeplane.formats.word.pages.sections import Sections
from officeplane.formats.xml import Element

_WITHIN: Final = frozenset(("page", "column"))


@dataclass(frozen=True, slots=True)
class Setup:
    """What to change: the layout, what stands above and below (None for nothing there), and where numbers are shown."""

    layout: Layout
    break_before: str | None = None
    beside: Mapping[Kind, str | None] = field(default_factory=dict[Kind, str | None])
    number_at: tuple[Kind, str] | None = None

    @property
    def is_of_sections(self) -> bool:
        """Whether anything but where the node begins is to be changed."""
        return self.layout.says_something or bool(self.beside) or self.number_at is not None


@dataclass(slots=True)
class SetUp:
    """What was done: how many sections changed, the nodes of their headers and footers, what was lost with these."""

    sections: int = 0
    pages: dict[str, Any] = field(default_factory=dict[str, Any])
    """How the pages of the first of them are now."""
    beside: dict[Kind, str] = field(default_factory=dict[Kind, str])
    replaced: list[Loss] = field(default_factory=list[Loss])
    removed: list[Loss] = field(default_factory=list[Loss])
    warnings: list[EditWarning] = field(default_factory=list[EditWarning])


def set_up(
    finder: Finder, node_id: str | None, setup: Setup, maker: str, fresh_id: Callable[[str], str], numbers: Numbers
) -> SetUp:
    """Set up the pages of the section that a node begins in, or of all.

    `maker` is the task that does it, `fresh_id` gives ids to new headers, `numbers` numbers to new pictures.
    """
    found = None if node_id is None else finder.find(node_id)
    body = finder.stories.body
    if found is not None and found.story is not body.story:
        raise InvalidEditError(f"{node_id!r} is a {found.kind} beside the text: name a node of the text itself")
    finder.stories.stamp(body.story)
    sections = Sections(body)
    done = SetUp()
    section: Element | None = None
    if found is not None:
        section = sections.of(found.begin)
        if setup.break_before in _WITHIN:
            sections.break_before(found, setup.break_before or "")
        elif setup.break_before is not None:
            section = sections.begin(found, setup.break_before)
            done.sections = 1
    # Before headers are read for what they say: what is read is given ids by that.
    body.story.name(maker)
    if not setup.is_of_sections:
        return done
    everything = sections.all()
    chosen = [at for at, one in enumerate(everything) if section is None or one is section]
    for at in chosen:
        setup.layout.give(everything[at])
    for kind, content in setup.beside.items():
        headers = Headers(finder, kind, everything, maker, fresh_id)
        if content is None:
            done.removed += headers.remove(chosen)
            continue
        said = headers.say(chosen, content, numbers)
        done.beside[kind] = said.id
        done.replaced += said.losses
        done.warnings += said.warnings
    if setup.number_at is not None:
        kind, align = setup.number_at
        style = finder.stories.styles.find("paragraph", kind)
        for aside in Headers(finder, kind, everything, maker, fresh_id).to_add_to(chosen):
            finder.stories.stamp(aside.story)
            add_page_number(aside.story, align, style)
            done.beside.setdefault(kind, aside.id)
    for one in everything:
        sections.changed(one)
    done.sections = len(chosen)
    done.pages = form_of_section(everything[chosen[0]])
    return done
