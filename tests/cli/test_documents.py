"""`officeplane documents` against a running installation."""

import getpass
import json
import shutil
from pathlib import Path

import httpx
import pytest
from uuid_utils import uuid4

from officeplane.domain.document import Format
from officeplane.formats.blank import blank
from tests.cli.conftest import Documents, Plane, Tasks
from tests.fixtures.documents import excel, word
from tests.fixtures.pictures import png
from tests.formats.reading.contracts import contract

FILE = blank(Format.DOCX, "A file")
OTHER = blank(Format.DOCX, "Another file")


@pytest.fixture
async def plan(documents: Documents, document_id: str, tmp_path: Path) -> str:
    """A document at revision 1, and its id."""
    ended = await documents("put", str(a_file(tmp_path)), document_id)
    assert ended.code == 0, ended.err
    return document_id


def forget(documents: Documents) -> None:
    """Forget everything that was noted of files, as on another machine."""
    shutil.rmtree(documents.state)


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


async def test_a_file_that_was_got_and_changed_never_covers_up_what_came_in_between(
    documents: Documents, plan: str, tasks: Tasks, tmp_path: Path
) -> None:
    mine = tmp_path / "mine.docx"
    await documents("get", plan, "-o", str(mine))
    await add_chapter(tasks, plan)
    mine.write_bytes(OTHER)

    refused = await documents("put", str(mine), plan)
    forced = await documents("put", str(mine), plan, "--force")

    assert refused.code == 1
    assert "stale_revision" in refused.err
    assert f"revision 2 by {getpass.getuser()}: add_chapter" in refused.err
    assert "--force" in refused.err
    assert (forced.code, forced.out.strip()) == (0, f"{plan} is at revision 3")


async def test_a_file_that_was_got_and_changed_is_the_next_revision(
    documents: Documents, plan: str, tasks: Tasks, tmp_path: Path
) -> None:
    await add_chapter(tasks, plan)
    mine = tmp_path / "mine.docx"
    await documents("get", plan, "-o", str(mine))
    mine.write_bytes(OTHER)

    ended = await documents("put", str(mine), plan)
    mine.write_bytes(FILE)
    again = await documents("put", str(mine), plan)

    assert (ended.code, ended.out.strip()) == (0, f"{plan} is at revision 3"), ended.err
    assert (again.code, again.out.strip()) == (0, f"{plan} is at revision 4"), again.err


async def test_an_earlier_revision_that_was_got_is_not_put_over_the_head(
    documents: Documents, plan: str, tasks: Tasks, tmp_path: Path
) -> None:
    await add_chapter(tasks, plan)
    old = tmp_path / "old.docx"
    await documents("get", plan, "-o", str(old), "--revision", "1")

    assert (await documents("put", str(old), plan)).code == 1


async def test_a_file_of_which_nothing_is_known_does_not_cover_up_a_document(
    documents: Documents, plan: str, tmp_path: Path
) -> None:
    forget(documents)
    mine = a_file(tmp_path, OTHER, "mine.docx")

    refused = await documents("put", str(mine), plan)
    same = await documents("put", str(a_file(tmp_path)), plan)

    assert refused.code == 1
    assert "precondition_required" in refused.err
    assert f"revision 1 by {getpass.getuser()}: upload" in refused.err
    assert f"documents get {plan}" in refused.err
    assert (same.code, same.out.strip()) == (0, f"{plan} is at revision 1")


async def test_what_is_noted_of_another_installation_is_not_believed(
    documents: Documents, plan: str, tmp_path: Path
) -> None:
    mine = tmp_path / "a file.docx"
    for note in (documents.state / "officeplane" / "documents").iterdir():
        known = json.loads(note.read_text())
        # There, revision 1 of the document of this name was another file.
        note.write_text(json.dumps({**known, "sha256": "0" * 64}))
    mine.write_bytes(OTHER)

    assert "precondition_required" in (await documents("put", str(mine), plan)).err


async def test_what_is_forced_is_put_also_where_nothing_is(
    documents: Documents, document_id: str, tmp_path: Path
) -> None:
    ended = await documents("put", str(a_file(tmp_path)), document_id, "--force")

    assert (ended.code, ended.out.strip()) == (0, f"{document_id} is at revision 1")


async def test_a_file_is_put_where_nothing_can_be_noted(documents: Documents, document_id: str, tmp_path: Path) -> None:
    documents.state.write_text("no folder")

    ended = await documents("put", str(a_file(tmp_path)), document_id)

    assert ended.code == 0
    assert "--if-match 1" in ended.err


async def test_a_local_file_is_not_overwritten_unasked(documents: Documents, plan: str, tmp_path: Path) -> None:
    target = tmp_path / "plan.docx"
    target.write_text("mine")

    refused = await documents("get", plan, "-o", str(target))
    kept = target.read_text()
    forced = await documents("get", plan, "-o", str(target), "--force")
    again = await documents("get", plan, "-o", str(target))

    assert (refused.code, kept) == (1, "mine")
    assert "--force" in refused.err
    assert target.read_bytes() == FILE
    # It is as it was got: nothing of anybody's is in it.
    assert (forced.code, again.code) == (0, 0)


