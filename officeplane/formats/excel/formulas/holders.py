"""Holders of formulas: every element of a workbook whose text is one."""

from collections.abc import Iterator

from officeplane.formats.excel.formulas.rewriting import TEXTS, formula_parts
from officeplane.formats.package import Package
from officeplane.formats.xml import Element


def formula_holders(package: Package) -> Iterator[tuple[str, Element]]:
    """Yield what holds a formula, with its part."""
    for part in formula_parts(package):
        for holder in list(package.tree(part).iter(*TEXTS)):
            if holder.text:
                yield part, holder
