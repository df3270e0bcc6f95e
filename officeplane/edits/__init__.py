"""Edits of documents, a file each: what may be asked for, and how each format does it."""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from officeplane.edits.add_chapter import AddChapter
    from officeplane.edits.add_comment import AddComment
    from officeplane.edits.add_section import AddSection
    from officeplane.edits.add_sheet import AddSheet
    from officeplane.edits.add_slide import AddSlide
    from officeplane.edits.append_rows import AppendRows
    from officeplane.edits.contract import Edit
    from officeplane.edits.delete_page import DeletePage
    from officeplane.edits.delete_sheet import DeleteSheet
    from officeplane.edits.delete_slide import DeleteSlide
    from officeplane.edits.edit_page import EditPage
    from officeplane.edits.edit_slide import EditSlide
    from officeplane.edits.edit_table import Columns, EditTable, NewColumns, NewRows, Rows
    from officeplane.edits.fill_template import FillTemplate
    from officeplane.edits.format import ApplyFormat
    from officeplane.edits.insert_image import InsertImage
    from officeplane.edits.insert_table import InsertTable
    from officeplane.edits.move_slide import MoveSlide
    from officeplane.edits.rename_sheet import RenameSheet
    from officeplane.edits.replace_image import ReplaceImage
    from officeplane.edits.replace_text import ReplaceText
    from officeplane.edits.review_changes import ReviewChanges
    from officeplane.edits.set_cells import FormulaCell, SetCells
    from officeplane.edits.set_notes import SetNotes
    from officeplane.edits.set_properties import SetProperties
    from officeplane.edits.write_page import WritePage

__all__ = [
    "AddChapter",
    "AddComment",
    "AddSection",
    "AddSheet",
    "AddSlide",
    "AppendRows",
    "ApplyFormat",
    "Columns",
    "DeletePage",
    "DeleteSheet",
    "DeleteSlide",
    "Edit",
    "EditPage",
    "EditSlide",
    "EditTable",
    "FillTemplate",
    "FormulaCell",
    "InsertImage",
    "InsertTable",
    "MoveSlide",
    "NewColumns",
    "NewRows",
    "RenameSheet",
    "ReplaceImage",
    "ReplaceText",
    "ReviewChanges",
    "Rows",
    "SetCells",
    "SetNotes",
    "SetProperties",
    "WritePage",
]

_HOMES: Final = {
    "AddChapter": "add_chapter",
    "AddComment": "add_comment",
    "AddSection": "add_section",
    "AddSheet": "add_sheet",
    "AddSlide": "add_slide",
    "AppendRows": "append_rows",
    "ApplyFormat": "format",
    "Columns": "edit_table",
    "DeletePage": "delete_page",
    "DeleteSheet": "delete_sheet",
    "DeleteSlide": "delete_slide",
    "Edit": "contract",
    "EditPage": "edit_page",
    "EditSlide": "edit_slide",
    "EditTable": "edit_table",
    "FillTemplate": "fill_template",
    "FormulaCell": "set_cells",
    "InsertImage": "insert_image",
    "InsertTable": "insert_table",
    "MoveSlide": "move_slide",
    "NewColumns": "edit_table",
    "NewRows": "edit_table",
    "RenameSheet": "rename_sheet",
    "ReplaceImage": "replace_image",
    "ReplaceText": "replace_text",
    "ReviewChanges": "review_changes",
    "Rows": "edit_table",
    "SetCells": "set_cells",
    "SetNotes": "set_notes",
    "SetProperties": "set_properties",
    "WritePage": "write_page",
}


def __getattr__(name: str) -> Any:
    # Imported when asked for: naming one edit should not load what all of them need.
    if name in _HOMES:
        return getattr(import_module(f"officeplane.edits.{_HOMES[name]}"), name)
    message = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(message)
