"""Keys on a terminal: a new one alone on stdout, so that a shell can take it; of the others nothing that is secret."""

import json
import sys
from collections.abc import Iterable, Sequence
from datetime import datetime

from pydantic import JsonValue
from rich.console import RenderableType
from rich.text import Text

from officeplane.cli.console import out, remarks, show, write_json
from officeplane.cli.tables import Row, lay_out
from officeplane.cli.texts import age, printable, rfc3339, utc_now
from officeplane.domain.api_key import ApiKey, KeyState
from officeplane.domain.narrowing import Entries
from officeplane.domain.quota import UNLIMITED, facts_of
from officeplane.domain.space import DEFAULT
from officeplane.services.access.api_keys import MadeKey

STYLES = {
    KeyState.WORKS: "green",
    KeyState.REPLACED: "yellow",
    KeyState.EXPIRED: "dim",
    KeyState.REVOKED: "dim",
}


def show_made(made: MadeKey, *, as_json: bool) -> None:
    """Print a key on stdout, and on stderr what is to be known about it."""
    key = made.key
    if as_json:
        write_json(json.dumps({**facts(key, utc_now()), "key": made.text}, ensure_ascii=False))
        return
    sys.stdout.write(f"{made.text}\n")
    until = "until it is revoked" if key.expires_at is None else f"until {rfc3339(key.expires_at)}"
    remarks().print(f"Key {key.name} ({_may(key)}) works {until}; its id is {key.id}.")
    remarks().print(
        "It is shown this once. Callers send it as `Authorization: Bearer KEY`, commands as OFFICEPLANE_KEY."
    )


def show_updated(key: ApiKey, *, as_json: bool) -> None:
    """Print what a key is and may do from now on."""
    if as_json:
        write_json(json.dumps(facts(key, utc_now()), ensure_ascii=False))
        return
    show(f"{key.id} ({key.name}, {key.shown}…) may: {_may(key)}")


def show_keys(keys: Sequence[ApiKey], *, as_json: bool) -> None:
    """Print what is known of keys."""
    if as_json:
        write_json(json.dumps([facts(key, utc_now()) for key in keys], ensure_ascii=False))
    elif keys:
        show(key_table(keys, utc_now(), out().width), [key.id for key in keys])
    else:
        remarks().print("There are no keys; `officeplane keys create NAME --scope read` makes one.")


def show_revoked(keys: Sequence[ApiKey], *, as_json: bool) -> None:
    """Print which keys work no more."""
    if as_json:
        write_json(json.dumps([facts(key, utc_now()) for key in keys], ensure_ascii=False))
        return
    for key in keys:
        show(f"{key.id} ({key.name}, {key.shown}…) is revoked")


def key_table(keys: Iterable[ApiKey], now: datetime, width: int) -> RenderableType:
    """Lay out keys a line each."""
    rows: list[Row] = [
        {
            "id": key.id,
            "name": printable(key.name),
            "state": Text(state := key.state(now), style=STYLES[state]),
            "space": key.space,
            "scopes": _scopes(key),
            "only": _only(key),
            "key": f"{key.shown}…",
            "made": age(key.created_at, now),
            "expires": age(key.expires_at, now),
            "last used": age(key.last_used_at, now),
        }
        for key in keys
    ]
    return lay_out(rows, width, expendable=("only", "made", "key", "expires", "last used", "scopes", "space"))


def facts(key: ApiKey, now: datetime) -> dict[str, JsonValue]:
    """Return what is known of a key, for a program to read."""
    return {
        "id": key.id,
        "name": key.name,
        "shown": key.shown,
        "space": key.space,
        "scopes": [str(scope) for scope in sorted(key.scopes)],
        "documents": _list(key.narrowing.documents),
        "taskTypes": _list(key.narrowing.task_types),
        "agents": _list(key.narrowing.agents),
        "maxPriority": key.narrowing.most_urgent or None,
        "quotas": None if key.quotas == UNLIMITED else dict(facts_of(key.quotas)),
        "state": key.state(now),
        "createdBy": key.created_by,
        "createdAt": rfc3339(key.created_at),
        "expiresAt": _time(key.expires_at),
        "revokedAt": _time(key.revoked_at),
        "lastUsedAt": _time(key.last_used_at),
        "replacedBy": key.replaced_by,
    }


def _scopes(key: ApiKey) -> str:
    return ", ".join(sorted(key.scopes))


def _may(key: ApiKey) -> str:
    """Say what a key may do, where, and with what only."""
    of_space = "" if key.space == DEFAULT else f" in space {key.space}"
    only = _only(key)
    return f"{_scopes(key)}{of_space}{only and ', only '}{only}"


def _only(key: ApiKey) -> str:
    only = key.narrowing
    lists = (("documents", only.documents), ("types", only.task_types), ("agents", only.agents))
    said = [f"{what} {' '.join(map(printable, entries))}" for what, entries in lists if entries is not None]
    if only.most_urgent:
        said.append(f"no more urgent than {only.most_urgent}")
    said += [f"{name} {limit}" for name, limit in facts_of(key.quotas).items() if limit is not None]
    return "; ".join(said)


def _list(entries: Entries) -> JsonValue:
    return None if entries is None else list(entries)


def _time(moment: datetime | None) -> str | None:
    return None if moment is None else rfc3339(moment)
