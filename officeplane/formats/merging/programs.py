"""Programs: which one says that it has written a file."""

from officeplane.formats.package import Package
from officeplane.formats.relationships import Relationships


def program_of(package: Package) -> str:
    """Return what a file says of its program; nothing where it says nothing."""
    for arrow in Relationships(package).of_type("extended-properties"):
        if arrow.target in package:
            return "".join(one.text or "" for one in package.tree(arrow.target).iterchildren("{*}Application"))
    return ""
