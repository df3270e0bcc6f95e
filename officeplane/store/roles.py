"""Two roles: the owner makes the schema; the app, as which processes run, reads and writes rows and nothing else.

Whoever finds a way to send statements of his own as the app can change rows, but reach neither the files nor the
programs of the database server, nor the schema.
"""

import base64
import hashlib
import hmac
import secrets
from typing import Final
from urllib.parse import unquote, urlsplit

import asyncpg

from officeplane.store.connection import CONNECT_SECONDS, Connection, translated
from officeplane.store.migrate import LOCK
from officeplane.store.queries import load

_SQL: Final = load("roles")
_ITERATIONS: Final = 4096


class RoleError(Exception):
    """The app's role cannot be made as asked for."""


async def admit_app(owner_url: str, app_url: str) -> None:
    """Let the role that `app_url` names read and write rows of the owner's tables; make it if it is not there.

    To be repeated after every migration: what is new is not the app's before.
    """
    role, password = _role_in(app_url)
    with translated():
        connection = await asyncpg.connect(owner_url, timeout=CONNECT_SECONDS)
        try:
            async with connection.transaction():
                await connection.execute("SELECT pg_advisory_xact_lock($1)", LOCK)
                await _make_role(connection, role, password)
                await _grant(connection, role)
        finally:
            await connection.close()


async def _make_role(connection: Connection, role: str, password: str) -> None:
    (known,) = await _SQL["role"].fetch(connection, role=role)
    if known["is_us"]:
        message = f"the owner and the app are the same role, {role}: give OFFICEPLANE_DATABASE_URL one of its own"
        raise RoleError(message)
    if not known["may_make_roles"]:
        if known["exists"]:
            return
        message = f"there is no role {role}, and the owner may not make one: make it, or let the owner (CREATEROLE)"
        raise RoleError(message)
    verb = "ALTER" if known["exists"] else "CREATE"
    # Names and verifiers cannot be parameters of such a statement; the server quotes them for us.
    said = f" PASSWORD {await _quoted(connection, 'literal', _verifier(password))}" if password else ""
    name = await _quoted(connection, "ident", role)
    await connection.execute(f"{verb} ROLE {name} LOGIN{said}")


async def _grant(connection: Connection, role: str) -> None:
    name = await _quoted(connection, "ident", role)
    schema = await _quoted(connection, "ident", await connection.fetchval("SELECT current_schema()"))
    for statement in (
        f"GRANT USAGE ON SCHEMA {schema} TO {name}",
        f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {schema} TO {name}",
        f"GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA {schema} TO {name}",
        f"REVOKE INSERT, UPDATE, DELETE ON schema_migrations FROM {name}",
        f"REVOKE UPDATE, DELETE ON audit FROM {name}",
        f"GRANT EXECUTE ON FUNCTION prune_audit(double precision, integer) TO {name}",
    ):
        await connection.execute(statement)


async def _quoted(connection: Connection, kind: str, value: str) -> str:
    return str(await connection.fetchval(f"SELECT quote_{kind}($1)", value))


def _role_in(app_url: str) -> tuple[str, str]:
    parts = urlsplit(app_url)
    if not parts.username:
        message = "OFFICEPLANE_DATABASE_URL names no user: write postgresql://user:password@host:5432/database"
        raise RoleError(message)
    return unquote(parts.username), unquote(parts.password or "")


def _verifier(password: str) -> str:
    """Return what Postgres keeps of a password (RFC 5803), so that the password itself is in no statement and no log.

    Only for ASCII are the bytes those that SASLprep leaves, so others go as they are, which Postgres hashes itself.
    """
    if not password.isascii():
        return password
    salt = secrets.token_bytes(16)
    salted = hashlib.pbkdf2_hmac("sha256", password.encode(), salt, _ITERATIONS)
    stored = hashlib.sha256(hmac.digest(salted, b"Client Key", "sha256")).digest()
    server = hmac.digest(salted, b"Server Key", "sha256")
    kept = [base64.b64encode(part).decode() for part in (salt, stored, server)]
    return f"SCRAM-SHA-256${_ITERATIONS}:{kept[0]}${kept[1]}:{kept[2]}"
