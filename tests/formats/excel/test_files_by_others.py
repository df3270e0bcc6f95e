"""What other programs write, each of a kind that was met in the wild."""

import zipfile
from collections.abc import Callable
from io import BytesIO

import pytest

from officeplane.domain.document import InvalidEditError
from officeplane.edits.add_section import AddSection
from officeplane.edits.fill_template import FillTemplate
from officeplane.edits.rename_sheet import RenameSheet
from officeplane.edits.replace_text import ReplaceText
from officeplane.edits.set_cells import SetCells
from officeplane.edits.set_properties import SetProperties
from officeplane.formats.gate import admit
from officeplane.formats.properties import property_of, title_in
from officeplane.formats.relationships import Relationships, content_type
from tests.fixtures.documents import excel
from tests.formats.excel.books import applied, opened, part, parts, value, xml_of_cell

CORE = "http://schemas.openxmlformats.org/package/2006/relationships/metadata/core-properties"
Change = Callable[[str], str]


def changed(data: bytes, **changes: Change) -> bytes:
    """Return a file with parts changed; their names end with these words, dots and slashes being underscores."""
    held = BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        for name, content in parts(data).items():
            for word, change in changes.items():
                if name.replace(".", "_").replace("/", "_").endswith(word):
                    content = change(content.decode()).encode()  # noqa: PLW2901 - each change follows the last
            archive.writestr(name, content)
    return held.getvalue()


def test_a_sheet_whose_name_has_a_letter_that_is_no_word_is_followed_without_quotation_marks() -> None:
    data = changed(
        excel.small("<row r='1'><c r='A1'><f>Sheet・1!B1*2</f></c></row>", names=("Sheet・1",)),
        workbook_xml=lambda text: text.replace(
            "</sheets>",
            "</sheets><definedNames><definedName name='here'>Sheet・1!$A$1:$A$9</definedName></definedNames>",
        ),
    )

    _, after = applied(data, RenameSheet(sheet="Sheet・1", name="Plan"))

    assert "Sheet・1" not in parts(after)["xl/workbook.xml"].decode()
    assert "Plan!$A$1:$A$9" in parts(after)["xl/workbook.xml"].decode()
    assert "Plan!B1*2" in parts(after)["xl/worksheets/sheet1.xml"].decode()


@pytest.mark.parametrize(
    "misspelt",
    [
        "http://schemas.openxmlformats.org/package/2006/relationships/meatadata/core-properties",
        "http://schemas.openxmlformats.org/officedocument/2006/relationships/metadata/core-properties",
    ],
)
def test_properties_behind_an_arrow_of_a_misspelt_type_are_read_and_set(misspelt: str) -> None:
    data = changed(excel.hard(), _rels__rels=lambda text: text.replace(CORE, misspelt))

    _, after = applied(data, SetProperties(title="The plan"))

    assert property_of(opened(after).package, "title") == title_in(after) == "The plan"
    assert [name for name in parts(after) if name.startswith("docProps/")] == ["docProps/core.xml"]
    assert parts(after)["_rels/.rels"] == parts(data)["_rels/.rels"]


def test_a_format_that_was_written_twice_is_copied_as_the_one_for_everybody() -> None:
    twice = (
        '<mc:AlternateContent xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006">'
        '<mc:Choice xmlns:hs="urn:other" Requires="hs"><xf numFmtId="0" fontId="0" hs:more="1"/></mc:Choice>'
        '<mc:Fallback><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/></mc:Fallback>'
        "</mc:AlternateContent>"
    )
    data = changed(excel.hard(), styles_xml=lambda text: text.replace("</cellXfs>", f"{twice}</cellXfs>"))
    number = len(part(data, "xl/styles.xml").find("{*}cellXfs")) - 1
    data = changed(
        data,
        worksheets_sheet5_xml=lambda text: text.replace(
            "</sheetData>", f'<row r="9"><c r="A9" s="{number}"/></row></sheetData>'
        ),
    )

    _, after = applied(data, SetCells(sheet="Last", cells={"A9": "=text"}))

    formats = part(after, "xl/styles.xml").find("{*}cellXfs")
    (cell,) = [each for each in part(after, "xl/worksheets/sheet5.xml").iter("{*}c") if each.get("r") == "A9"]
    twin = formats[int(cell.get("s"))]
    assert (twin.tag.rpartition("}")[2], dict(twin.attrib)) == (
        "xf",
        {"numFmtId": "0", "fontId": "0", "fillId": "0", "borderId": "0", "xfId": "0", "quotePrefix": "1"},
    )


