"""Login links: whoever opens one and presses its button is logged in, once."""

from collections.abc import Collection
from datetime import datetime
from typing import NamedTuple

from officeplane.domain.api_key import digest_of
from officeplane.domain.audit import Action, Deed
from officeplane.domain.errors import ForbiddenError, OutsideError
from officeplane.domain.principal import Principal, Scope
from officeplane.domain.session import LINK_SECONDS, Login, is_token, person_id
from officeplane.domain.space import DEFAULT
from officeplane.services.access.sessions import begin_session, new_token
from officeplane.store import audit, login_links
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

        async def created(executor: Executor) -> MadeLink:
            who = giver.signature
            expires_at = await login_links.insert(executor, digest_of(token), scopes, who, LINK_SECONDS)
            # A link has no name but its secret: it is known by whom it logs in.
            after = {"scopes": sorted(scopes), "expiresAt": expires_at}
            await audit.write(executor, Deed(giver, Action.CREATE_LINK, person_id(Login.LINK, who), after=after))
            return MadeLink(token, frozenset(scopes), expires_at)

        return await self._ledger.in_transaction(created)

    async def spend(self, token: str, *, address: str | None = None) -> str | None:
        """Begin the session that a link was made for and return its token; None if the link is good for none."""
        if not is_token(token):
            return None

        async def begun(executor: Executor) -> str | None:
            # Together: a link that is spent has led to a session.
            spent = await login_links.spend(executor, digest_of(token))
            if spent is None:
                return None
            return await begin_session(executor, spent.created_by, Login.LINK, spent.scopes, address=address)

        return await self._ledger.in_transaction(begun)
