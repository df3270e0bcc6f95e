"""Beside: what an upload has changed that is none of the nodes that are merged; the head's stays, with a warning."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from officeplane.domain.warning import EditWarning
from officeplane.formats.merging.canonical import Canonical
from officeplane.formats.package import Package
from officeplane.formats.properties import property_of

NOT_MERGED: Final = "not_merged"
_PROPERTIES: Final = ("title", "creator", "subject", "keywords")


def differing(was: Mapping[str, str], now: Mapping[str, str], what: str) -> Iterator[EditWarning]:
    """Yield a warning for each thing that an upload has changed, brought or left out, by its id."""
    for node_id in dict.fromkeys((*was, *now)):
        if was.get(node_id) != now.get(node_id):
            how = "changed" if node_id in was and node_id in now else "brought" if node_id in now else "left out"
            detail = f"the upload has {how} {what}, which is not merged: it stays as it is in the document"
            yield EditWarning(NOT_MERGED, detail, node_id if node_id in was else None)


def differing_whole(was: Iterable[str], now: Iterable[str], what: str) -> Iterator[EditWarning]:
    """Yield a warning if something is not what it was."""
    if [*was] != [*now]:
        detail = f"the upload has changed {what}, which is not merged: it stays as it is in the document"
        yield EditWarning(NOT_MERGED, detail)


def properties_differing(was: Package, now: Package) -> Iterator[EditWarning]:
    """Yield a warning for each property that an upload has changed."""
    for name in _PROPERTIES:
        one, other = (property_of(package, name) for package in (was, now))
        yield from differing_whole([one], [other], f"the {name} that the file says it has")


def part_told(package: Package, part: str | None, canonical: Canonical) -> list[str]:
    """Return a part as it is compared; nothing of a part that is not there."""
    return [] if part is None or part not in package else [canonical.inside(package.tree(part))]


def written_anew() -> EditWarning:
    """Return the warning for a file whose program has written everything otherwise."""
    detail = (
        "the program that saved the upload has written everything anew, so only what a reader sees was compared: what "
        "nodes say, their styles, letters, alignment, lists and sizes. Of nodes that are alike in that, all else stays "
        "as it is in the document"
    )
    return EditWarning("compared_by_look", detail)
