"""Own parts: what a sheet has for its comments beside itself, made when it is needed and dropped with its last one."""

import re

from officeplane.formats.excel.sheets.sheet_list import Sheet
from officeplane.formats.excel.sheets.unused_parts import drop, reachable
from officeplane.formats.package import Package
from officeplane.formats.relationships import Relationships, declare


def free_part(package: Package, stem: str, extension: str) -> str:
    """Return a name for a new part: the stem with the number after the highest in use."""
    pattern = re.compile(rf"{re.escape(stem)}([0-9]{{1,9}})\.{re.escape(extension)}", re.IGNORECASE)
    numbers = [int(match[1]) for match in map(pattern.fullmatch, package.names) if match is not None]
    return f"{stem}{max(numbers, default=0) + 1}.{extension}"


def new_part(package: Package, sheet: Sheet, part: str, content: bytes, kind: str, relation: str) -> str:
    """Add a part that a sheet leads to; return the id of its relationship."""
    package.put(part, content)
    declare(package, part, kind)
    return Relationships(package, sheet.part).add(relation, part)


def drop_own(package: Package, sheet: Sheet, arrow_id: str) -> None:
    """Take back a sheet's relationship to a part, and the part unless somebody else leads to it."""
    arrows = Relationships(package, sheet.part)
    part = arrows.part(arrow_id)
    arrows.remove(arrow_id)
    if part not in reachable(package, ""):
        drop(package, part)