async def test_an_id_is_made_of_a_name_that_can_be_none(documents: Documents, tmp_path: Path) -> None:
    unique = str(uuid4())[:8]
    file = a_file(tmp_path, name=f"Prüfung & Maß {unique} (final).docx")

    ended = await documents("put", str(file))

    assert (ended.code, ended.out.strip()) == (0, f"Prufung-Mass-{unique}-final is at revision 1")
    assert "cannot be an id" in ended.err


async def test_a_name_of_which_no_id_can_be_made_wants_one(documents: Documents, tmp_path: Path) -> None:
    ended = await documents("put", str(a_file(tmp_path, name="合同.docx")))

    assert ended.code == 2
    assert "documents put FILE" in ended.err


async def test_what_is_refused_is_json_as_the_api_said_it_where_that_was_asked_for(
    documents: Documents, plan: str, tmp_path: Path
) -> None:
    forget(documents)

    refused = await documents("put", str(a_file(tmp_path, OTHER, "mine.docx")), plan, "--json")

    assert (refused.code, refused.out) == (1, "")
    assert json.loads(refused.err)["code"] == "precondition_required"


async def test_a_file_of_a_document_that_was_deleted_is_put_anew_only_if_that_is_meant(
    documents: Documents, plan: str, plane: Plane, tmp_path: Path
) -> None:
    async with httpx.AsyncClient(base_url=plane.url, timeout=30) as client:
        assert (await client.delete(f"/api/documents/{plan}")).status_code == 204

    refused = await documents("put", str(a_file(tmp_path)), plan)
    forced = await documents("put", str(a_file(tmp_path)), plan, "--force")

    assert refused.code == 1
    assert "document_not_found" in refused.err
    assert "--force makes it anew" in refused.err
    assert (forced.code, forced.out.strip()) == (0, f"{plan} is at revision 2")


async def test_a_name_of_which_no_id_can_be_made_wants_another_for_an_empty_document(documents: Documents) -> None:
    ended = await documents("new", "合同.docx")

    assert ended.code == 2
    assert "such as plan.docx" in ended.err


async def test_an_empty_document_is_made_of_a_name(documents: Documents, document_id: str) -> None:
    ended = await documents("new", f"{document_id}.XLSX", "--by", "ann")

    assert (ended.code, ended.out.strip()) == (0, f"{document_id} is at revision 1")
    [made] = json.loads((await documents("history", document_id, "--json")).out)
    assert (made["author"], made["note"]) == ("ann", "made empty")


async def test_an_empty_document_is_not_said_to_have_been_uploaded(
    documents: Documents, document_id: str, tmp_path: Path
) -> None:
    await documents("new", f"{document_id}.docx", "--by", "ann")

    shown = await documents("history", document_id)
    refused = await documents("put", str(a_file(tmp_path, OTHER)), document_id)

    assert shown.out.splitlines()[-1].split()[:3] == ["1", "new", "ann"]
    assert "revision 1 by ann: new" in refused.err


async def test_what_is_there_is_not_made_anew(documents: Documents, plan: str) -> None:
    ended = await documents("new", f"{plan}.docx")

    assert ended.code == 1
    assert "document_exists" in ended.err


@pytest.mark.parametrize("name", ["plan", "plan.txt"])
async def test_an_empty_document_has_to_be_of_a_format(documents: Documents, name: str) -> None:
    ended = await documents("new", name)

    assert ended.code == 2
    assert ended.err.strip().endswith("let it end with one of .docx, .xlsx, .pptx.")


async def test_a_history_names_who_put_a_file_and_who_took_it_back(
    documents: Documents, plan: str, tmp_path: Path
) -> None:
    await documents("put", str(a_file(tmp_path, OTHER)), plan, "--by", "ann")
    await documents("revert", plan, "1", "--by", "ben")
    await documents("revert", plan, "2")

    read = await documents("history", plan, "--json")

    assert [one["author"] for one in read.objects] == [getpass.getuser(), "ben", "ann", getpass.getuser()]


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
    async with httpx.AsyncClient(base_url=plane.url, timeout=30) as client:
        response = await client.get(f"/api/documents/{plan}/content")
    assert (response.headers["ETag"], response.content) == ('"3"', FILE)


async def test_a_revert_to_what_never_was_is_refused(documents: Documents, plan: str) -> None:
    ended = await documents("revert", plan, "9")

    assert ended.code == 1
    assert "no revision 9" in ended.err


@pytest.fixture
async def contract_id(documents: Documents, document_id: str, tmp_path: Path) -> str:
    ended = await documents("put", str(a_file(tmp_path, contract())), document_id)
    assert ended.code == 0, ended.err
    return document_id


