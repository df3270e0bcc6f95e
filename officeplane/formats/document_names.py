"""Nodes: what those of a document are called, told and changed in the words of its format."""

from officeplane.formats.excel.naming import NamesOfExcel
from officeplane.formats.excel.workbook import Workbook
from officeplane.formats.naming.named import NamedNodes
from officeplane.formats.naming.names import Names, apply
from officeplane.formats.naming.naming import names_after
from officeplane.formats.opening import Document
from officeplane.formats.powerpoint.naming import NamesOfPowerPoint
from officeplane.formats.powerpoint.presentation import Presentation
from officeplane.formats.word.document import Word
from officeplane.formats.word.naming import NamesOfWord


def named(document: Document, names: Names) -> Document:
    """Return a document with its nodes called by these names, as if its file had them so."""
    apply(names, named_nodes(document))
    # From here on a rollback returns to this.
    document.package.write()
    return type(document)(document.package)


def names_of_upload(head: Document, upload: Document, seed: str, *, head_is_named: bool) -> Names:
    """Return what to call the nodes of an upload that follows a document."""
    return names_after(named_nodes(head), named_nodes(upload), seed, head_is_named=head_is_named)


def named_nodes(document: Document) -> NamedNodes:
    """Return the nodes of a document by whose ids it can be read and edited."""
    match document:
        case Word():
            return NamesOfWord(document)
        case Workbook():
            return NamesOfExcel(document)
        case Presentation():
            return NamesOfPowerPoint(document)
