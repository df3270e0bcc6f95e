"""Authentication: who calls with a key.

What was found of a key is known for a while. Whether any key has changed since
is asked twice a second at most, and only while somebody calls with a key: one
that was revoked is dead within a second, whatever becomes of Redis.
"""

import asyncio
import time
from datetime import UTC, datetime
from typing import Final, NamedTuple

import structlog

from officeplane.domain.api_key import digest_of, is_key_text
from officeplane.domain.errors import DatabaseUnavailableError
from officeplane.domain.ids import KeyId
from officeplane.domain.principal import Principal
from officeplane.store import api_keys
from officeplane.store.connection import Ledger

LOOK_SECONDS: Final = 0.5
KNOWN_SECONDS: Final = 30.0
KNOWN_MAX: Final = 10_000
USES_SECONDS: Final = 60.0
_log = structlog.stdlib.get_logger(__name__)


class _Found(NamedTuple):
    key_id: KeyId
    principal: Principal
    until: float


class Authentication:
    """Knows callers by their keys."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._found: dict[bytes, _Found] = {}
        # No version of the table has this number.
        self._version = -1
        self._looked_at = float("-inf")
        self._looking = asyncio.Lock()
        self._failed_at = float("-inf")
        self._failure = ""
        self._used: dict[KeyId, datetime] = {}
        self._was_used = asyncio.Event()

    def knows(self, text: str) -> bool:
        """Tell whether a key was found a short while ago, so that it costs nothing to look at it."""
        return digest_of(text) in self._found

    async def principal_of(self, text: str) -> Principal | None:
        """Return who calls with a key; None when there is none that works."""
        digest = digest_of(text)
        if digest not in self._found and not is_key_text(text):
            return None
        if time.monotonic() - self._looked_at >= LOOK_SECONDS:
            await self._forget_changed()
        found = self._found.get(digest)
        if found is None or found.until <= time.monotonic():
            found = await self._look_up(digest)
            if found is None:
                return None
        self._used[found.key_id] = datetime.now(UTC)
        self._was_used.set()
        return found.principal

    async def note_uses(self) -> None:
        """Write once a minute when keys were used last, until cancelled."""
        while True:
            await self._was_used.wait()
            await asyncio.sleep(USES_SECONDS)
            used, self._used = self._used, {}
            self._was_used.clear()
            try:
                await api_keys.note_use(self._ledger, used)
            except DatabaseUnavailableError as error:
                self._used = used | self._used
                self._was_used.set()
                _log.warning("api_keys.uses_not_noted", keys=len(used), error=str(error))

    async def _forget_changed(self) -> None:
        waits_since = time.monotonic()
        async with self._looking:
            now = time.monotonic()
            if now - self._looked_at < LOOK_SECONDS:
                return
            if waits_since <= self._failed_at:
                # One after another would wait for a Postgres that is silent, the last of them for minutes.
                raise DatabaseUnavailableError(self._failure)
            try:
                version = await api_keys.version(self._ledger)
            except DatabaseUnavailableError as error:
                self._failed_at, self._failure = time.monotonic(), str(error)
                raise
            if version != self._version:
                self._found.clear()
                self._version = version
            self._looked_at = now

    async def _look_up(self, digest: bytes) -> _Found | None:
        version = self._version
        working = await api_keys.of_digest(self._ledger, digest)
        if working is None:
            self._found.pop(digest, None)
            return None
        if len(self._found) >= KNOWN_MAX:
            self._found.clear()
        seconds = KNOWN_SECONDS if working.expires_in is None else min(KNOWN_SECONDS, working.expires_in)
        found = _Found(working.key.id, working.key.principal, time.monotonic() + seconds)
        if version == self._version:
            # Else it may be an answer from before a change that others have been told of meanwhile.
            self._found[digest] = found
        return found
