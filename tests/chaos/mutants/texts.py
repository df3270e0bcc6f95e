"""How mutants change the product: queries, which all modules share as they were loaded, and names."""

import inspect

from officeplane.store.queries import Query, load


def change(noun: str, query: str, old: str, new: str) -> None:
    """Replace a part of a query; raise when the query no longer has it."""
    queries = load(noun)
    source = queries[query].source
    if source.count(old) != 1:
        raise AssertionError(f"the mutant is stale: {noun}.{query} does not have {old!r} once")
    queries[query] = Query(queries[query].name, source.replace(old, new))


def monkey_patch(owner: object, name: str, value: object) -> None:
    """Put something else under a name that must exist."""
    assert hasattr(owner, name), f"the mutant is stale: {owner} has no {name}"
    if inspect.isfunction(value):
        there, taken = (inspect.signature(one).parameters for one in (getattr(owner, name), value))
        assert len(there) == len(taken), f"the mutant is stale: {name} takes {', '.join(there)}"
    setattr(owner, name, value)
