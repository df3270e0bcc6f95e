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
_PIPE: Final = "|"


def what_formulas_ask(xml: Content) -> str | None:
    """Say what is wrong with the formulas of a part; None when nothing is."""
    formulas = [found[2] for found in _FORMULA.finditer(xml)]
    # There may be hundreds of thousands: they are looked at together before each is.
    if not _is_suspect(_read(b"\n".join(formulas))):
        return None
    for formula in map(_read, formulas):
        if not _is_suspect(formula):
            continue
        for token in tokens(formula):
            if token.kind is Kind.FUNCTION and (name := bare_name(token.text)) in UNSAFE:
                return f"has a formula that calls {name}, which reaches outside the workbook"
            if token.kind is Kind.OTHER and token.text == _PIPE:
                return "has a formula with | in it, which starts other programs (DDE)"
    return None


def _read(formula: bytes) -> str:
    """Return a formula as Excel reads it: wide letters, too, and those that are written as references."""
    return normalize("NFKC", unescaped(formula))


def _is_suspect(formula: str) -> bool:
    """Tell whether a formula has to be cut into tokens; most have none of these names, not even in a text."""
    capitals = formula.upper()
    return _PIPE in capitals or any(name in capitals for name in UNSAFE)
