"""Merging: what an upload has changed of an earlier revision is done to the head, in the words of its format."""

from collections.abc import Callable

from officeplane.domain.document import InvalidEditError
from officeplane.formats.excel.merging.merging import merge as merge_workbook
from officeplane.formats.excel.workbook import Workbook
from officeplane.formats.merging.unit import Merged
from officeplane.formats.opening import Document
from officeplane.formats.powerpoint.merging.merging import merge as merge_presentation
from officeplane.formats.powerpoint.presentation import Presentation
from officeplane.formats.word.document import Word
from officeplane.formats.word.merging.merging import merge as merge_text


def merge(base: Document, upload: Document, head: Document, fresh_id: Callable[[str], str], maker: str) -> Merged:
    """Do to the head what an upload has changed of the base, all of it or nothing.

    Raises `MergeConflictError` with what stands in the way; the caller rolls back then.
    """
    if any(one.package.is_strict for one in (base, upload, head)):
        raise InvalidEditError(
            "one of the files is Strict Open XML, which can be read here and not edited: save it in Office as an "
            "ordinary file (not Strict), and upload that with If-Match"
        )
    match base, upload, head:
        case Word(), Word(), Word():
            return merge_text(base, upload, head, fresh_id, maker)
        case Workbook(), Workbook(), Workbook():
            return merge_workbook(base, upload, head)
        case Presentation(), Presentation(), Presentation():
            return merge_presentation(base, upload, head)
        case _:
            message = "the revisions are documents of different formats"
            raise InvalidEditError(message)
