"""The two stages of the tests: each test is in one of them, and both have to pass before a change is taken."""

import re
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[2]
MAKEFILE: Final = (ROOT / "Makefile").read_text(encoding="utf-8")
RECIPE: Final = re.compile(r"^(test|test-slow):.*\n((?:\t.*\n)+)", re.MULTILINE)
SLOW: Final = {
    "api/test_openapi_fuzz.py",
    "architecture/test_wheel.py",
    "bench/test_bench.py",
    "bench/test_documents.py",
    "chaos/test_chaos.py",
    "formats/naming/test_names_after_libreoffice.py",
    "formats/test_libreoffice.py",
    "model/test_mutants.py",
    "model/test_worlds.py",
    "sandbox/test_converter.py",
}
"""What proves its share only with thousands of cases or states, minutes of faults, or programs of others."""


def test_what_one_stage_leaves_out_is_all_that_the_other_runs() -> None:
    recipes = dict(RECIPE.findall(MAKEFILE))

    assert {name: re.findall(r"\$\(PYTEST\) (.*)", recipe) for name, recipe in recipes.items()} == {
        "test": ['-m "not slow" $(ARGS)'],
        "test-slow": ["-m slow $(ARGS)"],
    }


def test_nothing_but_the_mark_leaves_a_test_out(pytestconfig: pytest.Config) -> None:
    everywhere = " ".join([*pytestconfig.getini("addopts"), *re.findall(r"^PYTEST := (.*)$", MAKEFILE, re.MULTILINE)])
    conftests = [path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("conftest.py")]

    assert not re.search(r"(^| )(-k|-m (?!pytest)|--deselect|--ignore)", everywhere)
    assert pytestconfig.getini("testpaths") == ["tests"]
    assert not [text for text in conftests if re.search(r"collect_ignore|pytest_ignore_collect|deselected", text)]


def test_the_second_stage_is_what_is_named_here_and_in_whole_files() -> None:
    sources = {path: path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py")}

    marked = {str(path.relative_to(ROOT / "tests")) for path, text in sources.items() if "mark.slow" in text}

    assert marked - {"architecture/test_stages.py"} == SLOW
    assert all(re.search(r"^pytestmark = .*mark\.slow", sources[ROOT / "tests" / name], re.MULTILINE) for name in SLOW)


def test_a_change_has_to_pass_both_and_the_first_says_what_it_leaves() -> None:
    run = (ROOT / ".ci" / "run").read_text(encoding="utf-8")

    assert re.findall(r"^(?:make|stage) ([a-z-]+)", run, re.MULTILINE) == ["check", "test", "test-slow"]
    assert "left to \\`make test-slow\\`" in dict(RECIPE.findall(MAKEFILE))["test"]
