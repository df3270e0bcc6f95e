"""What LibreOffice has saved: it numbers anew, and no id names another thing for that."""

from collections import Counter
from pathlib import Path
from typing import Final

import pytest

from officeplane.domain.document import Format
from officeplane.formats.document_names import named, named_nodes, names_of_upload
from officeplane.formats.naming.names import scoped
from officeplane.formats.opening import Document, read_document
from tests.fixtures.documents import excel, powerpoint, word
from tests.formats.libreoffice import convert, libreoffice, without_print_titles

# On a busy machine; alone it takes a tenth of that.
pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]

_MAKERS: Final = {
    **{f"{name}.docx": make for name, make in word.HARD.items()},
    **{f"{name}.xlsx": make for name, make in excel.HARD.items() if name not in {"big", "hard"}},
    "hard.xlsx": lambda: without_print_titles(excel.hard()),
    **{f"{name}.pptx": make for name, make in powerpoint.HARD.items()},
}


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


def _nodes(document: Document) -> dict[str, tuple[str, str, str]]:
    """Return what says something that nothing else says, by its id."""
    found = {node.id: node for _, node in scoped(named_nodes(document).top)}
    times = Counter((one.rpartition(".")[0], *node.signature) for one, node in found.items())
    return {
        one: node.signature
        for one, node in found.items()
        if node.said.strip() and times[one.rpartition(".")[0], *node.signature] == 1
    }


@pytest.mark.parametrize("name", _MAKERS)
def test_what_libreoffice_has_saved_is_called_what_it_was(name: str, saved: Path) -> None:
    kind = Format(name.rpartition(".")[2])
    head, data = read_document(kind, _MAKERS[name]()), (saved / name).read_bytes()

    names = names_of_upload(head, read_document(kind, data), "task", head_is_named=False)
    now = named(read_document(kind, data), names)

    before, after = _nodes(head), _nodes(now)
    common = {*before.values()} & {*after.values()}
    assert {one for one, said in after.items() if said in common} == {
        one for one, said in before.items() if said in common
    }
