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
    from officeplane.edits.bookmark import SetBookmark
    from officeplane.edits.cell_values import DateCell, DateTimeCell, ErrorCell, FormattedCell, FormulaCell, TimeCell
    from officeplane.edits.chart import EditChart
    from officeplane.edits.chart_fields import AxisTitles, ChartChange, ChartSeries, ChartValues, NewChart
    from officeplane.edits.comment import Comment, CommentReply, CommentState, GoneComment, NewComment
    from officeplane.edits.contract import Edit
    from officeplane.edits.copy_sheet import CopySheet
    from officeplane.edits.copy_slide import CopySlide
    from officeplane.edits.define_name import DefineName
    from officeplane.edits.delete_node import DeleteNode
    from officeplane.edits.delete_page import DeletePage
    from officeplane.edits.delete_sheet import DeleteSheet
    from officeplane.edits.delete_slide import DeleteSlide
    from officeplane.edits.duplicate_node import DuplicateNode
    from officeplane.edits.edit_grid import EditGrid
    from officeplane.edits.edit_node import EditNode
    from officeplane.edits.edit_page import EditPage
    from officeplane.edits.edit_sheet import EditSheet
    from officeplane.edits.edit_slide import EditSlide
    from officeplane.edits.edit_table import EditTable, NewTableColumns, NewTableRows, TableColumns, TableRows
    from officeplane.edits.fill_template import FillTemplate
    from officeplane.edits.footnote import AddFootnote
    from officeplane.edits.format import ApplyFormat
    from officeplane.edits.insert_content import InsertContent
    from officeplane.edits.insert_image import InsertImage
    from officeplane.edits.insert_table import InsertTable
    from officeplane.edits.link import LinkToAddress, LinkToNode, SetLink
    from officeplane.edits.move_node import MoveNode
    from officeplane.edits.move_slide import MoveSlide
    from officeplane.edits.page_setup import Margins, PageNumbers, PageSetup, PaperSize
    from officeplane.edits.rename_sheet import RenameSheet
    from officeplane.edits.replace_image import ReplaceImage
    from officeplane.edits.replace_text import ReplaceText
    from officeplane.edits.review_changes import ReviewChanges
    from officeplane.edits.set_cells import SetCells
    from officeplane.edits.set_notes import SetNotes
    from officeplane.edits.set_properties import SetProperties
    from officeplane.edits.update_contents import UpdateContents
    from officeplane.edits.write_page import WritePage

__all__ = [
    "AddChapter",
    "AddComment",
    "AddFootnote",
    "AddSection",
    "AddSheet",
    "AddSlide",
    "AppendRows",
    "ApplyFormat",
    "AxisTitles",
    "ChartChange",
    "ChartSeries",
    "ChartValues",
    "Comment",
    "CommentReply",
    "CommentState",
    "CopySheet",
    "CopySlide",
    "DateCell",
    "DateTimeCell",
    "DefineName",
    "DeleteNode",
    "DeletePage",
    "DeleteSheet",
    "DeleteSlide",
    "DuplicateNode",
    "Edit",
    "EditChart",
    "EditGrid",
    "EditNode",
    "EditPage",
    "EditSheet",
    "EditSlide",
    "EditTable",
    "ErrorCell",
    "FillTemplate",
    "FormattedCell",
    "FormulaCell",
    "GoneComment",
    "InsertContent",
    "InsertImage",
    "InsertTable",
    "LinkToAddress",
    "LinkToNode",
    "Margins",
    "MoveNode",
    "MoveSlide",
    "NewChart",
    "NewComment",
    "NewTableColumns",
    "NewTableRows",
    "PageNumbers",
    "PageSetup",
    "PaperSize",
    "RenameSheet",
    "ReplaceImage",
    "ReplaceText",
    "ReviewChanges",
    "SetBookmark",
    "SetCells",
    "SetLink",
    "SetNotes",
    "SetProperties",
    "TableColumns",
    "TableRows",
    "TimeCell",
    "UpdateContents",
    "WritePage",
]

_HOMES: Final = {
    "AddChapter": "add_chapter",
    "AddComment": "add_comment",
    "AddFootnote": "footnote",
    "AddSection": "add_section",
    "AddSheet": "add_sheet",
    "AddSlide": "add_slide",
    "AppendRows": "append_rows",
    "ApplyFormat": "format",
    "AxisTitles": "chart_fields",
    "ChartChange": "chart_fields",
    "ChartSeries": "chart_fields",
    "ChartValues": "chart_fields",
    "Comment": "comment",
    "CommentReply": "comment",
    "CommentState": "comment",
    "CopySheet": "copy_sheet",
    "CopySlide": "copy_slide",
    "DateCell": "cell_values",
    "DateTimeCell": "cell_values",
    "DefineName": "define_name",
    "DeleteNode": "delete_node",
    "DeletePage": "delete_page",
    "DeleteSheet": "delete_sheet",
    "DeleteSlide": "delete_slide",
    "DuplicateNode": "duplicate_node",
    "Edit": "contract",
    "EditChart": "chart",
    "EditGrid": "edit_grid",
    "EditNode": "edit_node",
    "EditPage": "edit_page",
    "EditSheet": "edit_sheet",
    "EditSlide": "edit_slide",
    "EditTable": "edit_table",
    "ErrorCell": "cell_values",
    "FillTemplate": "fill_template",
    "FormattedCell": "cell_values",
    "FormulaCell": "cell_values",
    "GoneComment": "comment",
    "InsertContent": "insert_content",
    "InsertImage": "insert_image",
    "InsertTable": "insert_table",
    "LinkToAddress": "link",
    "LinkToNode": "link",
    "Margins": "page_setup",
    "MoveNode": "move_node",
    "MoveSlide": "move_slide",
    "NewChart": "chart_fields",
    "NewComment": "comment",
    "NewTableColumns": "edit_table",
    "NewTableRows": "edit_table",
    "PageNumbers": "page_setup",
    "PageSetup": "page_setup",
    "PaperSize": "page_setup",
    "RenameSheet": "rename_sheet",
    "ReplaceImage": "replace_image",
    "ReplaceText": "replace_text",
    "ReviewChanges": "review_changes",
    "SetBookmark": "bookmark",
    "SetCells": "set_cells",
    "SetLink": "link",
    "SetNotes": "set_notes",
    "SetProperties": "set_properties",
    "TableColumns": "edit_table",
    "TableRows": "edit_table",
    "TimeCell": "cell_values",
    "UpdateContents": "update_contents",
    "WritePage": "write_page",
}


def __getattr__(name: str) -> Any:
    # Imported when asked for: naming one edit should not load what all of them need.
    if name in _HOMES:
        return getattr(import_module(f"officeplane.edits.{_HOMES[name]}"), name)
    message = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(message)
