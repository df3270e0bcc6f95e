"""What LibreOffice has saved: it writes everything anew, and that is no change; what somebody has changed in it is."""

import re
from pathlib import Path
from typing import Final

import pytest

from officeplane.domain.document import Format
from officeplane.formats.package import Package
from tests.fixtures.documents import excel, powerpoint, word
from tests.formats.libreoffice import convert, libreoffice
from tests.formats.merging.merges import merged

# On a busy machine; alone it takes a tenth of that.
pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]

_MAKERS: Final = {
    **{
        f"{make.__name__}.docx": make
        for make in (
            word.chapters, word.comments, word.footnotes, word.headers_and_footers, word.merged_cells,
            word.nested_tables, word.paragraph_ids, word.pictures, word.saved_by_word, word.split_runs, word.text_boxes,
        )
    },
    **{f"{make.__name__}.xlsx": make for make in (excel.plain, excel.threads, excel.unnamed)},
    **{
        f"{name}.pptx": powerpoint.HARD[name]
        for name in ("animated", "commented", "hidden", "illustrated", "linked", "many", "plain", "with_notes")
    },
}  # fmt: skip
"""Documents of which LibreOffice keeps all that a reader sees."""


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which LibreOffice has left each document in its own format."""
    program = libreoffice()
    folder = tmp_path_factory.mktemp("saved")
    (folder / "given").mkdir()
    for name, make in _MAKERS.items():
        (folder / "given" / name).write_bytes(make())
    for kind in Format:
        convert(program, folder, kind, f"*.{kind}")
    return folder


@pytest.mark.parametrize("name", _MAKERS)
def test_what_libreoffice_has_saved_unchanged_merges_to_nothing(name: str, saved: Path) -> None:
    base = _MAKERS[name]()

    document, made = merged(Format(name.rpartition(".")[2]), base, (saved / name).read_bytes(), base)

    assert made.is_nothing
    assert {warning.code for warning in made.warnings} <= {"compared_by_look", "not_merged"}
    assert document.text() == merged(Format(name.rpartition(".")[2]), base, base, base)[0].text()


def test_what_was_changed_in_libreoffice_comes_into_what_others_have_made(saved: Path) -> None:
    base = word.chapters()
    upload = _with(saved / "chapters.docx", b"First of alpha one", b"First and last of alpha one")
    head = Package.read(base)
    head.put("word/document.xml", head.content("word/document.xml").replace(b"Text of beta one", b"Text of ours"))

    document, made = merged(Format.DOCX, base, upload, head.write().content(), head_is_uploaded=True)

    assert len(made.changed) == 1
    assert "First and last of alpha one." in document.text()
    assert "Text of ours." in document.text()


def _with(file: Path, before: bytes, after: bytes) -> bytes:
    package = Package.read(file.read_bytes())
    content = package.content("word/document.xml")
    assert re.search(before, content)
    package.put("word/document.xml", content.replace(before, after))
    return package.write().content()
