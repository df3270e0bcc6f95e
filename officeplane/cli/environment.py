"""What an entry point reads from the environment, checked before anything is opened."""

from pydantic import ValidationError

from officeplane.cli.exits import UsageError
from officeplane.config import Settings
from officeplane.local import local_installation


def read_settings(**overrides: object) -> Settings:
    """Return the settings of this process; an override that is None leaves the environment's value.

    Without a database in the environment they lead to the installation that `officeplane up` runs here, if one does.
    """
    given = {name: value for name, value in overrides.items() if value is not None}
    try:
        named = Settings.model_validate(given)
        if named.database_url or (local := local_installation()) is None:
            return named
        return Settings.model_validate({**local.settings(), **given})
    except ValidationError as refusal:
        raise UsageError(*setting_errors(refusal)) from None


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
