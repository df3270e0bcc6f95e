import pytest

from officeplane.domain.document import InvalidEditError
from officeplane.formats.search import Wanted


def replaced(find: str, replace: str, text: str) -> list[str]:
    wanted = Wanted(find, regex=True)
    return wanted.replacing(replace)(wanted.finder()(text))


def test_groups_stand_for_what_they_hold() -> None:
    assert replaced(r"(\w+) (?P<last>\w+)", r"\2, \1 / \g<last> / \g<1> / \0", "Ada Löve") == [
        "Löve, Ada / Löve / Ada / Ada Löve"
    ]


def test_a_group_that_took_no_part_is_empty() -> None:
    assert replaced("a(b)?", r"[\1]", "a ab") == ["[]", "[b]"]


def test_escapes_are_a_line_break_a_tab_and_the_character_itself() -> None:
    assert replaced("a", r"\n\t\\1", "a") == ["\n\t\\1"]


@pytest.mark.parametrize(
    ("replace", "told"),
    [
        (r"\2", r"\\2 at letter 1, and the pattern has 1 groups"),
        (r"a\g<first>", r"\\g<first> at letter 2, and the pattern has 1 groups"),
        (r"a\q", r"\\q at letter 2; it knows"),
        ("a\\", "at letter 2; it knows"),
    ],
)
def test_what_the_pattern_does_not_have_is_refused(replace: str, told: str) -> None:
    with pytest.raises(InvalidEditError, match=told):
        replaced("(a)", replace, "a")


def test_much_is_not_made_of_little() -> None:
    with pytest.raises(InvalidEditError, match="10000000 letters"):
        replaced("(a+)", r"\1" * 200, "a" * 100_000)


def test_a_plain_text_is_replaced_by_a_plain_text() -> None:
    wanted = Wanted("a.")

    assert wanted.replacing(r"\1")(wanted.finder()("a. ab")) == [r"\1"]
