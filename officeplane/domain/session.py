"""Sessions: people who have logged in, how they did, and for how long that lasts."""

import re
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from officeplane.domain.api_key import ApiKey
from officeplane.domain.ids import KeyId
from officeplane.domain.principal import Kind, Principal, Scope

IDLE_SECONDS: Final = 12 * 3_600.0
"""After which time without a request a session ends."""
LONGEST_SECONDS: Final = 7 * 86_400.0
"""After which time it ends however much it is used."""
NOTED_SECONDS: Final = 60.0
"""How often it is noted that it is in use."""
SESSIONS_MAX: Final = 100
"""How many sessions somebody has; a further one takes the place of the oldest."""
LINK_SECONDS: Final = 900.0
"""For how long one can log in with a link."""

_TOKEN: Final = re.compile(r"[A-Za-z0-9_-]{43}")


class Login(StrEnum):
    """How somebody has logged in."""

    LINK = "link"
    KEY = "key"
    OIDC = "oidc"


@dataclass(frozen=True, slots=True)
class Session:
    """What is known of a session."""

    subject: str
    """Who it is: a key's name, whoever made the link, or what the provider calls somebody."""
    login: Login
    scopes: frozenset[Scope]
    """Empty if they are a key's."""
    key_id: KeyId | None
    created_at: datetime
    seen_at: datetime

    def principal(self, key: ApiKey | None) -> Principal:
        """Return who calls: with a key, somebody who may do what that may."""
        who = Principal("", Kind.PERSON, self.scopes) if key is None else key.principal
        return replace(who, id=person_id(self.login, self.subject), kind=Kind.PERSON)

    def ends_at(self, key: ApiKey | None) -> datetime:
        """Return when it ends if it is not used any more."""
        ends = [self.seen_at + timedelta(seconds=IDLE_SECONDS), self.created_at + timedelta(seconds=LONGEST_SECONDS)]
        if key is not None and key.expires_at is not None:
            ends.append(key.expires_at)
        return min(ends)


def person_id(login: Login, subject: str) -> str:
    """Return as whom somebody is known who has logged in."""
    return f"person:{login}:{subject}"


def is_token(text: str) -> bool:
    """Tell whether a text can be the token of a session or of a link."""
    return _TOKEN.fullmatch(text) is not None
