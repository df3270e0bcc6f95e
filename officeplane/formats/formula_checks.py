"""Checks of formulas in uploaded workbooks: the same functions are refused that no edit may write."""

import re
from typing import Final
from unicodedata import normalize

from officeplane.formats.content_text import NAME, REST, unescaped
from officeplane.formats.excel.formulas.functions import UNSAFE, bare_name
from officeplane.formats.excel.formulas.tokens import Kind, tokens
from officeplane.formats.inflation import Content

_HOLDERS: Final = rb"(?:f|formula|formula1|formula2|definedName|calculatedColumnFormula|totalsRowFormula)"
_FORMULA: Final = re.compile(NAME + _HOLDERS + rb"\b" + REST + rb"([^<]+)<")
_CALLS: Final = [f"{name.lower()}(".encode() for name in UNSAFE]
_SPACED: Final = re.compile(rb"\s\(")
# A formula is cut into tokens only if one of these may be in it.
_SUSPECT: Final = re.compile("|".join([r"\|", *(re.escape(name) + r"\s*\(" for name in UNSAFE)]), re.IGNORECASE)


def what_formulas_ask(xml: Content) -> str | None:
    """Say what is wrong with the formulas of a part; None when nothing is."""
    if not _may_ask(bytes(xml).lower()):
        return None
    for found in _FORMULA.finditer(xml):
        formula = normalize("NFKC", unescaped(found[2]))
        if not _SUSPECT.search(formula):
            continue
        for token in tokens(formula):
            if token.kind is Kind.FUNCTION and (name := bare_name(token.text)) in UNSAFE:
                return f"has a formula that calls {name}, which reaches outside the workbook"
            if token.kind is Kind.OTHER and token.text == "|":
                return "has a formula with | in it, which starts other programs (DDE)"
    return None


def _may_ask(xml: bytes) -> bool:
    """Look for calls as they are, and for what disguises them: so that 20,000 formulas are looked at quickly."""
    is_disguised = b"&#" in xml or not xml.isascii() or _SPACED.search(xml) is not None
    return is_disguised or b"|" in xml or any(call in xml for call in _CALLS)
