"""What an entry point reads from the environment, checked before anything is opened."""

from pydantic import ValidationError

from officeplane.cli.exits import UsageError
from officeplane.config import Settings
from officeplane.domain.api_key import is_key_text
from officeplane.local import local_installation


def read_settings(**overrides: object) -> Settings:
    """Return the settings of this process; an override that is None leaves the environment's value.

    Without a database in the environment they lead to the installation that `officeplane up` runs here, if one does.
    """
    given = {name: value for name, value in overrides.items() if value is not None}
    try:
        settings = Settings.model_validate(given)
        if not settings.database_url and (local := local_installation()) is not None:
            settings = Settings.model_validate({**local.settings(), **given})
    except ValidationError as refusal:
        raise UsageError(*setting_errors(refusal)) from None
    if settings.admin_key and not is_key_text(settings.admin_key):
        raise UsageError("OFFICEPLANE_ADMIN_KEY: It must be a key; `officeplane keys generate` makes one.")
    return settings


def require_database(settings: Settings) -> Settings:
    """Return the same settings, when they name a ledger."""
    if not settings.database_url:
        raise UsageError(
            "OFFICEPLANE_DATABASE_URL is not set.",
            "Set it, for example to postgresql://user:password@host:5432/officeplane, "
            "or start everything on servers of its own with `officeplane up`.",
        )
    return settings


def setting_errors(refusal: ValidationError) -> list[str]:
    """Return a line for each setting that was refused, without its value: it may be a secret."""
    return [
        f"OFFICEPLANE_{'_'.join(map(str, error['loc'])).upper()}: {error['msg']}"
        for error in refusal.errors(include_input=False, include_url=False, include_context=False)
    ]
