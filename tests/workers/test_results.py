"""What a handler returns is written down as it was meant."""

import json

from officeplane.edits.edit_slide import EditSlide
from workers.results import EditsWanted, outcome_of


def test_a_field_that_an_edit_leaves_out_is_not_written_down_as_null() -> None:
    wanted = outcome_of([EditSlide(slide_id="slide-256", title="x"), EditSlide(slide_id="slide-256", background=None)])

    assert isinstance(wanted, EditsWanted)
    assert [json.loads(payload) for _, payload in wanted.edits] == [
        {"slideId": "slide-256", "title": "x"},
        {"slideId": "slide-256", "background": None},
    ]
