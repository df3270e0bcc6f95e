"""Notes: a mark behind a text, and what it says at the foot of the page or at the end."""

from collections.abc import Sequence
from typing import Final, Literal, TypeAlias

from officeplane.domain.document import InvalidEditError
from officeplane.formats.blocks import Line, Span
from officeplane.formats.links import Links
from officeplane.formats.relationships import OFFICE, Relationships, declare
from officeplane.formats.word.finder import Finder
from officeplane.formats.word.line_writer import LineWriter
from officeplane.formats.word.marks.stretches import put_behind, stretch_of
from officeplane.formats.word.names import COMPATIBILITY, ID, W14, W, child, element, element_name, w
from officeplane.formats.word.placing import check_open
from officeplane.formats.word.segments import fill_run
from officeplane.formats.word.story import Story
from officeplane.formats.word.styles import Styles
from officeplane.formats.xml import Element

Kind: TypeAlias = Literal["footnote", "endnote"]

_CONTENT_TYPE: Final = "application/vnd.openxmlformats-officedocument.wordprocessingml.{}+xml"
_SEPARATORS: Final = (("separator", "-1"), ("continuationSeparator", "0"))
_SETTINGS_BEHIND: Final = frozenset(
    (
        "endnotePr", "compat", "docVars", "rsids", "mathPr", "attachedSchema", "themeFontLang", "clrSchemeMapping",
        "doNotIncludeSubdocsInStats", "doNotAutoCompressPictures", "forceUpgrade", "captions", "readModeInkLockDown",
        "smartTagType", "schemaLibrary", "shapeDefaults", "doNotEmbedSmartTags", "decimalSymbol", "listSeparator",
    )
)  # fmt: skip
"""What stands behind the notes in the settings of a document."""


def add_note(finder: Finder, node_id: str, find: str | None, nth: int | None, text: str, kind: Kind) -> str:
    """Put a note behind a text, or at the end of a node; return the id of what it says."""
    stretch = stretch_of(finder, node_id, find, nth)
    stories = finder.stories
    if stretch.story is not stories.body.story:
        raise InvalidEditError(f"{node_id!r} is beside the text: Word has notes to the text itself, not to those")
    stories.stamp(stretch.story)
    mark, number = new_note(finder, kind, [(Span(line),) for line in text.splitlines() or [""]])
    put_behind(stretch.paragraph, stretch.end, mark)
    check_open(stretch.found, mark, "before")
    stretch.story.touch(stretch.story.place_of(stretch.paragraph))
    return f"{kind}-{number}"


def new_note(finder: Finder, kind: Kind, lines: Sequence[Line]) -> tuple[Element, str]:
    """Add a note to those of the document; return the run with its mark, which is in no text yet, and its number."""
    styles = finder.stories.styles
    notes = _notes(finder, kind)
    finder.stories.stamp(notes)
    number = str(max([0, *(_number(one) for one in notes.container.iterchildren(w(kind)))]) + 1)
    writer = LineWriter(Links(finder.package, notes.part), styles)
    notes.insert(len(notes.blocks), [_note(kind, number, lines, styles, writer)])
    mark = _run(kind, styles)
    child(mark, f"{kind}Reference", id=number)
    return mark, number


def _note(kind: Kind, number: str, lines: Sequence[Line], styles: Styles, writer: LineWriter) -> Element:
    note = element(kind, id=number)
    style = styles.find_or_make("paragraph", f"{kind} text", f"{kind.capitalize()}Text", _fill_text)
    for turn, line in enumerate(lines):
        paragraph = child(note, "p")
        child(child(paragraph, "pPr"), "pStyle", val=style)
        if turn == 0:
            mark = _run(kind, styles)
            child(mark, f"{kind}Ref")
            paragraph.append(mark)
            fill_run(child(paragraph, "r"), " ")
        writer.fill(paragraph, line)
    return note


def _run(kind: Kind, styles: Styles) -> Element:
    style = styles.find_or_make("character", f"{kind} reference", f"{kind.capitalize()}Reference", _fill_reference)
    run = element("r")
    child(child(run, "rPr"), "rStyle", val=style)
    return run


def _notes(finder: Finder, kind: Kind) -> Story:
    """Return the story of the notes, which begins with the lines above them if there is none yet."""
    known = next((one.story for one in finder.stories.asides if one.kind == f"{kind}s"), None)
    if known is not None:
        return known
    package, part = finder.package, f"word/{kind}s.xml"
    lines = "".join(
        f'<w:{kind} w:type="{name}" w:id="{number}"><w:p><w:pPr><w:spacing w:after="0" w:line="240" '
        f'w:lineRule="auto"/></w:pPr><w:r><w:{name}/></w:r></w:p></w:{kind}>'
        for name, number in _SEPARATORS
    )
    spaces = f'xmlns:w="{W}" xmlns:r="{OFFICE}" xmlns:mc="{COMPATIBILITY}" xmlns:w14="{W14}" mc:Ignorable="w14"'
    package.put(part, f"<w:{kind}s {spaces}>{lines}</w:{kind}s>".encode())
    declare(package, part, _CONTENT_TYPE.format(f"{kind}s"))
    arrows = Relationships(package, finder.stories.part)
    arrows.add(f"{kind}s", part)
    for settings in [arrow.target for arrow in arrows.of_type("settings") if arrow.target in package]:
        _tell(package.tree(settings), kind)
        package.changed(settings)
    finder.stories.look_again()
    return next(one.story for one in finder.stories.asides if one.kind == f"{kind}s")


def _tell(settings: Element, kind: Kind) -> None:
    """Name the lines above the notes in the settings of a document."""
    said = next((one for one in settings.iterchildren(w(f"{kind}Pr"))), None)
    if said is None:
        said = element(f"{kind}Pr")
        behind = _SETTINGS_BEHIND - ({"endnotePr"} if kind == "endnote" else set())
        later = (
            at
            for at, one in enumerate(settings)
            if element_name(one) in behind or (isinstance(one.tag, str) and not one.tag.startswith(f"{{{W}}}"))
        )
        settings.insert(next(later, len(settings)), said)
    if said.find(w(kind)) is None:
        for _, number in _SEPARATORS:
            child(said, kind, id=number)


def _number(note: Element) -> int:
    said = note.get(ID, "")
    return int(said) if said.isascii() and said.isdecimal() else 0


def _fill_text(made: Element) -> None:
    child(made, "uiPriority", val="99")
    child(made, "unhideWhenUsed")
    child(child(made, "pPr"), "spacing", after="0", line="240", lineRule="auto")
    run = child(made, "rPr")
    child(run, "sz", val="20")
    child(run, "szCs", val="20")


def _fill_reference(made: Element) -> None:
    child(made, "uiPriority", val="99")
    child(made, "unhideWhenUsed")
    child(child(made, "rPr"), "vertAlign", val="superscript")
