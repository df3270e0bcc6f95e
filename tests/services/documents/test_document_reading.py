"""Reading in parts, as use cases: each reads the revision that it is asked for, whatever has come since."""

import pytest

from officeplane.domain.errors import NodeNotFoundError, RevisionNotFoundError
from officeplane.domain.principal import LOCAL
from officeplane.formats.reading.finding import FindWanted
from officeplane.formats.reading.outlining import OutlineWanted
from officeplane.formats.reading.showing import NodeWanted
from officeplane.formats.reading.telling import TextWanted
from tests.services.editing import a_document, edited
from tests.workbench import Workbench


async def test_a_revision_is_read_as_it_was_after_others_have_followed(bench: Workbench) -> None:
    await a_document(bench)
    for title in ("One", "Two"):
        await edited(bench, payload={"title": title})
    reading = bench.runtime.reading

    was, now = [await reading.outline(LOCAL, "plan", revision, OutlineWanted()) for revision in (2, 3)]

    assert [node["text"] for node in was.items] == ["One"]
    assert [node["text"] for node in now.items] == ["One", "Two"]
    found = await reading.find(LOCAL, "plan", 2, FindWanted("two"))
    assert found.items == []
    (there,) = (await reading.find(LOCAL, "plan", 3, FindWanted("two"))).items
    (node,) = (await reading.node(LOCAL, "plan", 3, NodeWanted(there["id"]))).items
    assert node["content"] == "# Two"
    assert (await reading.text(LOCAL, "plan", 3, TextWanted(under=there["id"]))).text == "Two"


async def test_what_is_not_there_is_not_read(bench: Workbench) -> None:
    await a_document(bench)

    with pytest.raises(NodeNotFoundError):
        await bench.runtime.reading.node(LOCAL, "plan", 1, NodeWanted("chapter-1"))
    with pytest.raises(RevisionNotFoundError):
        await bench.runtime.reading.outline(LOCAL, "plan", 2, OutlineWanted())
