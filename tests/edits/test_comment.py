"""Comments in all formats: whatever is done with threads, reading tells of it, and nothing is left of what is gone."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

import pytest
from pydantic import ValidationError

from officeplane.domain.document import Format, InvalidEditError
from officeplane.edits.comment import Comment
from officeplane.edits.contract import Occasion, Result
from officeplane.formats.gate import admit
from officeplane.formats.opening import Document, read_document
from officeplane.formats.reading.listing import ListWanted, listed
from tests.fixtures.documents import excel, powerpoint, word

MAKERS: dict[str, tuple[Format, Callable[[], bytes], list[str]]] = {
    "text": (Format.DOCX, word.chapters, []),
    "text with comments": (Format.DOCX, word.comments, []),
    "book": (Format.XLSX, excel.plain, ["Sheet1!A1", "Sheet1!C7", "Sheet1!D1", "Sheet1!XFD1048576"]),
    "book with threads": (Format.XLSX, excel.threads, ["Plan!A1", "Plan!C7", "Plan!D1"]),
    "deck": (Format.PPTX, powerpoint.plain, ["slide-256", "slide-256.2", "slide-257"]),
    "deck with comments": (Format.PPTX, powerpoint.commented, ["slide-256", "slide-256.2", "slide-257"]),
    "deck with new comments": (Format.PPTX, powerpoint.commented_anew, ["slide-256", "slide-257.2", "slide-258"]),
}


@dataclass
class Said:
    """What a comment should be told as."""

    text: str
    parent: str | None = None
    is_resolved: bool = False


def asked(document: Document, number: int, **payload: object) -> Result:
    edit = Comment.model_validate(payload, by_alias=True, by_name=False)
    return edit.apply(document, Occasion(f"task-{number}", "Ada Lovelace", datetime(2024, 5, 1, 12, tzinfo=UTC)))


def told(document: Document) -> dict[str, Said]:
    items = listed(document.reader(), ListWanted("comments")).items
    return {
        item["id"]: Said(item["text"], item.get("inReplyTo"), item.get("state") == "resolved")
        for item in items
        if "state" in item or not item["id"].startswith("sheet-")  # notes are no threads
    }


def places(document: Document, given: list[str]) -> list[str]:
    """Return where a comment may be put: the places given, or the paragraphs of a text."""
    found = [one.id for one in document.reader().tree.by_id.values() if one.kind == "paragraph"]
    return [*(given or found)]


@pytest.mark.parametrize("name", MAKERS)
def test_whatever_is_done_with_threads_is_what_reading_tells(name: str) -> None:
    form, make, given = MAKERS[name]
    chance = random.Random(name)
    warm = read_document(form, make())
    model = told(warm)
    free = places(warm, given)
    has_states = name not in {"deck", "deck with comments"}
    for number in range(40):
        cold = read_document(form, warm.package.write().content())
        deed = chance.choice(["add", "reply", "reply", "resolve", "delete"] if model else ["add"])
        chosen = chance.choice([*model]) if model else ""
        text = f"Says <{number}> &\nmore"
        if deed == "add":
            if not free:
                continue
            place = free.pop() if form is Format.XLSX else chance.choice(free)
            payload: dict[str, object] = {"add": {"nodeId": place, "text": text}}
        elif deed == "resolve":
            if not has_states:
                continue
            payload = {"resolve": {"commentId": chosen, "resolved": chance.random() < 0.6}}
        else:
            payload = {deed: {"commentId": chosen, **({"text": text} if deed == "reply" else {})}}

        result = asked(warm, number, **payload)

        assert asked(cold, number, **payload) == result
        first = model[chosen].parent or chosen if chosen else ""
        if deed == "add":
            model[result["id"]] = Said(text)
        elif deed == "reply":
            model[result["id"]] = Said(text, first, model[first].is_resolved)
        elif deed == "resolve":
            for one, said in model.items():
                said.is_resolved = bool(result["resolved"]) if first in {one, said.parent} else said.is_resolved
        else:
            answers = [one for one, said in model.items() if said.parent == chosen]
            assert [warning["nodeId"] for warning in result.get("warnings", [])] == answers
            model = {one: said for one, said in model.items() if chosen not in {one, said.parent}}
        assert told(warm) == model
        data = warm.package.write().content()
        assert admit(data) is form
        assert cold.package.write().content() == data
    for one in [one for one, said in model.items() if said.parent is None]:
        asked(warm, 99, delete={"commentId": one})
    assert told(warm) == {}


@pytest.mark.parametrize("name", MAKERS)
def test_the_fingerprint_of_a_comment_is_that_of_its_thread(name: str) -> None:
    form, make, given = MAKERS[name]
    document = read_document(form, make())
    place = places(document, given)[0]
    first = asked(document, 1, add={"nodeId": place, "text": "One"})["id"]
    before = document.fingerprint(first)

    answer = asked(document, 2, reply={"commentId": first, "text": "Two"})["id"]

    answered = document.fingerprint(first)
    assert len({before, answered, None}) == 3
    assert document.fingerprint(answer) is not None
    if form is not Format.PPTX or "new" in name:
        asked(document, 3, resolve={"commentId": answer})
        assert document.fingerprint(first) not in {before, answered}
    asked(document, 4, delete={"commentId": first})
    assert document.fingerprint(first) is None


@pytest.mark.parametrize("name", MAKERS)
def test_the_id_of_a_deleted_comment_is_not_given_again(name: str) -> None:
    form, make, given = MAKERS[name]
    document = read_document(form, make())
    place = places(document, given)[0]
    first = asked(document, 1, add={"nodeId": place, "text": "One"})["id"]
    asked(document, 2, delete={"commentId": first})

    second = asked(document, 3, add={"nodeId": place, "text": "Two"})["id"]

    # A slide whose comments are all gone has no trace of them but the number of its author's last one.
    assert second != first
    with pytest.raises(InvalidEditError, match=f"there is no comment '{first}': there are .*{second}"):
        asked(document, 4, reply={"commentId": first, "text": "To whom?"})


@pytest.mark.parametrize("name", MAKERS)
def test_what_is_no_comment_is_refused(name: str) -> None:
    form, make, given = MAKERS[name]
    document = read_document(form, make())
    place = places(document, given)[0]
    comment = asked(document, 1, add={"nodeId": place, "text": "One"})["id"]

    for payload in (
        {"reply": {"commentId": place, "text": "x"}},
        {"resolve": {"commentId": "comment-none"}},
        {"delete": {"commentId": "nowhere"}},
        {"add": {"nodeId": "nowhere", "text": "x"}},
        {"add": {"nodeId": comment, "text": "x"}},
    ):
        with pytest.raises(InvalidEditError):
            asked(document, 2, **payload)
    if form is not Format.DOCX:
        with pytest.raises(InvalidEditError, match="`find` marks words of Word documents"):
            asked(document, 2, add={"nodeId": place, "text": "x", "find": "x"})


@pytest.mark.parametrize(
    "payload",
    [
        {},
        {"add": {"nodeId": "p-1", "text": "x"}, "delete": {"commentId": "comment-1"}},
        {"add": {"nodeId": "p-1", "text": ""}},
        {"add": {"nodeId": "p-1", "text": "x", "nth": 2}},
        {"add": {"nodeId": "p-1", "text": "\0"}},
        {"resolve": {"commentId": "comment-1", "resolved": "no"}},
        {"reply": {"commentId": "comment-1"}},
    ],
)
def test_a_payload_says_one_thing_and_all_of_it(payload: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Comment.model_validate(payload, by_alias=True, by_name=False)


def test_what_an_edit_aims_at_is_the_node_or_the_thread() -> None:
    document = read_document(Format.DOCX, word.comments())

    for payload, target in (
        ({"add": {"nodeId": "p-1", "text": "x"}}, "p-1"),
        ({"reply": {"commentId": "comment-0", "text": "x"}}, "comment-0"),
        ({"resolve": {"commentId": "comment-4"}}, "comment-4"),
        ({"delete": {"commentId": "comment-4"}}, "comment-4"),
    ):
        assert Comment.model_validate(payload, by_alias=True, by_name=False).targets(document) == [target]


def test_every_field_of_a_comment_says_what_it_is_for() -> None:
    schema = Comment.model_json_schema()

    for holder in (schema, *schema["$defs"].values()):
        for name, field in holder["properties"].items():
            assert len(field.get("description", "")) > 15, name
