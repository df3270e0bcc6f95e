"""The path of anything can be guessed, and the words are few: what CONTRIBUTING and the glossary say is so."""

import ast
import re
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
SERVICES: Final = ROOT / "officeplane/services"
TESTS: Final = ROOT / "tests/services"
GLOSSARY_MAX: Final = 30
"""Whoever joins has to learn them all: a new word takes the place of another, or is a common one and needs no entry."""


def _table(page: str, title: str) -> list[list[str]]:
    """Return the rows of the table below a title, as their cells."""
    text = (ROOT / page).read_text(encoding="utf-8")
    _, found, section = text.partition(f"\n{title}\n")
    assert found, f"{page} has no {title!r}"
    lines = [line for line in section.split("\n#")[0].splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def _nouns() -> set[str]:
    """Return what the ledger keeps and what the API has paths of."""
    folders = [("officeplane/store/sql", "*.sql"), ("officeplane/store", "*.py"), ("officeplane/api/routes", "*.py")]
    return {path.stem for folder, files in folders for path in (ROOT / folder).glob(files)} - {"__init__"}


def _exceptions() -> dict[str, tuple[list[Path], str]]:
    """Return where the nouns are that are not where one would guess, and why, as CONTRIBUTING has it."""
    return {
        noun: ([ROOT / path for path in re.findall(r"`([^`]+)`", places)], why)
        for nouns, places, why in _table("CONTRIBUTING.md", "### Guess the path")
        for noun in re.findall(r"`([^`]+)`", nouns)
    }


def _guessed(noun: str) -> tuple[list[Path], list[Path]]:
    """Return the use cases of a noun and their tests, where the rule says they are."""
    used = [*SERVICES.glob(f"*/{noun}.py"), *SERVICES.glob(f"{noun}/__init__.py")]
    tested = [*TESTS.glob(f"*/test_{noun}.py"), *TESTS.glob(f"{noun}/test_*.py")]
    return used, tested


def test_a_noun_has_its_use_cases_and_their_tests_where_one_guesses() -> None:
    for noun in sorted(_nouns() - _exceptions().keys()):
        used, tested = _guessed(noun)
        assert used, f"no services/*/{noun}.py: name it so, or say where it is in CONTRIBUTING, with the reason"
        assert tested, f"no tests/services/*/test_{noun}.py: name them so, or say where they are in CONTRIBUTING"


def test_a_noun_that_is_elsewhere_is_where_contributing_says_and_for_a_reason() -> None:
    exceptions = _exceptions()
    assert exceptions.keys() <= _nouns()
    for noun, (places, why) in exceptions.items():
        assert places, f"CONTRIBUTING does not say where {noun} is"
        assert [path for path in places if not path.exists()] == [], noun
        assert why, f"CONTRIBUTING does not say why {noun} is elsewhere"
        assert not all(_guessed(noun)), f"{noun} is where one guesses: it needs no exception"


def test_every_file_that_is_named_where_newcomers_read_is_there() -> None:
    folders = ("officeplane", "workers", "lua", "tests", "docs")
    there = [f"/{path.relative_to(ROOT)}" for folder in folders for path in (ROOT / folder).rglob("*.*")]
    for page in ("README.md", "CONTRIBUTING.md", "docs/architecture.md"):
        named = re.findall(r"`([\w./-]+\.(?:py|sql|lua))[`:]", (ROOT / page).read_text(encoding="utf-8"))
        # Names of recipes, such as NOUN, stand for any.
        asked = [name for name in named if not re.search(r"[A-Z]{4}|verb_noun", name)]
        assert len(asked) > 1
        assert [name for name in asked if not any(path.endswith(f"/{name}") for path in there)] == [], page


def test_every_package_says_in_its_first_sentence_what_it_is() -> None:
    for package in (path for root in ("officeplane", "workers") for path in (ROOT / root).rglob("__init__.py")):
        said = ast.get_docstring(ast.parse(package.read_text(encoding="utf-8"))) or ""
        assert said.partition("\n")[0].endswith("."), package


def test_the_glossary_is_short() -> None:
    words = _table("docs/architecture.md", "## Glossary")

    assert len(words) <= GLOSSARY_MAX, "a word of the trade needs no entry; which of these is one?"
