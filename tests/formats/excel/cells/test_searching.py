"""Which cells a text is replaced in: by pattern, by range, by number, whoever shares the text."""

import pytest

from officeplane.domain.document import InvalidEditError
from officeplane.edits.replace_text import ReplaceText
from officeplane.formats.search import Wanted
from tests.fixtures.documents import excel
from tests.formats.excel.books import applied, assert_sound, opened, reopened, value, with_cells

CELLS = {"A1": "North 1", "B1": "North 2", "A2": "North 1", "B2": "South 1", "A3": "=North 1"}


def sharing() -> bytes:
    """Return a workbook of which many cells share few texts."""
    return excel.repeating(3, 12)


def book() -> bytes:
    return with_cells(excel.plain(), opened(excel.plain()).outline()[0].id, CELLS)


def sheet() -> str:
    return opened(book()).outline()[0].text


def test_a_pattern_fits_whole_cells_and_its_groups_are_kept() -> None:
    ((told,), after) = applied(book(), ReplaceText(find=r"^(North|South) (\d)$", replace=r"\2 \1", regex=True))

    assert [value(after, sheet(), cell) for cell in CELLS] == ["1 North", "2 North", "1 North", "1 South", "=North 1"]
    assert told["replaced"] == 4
    assert_sound(after)


@pytest.mark.parametrize(("place", "count"), [("{}!A1:A9", 3), ("{}!B2", 0), ("{}!B1", 1), ("ID", 4), ("RANGE", 4)])
def test_only_cells_of_a_range_or_sheet_are_changed(place: str, count: int) -> None:
    outline = opened(book()).outline()[0]
    named = {"ID": outline.id, "RANGE": outline.children[0].id}.get(place, place.format(sheet()))

    ((told,), after) = applied(book(), ReplaceText(find="North", replace="West", under=named, expected_count=count))

    said = [str(value(after, sheet(), cell)) for cell in CELLS]
    assert sum("West" in one for one in said) == told["replaced"] == count
    assert sum("North" in one for one in said) == 4 - count


def test_a_cell_that_shares_its_text_is_changed_alone() -> None:
    data = sharing()
    workbook = opened(data)
    places = workbook.places_of(Wanted("x"))

    ((told,), after) = applied(data, ReplaceText(find="x", replace="y", nth=2))

    changed = [cell for row in reopened(after).worksheets[0].iter_rows() for cell in row if "y" in str(cell.value)]
    assert len(changed) == told["replaced"] == 1
    assert told["ids"] == [places[1]]
    assert str(changed[0].value).count("y") == 1
    assert_sound(after)


@pytest.mark.parametrize(
    ("wanted", "told"),
    [
        ({"under": "Nowhere!A1"}, "no node 'Nowhere!A1'"),
        ({"nth": 5}, "stands 4 times in it; there is no number 5"),
        ({"find": "^$", "regex": True}, "nothing stands"),
    ],
)
def test_what_cannot_be_meant_is_refused(wanted: dict[str, object], told: str) -> None:
    with pytest.raises(InvalidEditError, match=told):
        applied(book(), ReplaceText.model_validate({"find": "North", "replace": "x", **wanted}, by_name=True))


def test_a_picture_has_no_cells() -> None:
    workbook = opened(excel.hard())
    picture = next(each for each in workbook.reader().tree.by_id.values() if each.kind in {"picture", "chart"})

    with pytest.raises(InvalidEditError, match="has no cells; give a sheet or a range"):
        applied(excel.hard(), ReplaceText(find="a", replace="b", under=picture.id))
