"""Who will be let in by a server that starts, and whether that can be meant."""

import asyncio

import structlog

from officeplane.api.authority import canonical, is_loopback
from officeplane.cli.exits import RefusedError, UsageError
from officeplane.config import Settings
from officeplane.domain.errors import DatabaseUnavailableError
from officeplane.services.access.oidc import OidcSettingError, oidc_of
from officeplane.store import api_keys
from officeplane.store.doctor import connected

_log = structlog.stdlib.get_logger(__name__)


def check_callers(settings: Settings) -> None:
    """Refuse to listen beyond this machine while no key could let anybody in from there who makes others."""
    if settings.auth == "off":
        _log.warning(
            "auth.off", advice="whoever reaches the port may do everything; OFFICEPLANE_AUTH=auto asks for keys"
        )
    if settings.auth != "auto" or settings.admin_key or not listens_beyond(settings):
        return
    try:
        has_admin = asyncio.run(_has_admin(settings))
    except DatabaseUnavailableError:
        # Until Postgres can be asked, nobody gets in from elsewhere.
        return
    if not has_admin:
        raise RefusedError(
            f"Who calls {settings.host} from elsewhere needs a key, and there is none that may make others. Make one:",
            "  officeplane keys create NAME --scope admin",
            "Or set OFFICEPLANE_ADMIN_KEY to one of `officeplane keys generate`.",
        )


def check_people(settings: Settings) -> None:
    """Refuse to start where people could not log in as the settings say."""
    try:
        oidc_of(settings)
    except OidcSettingError as error:
        raise UsageError(str(error)) from None


def listens_beyond(settings: Settings) -> bool:
    """Tell whether others than this machine can reach the API."""
    host = canonical(settings.host)
    return host is None or not is_loopback(host)


async def _has_admin(settings: Settings) -> bool:
    async with connected(settings.database_url) as connection:
        return await api_keys.has_admin(connection)
