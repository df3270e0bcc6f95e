import re
from importlib.resources import files
from pathlib import Path

import pytest

from officeplane.domain.lifecycle import STATE_SETS
from officeplane.store.connection import Connection
from officeplane.store.queries import load, nouns

QUERIES = [(noun, name) for noun in nouns() for name in load(noun)]
STORE = Path(str(files("officeplane.store")))
SENTENCE = re.compile(r"^-- name: (\w+)\n((?:-- .*\n)*)", re.MULTILINE)


def _text(noun: str) -> str:
    return (STORE / "sql" / f"{noun}.sql").read_text(encoding="utf-8")


@pytest.mark.parametrize(("noun", "name"), QUERIES)
async def test_a_query_fits_the_schema(connection: Connection, noun: str, name: str) -> None:
    await connection.prepare(load(noun)[name])


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


@pytest.mark.parametrize(("noun", "name"), QUERIES)
def test_every_query_is_asked_by_its_module(noun: str, name: str) -> None:
    assert f'_SQL["{name}"]' in (STORE / f"{noun}.py").read_text(encoding="utf-8")


@pytest.mark.parametrize(("noun", "name"), QUERIES)
def test_states_are_bound_to_the_lifecycle_when_a_query_is_loaded(noun: str, name: str) -> None:
    query = load(noun)[name]

    assert not re.search(r"\{(?!\})", query)
    for states in re.findall(r"state IN \(([^)]*)\)", query):
        spelled = {state.strip(" '\n") for state in states.split(",")}
        assert spelled in [set(of) for of in STATE_SETS.values()] or spelled in _SPELLED_OUT.get((noun, name), [])


_SPELLED_OUT = {
    # What is kept how long is no set of the lifecycle.
    ("chores", "prune"): [{"COMPLETED", "CANCELLED"}, {"FAILED", "TIMEOUT"}],
    ("settlements", "settle"): [{"COMPLETED", "CANCELLED"}],
}
