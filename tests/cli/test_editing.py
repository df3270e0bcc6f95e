"""Edits from a terminal, and `officeplane types`, against a running installation."""

import json
import shlex
from pathlib import Path

import pytest

from officeplane.cli.answers import TaskType
from officeplane.cli.exits import UsageError
from officeplane.cli.types.fields import example_of, fields_of, payload_of
from officeplane.edits.all_edits import all_edits
from tests.cli.conftest import Documents, Officeplane, Plane, Tasks

A_TYPE = TaskType.model_validate(
    {
        "name": "acme.fill",
        "payloadSchema": {
            "properties": {
                "title": {"type": "string", "description": "What it is called."},
                "kind": {"enum": ["note", "page"], "default": "note"},
                "position": {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": None},
                "id": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
                "place": {"$ref": "#/$defs/Place"},
            },
            "required": ["title"],
            "$defs": {"Place": {"type": "object", "properties": {}}},
        },
    }
)


@pytest.fixture
async def plan(documents: Documents, document_id: str) -> str:
    """A document at revision 3, with a page that says "Some words." on its own."""
    assert (await documents("new", f"{document_id}.docx")).code == 0
    for words in (("add_chapter", "title=Risks"), ("write_page", "content=Some words.")):
        ended = await documents("edit", document_id, *words)
        assert ended.code == 0, ended.err
    return document_id


async def test_an_edit_is_done_and_tells_what_it_did(documents: Documents, plan: str) -> None:
    ended = await documents("edit", plan, "replace_text", "find=words", "replace=letters")

    assert ended.code == 0, ended.err
    assert ended.out.startswith(f"{plan} is at revision 4\n")
    assert "replaced: 1\n" in ended.out
    assert "Some letters." in (await documents("text", plan)).out


async def test_a_payload_comes_as_json_too(documents: Documents, plan: str) -> None:
    payload = {"find": "words", "replace": "letters"}

    ended = await documents("edit", plan, "replace_text", "--payload", json.dumps(payload), "--json")

    assert ended.code == 0, ended.err
    assert (ended.object["state"], ended.object["payload"]) == ("COMPLETED", payload)


async def test_a_field_takes_what_a_file_says(documents: Documents, plan: str, tmp_path: Path) -> None:
    (tmp_path / "page.md").write_text("From a *file*.\n")

    ended = await documents("edit", plan, "write_page", f"content=@{tmp_path}/page.md")

    assert ended.code == 0, ended.err
    assert "From a file." in (await documents("text", plan)).out


async def test_an_edit_that_cannot_work_says_why(documents: Documents, plan: str) -> None:
    ended = await documents("edit", plan, "replace_text", "find=words", "replace=x", "expectedCount=4")

    assert (ended.code, ended.out) == (1, "")
    assert ended.err == "'words' stands 1 times in it, not 4 (invalid_edit)\n"


async def test_an_edit_that_others_were_quicker_than_lists_what_they_made(documents: Documents, plan: str) -> None:
    ended = await documents("edit", plan, "set_properties", "title=Plan", "--base", "2")

    assert ended.code == 1
    refusal, made = ended.err.splitlines()
    assert refusal == "it was based on revision 2, but the document is at revision 3 (edit_conflict)"
    assert made.startswith("  revision 3 by ")


async def test_what_an_edit_destroys_is_told(documents: Documents, plan: str) -> None:
    await documents("edit", plan, "write_page", "content=More <b>words</b>.")

    ended = await documents("edit", plan, "write_page", "content=Even <b>more</b>.")

    assert "warning: not_kept: " in ended.out


async def test_an_edit_that_nobody_waits_for_is_taken_in(documents: Documents, tasks: Tasks, plan: str) -> None:
    await documents("pause", plan)

    ended = await documents("edit", plan, "set_properties", "title=Plan", "--wait", "0")

    task_id, said = ended.out.strip().split(" ", 1)
    assert (ended.code, said) == (0, "is QUEUED")
    await documents("resume", plan)
    assert (await tasks("watch", task_id)).code == 0


async def test_a_paused_document_holds_its_edits_back(documents: Documents, plan: str) -> None:
    paused = await documents("pause", plan)

    ended = await documents("edit", plan, "set_properties", "title=Plan", "--wait", "0.2")

    assert paused.out == f"{plan} is paused: its tasks wait\n"
    assert ended.code == 1
    assert ended.err.startswith("Not finished: ")
    assert (await documents("resume", plan)).out == f"{plan} goes on\n"


async def test_a_preview_shows_the_difference_and_makes_none(documents: Documents, plan: str) -> None:
    ended = await documents("preview", plan, "replace_text", "find=words", "replace=letters")

    assert ended.code == 0, ended.err
    assert "-Some words.\n+Some letters.\n" in ended.out
    assert "replaced: 1" in ended.err
    assert "Some words." in (await documents("text", plan)).out


async def test_a_preview_of_what_nobody_can_read_says_so(documents: Documents, plan: str) -> None:
    ended = await documents("preview", plan, "set_properties", "subject=Plans")

    assert (ended.code, ended.out) == (0, "")
    assert "It would change nothing that can be read." in ended.err


async def test_payloads_come_in_one_way_at_a_time(documents: Documents, plan: str) -> None:
    ended = await documents("edit", plan, "add_chapter", "title=A", "--payload", "{}")

    assert (ended.code, ended.err) == (2, "Give either --payload or FIELD=VALUE.\n")


async def test_a_deletion_is_asked_for_first(documents: Documents, plan: str) -> None:
    unsure = await documents("delete", plan)
    sure = await documents("delete", plan, "--yes")

    assert (unsure.code, unsure.err) == (2, "Nobody can be asked here: say --yes to delete it.\n")
    assert (sure.code, sure.out) == (0, f"deleted {plan}, a docx at revision 3\n")
    assert (await documents("text", plan)).code == 1


@pytest.mark.parametrize(
    ("form", "told"),
    [
        ("summary", "1 added, 0 removed, 0 changed\n"),
        ("nodes", "  + Some words.\n"),
        ("unified", "+Some words.\n"),
    ],
)
async def test_a_difference_has_several_forms(documents: Documents, plan: str, form: str, told: str) -> None:
    ended = await documents("diff", plan, "2", "3", "--format", form)

    assert ended.code == 0, ended.err
    assert told in ended.out


async def test_an_unknown_form_of_a_difference_is_told_those_there_are(documents: Documents, plan: str) -> None:
    ended = await documents("diff", plan, "2", "3", "--format", "html")

    assert (ended.code, ended.err) == (2, "--format is one of summary, nodes, unified.\n")


async def test_a_difference_has_colours_where_they_are_shown(
    officeplane: Officeplane, documents: Documents, plane: Plane, plan: str
) -> None:
    command = ("documents", "diff", plan, "2", "3", "--format", "unified")

    coloured = await officeplane(*command, env={**plane.env, "FORCE_COLOR": "1"})
    plain = await documents(*command[1:])

    assert "\x1b[32m+Some words." in coloured.out
    assert "\x1b" not in plain.out


async def test_types_are_listed_and_shown(officeplane: Officeplane, plane: Plane) -> None:
    listed = await officeplane("types", env=plane.env)
    shown = await officeplane("types", "edit_node", env=plane.env)

    assert set(all_edits()) <= {line.split()[0] for line in listed.out.splitlines()[1:]}
    assert shown.out.startswith("edit_node: Edit a node (docx, pptx)\n")
    assert "nodeId  string  required\n" in shown.out
    assert "keepFormat  boolean  else true\n" in shown.out
    command = shlex.split(shown.out.splitlines()[-1])
    assert command[:5] == ["officeplane", "documents", "edit", "DOCUMENT_ID", "edit_node"]
    assert "nodeId" in json.loads(command[6])


async def test_a_type_that_is_not_there_is_refused(officeplane: Officeplane, plane: Plane) -> None:
    ended = await officeplane("types", "nope", env=plane.env)

    assert ended.code == 1
    assert ended.err.startswith("There is no task type 'nope'.\n")


def test_what_is_typed_for_a_field_of_text_is_text() -> None:
    words = ("title=2026", "kind=true", "position=3", "id=7", "place={}", "other=[1]", "last=a=b")

    assert payload_of(A_TYPE, words) == {
        "title": "2026", "kind": "true", "position": 3, "id": 7, "place": {}, "other": [1], "last": "a=b",
    }  # fmt: skip


@pytest.mark.parametrize("word", ["title", "=Risks", ""])
def test_what_is_no_field_is_refused(word: str) -> None:
    with pytest.raises(UsageError, match="is no FIELD=VALUE"):
        payload_of(A_TYPE, [word])


def test_fields_say_what_they_take() -> None:
    told = {field.name: (field.kinds, field.is_required, field.default) for field in fields_of(A_TYPE)}

    assert told == {
        "title": (("string",), True, None),
        "kind": (('"note"', '"page"'), False, "note"),
        "position": (("integer",), False, None),
        "id": (("string", "integer"), False, None),
        "place": (("object",), False, None),
    }


@pytest.mark.parametrize("name", sorted(all_edits()))
def test_every_edit_can_be_told(name: str) -> None:
    schema = all_edits()[name].model_json_schema(by_alias=True)
    told = TaskType(name=name, payload_schema=schema)

    assert all(field.kinds and "any" not in field.kinds for field in fields_of(told))
    example = example_of(told)
    assert example is None or isinstance(example, dict)
