"""Edited documents as another office program takes them: LibreOffice converts every one, and finds what was written.

Nothing here can show Word's own repair prompt; what makes it appear is checked part by part.
"""

import io
import json
import posixpath
import warnings
import zipfile
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import docx
import openpyxl
import pptx
import pytest
from lxml import etree

from officeplane.domain.document import Format, Node
from officeplane.edits.add_chapter import AddChapter
from officeplane.edits.add_comment import AddComment
from officeplane.edits.add_section import AddSection
from officeplane.edits.add_sheet import AddSheet
from officeplane.edits.add_slide import AddSlide
from officeplane.edits.append_rows import AppendRows
from officeplane.edits.bookmark import SetBookmark
from officeplane.edits.chart import EditChart
from officeplane.edits.chart_fields import ChartSeries, ChartValues, NewChart
from officeplane.edits.comment import Comment, CommentReply, NewComment
from officeplane.edits.contract import Edit, Occasion
from officeplane.edits.edit_grid import EditGrid
from officeplane.edits.edit_page import EditPage
from officeplane.edits.edit_slide import EditSlide
from officeplane.edits.edit_table import EditTable
from officeplane.edits.footnote import AddFootnote
from officeplane.edits.format import ApplyFormat
from officeplane.edits.insert_content import InsertContent
from officeplane.edits.insert_table import InsertTable
from officeplane.edits.link import LinkToAddress, SetLink
from officeplane.edits.move_slide import MoveSlide
from officeplane.edits.page_setup import PageSetup
from officeplane.edits.rename_sheet import RenameSheet
from officeplane.edits.replace_text import ReplaceText
from officeplane.edits.set_cells import CellValue, FormulaCell, Rows, SetCells
from officeplane.edits.set_notes import SetNotes
from officeplane.edits.set_properties import SetProperties
from officeplane.edits.write_page import WritePage
from officeplane.formats.blank import blank
from officeplane.formats.excel.workbook import Formula, Workbook
from officeplane.formats.opening import Document
from officeplane.formats.package import Package
from officeplane.formats.powerpoint.presentation import Presentation
from officeplane.formats.word.document import Word
from tests.fixtures.documents import excel, powerpoint, word
from tests.formats.excel.recalculation.cases import FORMULAS, TOLD, told_by_libreoffice, workbook
from tests.formats.libreoffice import convert, libreoffice, without_print_titles

# On a busy machine; alone the whole file takes a tenth of that.
pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]


_FLAT: Final = {Format.DOCX: "fodt", Format.XLSX: "fods", Format.PPTX: "fodp"}
_CONTENT: Final = (
    "# Wtitle\n\nSome **Wbold** *Witalic* ~~gone~~ `Wcode` [Wlink](https://example.org/)\\\nWbroken\n\n- Wbullet\n"
    "  1. Wnumber\n\n> Wquote\n\n| Whead | b |\n|---|---|\n| Wcell | **2** |\n\n---\n\n```\nWverbatim  here\n```\n\n"
    "Ünïcode 漢字 العربية 🎈 <&>\n"
)
_WRITTEN: Final = (
    "Wtitle", "Wbold", "Witalic", "Wcode", "Wlink", "Wbroken", "Wbullet", "Wnumber", "Wquote", "Whead", "Wcell",
    "Wverbatim", "Ünïcode 漢字 العربية 🎈",
)  # fmt: skip
_MAKERS: Final[Mapping[Format, Mapping[str, Callable[[], bytes]]]] = {
    Format.DOCX: {**word.HARD, "long": lambda: word.long(5), "blank": lambda: blank(Format.DOCX, "Blank")},
    Format.XLSX: {
        **excel.HARD,
        "hard": lambda: without_print_titles(excel.hard()),
        "big": lambda: excel.big(500),
        "blank": lambda: blank(Format.XLSX, "Blank"),
    },
    Format.PPTX: {
        **powerpoint.HARD,
        # It writes no flat file of a film that it cannot play, and does not say so.
        "rich": lambda: powerpoint.rich(film=False),
        "many": lambda: powerpoint.many(10),
        "blank": lambda: blank(Format.PPTX, "Blank"),
    },
}
_NAMES: Final = [f"{kind}-{name}" for kind, makers in _MAKERS.items() for name in makers]


