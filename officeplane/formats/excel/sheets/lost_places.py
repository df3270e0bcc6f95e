"""Lost places: where in a workbook something says now that it refers to nothing."""

from officeplane.formats.xml import Element


def place_in_words(part: str, holder: Element, sheets: dict[str, str]) -> str:
    """Say in words where a reference was."""
    if str(holder.tag).endswith("}definedName"):
        return f"the name {holder.get('name')}"
    parent = holder.getparent()
    cell = None if parent is None else parent.get("r")
    if part in sheets:
        return f"{sheets[part]}!{cell}" if cell else f"the sheet {sheets[part]}"
    return f"the part {part}"
