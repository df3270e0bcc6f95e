"""Checks of relationships: nothing outside the file is loaded but what the policy lets in, and what is inside is there.

A hyperlink may lead to the web, to people, or to a file beside this one: nobody
follows it unless a reader clicks. Everything else that leads outside is refused,
and so are hyperlinks to shares and local files, which give a reader's name away.
"""

import posixpath
import re
from collections.abc import Collection
from typing import Final, NamedTuple
from urllib.parse import unquote

from officeplane.domain.document import Policy, UnsupportedDocumentError
from officeplane.formats.kept_links import OFFICE, Kept, Link, is_of_chart, kept_as, links
from officeplane.formats.link_uses import CLICKED, Use
from officeplane.formats.xml import Element

_HYPERLINKS: Final = frozenset(f"{begin}hyperlink" for begin in OFFICE)
_MAIN: Final = frozenset(f"{begin}officeDocument" for begin in OFFICE)
_WEB: Final = re.compile(r"(?:https?|ftp)://[^\s\\]|(?:mailto|tel|sms):", re.IGNORECASE)
_BESIDE: Final = re.compile(r"(?![/\\])[^:/?#\\]*(?:/[^:\\]*)?(?:[?#].*)?", re.DOTALL)
_OUTSIDE: Final = re.compile(r"[^/?#]*:|//|.*\\", re.DOTALL)

_MACROS: Final = frozenset(
    {"vbaproject", "wordvbadata", "xlmacrosheet", "xlintlmacrosheet", "dialogsheet", "attachedtoolbars"}
)
_OBJECTS: Final = frozenset({"oleobject", "control", "activexcontrol", "activexcontrolbinary", "afchunk"})
_ALWAYS_OUTSIDE: Final = frozenset(
    {"attachedtemplate", "externallink", "externallinkpath", "xlpathmissing", "subdocument", "frame",
     "mailmergesource", "mailmergeheadersource"}
)  # fmt: skip
_ADD_INS: Final = frozenset({"webextension", "webextensiontaskpanes"})
_PACKAGE: Final = "package"
_READ: Final = frozenset(
    {"styles", "numbering", "settings", "comments", "header", "footer", "footnotes", "endnotes", "worksheet",
     "chartsheet", "sharedstrings", "slide", "slidemaster", "slidelayout", "notesslide", "notesmaster", "theme"}
)  # fmt: skip


def is_links(name: str) -> bool:
    """Tell whether a part holds relationships."""
    return name.lower().endswith(".rels")


class Checked(NamedTuple):
    """What relationships of one part there are that may be used for one thing only, by their ids."""

    uses: dict[str, Use]
    documents: set[str]
    """The parts among them that are documents themselves."""


def check_links(name: str, root: Element, known: Collection[str], policy: Policy = Policy.STRICT) -> Checked:
    """Refuse relationships that lead outside, to macros or objects, or to parts that must be `known` but are not.

    What is left that leads outside are hyperlinks, and what the policy lets in.
    """
    uses: dict[str, Use] = {}
    documents: set[str] = set()
    ids: set[str] = set()
    for link in links(root):
        if link.id in ids:
            raise UnsupportedDocumentError("unsafe_package", f"{name!r} has two relationships {link.id!r}")
        ids.add(link.id)
        if link.kind in _MACROS:
            raise UnsupportedDocumentError("macros", f"the file holds macros ({name!r} says so); save it without")
        if link.kind in _ADD_INS:
            raise UnsupportedDocumentError(
                "external_reference", f"{name!r} brings an add-in, which is loaded from elsewhere; remove it"
            )
        if link.mode == "External" and link.type in _HYPERLINKS:
            _check_hyperlink(name, link)
            uses[link.id] = CLICKED
        elif policy is Policy.STANDARD and (kept := kept_as(name, link)) is not None:
            uses[link.id] = kept
            if link.mode != "External":
                part = _there(name, link, known)
                documents |= {part} if kept is Kept.DOCUMENT else set()
        elif link.mode != "Internal" or link.kind in _ALWAYS_OUTSIDE or _OUTSIDE.match(unquote(link.target)):
            raise UnsupportedDocumentError(
                "external_reference",
                f"{name!r} loads something from outside the file: {link.target[:200]!r} ({link.kind})",
            )
        else:
            _check_part(name, link, known)
    return Checked(uses, documents)


def source(name: str) -> str:
    """Return the name of the part whose relationships these are; empty for those of the file."""
    folder, _, file = name.rpartition("/")
    return posixpath.join(posixpath.dirname(folder), file.removesuffix(".rels"))


def target(name: str, link: Link) -> str:
    """Return the name of the part that a relationship leads to."""
    if link.target.startswith("/"):
        return posixpath.normpath(link.target[1:])
    folder = posixpath.dirname(posixpath.dirname(name))
    return posixpath.normpath(posixpath.join(folder, link.target))


def main_target(name: str, root: Element) -> str:
    """Return the name of the part that the file is about."""
    found = [link for link in links(root) if link.type in _MAIN]
    if not found:
        raise UnsupportedDocumentError("missing_part", "the file does not say which of its parts is the document")
    if len(found) > 1:
        raise UnsupportedDocumentError("unsafe_package", "the file says of two of its parts that they are the document")
    return target(name, found[0])


def _check_hyperlink(name: str, link: Link) -> None:
    address = link.target.strip()
    bare = unquote(address)
    is_visible = not any(char < " " or char == "\x7f" for char in bare)
    if address.startswith("//"):
        # A browser reads a web address in it, Windows a share: to open it tells a stranger who is asking.
        raise UnsupportedDocumentError(
            "external_reference",
            f"{name!r} has a hyperlink that names a share, {link.target[:200]!r}; if it is meant to lead to the web, "
            'write "https:" before it',
        )
    if not is_visible or not (_WEB.match(address) or (_BESIDE.fullmatch(address) and _BESIDE.fullmatch(bare))):
        raise UnsupportedDocumentError(
            "external_reference",
            f"{name!r} has a hyperlink that is neither to the web nor to people: {link.target[:200]!r}",
        )


def _part(name: str, link: Link) -> str:
    part = target(name, link).partition("#")[0]
    if part.startswith("../"):
        raise UnsupportedDocumentError("unsafe_name", f"{name!r} leads out of the file: {link.target[:200]!r}")
    return part


def _there(name: str, link: Link, known: Collection[str]) -> str:
    """Return the part that must be there."""
    part = _part(name, link)
    if part not in known or _OUTSIDE.match(unquote(link.target)):
        raise UnsupportedDocumentError("missing_part", f"{name!r} names a part that is not there: {part!r}")
    return part


def _check_part(name: str, link: Link, known: Collection[str]) -> None:
    part = _part(name, link)
    if link.kind in _OBJECTS:
        raise UnsupportedDocumentError(
            "embedded_object", f"{name!r} embeds an object of another program ({link.kind}); remove it"
        )
    if link.kind == _PACKAGE and not is_of_chart(name):
        raise UnsupportedDocumentError(
            "embedded_object", f"{name!r} embeds a file of another program ({part!r}); remove it"
        )
    if link.kind in _READ and part not in known:
        raise UnsupportedDocumentError("missing_part", f"{name!r} names a part that is not there: {part!r}")
