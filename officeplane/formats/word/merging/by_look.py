"""By look: how runs and paragraphs are formatted for who reads them, however a program has written it down.

Only what differs from the style is told, so that it makes no difference whether a program repeats the style.
"""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Final

from officeplane.formats.word.merging.context import Context
from officeplane.formats.word.names import P_PR, R_PR, SDT, TBL, TC, VAL, element_name, value, w
from officeplane.formats.xml import Element

_OFF: Final = frozenset(("0", "false", "off"))
_TOGGLES: Final = frozenset(("b", "i", "caps", "smallCaps", "strike", "dstrike", "vanish", "emboss", "imprint"))
_LETTERS: Final = {
    **dict.fromkeys(_TOGGLES, "0"), "u": "none", "color": "auto", "highlight": "none", "sz": "20",
    "vertAlign": "baseline", "position": "0",
}  # fmt: skip
"""What is told of letters, and what it is where nothing is said."""
_PARAGRAPHS: Final = {
    "keepNext": "0", "keepLines": "0", "pageBreakBefore": "0", "jc": "left", "outlineLvl": "9",
}  # fmt: skip
_MEASURES: Final = {
    "ind": {"left": "0", "right": "0", "firstLine": "0"},
    "spacing": {"before": "0", "after": "0", "line": "240"},
}  # fmt: skip
_SIDES: Final = {"start": "left", "end": "right", "both": "justify"}
_POINT: Final = 12_700

Looks = Mapping[str, str]


class ByLook:
    """Tells what a reader would name."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._styles = context.styles
        self._of_style = lru_cache(maxsize=None)(self._letters_of_style)

    def letters(self, run: Element, paragraph: Element | None) -> str:
        """Tell how letters look other than their paragraph's style has them."""
        properties = run.find(R_PR)
        style = None if paragraph is None else value(paragraph.find(P_PR), "pStyle")
        own = value(properties, "rStyle")
        known = {**_LETTERS, **self._of_style(style or self._styles.default("paragraph") or "")}
        of_own = {**known, **(self._of_style(own) if own else {})}
        looks = {**of_own, **_letters_in(properties)}
        return _told({name: said for name, said in looks.items() if said != known.get(name)})

    def paragraph(self, paragraph: Element) -> str:
        """Tell a paragraph's style, and what it has other than that."""
        properties = paragraph.find(P_PR)
        style = value(properties, "pStyle") or self._styles.default("paragraph") or ""
        number, level = self._list(properties, style)
        known = {**_defaults(), **self._paragraphs_of_style(style), **self._of_level(number, level)}
        looks = {**known, **_paragraph_in(properties)}
        told = {name: said for name, said in looks.items() if said != known.get(name)}
        if properties is not None and properties.find(w("sectPr")) is not None:
            told["section"] = "ends"
        if number:
            told["list"] = f"{self._context.list_named(number)} {level}"
        return f"{self._styles.name(style).lower()} {_told(told)}"

    def drawn(self, element: Element) -> str:
        """Tell what a picture shows, what is said in a shape, and how large it is."""
        extent = next((one for one in element.iter() if element_name(one) == "extent"), None)
        size = [] if extent is None else [round(_whole(extent.get(side)) / _POINT) for side in ("cx", "cy")]
        about = next((one for one in element.iter() if element_name(one) == "docPr"), None)
        named = "" if about is None else about.get("descr", "")
        shown = picture_in(element)
        if shown is not None:
            return f"picture {self._context.arrows.told(shown)} {size} {named}"
        text = "\n".join("".join(t.text or "" for t in one.iter(w("t"))) for one in element.iter(w("p")))
        return f"shape {size} {named} {text}"

    def table(self, element: Element) -> str:
        """Tell the style of a table, and which cells of it are merged and filled."""
        if element.tag == TBL:
            style = value(element.find(w("tblPr")), "tblStyle")
            return "" if style is None else self._styles.name(style).lower()
        if element.tag != TC:
            return ""
        properties = element.find(w("tcPr"))
        merge = None if properties is None else properties.find(w("vMerge"))
        told = {
            "span": value(properties, "gridSpan") or "1",
            "merge": "" if merge is None else merge.get(VAL, "continue"),
            "fill": _fill(properties),
        }
        return _told(told)

    def other(self, element: Element) -> str:
        """Tell what is nothing of all that: of a control what it is called."""
        if element.tag == SDT:
            properties = element.find(w("sdtPr"))
            return f"{value(properties, 'alias') or ''} {value(properties, 'tag') or ''}"
        if element.tag == w("br"):
            return f"break {element.get(w('type'), '')}"
        text = "".join(one.text or "" for one in element.iter() if element_name(one) == "t")
        return f"{element_name(element)} {text} {element.get(w('char'), '')}"

    def _list(self, properties: Element | None, style: str) -> tuple[str, str]:
        places = [properties, *(one.find(P_PR) for one in self._styles.chain(style))]
        numbered = [None if one is None else one.find(w("numPr")) for one in places]
        numbers, levels = ([value(one, name) for one in numbered] for name in ("numId", "ilvl"))
        number = next((said for said in numbers if said is not None), "")
        level = next((said for said in levels if said is not None), "0")
        return ("" if number == "0" else number), level

    def _of_level(self, number: str, level: str) -> Looks:
        abstract = self._context.abstracts.get(number)
        if abstract is None:
            return {}
        found = next((one for one in abstract.iterchildren(w("lvl")) if one.get(w("ilvl")) == level), None)
        return {} if found is None else _paragraph_in(found.find(P_PR))

    def _letters_of_style(self, style: str) -> Looks:
        found: dict[str, str] = {}
        for one in reversed([*self._styles.chain(style)]):
            found.update(_letters_in(one.find(R_PR)))
        return found

    def _paragraphs_of_style(self, style: str) -> Looks:
        found: dict[str, str] = {}
        for one in reversed([*self._styles.chain(style)]):
            found.update(_paragraph_in(one.find(P_PR)))
        return found


