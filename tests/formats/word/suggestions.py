"""What the tests of tracked edits share: suggesting an edit, and what has to be true of that."""

from typing import Any

from officeplane.edits.review_changes import ReviewChanges
from officeplane.edits.tracked import TrackedEdit
from officeplane.formats.reading.detail import Detail
from officeplane.formats.reading.listing import ListWanted, listed
from officeplane.formats.word.document import Word
from officeplane.formats.word.reader import WordReader
from tests.formats.word.texts import applied, opened, written

WHO = "Somebody Suggesting"


def suggested(edit: TrackedEdit) -> TrackedEdit:
    """Return an edit as a suggestion."""
    return edit.model_copy(update={"change_mode": "tracked", "change_author": WHO})


def changes(word: Word) -> list[dict[str, Any]]:
    return listed(word.reader(), ListWanted("changes")).items


def decided(word: Word, *, accept: bool) -> Word:
    """Return what a document is once all that was suggested is accepted, or rejected."""
    again = opened(written(word))
    if any(change.get("author") == WHO for change in changes(again)):
        applied(again, ReviewChanges(accept=accept, reject=not accept, author=WHO))
    return again


def shown(word: Word) -> list[object]:
    """Return what a reader sees: structure, text and looks; an empty page is nothing."""
    reader = word.reader()
    return [one for top in reader.tree.top for one in _shown(reader, top, 0)]


def ids(word: Word) -> list[str]:
    return [*word.reader().tree.by_id]


def assert_is_a_suggestion_of(tracked: Word, edit: TrackedEdit, data: bytes) -> None:
    """Check that accepted it is what the edit does, and rejected nothing has happened."""
    direct, before = opened(data), opened(data)
    applied(direct, edit)
    accepted, rejected = decided(tracked, accept=True), decided(tracked, accept=False)
    assert accepted.text() == direct.text()
    assert shown(accepted) == shown(direct)
    assert rejected.text() == before.text()
    assert shown(rejected) == shown(before)
    assert ids(rejected) == ids(before)


def _shown(reader: WordReader, detail: Detail, depth: int) -> list[object]:
    if detail.kind in {"change", "comment"} or (detail.kind == "page" and not detail.children):
        return []
    # An edit may have brought the style of headings along that was only spoken of before.
    form = repr(sorted(reader.form(detail).items())).lower().replace("heading ", "heading")
    own = (depth, detail.kind, detail.text, detail.level, detail.number, form)
    return [own, *(one for inner in detail.children for one in _shown(reader, inner, depth + 1))]
