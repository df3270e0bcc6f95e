"""Copied formulas: in a copy of a sheet what named the sheet itself, or one of its tables, names the copy."""

from collections.abc import Callable, Iterable, Mapping
from typing import Final
from urllib.parse import quote, unquote

from officeplane.formats.excel.formulas.references import quoted, sheets_of
from officeplane.formats.excel.formulas.rewriting import TEXTS, change_attribute, change_attributes
from officeplane.formats.excel.formulas.tokens import Kind, tokens
from officeplane.formats.excel.sheets.copied_parts import arrows_of
from officeplane.formats.excel.tags import RELATION
from officeplane.formats.package import Package

_IN_BOXES: Final = ("{*}FmlaLink", "{*}FmlaRange", "{*}FmlaGroup", "{*}FmlaTxbx")


def following(old: str, new: str, tables: Mapping[str, str]) -> Callable[[str], str]:
    """Return what lets a formula name the new sheet and tables; `tables` are by their old names in small letters.

    A stretch of sheets that begins or ends at the old one still does.
    """

    def follow(formula: str) -> str:
        if "!" not in formula and not tables:
            return formula
        parts: list[str] = []
        elsewhere = False
        for token in tokens(formula):
            text = token.text
            if token.kind is Kind.SHEET and not elsewhere:
                names = sheets_of(token)
                if len(names) == 1 and names[0].casefold() == old.casefold():
                    text = quoted(new) + "!"
            elif token.kind is Kind.NAME and not elsewhere:
                text = tables.get(text.casefold(), text)
            parts.append(text)
            elsewhere = token.kind is Kind.BRACKET
        return "".join(parts)

    return follow


def follow_in(package: Package, copies: Iterable[str], follow: Callable[[str], str]) -> None:
    """Let all formulas and links of copied parts follow."""
    for part in copies:
        if part.endswith((".xml", ".vml")):
            root = package.tree(part)
            changed = change_attributes(root, follow)
            for holder in root.iter(*TEXTS, *_IN_BOXES):
                before = holder.text or ""
                if (after := follow(before)) != before:
                    holder.text = after
                    changed = True
            for link in root.iter("{*}hyperlink"):
                if link.get(RELATION) is None:
                    changed |= change_attribute(link, "location", follow)
            if changed:
                package.changed(part)
        _follow_arrows(package, arrows_of(part), follow)


def _follow_arrows(package: Package, arrows: str, follow: Callable[[str], str]) -> None:
    for arrow in package.tree(arrows) if arrows in package else ():
        target = arrow.get("Target", "")
        place = unquote(target[1:]) if target.startswith("#") else ""
        if follow(place) != place:
            arrow.set("Target", "#" + quote(follow(place), safe="!'$:(),."))
            package.changed(arrows)
