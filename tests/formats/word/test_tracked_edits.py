"""Every edit that can be tracked, suggested in every hard document: accepted it is done, rejected it never was."""

import random
from collections import Counter
from collections.abc import Callable

import pytest

from officeplane.domain.document import InvalidEditError
from officeplane.edits.contract import IDS_TOLD, Result
from officeplane.edits.tracked import TrackedEdit
from officeplane.formats.word.document import Word
from tests.fixtures.documents import word as documents
from tests.formats.word.suggestions import WHO, assert_is_a_suggestion_of, changes, suggested
from tests.formats.word.test_every_edit import DOCUMENTS, edits_for
from tests.formats.word.texts import applied, assert_sound, opened, written

REASONS = (
    "use changeMode direct",
    "can be one: accept or reject",
)
"""What a refusal ends with, so that whoever reads it knows what to do."""
OF_EACH_TYPE = 5


def trackable(data: bytes) -> list[TrackedEdit]:
    """Return edits that the document can have, of each type some."""
    made = [edit for edit in edits_for(opened(data)) if isinstance(edit, TrackedEdit)]
    random.Random(1).shuffle(made)
    seen: Counter[str] = Counter()
    chosen: list[TrackedEdit] = []
    for edit in made:
        seen[edit.task_type] += 1
        if seen[edit.task_type] <= OF_EACH_TYPE and works(data, edit):
            chosen.append(edit)
    return chosen


def unless_refused(word: Word, edit: TrackedEdit) -> Result | None:
    """Suggest an edit; a refusal says what to do instead."""
    try:
        return applied(word, suggested(edit))
    except InvalidEditError as error:
        if not any(reason in str(error) for reason in REASONS):
            raise
        return None


def works(data: bytes, edit: TrackedEdit) -> bool:
    try:
        applied(opened(data), edit)
    except InvalidEditError:
        return False
    return True


@pytest.mark.parametrize("make", DOCUMENTS.values(), ids=DOCUMENTS.keys())
def test_accepted_it_is_the_direct_edit_and_rejected_it_never_was(make: Callable[[], bytes]) -> None:
    data = make()
    done = 0
    edits = trackable(data)

    for edit in edits:
        word = opened(data)
        result = unless_refused(word, edit)
        if result is None:
            continue
        done += 1
        assert_sound(word)
        assert_is_a_suggestion_of(word, edit, data)
        mine = {str(one["id"]) for one in changes(word) if one.get("author") == WHO}
        assert len(result["changes"]) == IDS_TOLD or {one.removesuffix("+") for one in mine} <= set(result["changes"])
        again = opened(data)
        applied(again, suggested(edit))
        assert written(again) == written(word)

    assert done >= len(edits) / 3


def test_most_is_tracked_where_nothing_is_out_of_the_ordinary() -> None:
    data = documents.chapters()
    for edit in trackable(data):
        if "[^" in edit.model_dump_json():
            with pytest.raises(InvalidEditError, match="a footnote cannot be inserted as a tracked change"):
                applied(opened(data), suggested(edit))
        else:
            applied(opened(data), suggested(edit))
