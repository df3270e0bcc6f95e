"""Entries of tables of contents: what the old ones showed and looked like, and new ones."""

import re
from collections import Counter
from collections.abc import Sequence
from copy import deepcopy
from typing import Final

from officeplane.formats.word.contents_table.headings import Heading
from officeplane.formats.word.contents_table.instruction import Instruction
from officeplane.formats.word.looks.properties import have, properties_of, put
from officeplane.formats.word.names import P_PR, R_PR, SPACE, R, T, child, element, value, w
from officeplane.formats.word.segments import fill_run, text_of
from officeplane.formats.word.styles import Styles
from officeplane.formats.word.table_edits.cells import untracked
from officeplane.formats.xml import Element

_REFERENCE: Final = re.compile(r'PAGEREF\s+"?([^\s"\\]+)', re.IGNORECASE)
_LINK: Final = w("hyperlink")
_ANCHOR: Final = w("anchor")
_NUMBER: Final = re.compile(r"[0-9]+|[ivxlcdm]+|[IVXLCDM]+|[a-zA-Z]")


class OldEntries:
    """What was listed before: the page of each heading, and how each level looked."""

    def __init__(self, paragraphs: Sequence[Element], separator: str, styles: Styles) -> None:
        self._styles = styles
        self._pages: dict[str, str] = {}
        self._looks: dict[str, tuple[Element | None, Element | None, Element | None]] = {}
        titles: list[tuple[str, str]] = []
        for paragraph in paragraphs:
            title, _, page = text_of(paragraph).rpartition(separator)
            if not title or not _NUMBER.fullmatch(page.strip()):
                continue
            instructions = "".join(one.text or "" for one in paragraph.iter(w("instrText")))
            named = [*_REFERENCE.findall(instructions), *(one.get(_ANCHOR, "") for one in paragraph.iter(_LINK))]
            for name in filter(None, named):
                self._pages.setdefault(name, page.strip())
            if not any(named):
                titles.append((_key(title), page.strip()))
            style = value(paragraph.find(P_PR), "pStyle") or ""
            runs = [run for run in paragraph.iter(R) if run.find(T) is not None]
            self._looks.setdefault(style, (paragraph.find(P_PR), runs[0].find(R_PR), runs[-1].find(R_PR)))
        times = Counter(title for title, _ in titles)
        # Which of two that are called the same is meant, nobody can tell.
        self._titles = {title: page for title, page in titles if times[title] == 1}

    def page_of(self, heading: Heading, bookmark: str) -> str:
        """Return the page number that was shown for a heading, or nothing."""
        title = f"{heading.number}\t{heading.text}" if heading.number else heading.text
        return self._pages.get(bookmark) or self._titles.get(_key(title)) or self._titles.get(_key(heading.text)) or ""

    def entry(self, heading: Heading, bookmark: str, instruction: Instruction, width: int) -> Element:
        """Return a new entry that looks like those of its level."""
        name = f"toc {heading.level}"
        style = self._styles.find("paragraph", name)
        if style is None:
            style = self._styles.find_or_make(
                "paragraph", name, f"TOC{heading.level}", lambda made: _fill_style(made, heading.level)
            )
        properties, look, look_of_page = self._looks.get(style, (None, None, None))
        paragraph = element("p")
        if properties is not None:
            paragraph.append(untracked(properties))
        else:
            _set_tabs(put_style(paragraph, style), width)
        holder = paragraph
        if instruction.linked:
            holder = child(paragraph, "hyperlink", anchor=bookmark, history="1")
        _say(holder, f"{heading.number}\t{heading.text}" if heading.number else heading.text, look)
        first, last = instruction.unnumbered or (0, 0)
        if not first <= heading.level <= last:
            _say(holder, instruction.separator or "\t", look_of_page)
            _refer(holder, bookmark, self.page_of(heading, bookmark), look_of_page, linked=instruction.linked)
        return paragraph


def put_style(paragraph: Element, style: str) -> Element:
    """Give a paragraph a style; return its properties."""
    properties = properties_of(paragraph, "pPr")
    put(properties, "pPr", "pStyle", val=style)
    return properties


def mark_run(kind: str, **more: str) -> Element:
    """Return a run with a mark of a field."""
    run = element("r")
    child(run, "fldChar", fldCharType=kind, **more)
    return run


def instruction_run(text: str) -> Element:
    """Return a run with what a field is to show."""
    run = element("r")
    said = child(run, "instrText")
    said.text = text
    said.set(SPACE, "preserve")
    return run


def _refer(holder: Element, bookmark: str, page: str, look: Element | None, *, linked: bool) -> None:
    """Add the page of a bookmark, as it was shown, as a field."""
    holder.append(mark_run("begin"))
    holder.append(instruction_run(f" PAGEREF {bookmark} \\h " if linked else f" PAGEREF {bookmark} "))
    holder.append(mark_run("separate"))
    _say(holder, page, look)
    holder.append(mark_run("end"))


def _say(holder: Element, text: str, look: Element | None) -> None:
    run = child(holder, "r")
    if look is not None:
        run.append(deepcopy(untracked(look)))
    fill_run(run, text)


def _set_tabs(properties: Element, width: int) -> None:
    tabs = have(properties, "pPr", "tabs")
    child(tabs, "tab", val="right", leader="dot", pos=str(width))


def _fill_style(made: Element, level: int) -> None:
    child(made, "uiPriority", val="39")
    child(made, "unhideWhenUsed")
    properties = child(made, "pPr")
    child(properties, "spacing", after="100")
    child(properties, "ind", left=str(220 * (level - 1)))


def _key(title: str) -> str:
    return " ".join(title.split()).lower()
