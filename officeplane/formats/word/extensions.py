"""Extensions: names that are younger than the format, declared so that older programs pass over them."""

import re
from typing import Final

from officeplane.formats.package import Package
from officeplane.formats.word.names import COMPATIBILITY, IGNORABLE, W14
from officeplane.formats.xml import Element, parse, serialise

_ROOT: Final = re.compile(rb"(?s)\A(?:<\?xml.*?\?>)?\s*<[^\s/>]+")


def root_of(package: Package, part: str) -> Element:
    """Return the root of a part, under which paragraphs may have ids; the part has not changed with that."""
    root = package.tree(part)
    known = {uri for prefix, uri in root.nsmap.items() if prefix is not None}
    missing = [(prefix, uri) for prefix, uri in (("mc", COMPATIBILITY), ("w14", W14)) if uri not in known]
    if missing:
        # What is parsed cannot be given names; to move all of it below another root takes time in squares.
        names = "".join(f' xmlns:{_free(root, prefix)}="{uri}"' for prefix, uri in missing).encode()
        root = parse(_ROOT.sub(lambda begin: begin[0] + names, serialise(root), count=1))
        package.plant(part, root)
    return root


def let_older_ones_pass_over(root: Element) -> None:
    """Declare that who does not know the ids of paragraphs may ignore them."""
    prefix = next(prefix for prefix, uri in root.nsmap.items() if prefix is not None and uri == W14)
    ignored = root.get(IGNORABLE, "").split()
    if prefix not in ignored:
        root.set(IGNORABLE, " ".join([*ignored, prefix]))


def _free(root: Element, prefix: str) -> str:
    while prefix in root.nsmap:
        prefix += "x"
    return prefix