async def test_a_document_is_read_in_parts(documents: Documents, contract_id: str) -> None:
    outline = await documents("outline", contract_id)
    found = await documents("find", contract_id, "late payment")
    node_id = found.out.split()[0]
    shown = await documents("show", contract_id, node_id)
    text = await documents("text", contract_id, "--under", node_id)

    assert "3.2 Late Payment" in outline.out
    assert (found.code, "Late Payment" in found.out) == (0, True)
    assert shown.out.startswith("## Late Payment\n")
    assert "style: Heading 2" not in shown.out
    assert text.out.startswith("Late Payment\nThe Supplier shall")


async def test_a_pattern_is_found(documents: Documents, contract_id: str) -> None:
    found = await documents("find", contract_id, r"^late p\w+$", "--regex")
    beside = await documents("find", contract_id, r"^late p\w+$", "--regex", "--under", found.out.split()[0])
    wrong = await documents("find", contract_id, "(", "--regex")

    assert (found.code, beside.code) == (0, 0)
    assert found.out == beside.out
    assert "Late Payment" in found.out
    assert wrong.code == 1
    assert "missing )" in wrong.err


async def test_what_is_not_found_ends_with_1(documents: Documents, contract_id: str) -> None:
    missing = await documents("find", contract_id, "no such words")
    nowhere = await documents("show", contract_id, "p-0")

    assert (missing.code, missing.out) == (1, "")
    assert nowhere.code == 1
    assert "node_not_found" in nowhere.err
    for what in ("changes", "comments"):
        ended = await documents(what, contract_id)
        assert (ended.code, ended.out) == (0, "")


async def test_comments_are_shown_by_thread(documents: Documents, document_id: str, tmp_path: Path) -> None:
    book, text = f"{document_id}-book", f"{document_id}-text"
    await documents("put", str(a_file(tmp_path, excel.threads(), "book.xlsx")), book)
    await documents("put", str(a_file(tmp_path, word.comments(), "text.docx")), text)

    threads = await documents("comments", book)
    remarks = await documents("comments", text)

    first, answer, note = (f"sheet-1.comment-{number}" for number in ("000000000010", "000000000011", "C3"))
    assert threads.out.splitlines() == [
        f"{first}  resolved  Ada  2026-01-02T03:04:05.67  on sheet-1!B2",
        "    Seven?",
        f"    {answer}  Bo  2026-01-02T03:05:05.67",
        "        Yes.",
        f"{note}  Cy  on sheet-1!C3",
        "    A plain note",
    ]
    about = [line.partition("  on p-")[2].partition(" ")[2] for line in remarks.out.splitlines()[::2]]
    assert about == ['"remarked"', '"begins here Second ends here"']


async def test_what_is_read_is_json_for_programs(documents: Documents, contract_id: str) -> None:
    for arguments in (("outline", contract_id, "--depth", "1"), ("find", contract_id, "fees"), ("text", contract_id)):
        ended = await documents(*arguments, "--json")

        assert (ended.code, json.loads(ended.out)["revision"]) == (0, 1)


async def test_pictures_are_listed_and_written_to_files(documents: Documents, document_id: str, tmp_path: Path) -> None:
    await documents("put", str(a_file(tmp_path, word.illustrated(png(40, 20)), "seen.docx")), document_id)
    target = tmp_path / "picture.png"

    listed = await documents("images", document_id)
    node_id = listed.out.split()[0]
    written = await documents("images", document_id, node_id, "-o", str(target))
    again = await documents("images", document_id, node_id, "-o", str(target))
    missing = await documents("images", document_id, "picture-99", "-o", str(tmp_path / "none.png"))
    half = await documents("images", document_id, node_id)

    assert listed.out == "picture-1  28.35 x 28.35  Picture 1\n"
    assert (written.code, target.read_bytes()) == (0, png(40, 20))
    assert (again.code, "is there already" in again.err) == (1, True)
    assert (missing.code, (tmp_path / "none.png").exists()) == (1, False)
    assert half.code == 2


async def test_cells_are_shown_by_their_addresses(documents: Documents, document_id: str, tmp_path: Path) -> None:
    await documents("put", str(a_file(tmp_path, excel.hard(), "book.xlsx")), document_id)

    ended = await documents("cells", document_id)

    assert ended.code == 0
    assert any(line.startswith("A1  ") for line in ended.out.split("\n"))
    assert "=" in ended.out


async def test_a_document_is_written_as_something_else(documents: Documents, document_id: str, tmp_path: Path) -> None:
    await documents("put", str(a_file(tmp_path, word.chapters())), document_id)
    target = tmp_path / "plan.md"

    written = await documents("get", document_id, "--as", "md", "-o", str(target))
    printed = await documents("get", document_id, "--as", "html", "-o", "-")
    again = await documents("get", document_id, "--as", "json", "-o", str(target))
    unknown = await documents("get", document_id, "--as", "csv", "-o", "-")

    assert (written.code, target.read_text().partition("\n")[0]) == (0, "Front matter")
    assert "revision 1" in written.err
    assert "<h1>Alpha</h1>" in printed.out
    assert (again.code, unknown.code) == (1, 1)
    assert "is there already" in again.err
    assert "can be shown as pdf, md, html, json" in unknown.err
