"""The checker finds every violation in stories of edits, done in and ahead of their turn, and nothing without one."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.chaos.checker import check
from tests.chaos.story import Story

Tale = Callable[[Story], None]


def edits_end_ahead(story: Story) -> None:
    """Edits that are done before their turn begin and end with the one before them."""
    story.text("text")
    for name in ("one", "two", "three", "four"):
        story.edit(name, "text")
    story.begun("one")
    story.edited("one")
    story.ended_ahead("two", "three")
    story.begun("four")
    story.edited("four")


def an_edit_makes_no_revision(story: Story) -> None:
    edits_end_ahead(story)
    del story.evidence.revisions[-1]


def an_edit_makes_two_revisions(story: Story) -> None:
    edits_end_ahead(story)
    story.evidence.revisions.append(replace(story.evidence.revisions[-1], revision=6, base=5))


def a_cancelled_edit_is_in_the_document(story: Story) -> None:
    edits_end_ahead(story)
    story.change("three", state="CANCELLED")


def a_revision_has_another_base(story: Story) -> None:
    edits_end_ahead(story)
    story.evidence.revisions[-1] = replace(story.evidence.revisions[-1], base=3)


def an_edit_is_not_in_the_file(story: Story) -> None:
    edits_end_ahead(story)
    del story.evidence.chapters["text"][2]


def an_edit_ends_ahead_out_of_turn(story: Story) -> None:
    story.text("text")
    for name in ("one", "two", "three"):
        story.edit(name, "text")
    story.begun("one")
    story.edited("one")
    story.ended_ahead("three", "two")


def an_edit_ends_ahead_while_another_runs(story: Story) -> None:
    story.text("text")
    for name in ("one", "two"):
        story.edit(name, "text")
    story.begun("one")
    story.ended_ahead("two")
    story.edited("one")


def an_edit_that_ends_ahead_overtakes(story: Story) -> None:
    story.text("text")
    for name in ("one", "two"):
        story.edit(name, "text")
    story.begun("one")
    story.edit("urgent", "text", rank=10.0)
    story.wait(1)
    story.edited("one")
    story.ended_ahead("two")
    story.begun("urgent")
    story.edited("urgent")


VIOLATIONS: list[tuple[str, Tale]] = [
    ("I5", an_edit_makes_no_revision),
    ("I5", an_edit_makes_two_revisions),
    ("I5", a_cancelled_edit_is_in_the_document),
    ("I5", a_revision_has_another_base),
    ("I8", an_edit_is_not_in_the_file),
    ("I6", an_edit_ends_ahead_out_of_turn),
    ("I2", an_edit_ends_ahead_while_another_runs),
    ("I6", an_edit_that_ends_ahead_overtakes),
]


def test_nothing_is_found_where_nothing_is_wrong() -> None:
    story = Story()

    edits_end_ahead(story)

    assert check(story.evidence) == []


@pytest.mark.parametrize(("invariant", "tale"), VIOLATIONS, ids=[tale.__name__ for _, tale in VIOLATIONS])
def test_it_is_found_that(invariant: str, tale: Tale) -> None:
    story = Story()

    tale(story)

    assert invariant in {violation.invariant for violation in check(story.evidence)}