def edited_text(document: Word) -> list[str]:
    """Edit a Word document in many ways; return the words that must be in it then."""
    chapter = _apply(document, 1, AddChapter(title="Wchapter", position=0))
    _apply(document, 2, AddSection(title="Wsection", chapter_id=chapter, content="Wbelow"))
    page = _apply(document, 3, WritePage(content=_CONTENT))
    _apply(document, 4, InsertTable(header=["Wcolumn", "n"], rows=[["Wrow", 1], [2.5]], section_id=chapter))
    comment = _apply(document, 5, AddComment(node_id=page, text="Wcomment\n\nWsecond"))
    first = _apply(document, 6, WritePage(content="Wfirst", position=0))
    _apply(document, 7, EditPage(page_id=first, content="Wfirst became Wother"))
    _apply(document, 8, ReplaceText(find="became Wother", replace="became Wreplaced", expected_count=1))
    _apply(document, 9, SetProperties(title="Wproperty", keywords="a, b"))
    _apply(document, 10, PageSetup.model_validate({"header": "Wheader", "footer": "Wfooter", "discard": True}))
    turned = {"nodeId": chapter, "break": "nextPage", "orientation": "landscape", "footer": "Wturned", "discard": True}
    _apply(document, 11, PageSetup.model_validate(turned))
    _apply(document, 12, AddFootnote(node_id=first, find="Wreplaced", text="Wfootnote"))
    _apply(document, 13, SetLink(node_id=first, find="Wreplaced", to=LinkToAddress(url="https://example.org/Waddress")))
    _apply(document, 14, SetBookmark(node_id=chapter, name="Wbookmark"))
    _apply(document, 15, Comment(reply=CommentReply(comment_id=comment, text="Wanswer")))
    return [
        *_suggested(document),
        "Wchapter", "Wsection", "Wbelow", "Wcolumn", "Wrow", "Wcomment", "Wsecond", "Wanswer", "Wfirst became ",
        "Wreplaced", "Wproperty", "Wheader", "Wfooter", "Wturned", "Wfootnote", "Waddress", "Wbookmark", *_WRITTEN,
    ]  # fmt: skip


def _suggested(document: Word) -> list[str]:
    """Suggest changes of pages; return the words that must be in it, those that are to go among them."""
    kept = _apply(document, 16, WritePage(content="There is Wdeleted.\n\nWstaying"))
    rewritten = _apply(document, 17, WritePage(content="Wbefore"))
    content = "Wrewritten\n\n| Wtabled |\n|---|\n\nWlast"
    _apply(document, 18, ReplaceText(find="Wdeleted", replace="Winserted", change_mode="tracked"))
    _apply(document, 19, EditPage(page_id=rewritten, content=content, change_mode="tracked"))
    _apply(document, 20, InsertContent(content="Wsuggested", into=kept, change_mode="tracked"))
    _apply(document, 21, ApplyFormat(find="Wstaying", bold=True, change_mode="tracked", change_author="Wwriter"))
    return [
        "Wdeleted", "Winserted", "Wbefore", "Wrewritten", "Wtabled", "Wlast", "Wsuggested", "Wstaying", "Wwriter",
    ]  # fmt: skip


