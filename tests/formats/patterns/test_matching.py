import re
import subprocess
import sys
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from officeplane.domain.document import InvalidEditError
from officeplane.formats import search
from officeplane.formats.patterns.matching import Pattern
from officeplane.formats.search import MATCHES_MAX, Wanted

TEXTS = st.text(alphabet="aäbÄ 1_\n-", max_size=12)
LETTERS = ("a", "ä", "b", "Ä", " ", "1", "-", ".", r"\w", r"\W", r"\d", r"\D", r"\s", r"\S")
SETS = (
    "[aä]", "[^a]", r"[\w-]", r"[^\W\d_]", r"[\s\S]", r"[^\s1]", r"[\W\d]", "[a-c]", r"[^\w]", r"\x61", r"[\x61-\x63]",
    r"[]a]", r"[^]a]", r"[a-]", r"\-",
)  # fmt: skip
EDGES = (r"\b", r"\B")
ATOMS = st.sampled_from(LETTERS + SETS)


@st.composite
def patterns(draw: st.DrawFn, depth: int = 3) -> str:
    """Draw a pattern that Python's `re` and we understand alike."""
    kind = draw(st.integers(0, 6)) if depth else 0
    if kind <= 1:
        atom: str = draw(ATOMS)
        return atom
    inner: str = draw(patterns(depth=depth - 1))
    if kind == 2:
        return f"({inner})"
    if kind == 3:
        # What is repeated says something: how often nothing is repeated, and what is kept of it, is told differently.
        said = inner if re.search(inner, "") is None else draw(ATOMS)
        return f"(?:{said}){draw(st.sampled_from(('?', '+', '*', '+?', '*?', '{2}', '{1,2}')))}"
    if kind == 4:
        return f"(?:{inner}|{draw(patterns(depth=depth - 1))})"
    if kind == 5:
        return f"{draw(st.sampled_from(EDGES))}{inner}"
    return f"{inner}{draw(patterns(depth=depth - 1))}{draw(st.sampled_from(('', *EDGES)))}"


@cache
def pattern(find: str, *, match_case: bool = True, whole_word: bool = False) -> Pattern:
    return Pattern(find, match_case=match_case, whole_word=whole_word)


@cache
def known(find: str, *, whole_word: bool) -> Pattern | None:
    """Return a drawn pattern; None if it may fit where nothing stands."""
    try:
        return pattern(find, whole_word=whole_word)
    except InvalidEditError as refused:
        if "nothing stands" in str(refused):
            return None
        raise


def expected(find: str, text: str, *, whole_word: bool) -> list[tuple[tuple[int, int], tuple[str, ...]]]:
    said = rf"(?<!\w)(?:{find})(?!\w)" if whole_word else find
    return [
        (found.span(), tuple(each or "" for each in (found[0], *found.groups()))) for found in re.finditer(said, text)
    ]


@settings(max_examples=1_500, deadline=None)
@given(patterns(), st.sampled_from(("", "^")), TEXTS, st.booleans())
def test_a_pattern_fits_where_that_of_python_does(find: str, begin: str, text: str, whole_word: bool) -> None:
    wanted = known(begin + find, whole_word=whole_word)
    if wanted is None:
        return

    found = [(match.span, match.groups) for match in wanted.search(text)]

    assert found == expected(begin + find, text, whole_word=whole_word)


@settings(max_examples=300, deadline=None)
@given(st.characters(exclude_categories=("Cs", "Cn"), min_codepoint=3, max_codepoint=0xFFFF))
def test_the_sets_of_letters_are_those_of_python(character: str) -> None:
    for one in (r"\w", r"\W", r"\d", r"\D", r"\s", r"\S", r"[^\W]", r"[^\D]", r"[^\S]"):
        assert bool([*pattern(one).search(character)]) == (re.search(one, character) is not None), (one, character)


