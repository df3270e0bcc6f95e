"""API keys: how their texts look, and what is known of each."""

import hashlib
import re
import string
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final
from zlib import crc32

from officeplane.domain.ids import KeyId
from officeplane.domain.narrowing import NOT_NARROWED, Narrowing
from officeplane.domain.principal import Kind, Principal, Scope
from officeplane.domain.quota import UNLIMITED, Quotas
from officeplane.domain.space import DEFAULT, Space

PREFIX: Final = "opk_"
ALPHABET: Final = string.digits + string.ascii_uppercase + string.ascii_lowercase
CHANCE: Final = 30
"""How many characters of a key are drawn by chance."""
CHECKSUM: Final = 6
SHOWN: Final = len(PREFIX) + 4
"""How many characters of a key are kept, so that people know which one it is."""
NAME_PATTERN: Final = r"^[A-Za-z0-9][A-Za-z0-9._@:-]{0,99}$"
"""How a key may be called."""

_LENGTH: Final = len(PREFIX) + CHANCE + CHECKSUM

ADMIN_NAME: Final = "admin"
"""What the key is called that an installation begins with."""


def key_text(chance: str) -> str:
    """Return the key that is made of these characters."""
    return PREFIX + chance + _checksum(chance)


def is_key_text(text: str) -> bool:
    """Tell whether a text can be a key at all; rubbish and keys with a slip of the pen cannot."""
    if len(text) != _LENGTH or not text.startswith(PREFIX) or not text.isascii() or not text.isprintable():
        return False
    chance = text[len(PREFIX) : -CHECKSUM]
    return text[-CHECKSUM:] == _checksum(chance)


def is_key_name(name: str) -> bool:
    """Tell whether a key can be called this; what looks like a key is no name for one, for names are shown."""
    return re.fullmatch(NAME_PATTERN, name) is not None and not name.startswith(PREFIX)


def digest_of(text: str) -> bytes:
    """Return what stands for a key in the ledger."""
    return hashlib.sha256(text.encode()).digest()


def _checksum(chance: str) -> str:
    number = crc32(chance.encode())
    digits = ""
    for _ in range(CHECKSUM):
        number, digit = divmod(number, len(ALPHABET))
        digits = ALPHABET[digit] + digits
    return digits


class KeyState(StrEnum):
    """What a key is good for."""

    WORKS = "works"
    REPLACED = "replaced"
    """Another came in its place; it works until it expires."""
    EXPIRED = "expired"
    REVOKED = "revoked"


@dataclass(frozen=True, slots=True)
class ApiKey:
    """What is known of a key; its text is shown once, when it is made."""

    id: KeyId
    name: str
    shown: str
    scopes: frozenset[Scope]
    created_by: str
    created_at: datetime
    expires_at: datetime | None = None
    revoked_at: datetime | None = None
    last_used_at: datetime | None = None
    replaced_by: KeyId | None = None
    space: Space = DEFAULT
    narrowing: Narrowing = NOT_NARROWED
    quotas: Quotas = UNLIMITED

    @property
    def principal(self) -> Principal:
        """Who calls with it."""
        only = self.narrowing
        return Principal(
            f"key:{self.name}",
            Kind.KEY,
            self.scopes,
            self.space,
            only.documents,
            only.task_types,
            only.most_urgent,
            only.agents,
            self.quotas,
            key_id=self.id,
        )

    def state(self, now: datetime) -> KeyState:
        """Tell what it is good for."""
        if self.revoked_at is not None:
            return KeyState.REVOKED
        if self.expires_at is not None and self.expires_at <= now:
            return KeyState.EXPIRED
        return KeyState.WORKS if self.replaced_by is None else KeyState.REPLACED
