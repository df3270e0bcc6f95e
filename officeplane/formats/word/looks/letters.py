"""Letters: how the text of runs looks."""

from dataclasses import dataclass
from typing import Final

from officeplane.formats.letters import LettersWanted
from officeplane.formats.word.looks.properties import put, take
from officeplane.formats.xml import Element

_RUN: Final = "rPr"
_HIGHLIGHTS: Final = {
    "FFFF00": "yellow", "00FF00": "green", "00FFFF": "cyan", "FF00FF": "magenta", "0000FF": "blue", "FF0000": "red",
    "000080": "darkBlue", "008080": "darkCyan", "008000": "darkGreen", "800080": "darkMagenta", "800000": "darkRed",
    "808000": "darkYellow", "808080": "darkGray", "C0C0C0": "lightGray", "000000": "black", "FFFFFF": "white",
}  # fmt: skip
"""The colours of Word's own markers; behind letters of another colour there is shading."""


@dataclass(frozen=True, slots=True)
class Letters(LettersWanted):
    """What to change of letters in a text."""

    style: str | None = None
    """The id of a character style."""

    def give(self, properties: Element) -> None:
        """Change the properties of a run, or of a paragraph's end."""
        if self.style is not None:
            put(properties, _RUN, "rStyle", val=self.style)
        if self.font is not None:
            put(properties, _RUN, "rFonts", ascii=self.font, hAnsi=self.font, eastAsia=self.font, cs=self.font)
        for names, is_set in ((("b", "bCs"), self.bold), (("i", "iCs"), self.italic), (("strike",), self.strike)):
            for name in names if is_set is not None else ():
                # Off is said, too: a style may say on.
                put(properties, _RUN, name, **({} if is_set else {"val": "0"}))
        if self.strike:
            take(properties, "dstrike")
        if self.underline is not None:
            put(properties, _RUN, "u", val="single" if self.underline else "none")
        if self.color is not None:
            put(properties, _RUN, "color", val=self.color)
        if self.size is not None:
            for name in ("sz", "szCs"):
                put(properties, _RUN, name, val=str(max(round(self.size * 2), 2)))
        if self.highlight is not None:
            take(properties, "highlight", "shd")
            if (known := _HIGHLIGHTS.get(self.highlight)) is not None:
                put(properties, _RUN, "highlight", val=known)
            else:
                put(properties, _RUN, "shd", val="clear", color="auto", fill=self.highlight)
