"""`officeplane documents` against a running installation."""

from pathlib import Path

import httpx
import pytest
from uuid_utils import uuid4

from officeplane.domain.document import Format
from officeplane.formats.blank import blank
from tests.cli.conftest import Ended, Officeplane, Plane, Tasks

FILE = blank(Format.DOCX, "A file")
OTHER = blank(Format.DOCX, "Another file")


class Documents:
    """`officeplane documents` in this plane."""

    def __init__(self, officeplane: Officeplane, plane: Plane) -> None:
        self._officeplane = officeplane
        self._plane = plane

    async def __call__(self, *arguments: str) -> Ended:
        return await self._officeplane("documents", *arguments, env=self._plane.env)


@pytest.fixture
def documents(officeplane: Officeplane, plane: Plane) -> Documents:
    return Documents(officeplane, plane)


@pytest.fixture
def document_id() -> str:
    """An id that no document has yet."""
    return f"cli-{str(uuid4())[:8]}"


@pytest.fixture
async def plan(documents: Documents, document_id: str, tmp_path: Path) -> str:
    """A document at revision 1, and its id."""
    ended = await documents("put", str(a_file(tmp_path)), document_id)
    assert ended.code == 0, ended.err
    return document_id


def a_file(folder: Path, data: bytes = FILE, name: str = "a file.docx") -> Path:
    """Write a file."""
    path = folder / name
    path.write_bytes(data)
    return path


async def add_chapter(tasks: Tasks, document_id: str) -> None:
    """Have a chapter added."""
    ended = await tasks(
        "submit", "add_chapter", "--document", document_id, "--payload", '{"title": "One"}', "--wait", "20"
    )
    assert ended.code == 0, ended.err


async def test_a_file_that_is_put_is_a_document(documents: Documents, document_id: str, tmp_path: Path) -> None:
    ended = await documents("put", str(a_file(tmp_path)), document_id)

    assert (ended.code, ended.out.strip()) == (0, f"{document_id} is at revision 1")


async def test_a_file_is_named_after_itself(documents: Documents, document_id: str, tmp_path: Path) -> None:
    ended = await documents("put", str(a_file(tmp_path, name=f"{document_id}.docx")), "--json")

    assert ended.object["id"] == document_id


async def test_a_file_that_is_put_again_is_the_next_revision(documents: Documents, plan: str, tmp_path: Path) -> None:
    ended = await documents("put", str(a_file(tmp_path, OTHER)), plan, "--if-match", "1", "--json")

    assert ended.object["revision"] == 2


async def test_a_file_that_follows_another_revision_is_refused(documents: Documents, plan: str, tmp_path: Path) -> None:
    ended = await documents("put", str(a_file(tmp_path, OTHER)), plan, "--if-match", "7")

    assert ended.code == 1
    assert "revision 1, not 7" in ended.err


async def test_what_is_no_document_is_refused(documents: Documents, document_id: str, tmp_path: Path) -> None:
    ended = await documents("put", str(a_file(tmp_path, b"no document")), document_id)

    assert ended.code == 1
    assert ended.err


async def test_a_file_that_is_not_there_is_a_mistake_of_use(
    documents: Documents, document_id: str, tmp_path: Path
) -> None:
    ended = await documents("put", str(tmp_path / "no.docx"), document_id)

    assert ended.code == 2
    assert "no.docx" in ended.err


async def test_what_was_put_can_be_got(documents: Documents, plan: str, tasks: Tasks, tmp_path: Path) -> None:
    await add_chapter(tasks, plan)
    target, first = tmp_path / "got.docx", tmp_path / "first.docx"

    assert (await documents("get", plan, "-o", str(target))).code == 0
    ended = await documents("get", plan, "-o", str(first), "--revision", "1")

    assert first.read_bytes() == FILE
    assert target.read_bytes() != FILE
    assert "revision 1" in ended.err


async def test_a_document_that_is_not_there_cannot_be_got(documents: Documents, document_id: str) -> None:
    for command in (("get", document_id, "-o", "-"), ("history", document_id), ("diff", document_id, "1", "2")):
        ended = await documents(*command)

        assert ended.code == 1
        assert document_id in ended.err


async def test_documents_are_listed(documents: Documents, plan: str) -> None:
    shown = await documents("list")
    read = await documents("list", "--limit", "1", "--json")

    assert plan in shown.out
    assert [one["id"] for one in read.objects] == [plan]


async def test_a_history_tells_what_was_done(documents: Documents, plan: str, tasks: Tasks) -> None:
    await add_chapter(tasks, plan)

    shown = await documents("history", plan)
    read = await documents("history", plan, "--json")

    assert [one["revision"] for one in read.objects] == [2, 1]
    assert "add_chapter" in shown.out
    assert "upload" in shown.out


async def test_a_difference_tells_what_changed(documents: Documents, plan: str, tasks: Tasks) -> None:
    await add_chapter(tasks, plan)

    shown = await documents("diff", plan, "1", "2")
    read = await documents("diff", plan, "1", "2", "--json")

    assert "added" in shown.out
    assert "+One" in shown.out
    assert set(read.object) == {"revision", "text", "nodes"}


async def test_a_revert_is_done_when_the_command_ends(
    documents: Documents, plan: str, plane: Plane, tasks: Tasks
) -> None:
    await add_chapter(tasks, plan)

    ended = await documents("revert", plan, "1")

    assert ended.code == 0
    assert "COMPLETED" in ended.out
    async with httpx.AsyncClient(base_url=plane.url) as client:
        response = await client.get(f"/api/documents/{plan}/content")
    assert (response.headers["ETag"], response.content) == ('"3"', FILE)


async def test_a_revert_to_what_never_was_is_refused(documents: Documents, plan: str) -> None:
    ended = await documents("revert", plan, "9")

    assert ended.code == 1
    assert "no revision 9" in ended.err
