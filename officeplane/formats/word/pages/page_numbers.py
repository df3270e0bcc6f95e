"""Page numbers: a field at the end of a header or a footer that shows the number of its page."""

import re
from typing import Final

from officeplane.formats.word.looks.properties import properties_of, put
from officeplane.formats.word.names import P_PR, P, child, element, w
from officeplane.formats.word.segments import text_of
from officeplane.formats.word.story import Story
from officeplane.formats.xml import Element

_NUMBER: Final = re.compile(r"\bPAGE\b", re.IGNORECASE)


def add_page_number(story: Story, align: str, style: str | None) -> None:
    """Add a paragraph with the number of the page, unless there is one already."""
    if _has_number(story):
        return
    last = story.blocks[-1].element if story.blocks else None
    if last is not None and last.tag == P and not text_of(last) and all(one.tag == P_PR for one in last):
        paragraph = last
    else:
        paragraph = element("p")
        if style is not None:
            put(properties_of(paragraph, "pPr"), "pPr", "pStyle", val=style)
        story.insert(len(story.blocks), [paragraph])
    put(properties_of(paragraph, "pPr"), "pPr", "jc", val=align)
    child(child(paragraph, "r"), "fldChar", fldCharType="begin")
    child(child(paragraph, "r"), "instrText").text = " PAGE "
    child(child(paragraph, "r"), "fldChar", fldCharType="separate")
    child(child(paragraph, "r"), "t").text = "1"
    child(child(paragraph, "r"), "fldChar", fldCharType="end")
    story.touch(story.place_of(paragraph))


def _has_number(story: Story) -> bool:
    return any(_NUMBER.search(said) for said in _instructions(story.root))


def _instructions(root: Element) -> list[str]:
    simple = [one.get(w("instr"), "") for one in root.iter(w("fldSimple"))]
    return [*simple, "".join(one.text or "" for one in root.iter(w("instrText")))]
