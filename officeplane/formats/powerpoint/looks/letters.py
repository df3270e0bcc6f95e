"""Letters: how the text of runs looks."""

from dataclasses import dataclass
from typing import Final

from lxml import etree

from officeplane.formats.letters import LettersWanted
from officeplane.formats.powerpoint.looks.properties import put, put_fill
from officeplane.formats.powerpoint.names import a, under
from officeplane.formats.xml import Element

_RUN: Final = "rPr"
_FONTS: Final = ("latin", "ea", "cs")
_LINKS: Final = (a("hlinkClick"), a("hlinkMouseOver"))
_OWN_COLOUR: Final = "{http://schemas.microsoft.com/office/drawing/2018/hyperlinkcolor}hlinkClr"
_OWN_COLOUR_URI: Final = "{A12FA001-AC4F-418D-AE19-62706E023703}"


@dataclass(frozen=True, slots=True)
class Letters(LettersWanted):
    """What to change of letters on a slide."""

    def give(self, properties: Element) -> None:
        """Change the properties of a run, or of a paragraph's end."""
        for name, is_set in (("b", self.bold), ("i", self.italic)):
            if is_set is not None:
                # Off is said, too: the placeholder may say on.
                properties.set(name, "1" if is_set else "0")
        _line(properties, "u", ("none", "sng"), is_set=self.underline)
        _line(properties, "strike", ("noStrike", "sngStrike"), is_set=self.strike)
        if self.size is not None:
            properties.set("sz", str(round(self.size * 100)))
        if self.color is not None:
            put_fill(properties, _RUN, self.color)
            for link in properties.iterchildren(*_LINKS):
                _show_own_colour(link)
        if self.highlight is not None:
            under(put(properties, _RUN, "highlight"), a("srgbClr"), val=self.highlight)
        if self.font is not None:
            for name in _FONTS:
                put(properties, _RUN, name, typeface=self.font)


def _line(properties: Element, name: str, values: tuple[str, str], *, is_set: bool | None) -> None:
    """Draw a line under or through letters, or none; one of another kind is a line already."""
    none, usual = values
    if is_set is False or (is_set and properties.get(name, none) == none):
        properties.set(name, usual if is_set else none)


def _show_own_colour(link: Element) -> None:
    """Have a link be shown in the colour of its letters, not in the one that the theme has for links."""
    if next(link.iter(_OWN_COLOUR), None) is not None:
        return
    extensions = link.find(a("extLst"))
    if extensions is None:
        extensions = under(link, a("extLst"))
    extension = under(extensions, a("ext"), uri=_OWN_COLOUR_URI)
    made = etree.SubElement(extension, _OWN_COLOUR, nsmap={"ahyp": _OWN_COLOUR[1:].partition("}")[0]})
    made.set("val", "tx")