def picture_in(element: Element) -> str | None:
    """Return the relationship of the picture that a drawing is and nothing else; None of any other drawing."""
    blips = [one for one in element.iter() if element_name(one) == "blip"]
    held = {element_name(one) for one in element.iter()}
    if len(blips) != 1 or held & {"txbx", "wgp", "wpc", "textbox"}:
        return None
    return next((said for name, said in blips[0].attrib.items() if str(name).endswith("}embed")), None)


def _letters_in(properties: Element | None) -> Looks:
    found: dict[str, str] = {}
    for one in () if properties is None else properties:
        name = element_name(one)
        if name in _TOGGLES:
            found[name] = "0" if one.get(VAL) in _OFF else "1"
        elif name in _LETTERS:
            found[name] = one.get(VAL, "").lower()
        elif name == "rFonts":
            font = one.get(w("ascii")) or one.get(w("asciiTheme"))
            if font:
                found["font"] = font
    return found


def _paragraph_in(properties: Element | None) -> Looks:
    found: dict[str, str] = {}
    for one in () if properties is None else properties:
        name = element_name(one)
        if name in _MEASURES:
            for side, said in one.attrib.items():
                of = str(side).rpartition("}")[2]
                if of == "hanging":
                    found["ind.firstLine"] = f"-{said}" if said != "0" else "0"
                elif _SIDES.get(of, of) in _MEASURES[name]:
                    found[f"{name}.{_SIDES.get(of, of)}"] = str(said)
        elif name == "jc":
            found[name] = _SIDES.get(one.get(VAL, ""), one.get(VAL, ""))
        elif name == "outlineLvl":
            found[name] = one.get(VAL, "")
        elif name in _PARAGRAPHS:
            found[name] = "0" if one.get(VAL) in _OFF else "1"
    return found


def _defaults() -> Looks:
    of = {f"{name}.{side}": said for name, sides in _MEASURES.items() for side, said in sides.items()}
    return {**_PARAGRAPHS, **of}


def _fill(properties: Element | None) -> str:
    shading = None if properties is None else properties.find(w("shd"))
    fill = "auto" if shading is None else shading.get(w("fill"), "auto").lower()
    return "auto" if fill == "ffffff" else fill


def _told(looks: Mapping[str, str] | Iterable[tuple[str, str]]) -> str:
    return ",".join(f"{name}={said}" for name, said in sorted(dict(looks).items()))


def _whole(said: str | None) -> int:
    return int(said) if said is not None and said.isdecimal() else 0
