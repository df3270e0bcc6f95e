"""The oracle is told of runs in which something went wrong, and has to say so."""

from collections.abc import Callable
from typing import Any

import pytest

from officeplane.domain.document import Format
from officeplane.formats.blank import blank
from officeplane.formats.excel.workbook import Workbook
from officeplane.formats.package import Package
from officeplane.formats.powerpoint.presentation import Presentation
from officeplane.formats.word.document import Word
from tests.fixtures.documents import excel
from tests.tokens.laws import faults_of_chain, is_lawful, is_lawful_whole
from tests.tokens.model import BookModel, DeckModel, Done, TextModel
from tests.tokens.reading import lines_of

HISTORY: list[dict[str, Any]] = [
    {"revision": 1, "base": 0, "taskId": None},
    {"revision": 2, "base": 1, "taskId": "a"},
    {"revision": 3, "base": 2, "taskId": "b"},
]


def an_edit(state: str = "COMPLETED", kind: str | None = None, revision: int | None = None) -> dict[str, Any]:
    return {"state": state, "error": {"kind": kind}, "result": None if revision is None else {"revision": revision}}


def test_a_chain_of_one_revision_for_each_completed_edit_is_in_order() -> None:
    assert faults_of_chain(HISTORY, {"a", "b"}) == []


@pytest.mark.parametrize(
    ("history", "completed", "fault"),
    [
        (HISTORY[:1] + HISTORY[2:], {"b"}, "gap"),
        ([*HISTORY[:2], {**HISTORY[2], "base": 1}], {"a", "b"}, "does not follow"),
        ([*HISTORY[:2], {**HISTORY[2], "taskId": "a"}], {"a"}, "several"),
        (HISTORY, {"a"}, "not completed"),
        (HISTORY, {"a", "b", "c"}, "no revision of c"),
    ],
)
def test_a_chain_that_is_not_is_found(history: list[dict[str, Any]], completed: set[str], fault: str) -> None:
    assert any(fault in told for told in faults_of_chain(history, completed))


@pytest.mark.parametrize(
    ("task", "asked", "earlier", "is_cancelled"),
    [
        (an_edit("QUEUED"), {}, [], False),
        (an_edit("CANCELLED"), {}, [], False),
        (an_edit("FAILED", "crash"), {}, [], True),
        (an_edit("FAILED", "edit_conflict"), {}, [], False),
        (an_edit("FAILED", "permanent"), {}, [an_edit()], False),
        (an_edit(revision=4), {"baseRevision": 1, "onConflict": "reject"}, [], False),
    ],
)
def test_an_edit_that_ended_without_a_reason_is_found(
    task: dict[str, Any], asked: dict[str, Any], earlier: list[dict[str, Any]], is_cancelled: bool
) -> None:
    assert not is_lawful(task, asked, earlier, is_cancelled=is_cancelled)


@pytest.mark.parametrize(
    ("batch", "children"),
    [
        (an_edit(revision=2), [an_edit(revision=2), an_edit("CANCELLED")]),
        (an_edit(revision=2), [an_edit(revision=2), an_edit(revision=3)]),
        (an_edit("CANCELLED"), [an_edit(revision=2), an_edit("CANCELLED")]),
        (an_edit("FAILED", "crash"), [an_edit("CANCELLED"), an_edit("CANCELLED")]),
    ],
)
def test_an_atomic_batch_of_which_a_part_came_through_is_found(
    batch: dict[str, Any], children: list[dict[str, Any]]
) -> None:
    asked: dict[str, Any] = {"children": [{"payload": {}}, {"payload": {}}]}

    assert not is_lawful_whole(batch, children, asked, is_cancelled=True)


def written(token: str) -> Done:
    return Done("write_page", {"content": token}, {"id": token})


def appended(token: str, row: int) -> Done:
    return Done("append_rows", {"sheet": "Log", "rows": [[token]]}, {"firstRow": row, "lastRow": row})


def added(token: str) -> Done:
    return Done("add_slide", {"title": token}, {"id": token})


def in_text(tokens: list[str]) -> bytes:
    package = Package.read(blank(Format.DOCX, None))
    document = Word(package)
    for token in tokens:
        document.add_chapter(token, None, f"chapter-{token}")
    return package.write().content()


def in_book(tokens: list[str]) -> bytes:
    package = Package.read(excel.small("", names=("Log", "Grid")))
    Workbook(package).append_rows("Log", [[token] for token in tokens])
    return package.write().content()


def in_deck(tokens: list[str]) -> bytes:
    package = Package.read(blank(Format.PPTX, None))
    deck = Presentation(package)
    for token in tokens:
        deck.add_slide(None, token, [], None)
    return package.write().content()


@pytest.mark.parametrize(
    ("kind", "make", "model", "edits"),
    [
        ("docx", in_text, TextModel(["end"]), [written("T000001"), written("T000002")]),
        ("xlsx", in_book, BookModel(), [appended("T000001", 1), appended("T000002", 2)]),
        ("pptx", in_deck, DeckModel({}), [added("T000001"), added("T000002")]),
    ],
)
def test_a_token_that_is_missing_doubled_or_out_of_turn_is_found(
    kind: str, make: Callable[[list[str]], bytes], model: TextModel | BookModel | DeckModel, edits: list[Done]
) -> None:
    for edit in edits:
        model.apply(edit)

    assert lines_of(kind, make(["T000001", "T000002"])) == model.lines()
    for wrong in (["T000001"], ["T000001", "T000002", "T000002"], ["T000002", "T000001"]):
        assert lines_of(kind, make(wrong)) != model.lines()
