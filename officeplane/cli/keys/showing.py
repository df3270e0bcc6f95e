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
    remarks().print(f"Key {key.name} ({_scopes(key)}) works {until}; its id is {key.id}.")
    remarks().print(
        "It is shown this once. Callers send it as `Authorization: Bearer KEY`, commands as OFFICEPLANE_KEY."
    )


def show_keys(keys: Sequence[ApiKey], *, as_json: bool) -> None:
    """Print what is known of keys."""
    if as_json:
        write_json(json.dumps([facts(key, utc_now()) for key in keys], ensure_ascii=False))
    elif keys:
        show(key_table(keys, utc_now(), out().width))
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
            "scopes": _scopes(key),
            "key": f"{key.shown}…",
            "made": age(key.created_at, now),
            "expires": age(key.expires_at, now),
            "last used": age(key.last_used_at, now),
        }
        for key in keys
    ]
    return lay_out(rows, width, expendable=("made", "key", "expires", "last used", "scopes"))


def facts(key: ApiKey, now: datetime) -> dict[str, JsonValue]:
    """Return what is known of a key, for a program to read."""
    return {
        "id": key.id,
        "name": key.name,
        "shown": key.shown,
        "scopes": [str(scope) for scope in sorted(key.scopes)],
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


def _time(moment: datetime | None) -> str | None:
    return None if moment is None else rfc3339(moment)
