"""Spaces on a terminal: a line for each, or all of one."""

import json
from collections.abc import Mapping
from dataclasses import asdict

from pydantic import JsonValue
from pydantic.alias_generators import to_camel

from officeplane.cli.console import out, show, write_json
from officeplane.cli.details import fact_table
from officeplane.cli.tables import lay_out
from officeplane.domain.quota import Quotas, facts_of
from officeplane.domain.space import Space
from officeplane.services.access.spaces import Usage


def show_spaces(spaces: Mapping[Space, Quotas], *, as_json: bool) -> None:
    """Print spaces with what each may use."""
    if as_json:
        write_json(json.dumps([_facts(name, quotas) for name, quotas in spaces.items()]))
        return
    rows = [
        {
            "name": name,
            "waiting": _limit(quotas.max_waiting_tasks),
            "documents": _limit(quotas.max_documents),
            "bytes": _limit(quotas.max_bytes),
            "a minute": _limit(quotas.submissions_per_minute),
        }
        for name, quotas in spaces.items()
    ]
    show(lay_out(rows, out().width, expendable=("a minute", "bytes")))


def show_space(name: str, quotas: Quotas, usage: Usage, *, as_json: bool) -> None:
    """Print what a space may use, and what it uses."""
    if as_json:
        used: dict[str, JsonValue] = {to_camel(key): value for key, value in usage._asdict().items()}
        write_json(json.dumps({**_facts(name, quotas), "usage": used}))
        return
    used_of = {"max_waiting_tasks": usage.waiting_tasks, "max_documents": usage.documents, "max_bytes": usage.bytes}
    facts = [("name", name)]
    for key, limit in asdict(quotas).items():
        used_text = f"; {used_of[key]} used" if key in used_of else ""
        facts.append((to_camel(key), f"{_limit(limit)}{used_text}"))
    show(fact_table(facts))


def _limit(limit: int | None) -> str:
    return "none" if limit is None else str(limit)


def _facts(name: str, quotas: Quotas) -> dict[str, JsonValue]:
    return {"name": name, **facts_of(quotas)}