def edited_book(workbook: Workbook) -> list[str]:
    """Edit a workbook in many ways; return the words that must be in it then."""
    first = _sheets(workbook.outline())[0]
    _apply(workbook, 1, AddSheet(name="Wnew", position=0))
    cells: dict[str, CellValue | Rows] = {
        "A1": "Wtext",
        "B2": 40,
        "B3": 1.5,
        "C4": True,
        "D5": FormulaCell(formula="SUM(B2:B3)*10"),
        "E6": "<&> ü",
    }
    _apply(workbook, 2, SetCells(sheet="Wnew", cells=cells))
    _apply(workbook, 3, AppendRows(sheet="Wnew", rows=[["Wrow", 1, FormulaCell(formula='"Wformula"&B2')], ["Wlast"]]))
    _apply(workbook, 4, AppendRows(sheet=first, rows=[["Wappended", 7]]))
    _apply(workbook, 5, SetCells(sheet=first, cells={"Z50": "Wfar"}))
    _apply(workbook, 6, RenameSheet(sheet="Wnew", name="Wrenamed it's"))
    _apply(workbook, 7, ReplaceText(find="Wtext", replace="Wreplaced", expected_count=1))
    _apply(workbook, 8, SetProperties(title="Wproperty"))
    shown: Any = {"number_format": '0.0 "Wunit"', "font": "Wfont", "border": "thin", "width": 90}
    _apply(workbook, 9, ApplyFormat(range="'Wrenamed it''s'!B2", **shown))
    tables = [node.id for sheet in workbook.outline() for node in sheet.children if node.kind == "table"]
    for table in tables:
        area = workbook.place_of(table).area
        change = {"insertRows": {"at": area.bottom - area.top + 2, "texts": [["Wtabled"]]}, "style": "TableStyleDark3"}
        _apply(workbook, 10, EditTable.model_validate({"tableId": table, **change}))
    comment = _apply(workbook, 13, Comment(add=NewComment(node_id="Wrenamed it's!C9", text="Wcomment")))
    _apply(workbook, 14, Comment(reply=CommentReply(comment_id=comment, text="Wanswer")))
    new = NewChart(kind="bar", range="'Wrenamed it''s'!B2:C4", at="'Wrenamed it''s'!H2", title="Wchart")
    _apply(workbook, 15, EditChart(create=new))
    # 415 and Wformula40 are what LibreOffice calculates, for nobody has left it a value.
    return [
        "Wreplaced",
        "415",
        "Wrow",
        "Wformula40",
        "Wlast",
        "Wappended",
        "Wfar",
        "Wrenamed",
        "Wproperty",
        "Wcomment",
        "Wanswer",
        "40.0 Wunit",
        "Wfont",
        "Wchart",
        *(["Wtabled"] if tables else []),
    ]


def edited_deck(presentation: Presentation) -> list[str]:
    """Edit a presentation in many ways; return the words that must be in it then."""
    added = _apply(presentation, 1, AddSlide(title="Wslide", body="- Wpoint\n  - Wdeeper", notes="Wnotes"))
    _apply(presentation, 2, WritePage(content=_CONTENT))
    tabled = _apply(presentation, 3, InsertTable(header=["Wcolumn", "n"], rows=[["Wrow", 1], [2.5]]))
    table = next(each.id for each in presentation.reader().tree.by_id[tabled].children if each.kind == "table")
    change = {"insertRows": {"at": 3, "texts": [["Wnewrow"]]}, "insertColumns": {"at": "B"}, "merge": ["A3:B3"]}
    _apply(presentation, 12, EditTable.model_validate({"tableId": table, **change}))
    _apply(presentation, 4, MoveSlide(slide_id=added, position=0))
    other = _apply(presentation, 5, AddSlide(title="Wbefore", body="gone", notes="gone"))
    _apply(presentation, 6, EditSlide(slide_id=other, title="Wafter", body="Wbody"))
    _apply(presentation, 7, SetNotes(slide_id=other, notes="Wremark"))
    _apply(presentation, 8, ReplaceText(find="Wbody", replace="Wreplaced", expected_count=1))
    _apply(presentation, 9, SetProperties(title="Wproperty"))
    listed: Any = {"find": "Wreplaced", "bold": True, "color": "C00000", "list": "number"}
    _apply(presentation, 10, ApplyFormat.model_validate(listed))
    shown: Any = {"font": "Wfont", "fill": "DDEBF7", "border": "thin", "width": 300, "vertical_align": "center"}
    _apply(presentation, 11, ApplyFormat(node_id=f"{added}.2", **shown))
    _apply(presentation, 12, Comment(add=NewComment(node_id=added, text="Wcomment")))
    data = ChartValues(categories=["Wcategory"], series=[ChartSeries(name="Wseries", values=[4])])
    _apply(presentation, 13, EditChart(create=NewChart(kind="column", data=data, into=other, title="Wchart")))
    return [
        "Wfont", "Wslide", "Wpoint", "Wdeeper", "Wnotes", "Wcolumn", "Wrow", "Wnewrow", "Wafter", "Wremark",
        "Wreplaced", "Wproperty", "Wchart", "Wcategory", "Wseries",
        # It passes over comments of the newer form.
        *(["Wcomment"] if "ppt/commentAuthors.xml" in presentation.package else []), *_WRITTEN,
    ]  # fmt: skip


def _apply(document: Document, number: int, edit: Edit) -> str:
    result = edit.apply(document, Occasion(f"task-{number}", "Ada", datetime(2026, 5, 1, 12, tzinfo=UTC)))
    return str(result["id"])


