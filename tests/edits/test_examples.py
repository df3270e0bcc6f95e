"""Examples of edits: what their schemas show to whoever writes a payload."""

import json

import pytest

from officeplane.edits.all_edits import all_edits
from officeplane.edits.chart import EditChart
from officeplane.edits.contract import Edit
from officeplane.edits.insert_image import InsertImage
from officeplane.edits.replace_image import ReplaceImage
from officeplane.formats.pictures.bitmap import given_bitmap

WITH_EXAMPLES = [edit for edit in all_edits().values() if "examples" in edit.model_json_schema()]


@pytest.mark.parametrize("edit", WITH_EXAMPLES)
def test_an_example_is_a_payload_that_is_taken(edit: type[Edit]) -> None:
    for example in edit.model_json_schema()["examples"]:
        taken = edit.model_validate_json(json.dumps(example), by_alias=True, by_name=False)

        assert taken.model_dump(by_alias=True, exclude_unset=True) == example


def test_the_pictures_of_examples_are_pictures() -> None:
    for edit in (InsertImage, ReplaceImage):
        (example,) = edit.model_json_schema()["examples"]

        assert (given_bitmap(example["base64"]).width, bool(example["alt"])) == (1, True)


def test_every_field_of_a_chart_says_what_it_is_for() -> None:
    schema = EditChart.model_json_schema()

    for part in (schema, *schema["$defs"].values()):
        for name, field in part["properties"].items():
            assert len(field.get("description", "")) > 15, name


@pytest.mark.parametrize("edit", [InsertImage, ReplaceImage])
def test_every_field_of_a_picture_says_what_it_is_for(edit: type[Edit]) -> None:
    for name, field in edit.model_json_schema()["properties"].items():
        assert len(field.get("description", "")) > 15, name