def test_a_format_of_a_named_style_that_is_not_there_is_not_copied_with_it() -> None:
    lost = '<xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="99"/>'
    data = changed(excel.hard(), styles_xml=lambda text: text.replace("</cellXfs>", f"{lost}</cellXfs>"))
    number = len(part(data, "xl/styles.xml").find("{*}cellXfs")) - 1
    row = f'<row r="9"><c r="A9" s="{number}"/></row>'
    data = changed(data, worksheets_sheet5_xml=lambda text: text.replace("</sheetData>", f"{row}</sheetData>"))

    _, after = applied(data, SetCells(sheet="Last", cells={"A9": "=text"}))

    formats = part(after, "xl/styles.xml").find("{*}cellXfs")
    assert [each.get("xfId") for each in formats].count("99") == 1
    (cell,) = [each for each in part(after, "xl/worksheets/sheet5.xml").iter("{*}c") if each.get("r") == "A9"]
    assert dict(formats[int(cell.get("s"))].attrib)["quotePrefix"] == "1"


def test_a_font_without_a_real_colour_gives_none_to_formatted_text() -> None:
    data = changed(
        excel.hard(),
        styles_xml=lambda text: text.replace("<font>", '<font><color rgb=""/>', 1),
    )

    _, after = applied(data, AddSection(title="More", content="**bold** and plain"))

    sheet = next(content for name, content in parts(after).items() if b"bold" in content and "worksheets" in name)
    assert b'rgb=""' not in sheet


def test_what_is_left_of_a_module_is_a_sheet_without_cells() -> None:
    data = changed(
        excel.small("<row r='1'><c r='A1'><v>1</v></c></row>"),
        workbook_xml=lambda text: text.replace("</sheets>", '<sheet name="Module" sheetId="7"/></sheets>'),
    )

    assert admit(data)
    assert [node.text for node in opened(data).outline()] == ["Sheet1", "Module"]
    assert opened(data).text() == "Sheet1\n1\nModule"
    assert opened(data).fingerprint("Module!") is not None
    with pytest.raises(InvalidEditError, match="no cells"):
        opened(data).set_cells("Module", {"A1": 1})
    opened(data).delete_sheet("Module")


def test_a_text_that_is_written_as_a_result_without_a_formula_is_found_and_replaced() -> None:
    rows = "<row r='1'><c r='A1' t='str'><v>North {{n}}</v></c><c r='B1' t='str'><f>A1</f><v>North {{n}}</v></c></row>"

    (told, _), after = applied(
        excel.small(rows), ReplaceText(find="North", replace=" South"), FillTemplate(values={"n": "1"})
    )

    assert told["replaced"] == 1
    assert [value(after, "Sheet1", cell) for cell in ("A1", "B1")] == [" South 1", "=A1"]
    assert xml_of_cell(after, "xl/worksheets/sheet1.xml", "A1") == "<v> South 1</v>"


def test_a_package_that_names_the_kind_of_each_part_is_told_that_of_a_new_one() -> None:
    kind = "application/vnd.openxmlformats-package.relationships+xml"
    links = [name for name in parts(excel.small("")) if name.endswith(".rels")]
    each = "".join(f'<Override PartName="/{name}" ContentType="{kind}"/>' for name in links)

    def spelt_out(text: str) -> str:
        return text.replace(f'<Default Extension="rels" ContentType="{kind}"/>', "").replace(
            "</Types>", f"{each}</Types>"
        )

    package = opened(changed(excel.small(""), **{"Content_Types]_xml": spelt_out})).package

    Relationships(package, "xl/worksheets/sheet1.xml").add("comments", "xl/comments1.xml")

    assert content_type(package, "xl/worksheets/_rels/sheet1.xml.rels") == kind