@pytest.mark.parametrize(
    ("find", "text", "spans"),
    [
        (r"(?i)é", "É", [(0, 1)]),
        (r"\p{Greek}+", "aαβ", [(1, 3)]),
        (r"\P{L}", "aα1", [(2, 3)]),
        (r"[\p{Lu}1]", "aA1", [(1, 2), (2, 3)]),
        (r"[[:upper:]]", "aA1", [(1, 2)]),
        (r"[^[:upper:]1]", "aA1", [(0, 1)]),
        (r"\Qa.b\E+", "a.bb", [(0, 4)]),
        (r"\x{e4}", "ä", [(0, 1)]),
        (r"(?s).+", "a\nb", [(0, 3)]),
        (r"(?s:.)(?:.)+", "\nab\nc", [(0, 3), (3, 5)]),
        (r"(?m)^b$", "a\nb\nc", [(2, 3)]),
        (r"a{,2}", "a{,2}", [(0, 5)]),
        ("a.*b", "aab\0b", [(0, 3)]),
        (r"[\s\S]+|\p{Cc}+|[^x]+|[\x00-\x7f]+", "a\0b", [(0, 1), (2, 3)]),
        (r"(?P<year>\d{4})", "2026", [(0, 4)]),
    ],
)
def test_what_is_more_than_python_knows(find: str, text: str, spans: list[tuple[int, int]]) -> None:
    assert [match.span for match in pattern(find).search(text)] == spans


@pytest.mark.parametrize(
    ("find", "told"),
    [
        ("a*", "nothing stands"),
        ("^$", "nothing stands"),
        (r"\b", "nothing stands"),
        ("a|", "nothing stands"),
        ("(a", r"missing \), at letter 3"),
        ("a)b", r"\) closes nothing"),
        ("ab[z-a]", "invalid character class range: z-a, at letter 4"),
        ("ä(?=b)", "at letter 2; there is no looking ahead"),
        (r"a\1", r"invalid escape sequence: \\1, at letter 2; a pattern cannot refer"),
        ("a{2000}", r"invalid repetition size: \{2000\}, at letter 2"),
        ("x" * 1_001, "1001 letters"),
        ("(a)" * 21, "21 groups"),
        (r"\C", "single byte"),
        (r"\bx" * 9, "more than 8 times"),
        (r"(?:\w{30}\s){30}", "too large"),
        (r"\w{900}", "too large"),
    ],
)
def test_a_wrong_pattern_is_refused_with_the_reason_and_its_place(find: str, told: str) -> None:
    with pytest.raises(InvalidEditError, match=told):
        pattern(find)


@pytest.mark.parametrize(
    "find",
    ["(a+)+$", "(a|aa)+$", "(a|a?)+b", "(.*)(.*)(.*)(.*)(.*)b", "(?:a?){50}a{50}b", r"(\w+\s?)+b", r"\b(a+)+\b!"],
)
def test_a_hostile_pattern_ends_on_a_long_text(find: str) -> None:
    assert len([*pattern(find).search("a" * 100_000 + "!")]) <= 1


def test_a_pattern_that_looks_at_the_whole_rest_for_each_match_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "STEPS_MAX", 100_000_000)

    with pytest.raises(InvalidEditError, match="too many places"):
        Wanted("a(?:.*b)?", regex=True).finder()("a" * 100_000)


def test_a_pattern_that_fits_everywhere_in_many_paragraphs_is_stopped() -> None:
    look = Wanted(".", regex=True).finder()

    for _ in range(MATCHES_MAX // 1_000):
        assert len(look("x" * 1_000)) == 1_000

    with pytest.raises(InvalidEditError, match="too many places"):
        look("x")


def test_who_looks_for_no_pattern_does_not_load_the_engine() -> None:
    look = (
        "import sys\nimport officeplane.edits.all_edits, officeplane.formats.opening, officeplane.plane\n"
        "from officeplane.formats.search import Wanted\nWanted('a').spans('a')\n"
        "print([name for name in sys.modules if 're2' in name])"
    )

    ended = subprocess.run((sys.executable, "-c", look), capture_output=True, text=True, check=True)

    assert ended.stdout.strip() == "[]"