def _format_of(name: str) -> Format:
    return Format(name.partition("-")[0])


def _sheets(nodes: list[Node]) -> list[str]:
    return [node.text for node in nodes if node.kind == "sheet"]


@pytest.fixture(scope="module")
def edited() -> dict[str, tuple[bytes, list[str]]]:
    """Every document of every generator after its edits, and the words that must be in it."""
    made: dict[str, tuple[bytes, list[str]]] = {}
    for name in _NAMES:
        kind = _format_of(name)
        package = Package.read(_MAKERS[kind][name.partition("-")[2]]())
        match kind:
            case Format.DOCX:
                words = edited_text(Word(package))
            case Format.XLSX:
                words = edited_book(Workbook(package))
            case Format.PPTX:
                words = edited_deck(Presentation(package))
        made[name] = (package.write().content(), words)
    return made


@pytest.fixture(scope="module")
def converted(edited: dict[str, tuple[bytes, list[str]]], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which LibreOffice has left each document as PDF and as the flat XML of its own format."""
    program = libreoffice()
    folder = tmp_path_factory.mktemp("libreoffice")
    (folder / "given").mkdir()
    for name, (data, _) in edited.items():
        (folder / "given" / f"{name}.{_format_of(name)}").write_bytes(data)
    # One call for each kind of output: starting takes longer than converting.
    convert(program, folder, "pdf", "*")
    for kind, flat in _FLAT.items():
        convert(program, folder, flat, f"*.{kind}")
    return folder


@pytest.mark.parametrize("name", _NAMES)
def test_libreoffice_finds_everything_that_edits_have_written(
    name: str, edited: dict[str, tuple[bytes, list[str]]], converted: Path
) -> None:
    _, words = edited[name]

    pdf = (converted / f"{name}.pdf").read_bytes()
    flat = etree.parse(converted / f"{name}.{_FLAT[_format_of(name)]}")

    assert pdf.startswith(b"%PDF-")
    assert b"%%EOF" in pdf[-32:]
    said = " ".join(" ".join(str(text) for text in flat.getroot().itertext()).split())
    attributes = {value for each in flat.iter() for value in each.attrib.values()}
    assert [word for word in words if word not in said and not any(word in value for value in attributes)] == []


def test_libreoffice_calculates_what_results_of_formulas_are_compared_with() -> None:
    told = dict(zip(FORMULAS, told_by_libreoffice(workbook(), libreoffice()), strict=True))

    kept = json.loads(TOLD.read_text(encoding="utf-8"))
    assert {formula: each for formula, each in told.items() if each != kept[formula]} == {}


@pytest.mark.parametrize("name", _NAMES)
def test_nothing_is_left_to_repair(name: str, edited: dict[str, tuple[bytes, list[str]]]) -> None:
    data, _ = edited[name]
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        names = archive.namelist()
        parts = {each: archive.read(each) for each in names}

    assert len(names) == len(parts)
    assert names[0] == "[Content_Types].xml"
    assert not _undeclared(parts)
    assert not _arrows_to_nowhere(parts)
    _reopen(_format_of(name), data)


_FORMULAS: Final = {
    "D1": "SUM(A1:B9)", "D2": "$A$5*2+B5", "D3": "INDEX(A1:B9,4,2)", "D4": "VLOOKUP(6,A1:B9,2,FALSE)",
    "D5": "SUMPRODUCT(A2:A8,B2:B8)", "D6": "SUM('Other''s'!A1:A3)+'Other''s'!B2", "D7": 'COUNTIF(A:A,">4")',
    "D8": "SUM(5:5)-SUM(D5:E5)", "D9": 'LOG10(A9)&"A5"', "E1": "D1+D2", "E2": "E1+D3", "E9": "MAX(A1:B4,A6:B9)",
}  # fmt: skip
_SHIFTS: Final[Mapping[str, Mapping[str, Any]]] = {
    "above": {"insertRows": {"at": 1, "count": 3}},
    "between": {"insertRows": {"at": 5, "count": 2}},
    "left": {"insertColumns": {"at": "A"}},
    "beside": {"insertColumns": {"at": "C", "count": 2}},
    "below": {"deleteRows": {"at": 12, "count": 4}},
    "right": {"deleteColumns": {"at": "C"}},
}


def _book_of_formulas() -> bytes:
    rows = "".join(f'<row r="{n}"><c r="A{n}"><v>{n}</v></c><c r="B{n}"><v>{n * n}</v></c></row>' for n in range(1, 10))
    book = Workbook(Package.read(excel.small(rows, names=("Main", "Other's"))))
    book.set_cells("Other's", {"A1": 1, "A2": 2, "A3": 4, "B2": Formula("SUM(Main!A1:B9)*Main!A5"), "C1": 7})
    book.set_cells("Main", {cell: Formula(text) for cell, text in _FORMULAS.items()})
    return book.package.write().content()


def test_a_shifted_workbook_is_calculated_to_the_values_of_the_original(tmp_path: Path) -> None:
    program = libreoffice()
    given = _book_of_formulas()
    (tmp_path / "given").mkdir()
    (tmp_path / "given" / "original.xlsx").write_bytes(given)
    for name, change in _SHIFTS.items():
        workbook = Workbook(Package.read(given))
        EditGrid.model_validate({"sheet": "Main", **change}).apply(
            workbook, Occasion("task-1", "Ada", datetime(2026, 5, 1, 12, tzinfo=UTC))
        )
        (tmp_path / "given" / f"{name}.xlsx").write_bytes(workbook.package.write().content())

    # No formula has a result in the file, so each value is LibreOffice's.
    convert(program, tmp_path, "xlsx:Calc MS Excel 2007 XML", "*.xlsx")

    wanted = _values(tmp_path / "original.xlsx")
    assert len(wanted) == 18 + len(_FORMULAS) + 5
    assert not [value for value in wanted if str(value).startswith("#")]
    assert {name: _values(tmp_path / f"{name}.xlsx") for name in _SHIFTS} == dict.fromkeys(_SHIFTS, wanted)


def _values(path: Path) -> list[object]:
    """Return what all cells of a file hold, as they were calculated, row by row."""
    book = openpyxl.load_workbook(path, data_only=True)
    return [
        cell
        for sheet in book.worksheets
        for row in sheet.iter_rows(values_only=True)
        for cell in row
        if cell is not None
    ]


def _undeclared(parts: Mapping[str, bytes]) -> list[str]:
    """Return parts without a content type, and content types without a part."""
    types = etree.fromstring(parts["[Content_Types].xml"])
    defaults = [entry.get("Extension", "").lower() for entry in types if etree.QName(entry).localname == "Default"]
    overrides = [entry.get("PartName", "")[1:] for entry in types if etree.QName(entry).localname == "Override"]
    assert len(set(defaults)) == len(defaults)
    assert len(set(overrides)) == len(overrides)
    covered = {
        name
        for name in parts
        if name in overrides or name.rpartition(".")[2].lower() in defaults or name == "[Content_Types].xml"
    }
    return sorted((parts.keys() - covered) | (set(overrides) - parts.keys()))


def _arrows_to_nowhere(parts: Mapping[str, bytes]) -> list[str]:
    """Return relationships whose part is not there, or that share their id with another one."""
    wrong: list[str] = []
    for name in parts:
        if not name.endswith(".rels"):
            continue
        folder = posixpath.dirname(posixpath.dirname(name))
        source = posixpath.join(folder, posixpath.basename(name).removesuffix(".rels"))
        if source not in parts and name != "_rels/.rels":
            wrong.append(f"{name} belongs to nothing")
        arrows = list(etree.fromstring(parts[name]))
        if len({arrow.get("Id") for arrow in arrows}) != len(arrows):
            wrong.append(f"{name} has an id twice")
        for arrow in arrows:
            target = arrow.get("Target", "").partition("#")[0]
            is_inside = arrow.get("TargetMode") != "External" and target
            if is_inside and posixpath.normpath(posixpath.join("/", folder, target))[1:] not in parts:
                wrong.append(f"{name} leads to {target}")
    return wrong


def _reopen(format: Format, data: bytes) -> None:
    stream: Any = io.BytesIO(data)
    match format:
        case Format.DOCX:
            assert docx.Document(stream).paragraphs
        case Format.XLSX:
            with warnings.catch_warnings():
                # What openpyxl would not keep is not ours to lose.
                warnings.simplefilter("ignore")
                assert openpyxl.load_workbook(stream).worksheets
        case Format.PPTX:
            assert [shape for slide in pptx.Presentation(stream).slides for shape in slide.shapes]
