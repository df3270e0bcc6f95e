"""No text from outside makes a regular expression take longer than in proportion to its length."""

import importlib
import inspect
import pkgutil
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Final, cast

import pytest

import officeplane

# Read by nobody but whoever measures, or from the source tree.
# Read by nobody but whoever measures, or from what is installed.
NOT_FROM_OUTSIDE: Final = (
    *("officeplane.bench.", "officeplane.embedded.", "officeplane.store.queries", "officeplane.failpoints"),
)
LENGTH: Final = 32 * 1024
SHORTER: Final = {
    # What it looks at is XML by then: whatever opens is closed.
    "officeplane.formats.content_checks._NOT_TEXT": 0,
}
# What takes time in proportion takes some milliseconds; what takes it squared, seconds.
WITHIN_SECONDS: Final = 0.5

# What opens something that then does not end, what repeats may share, and what stands between words.
REPEATED: Final = (
    *"a0_ \n\t.,-/\\:;'\"`#$!&+=@<>[]{}()é\u2028\U0001f600",
    *(
        "<a",
        "<a ",
        "<a:b ",
        "<a a=",
        "<a a='",
        '<a a="',
        "<a a='' ",
        "</a",
        "<!--",
        "<![CDATA[",
        "<?",
        "[^",
        "[@",
        "[@[",
    ),
    *("<w:instrText>", "<w:fldChar ", "<w:fldSimple ", "<v:fill ", "<f>", "<c:f>", "<formula1>", "src=", "xmlns:a="),
    *(
        "instr='",
        "dirty =",
        "[[",
        "a.",
        "a,",
        "a, ",
        "a and ",
        "a or ",
        "#.",
        "#,#",
        "1.",
        "-1",
        "1e",
        "'a",
        "a'",
        '"a',
    ),
    *("http://", "https://a", "mailto:", "//", "\\\\", "file:", "DDE", "LINK ", "INCLUDETEXT ", "_xlfn.", "_x0041_"),
    *("A1", "$A$1", "R1C1", "retry after ", "try again in ", "429 ", "rate limit", "too many requests ", "heading "),
)
ENDS: Final = ("", "\x00")
WAYS: Final = {"match": "match", "fullmatch": "fullmatch"}
"""How an expression looks at a text; whatever else it is asked for (`sub`, `finditer`), it searches."""


@dataclass(frozen=True)
class Expression:
    """A compiled expression, and how it is used."""

    name: str
    pattern: re.Pattern[str] | re.Pattern[bytes]
    ways: frozenset[str]


def expressions() -> Iterator[Expression]:
    modules = [module.name for module in pkgutil.walk_packages(officeplane.__path__, "officeplane.")]
    read = [name for name in modules if not name.startswith(NOT_FROM_OUTSIDE) and not name.endswith("__main__")]
    loaded = [importlib.import_module(name) for name in read]
    sources = {module.__name__: inspect.getsource(module) for module in loaded}
    for module in loaded:
        for name, value in vars(module).items():
            if isinstance(value, re.Pattern):
                pattern = cast("re.Pattern[str] | re.Pattern[bytes]", value)
                uses = re.findall(rf"\b{name}\.(\w+)", sources[module.__name__])
                # One that is passed on may be used in any way.
                ways = frozenset(WAYS.get(use, "search") for use in uses if use != "pattern") or frozenset({"search"})
                yield Expression(f"{module.__name__}.{name}", pattern, ways)


EXPRESSIONS: Final = list(expressions())


@pytest.mark.parametrize("expression", EXPRESSIONS, ids=[one.name for one in EXPRESSIONS])
def test_an_expression_takes_time_in_proportion_to_the_text(expression: Expression) -> None:
    for repeated, end in product(REPEATED, ENDS):
        text = repeated * (SHORTER.get(expression.name, LENGTH) // len(repeated)) + end
        looked_at = text if isinstance(expression.pattern.pattern, str) else text.encode()
        began = time.thread_time()

        for way in expression.ways:
            getattr(expression.pattern, way)(looked_at)

        assert time.thread_time() - began < WITHIN_SECONDS, (repeated, end)


def test_expressions_of_every_layer_are_found() -> None:
    assert {one.name.split(".")[1] for one in EXPRESSIONS} >= {"api", "domain", "formats", "cli"}
    assert "officeplane.formats.content_checks._NOT_TEXT" in SHORTER.keys() & {one.name for one in EXPRESSIONS}
