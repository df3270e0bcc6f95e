"""What a handler returns is written down as it was meant."""

import json

from officeplane.edits.edit_sheet import EditSheet
from officeplane.edits.edit_slide import EditSlide
from workers.results import EditsWanted, outcome_of


def test_a_field_that_a_handlers_edit_leaves_out_is_not_written_down_as_null() -> None:
    outcome = outcome_of(
        [
            EditSheet(sheet="Plan", hidden=True),
            EditSheet(sheet="Plan", freeze=None),
            EditSlide(slide_id="slide-256", title="x"),
            EditSlide(slide_id="slide-256", background=None),
        ]
    )

    assert isinstance(outcome, EditsWanted)
    assert [json.loads(payload) for _, payload in outcome.edits] == [
        {"sheet": "Plan", "hidden": True},
        {"sheet": "Plan", "freeze": None},
        {"slideId": "slide-256", "title": "x"},
        {"slideId": "slide-256", "background": None},
    ]
