"""Login links: whoever opens one and presses its button is logged in, once."""

from collections.abc import Collection
from datetime import datetime
from typing import NamedTuple

from officeplane.domain.api_key import digest_of
from officeplane.domain.errors import ForbiddenError, OutsideError
from officeplane.domain.principal import Principal, Scope
from officeplane.domain.session import LINK_SECONDS, Login, is_token
from officeplane.domain.space import DEFAULT
from officeplane.services.access.sessions import new_token
from officeplane.store import login_links, sessions
from officeplane.store.connection import Executor, Ledger


class MadeLink(NamedTuple):
    """What a link has to name, and until when; it is told once."""

    token: str
    scopes: frozenset[Scope]
    expires_at: datetime

    @property
    def path(self) -> str:
        """Where it leads on the server."""
        return f"/login?token={self.token}"


class LoginLinks:
    """The links of an installation."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    async def create(self, giver: Principal, scopes: Collection[Scope]) -> MadeLink:
        """Make a link with which one may do no more than whoever makes it."""
        missing = sorted(scope for scope in scopes if not giver.may(scope))
        if missing:
            raise ForbiddenError(missing[0], giver.id)
        if giver.is_narrowed or giver.space != DEFAULT:
            # A link has scopes and no other bounds, so it is for those to give who have none.
            raise OutsideError(giver.id, "login link", "without bounds")
        token = new_token()
        expires_at = await login_links.insert(self._ledger, digest_of(token), scopes, giver.signature, LINK_SECONDS)
        return MadeLink(token, frozenset(scopes), expires_at)

    async def spend(self, token: str) -> str | None:
        """Begin the session that a link was made for and return its token; None if the link is good for none."""
        if not is_token(token):
            return None
        session = new_token()

        async def begun(executor: Executor) -> str | None:
            # Together: a link that is spent has led to a session.
            spent = await login_links.spend(executor, digest_of(token))
            if spent is None:
                return None
            await sessions.begin(executor, digest_of(session), spent.created_by, Login.LINK, spent.scopes, None)
            return session

        return await self._ledger.in_transaction(begun)
