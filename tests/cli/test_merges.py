"""`officeplane documents put --merge` against a running installation."""

from pathlib import Path

import pytest

from tests.cli.conftest import Documents
from tests.fixtures.strangers import LEASE, a_text, lines_of, with_line

BASE = a_text(*LEASE)


@pytest.fixture
async def mine(documents: Documents, document_id: str, tmp_path: Path) -> Path:
    """A file that was got, and a document that others have changed since."""
    theirs, mine = tmp_path / "theirs.docx", tmp_path / "mine.docx"
    theirs.write_bytes(BASE)
    await documents("put", str(theirs), document_id)
    await documents("get", document_id, "-o", str(mine))
    theirs.write_bytes(with_line(BASE, 0, "Rent is due on the tenth of the month"))
    ended = await documents("put", str(theirs), document_id)
    assert ended.code == 0, ended.err
    return mine


async def test_changes_are_brought_into_what_others_have_made(
    documents: Documents, document_id: str, mine: Path
) -> None:
    mine.write_bytes(with_line(BASE, 1, "Pets are welcome in the house"))

    ended = await documents("put", str(mine), document_id, "--merge")

    assert ended.code == 0, ended.err
    first, second, *_ = ended.out.splitlines()
    assert first == f"{document_id} is at revision 3"
    assert second.startswith("merged since revision 1: 1 changed (p-")
    assert "get" in ended.err
    await documents("get", document_id, "-o", str(mine), "--force")
    assert lines_of(mine.read_bytes())[:2] == ["Rent is due on the tenth of the month", "Pets are welcome in the house"]


async def test_a_file_that_was_merged_still_follows_what_it_was_made_of(
    documents: Documents, document_id: str, mine: Path
) -> None:
    mine.write_bytes(with_line(BASE, 1, "Pets are welcome in the house"))
    await documents("put", str(mine), document_id, "--merge")

    mine.write_bytes(with_line(mine.read_bytes(), 2, "Notice is two months before the end of any quarter"))
    refused = await documents("put", str(mine), document_id)
    ended = await documents("put", str(mine), document_id, "--merge")

    assert (refused.code, "--merge" in refused.err) == (1, True)
    assert ended.code == 0, ended.err
    await documents("get", document_id, "-o", str(mine), "--force")
    assert lines_of(mine.read_bytes()) == [
        "Rent is due on the tenth of the month",
        "Pets are welcome in the house",
        "Notice is two months before the end of any quarter",
    ]


async def test_what_is_in_conflict_is_named(documents: Documents, document_id: str, mine: Path) -> None:
    mine.write_bytes(with_line(BASE, 0, "Rent is due on the second of the month"))

    ended = await documents("put", str(mine), document_id, "--merge")

    assert ended.code == 1
    assert "merge_conflict" in ended.err
    assert "both have changed it" in ended.err


async def test_one_of_two_can_be_meant(documents: Documents, document_id: str, mine: Path) -> None:
    ended = await documents("put", str(mine), document_id, "--merge", "--force")

    assert ended.code == 2
    assert "--merge or --force" in ended.err
