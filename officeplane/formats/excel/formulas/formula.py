"""Formulas that an edit may write: nothing that starts programs, calls out or reaches into other files."""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Final

from officeplane.domain.document import InvalidEditError
from officeplane.formats.excel.formulas.functions import UNSAFE, YOUNG, YOUNGEST, bare_name
from officeplane.formats.excel.formulas.grammar import check_grammar
from officeplane.formats.excel.formulas.references import sheets_of
from officeplane.formats.excel.formulas.storage import stored
from officeplane.formats.excel.formulas.tokens import Kind, Token, tokens

_LENGTH_MAX: Final = 8_192
_LINKS: Final = ("#", "http://", "https://", "mailto:")
_THIS_ROW: Final = re.compile(r"\[@(\[?)((?:'.|[^\[\]'])*+)\]?\]", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Formula:
    """A formula without its equals sign."""

    text: str


def storable(formula: Formula, sheets: Iterable[str], tables: Collection[str]) -> str:
    """Return a formula as the file holds it; one that is unsafe or that Excel could not read is refused.

    `sheets` are the workbook's own, `tables` the names of its tables in small letters.
    """
    text = formula.text.strip().lstrip("=").strip()
    found = tokens(text)
    if not text or len(text) > _LENGTH_MAX:
        raise InvalidEditError(f"a formula has from 1 to {_LENGTH_MAX} characters")
    check_grammar(text, found)
    own = {name.casefold() for name in sheets}
    parts: list[str] = []
    for at, token in enumerate(found):
        before = found[at - 1] if at else None
        parts.append(_checked(text, token, before, found[at + 1 :], own, tables))
    return stored(text, found, parts)


def _checked(
    formula: str, token: Token, before: Token | None, after: list[Token], sheets: set[str], tables: Collection[str]
) -> str:
    match token.kind:
        case Kind.SHEET:
            for name in sheets_of(token):
                if name.casefold() not in sheets:
                    raise InvalidEditError(
                        f"the formula ={formula} refers to {token.text}, and this workbook has no sheet of that name;"
                        " other workbooks and programs cannot be referred to"
                    )
        case Kind.BRACKET:
            if before is None or before.kind is not Kind.NAME or before.text.casefold() not in tables:
                raise InvalidEditError(
                    f"the formula ={formula} has {token.text} after no table of this workbook; other workbooks cannot"
                    " be referred to, and columns stand as Table[Column]"
                )
            return _THIS_ROW.sub(lambda m: f"[[#This Row],[{m[2]}]]" if m[2] else "[#This Row]", token.text)
        case Kind.FUNCTION:
            name = bare_name(token.text)
            if name in UNSAFE:
                raise InvalidEditError(f"the formula ={formula} calls {name}, which reaches outside the workbook")
            if name == "HYPERLINK" and not _is_plain_link(after):
                raise InvalidEditError(
                    f"the formula ={formula} has a HYPERLINK whose address is not written out; begin it with # or write"
                    " an http, https or mailto address in quotes"
                )
            if name in YOUNG and name == token.text.upper():
                return f"_xlfn.{name}"
            if name in YOUNGEST and name == token.text.upper():
                return f"_xlfn._xlws.{name}"
        case Kind.OTHER:
            if token.text == "|":
                raise InvalidEditError(f"the formula ={formula} has | in it, which starts other programs (DDE)")
        case _:
            pass
    return token.text


def _is_plain_link(after: list[Token]) -> bool:
    rest = [token for token in after if token.text.strip()]
    if len(rest) < 3 or rest[1].kind is not Kind.STRING:
        return False
    link = rest[1].text[1:-1].lower()
    return link.startswith("#") or (link.startswith(_LINKS) and rest[2].text in {",", ")"})
