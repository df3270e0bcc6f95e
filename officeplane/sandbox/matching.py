"""Matching: what a child finds of one state in the file that follows it."""

from officeplane.formats.document_names import names_of_upload
from officeplane.sandbox.answers import Matched
from officeplane.sandbox.shelf import Shelf


def matched(shelf: Shelf, head: str, upload: str, seed: str, *, head_is_named: bool) -> Matched:
    """Return what to call the nodes of an upload that follows a state."""
    was, now = shelf.find(head).document, shelf.find(upload).document
    return Matched([names_of_upload(was, now, seed, head_is_named=head_is_named).encode()])
