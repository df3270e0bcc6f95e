import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from types import ModuleType
from typing import get_type_hints

import asyncpg
import pytest

from officeplane.domain.lifecycle import STATE_SETS
from officeplane.store.connection import Connection
from officeplane.store.queries import SHARED, MisfitError, Query, load, nouns
from officeplane.store.task_columns import SENT

QUERIES = [(noun, name) for noun in nouns() for name in load(noun)]
STORE = Path(str(files("officeplane.store")))
PART = re.compile(r"^-- part: (\w+)$", re.MULTILINE)
SENTENCE = re.compile(r"^-- name: (\w+)\n((?:-- .*\n)*)", re.MULTILINE)


def _text(noun: str) -> str:
    return (STORE / "sql" / f"{noun}.sql").read_text(encoding="utf-8")


async def test_a_query_fits_the_schema(connection: Connection) -> None:
    misfits: list[str] = []
    for noun, name in QUERIES:
        try:
            prepared = await connection.prepare(load(noun)[name].text)
        except asyncpg.PostgresError as error:
            misfits.append(f"{noun}.{name}: {error}")
        else:
            columns = [column.name for column in prepared.get_attributes()]
            assert len(set(columns)) == len(columns), (
                f"{noun}.{name}: of two columns of one name nobody reads the first"
            )

    assert misfits == []


def test_a_part_has_a_name_of_its_own() -> None:
    shared = [name for noun in SHARED for name in re.findall(PART, _text(noun))]

    assert len(set(shared)) == len(shared)
    for noun in set(nouns()) - set(SHARED):
        assert not set(shared) & set(re.findall(PART, _text(noun)))


@pytest.mark.parametrize("noun", nouns())
def test_every_query_has_a_sentence_that_says_what_no_row_means(noun: str) -> None:
    sentences = {name: " ".join(said.split("--")) for name, said in SENTENCE.findall(_text(noun))}

    assert set(sentences) == set(load(noun))
    for name, said in sentences.items():
        assert re.search(r"No row|Always|Null: ", said), f"{noun}.{name} does not say what no row means"
        assert said.strip().endswith("."), f"the sentence of {noun}.{name} does not end"


@pytest.mark.parametrize("noun", nouns())
def test_a_file_of_queries_says_what_it_is_for_and_has_a_module_of_its_name(noun: str) -> None:
    assert re.match(r"-- [A-Z]\w+: ", _text(noun))
    assert (STORE / f"{noun}.py").is_file()


def test_states_are_bound_to_the_lifecycle_when_a_query_is_loaded() -> None:
    for noun, name in QUERIES:
        query = load(noun)[name].text
        known = [*map(set, STATE_SETS.values()), *_SPELLED_OUT.get((noun, name), [])]

        assert not re.search(r"\{(?!\})", query), f"{noun}.{name} has a set of states that is not bound"
        for states in re.findall(r"state IN \(([^)]*)\)", query):
            assert {state.strip(" '\n") for state in states.split(",")} in known, f"{noun}.{name} spells {states}"


_SPELLED_OUT = {
    # What is kept how long is no set of the lifecycle.
    ("chores", "prune"): [{"COMPLETED", "CANCELLED"}, {"FAILED", "TIMEOUT"}],
    ("settlements", "settle"): [{"COMPLETED", "CANCELLED"}],
}


@dataclass(frozen=True, slots=True)
class Call:
    """A place where a query is asked, and the names that it is given values for."""

    noun: str
    name: str
    line: int
    given: frozenset[str]

    def __str__(self) -> str:
        return f"{self.noun}.py:{self.line}"


