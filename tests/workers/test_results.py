import json

from officeplane.edits.edit_sheet import EditSheet
from workers.results import EditsWanted, outcome_of


def test_a_field_that_a_handlers_edit_leaves_out_is_not_sent_as_null() -> None:
    outcome = outcome_of([EditSheet(sheet="Plan", hidden=True), EditSheet(sheet="Plan", freeze=None)])

    assert isinstance(outcome, EditsWanted)
    assert [json.loads(payload) for _, payload in outcome.edits] == [
        {"sheet": "Plan", "hidden": True}, {"sheet": "Plan", "freeze": None},
    ]  # fmt: skip