def _calls(noun: str) -> Iterator[Call]:
    module = import_module(f"officeplane.store.{noun}")
    for node in ast.walk(ast.parse((STORE / f"{noun}.py").read_text(encoding="utf-8"))):
        match node:
            case ast.Call(func=ast.Attribute(value=asked, attr="fetch"), args=positional, keywords=keywords):
                names = re.findall(r"_SQL\['(\w+)'\]", ast.unparse(asked))
                assert not names or len(positional) == 1, f"{noun}.py:{node.lineno} gives values without their names"
                given = frozenset(name for keyword in keywords for name in _names(module, keyword))
                yield from (Call(noun, name, node.lineno, given) for name in names)
            case _:
                pass


def _names(module: ModuleType, keyword: ast.keyword) -> Iterator[str]:
    """Yield the names that a keyword gives values for: its own, or those of what a function returns."""
    match keyword:
        case ast.keyword(arg=str(name)):
            yield name
        case ast.keyword(value=ast.Call(func=ast.Attribute(value=ast.Name(id="who"), attr=method))):
            yield from _keys(getattr(module.Claimant, method))
        case ast.keyword(value=ast.Call(func=ast.Name(id="column_values"))):
            yield from (column.name for column in SENT)
        case ast.keyword(value=ast.Call(func=function)):
            found: object = module
            for part in ast.unparse(function).split("."):
                found = getattr(found, part)
            yield from _keys(found)
        case _:
            pytest.fail(f"nobody can tell what {ast.unparse(keyword)} holds: let a function return a TypedDict")


def _keys(function: object) -> Iterator[str]:
    yield from get_type_hints(get_type_hints(function)["return"])


CALLS = [call for noun in nouns() for call in _calls(noun)]


def test_every_query_is_asked_for_somewhere() -> None:
    assert {(call.noun, call.name) for call in CALLS} == set(QUERIES)


def test_a_query_is_given_the_values_that_it_names() -> None:
    for call in CALLS:
        assert call.given == set(load(call.noun)[call.name].names), str(call)


def test_a_value_says_its_type_wherever_it_stands_and_always_the_same() -> None:
    for noun, name in QUERIES:
        query = load(noun)[name]
        found = set(re.findall(r"(\$\d+)(::\w+(?:\[\])?|)", query.text))

        assert {number for number, type_ in found if type_} == {f"${n + 1}" for n in range(len(query.names))}, (
            query.name
        )
        assert len(found) == len(query.names), f"{query.name} has a value of two types, or without one: {found}"


@pytest.mark.parametrize("noun", nouns())
def test_no_value_is_numbered_by_hand(noun: str) -> None:
    assert not re.search(r"\$\d", _text(noun))


def test_a_value_has_one_number_wherever_it_stands() -> None:
    query = Query("a.query", "SELECT :b::text, :a::uuid WHERE :b::text <> ''")

    assert query.text == "SELECT $1::text, $2::uuid WHERE $1::text <> ''"
    assert query.names == ("b", "a")


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1::text",
        "SELECT ':name'",
        "SELECT 'it''s :name'",
        'SELECT 1 AS ":name"',
        "-- :name\nSELECT 1",
        "SELECT (ARRAY[1, 2])[1:2]",
        "SELECT a[low:high] FROM t",
        "SELECT f(a := 1)",
        "SELECT f(a :=b)",
    ],
)
def test_not_every_colon_is_a_values(sql: str) -> None:
    query = Query("a.query", sql)

    assert query.text == sql
    assert query.names == ()


def test_values_are_sent_in_the_order_of_their_numbers() -> None:
    query = Query("a.query", "SELECT :b::text, :a::text")

    assert query.in_order({"a": "first", "b": "second"}) == ["second", "first"]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"a": 1}, "b is missing"),
        ({"a": 1, "b": 2, "c": 3}, "it has no c"),
        ({"a": 1, "c": 3}, "b is missing, it has no c"),
    ],
)
def test_a_value_that_is_missing_or_unknown_is_named(given: dict[str, int], said: str) -> None:
    query = Query("nouns.verb", "SELECT :b::text, :a::text")

    with pytest.raises(MisfitError, match=rf"nouns\.verb .*: {said}$"):
        query.in_order(given)
